package import Contract

/// A phone's registration as its host sees it.
package struct DeviceListing: Sendable, Equatable {
  package let registrationId: String
  package let deviceId: String
  package let platform: Platform
  package let isDead: Bool
}

/// Registrations of phones (contract, "Device registration"; rulings 3).
package protocol DeviceStore: Sendable {
  /// Registers or refreshes (host, device): the id stays, the token is replaced, a dead registration lives again, the
  /// registration time moves forward. `newId` is used when the device is new.
  /// - Returns: the registration id, or nil when the host holds 64 others.
  func register(_ host: Host, deviceId: String, route: Route, token: String, newId: String)
    async throws(StoreFailure) -> String?

  /// Forgets a registration of this host; false when the host has none of that id.
  func unregister(_ host: Host, registrationId: String) async throws(StoreFailure) -> Bool

  /// The host's registrations, oldest first; at most 1,024.
  func devices(of host: Host) async throws(StoreFailure) -> [DeviceListing]
}
