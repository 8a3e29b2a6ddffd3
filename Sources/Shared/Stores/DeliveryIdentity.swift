internal import Contract
internal import Keys

/// The 16 bytes that name a delivery for ever: its event, as the host identifies it, on its way to one registration.
/// They become the `apns-id` (rulings 6.4).
enum DeliveryIdentity {
  static func make(host: Host, eventKey: [UInt8], registrationId: String) -> [UInt8] {
    var bytes = Array("push-delivery/v1\0".utf8)
    bytes += host.fingerprint.text.utf8
    bytes += eventKey
    bytes += registrationId.utf8
    return Array(Sha256.digest(bytes).prefix(16))
  }
}
