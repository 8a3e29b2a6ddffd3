package import Json

/// `POST /v1/host/challenge`.
package struct ChallengeRequest: Sendable, Equatable {
  /// Canonical base64 of 32 bytes; whether it is a usable point is for the proof to say.
  package let hostPublicKey: [UInt8]

  package init(_ body: JsonValue) throws(InvalidRequest) {
    var members = try Members(body)
    try members.version()
    hostPublicKey = try members.base64("hostPublicKeyB64", bytes: 32)
    try members.end()
  }
}

/// `POST /v1/host/session`.
package struct SessionRequest: Sendable, Equatable {
  package let challengeId: String
  /// 32 bytes.
  package let proof: [UInt8]

  package init(_ body: JsonValue) throws(InvalidRequest) {
    var members = try Members(body)
    try members.version()
    challengeId = try members.opaqueId("challengeId")
    proof = try members.base64("proofB64", bytes: 32)
    try members.end()
  }
}

/// `POST /v1/devices`.
package struct DeviceRequest: Sendable, Equatable {
  package let deviceId: String
  package let route: Route
  package let token: String

  package init(_ body: JsonValue) throws(InvalidRequest) {
    var members = try Members(body)
    try members.version()
    deviceId = try members.opaqueId("deviceId")
    guard let platform = try members.optionalWord("platform", Platform.self) else {
      throw members.fault("platform", "is missing")
    }
    guard case .string(let token) = try members.required("token") else {
      throw members.fault("token", "must be a string")
    }
    let environment = try members.optionalWord("apnsEnvironment", ApnsEnvironment.self)
    switch platform {
    case .ios:
      guard DeviceToken.isApns(token) else {
        throw members.fault("token", "must be an even number of hex digits, 2 to 4096")
      }
      guard let environment else { throw members.fault("apnsEnvironment", "is missing: ios needs it") }
      route = environment == .production ? .apnsProduction : .apnsSandbox
    case .android:
      guard DeviceToken.isFcm(token) else {
        throw members.fault("token", "must be 32 to 4096 of A-Z a-z 0-9 _ : . -, or 22 of A-Z a-z 0-9 _ -")
      }
      guard environment == nil else { throw members.fault("apnsEnvironment", "is for ios only") }
      route = .fcm
    }
    self.token = token
    try members.end()
  }
}

/// `POST /v1/send`.
package struct SendRequest: Sendable, Equatable {
  /// 1 to 20, repeats folded into their first place (rulings 1.7).
  package let registrationIds: [String]
  package let notification: Notification

  package init(_ body: JsonValue) throws(InvalidRequest) {
    var members = try Members(body)
    try members.version()
    guard case .array(let items) = try members.required("registrationIds"),
      (1...Limits.registrationsPerSend).contains(items.count)
    else { throw members.fault("registrationIds", "must be a list of 1 to 20 ids") }
    var ids: [String] = []
    for item in items {
      let id = try members.opaqueId("registrationIds", item)
      // Compared by bytes: Swift's own equality takes canonically equal texts for one.
      if !ids.contains(where: { $0.utf8.elementsEqual(id.utf8) }) { ids.append(id) }
    }
    registrationIds = ids
    notification = try Notification(request: try members.required("notification"))
    try members.end()
  }
}

extension Members {
  mutating func base64(_ name: String, bytes count: Int) throws(InvalidRequest) -> [UInt8] {
    guard case .string(let text) = try required(name), let bytes = Base64.decode(text), bytes.count == count else {
      throw fault(name, "must be \(count) bytes in canonical base64")
    }
    return bytes
  }
}
