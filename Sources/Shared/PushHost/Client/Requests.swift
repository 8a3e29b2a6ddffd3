internal import Contract
internal import Json

/// Bodies of the handshake.
enum Requests {
  static func challenge(_ keys: HostKeys) -> [UInt8] {
    var text = JsonText()
    text.object {
      $0.member("v", 1)
      $0.member("hostPublicKeyB64", keys.publicKeyBase64)
    }
    return text.bytes
  }

  static func session(_ challengeId: String, _ proof: [UInt8]) -> [UInt8] {
    var text = JsonText()
    text.object {
      $0.member("v", 1)
      $0.member("challengeId", challengeId)
      $0.member("proofB64", Base64.encode(proof))
    }
    return text.bytes
  }
}
