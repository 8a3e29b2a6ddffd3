import Contract
import Json
import Proof
import Testing

/// Rulings 1.4, 1.5, 1.7 and 1.10: opaque ids, base64 and lists of ids.
@Suite struct IdentityTests {
  /// The four places where an opaque id stands.
  static let places: [(door: Door, put: @Sendable (String) -> Bent)] = [
    (.session, { Door.session.sample.with("challengeId", .string($0)) }),
    (.devices, { Door.devices.sample.with("deviceId", .string($0)) }),
    (.send, { Door.send.sample.with("registrationIds", [.string($0)]) }),
    (.send, { Bent.notification.with("notificationEpoch", .string($0)).send }),
  ]

  @Test(arguments: places.indices)
  func `An opaque id has 1 to 128 UTF-16 units, of any script`(place: Int) throws {
    let (door, put) = Self.places[place]
    for id in [
      "a", " ", String(repeating: "a", count: 128), String(repeating: "é", count: 128),
      String(repeating: "中", count: 128),
      String(repeating: "😀", count: 64), "28E5A3B7-09c1-4b0c-943a-e852919bf95d", "e2e1.Zm9v+/=", "/%\\\"",
      "\u{a0}\u{2028}",
    ] {
      try door.read(put(id).bytes)
      #expect(OpaqueId.isValid(id))
    }
    for id in [
      "", String(repeating: "a", count: 129), String(repeating: "é", count: 129), String(repeating: "中", count: 129),
      String(repeating: "😀", count: 64) + "a", String(repeating: "e\u{301}", count: 65),
    ] {
      #expect(throws: InvalidRequest.self) { try door.read(put(id).bytes) }
      #expect(!OpaqueId.isValid(id))
    }
  }

  @Test(arguments: places.indices)
  func `An opaque id holds no control character`(place: Int) {
    let (door, put) = Self.places[place]
    for code in Array(0...0x1f) + Array(0x7f...0x9f) as [UInt32] {
      guard let scalar = Unicode.Scalar(code) else { continue }
      for id in ["\(scalar)", "a\(scalar)b", "ab\(scalar)"] {
        #expect(throws: InvalidRequest.self, "\(code)") { try door.read(put(id).bytes) }
        #expect(!OpaqueId.isValid(id))
      }
    }
  }

  /// Texts that a lax decoder takes for 32 bytes.
  static let laxKeys = [
    "CQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "CQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB=",
    "CQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAD=", "CQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==",
    "CQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==", "CQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    "-_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", " CQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
    "CQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n", "CQAA AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
    "CQAAAAAAAAAAAAAAAAAAAA==AAAAAAAAAAAAAAAAAAA=", "CQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=A", "=", "",
    "CQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\u{41}\u{301}=",
  ]

  @Test(arguments: laxKeys)
  func `Base64 is canonical and of 32 bytes`(text: String) {
    #expect(throws: InvalidRequest.self) {
      try Door.challenge.read(Door.challenge.sample.with("hostPublicKeyB64", .string(text)).bytes)
    }
    #expect(throws: InvalidRequest.self) {
      try Door.session.read(Door.session.sample.with("proofB64", .string(text)).bytes)
    }
  }

  @Test func `A proof may be any 32 bytes, a host key none of low order`() throws {
    let zero = Base64.encode([UInt8](repeating: 0, count: 32))
    try Door.session.read(Door.session.sample.with("proofB64", .string(zero)).bytes)
    for bytes in [[UInt8](repeating: 0, count: 32), [1] + [UInt8](repeating: 0, count: 31)] {
      let bent = Door.challenge.sample.with("hostPublicKeyB64", .string(Base64.encode(bytes)))
      _ = try ChallengeRequest(bent.value)
      #expect(throws: InvalidRequest.self) { try Door.challenge.read(bent.bytes) }
    }
  }

  @Test func `The values that were sent are the values that are read`() throws {
    let key = (0..<32).map { UInt8($0 * 7 + 1) }
    let challenge = try ChallengeRequest(
      Door.challenge.sample.with("hostPublicKeyB64", .string(Base64.encode(key))).value)
    #expect(challenge.hostPublicKey == key)
    let session = try SessionRequest(
      Door.session.sample.with("challengeId", "é").with("proofB64", .string(Base64.encode(key))).value)
    #expect(session.proof == key)
    #expect(session.challengeId.utf8.elementsEqual("é".utf8))
  }

  private func ids(_ ids: [String]) -> Bent {
    Door.send.sample.with("registrationIds", .array(ids.map { .string($0) }))
  }

  @Test func `A send names 1 to 20 registrations, repeats included`() throws {
    try Door.send.read(ids(["a"]).bytes)
    try Door.send.read(ids((1...20).map { "r\($0)" }).bytes)
    try Door.send.read(ids(Array(repeating: "r", count: 20)).bytes)
    for list in [[], (1...21).map { "r\($0)" }, Array(repeating: "r", count: 21)] as [[String]] {
      #expect(throws: InvalidRequest.self) { try Door.send.read(ids(list).bytes) }
    }
    for list in ["r", .object(["0": "r"]), [["r"]], ["r", 1], ["r", .null], ["r", ""]] as [JsonValue] {
      #expect(throws: InvalidRequest.self) {
        try Door.send.read(Door.send.sample.with("registrationIds", list).bytes)
      }
    }
  }

  @Test func `Repeats are folded into their first place, compared byte for byte`() throws {
    let request = try SendRequest(ids(["b", "a", "b", "c", "a", "B", "b"]).value)
    #expect(request.registrationIds == ["b", "a", "c", "B"])
    // One text to Swift's own equality, two to everyone else.
    let composed = "caf\u{e9}"
    let decomposed = "cafe\u{301}"
    let both = try SendRequest(ids([composed, decomposed, composed]).value).registrationIds
    try #require(both.count == 2)
    #expect(both[0].utf8.elementsEqual(composed.utf8))
    #expect(both[1].utf8.elementsEqual(decomposed.utf8))
  }

  @Test func `A fingerprint is 16 characters of base64url and shows 4`() throws {
    let fingerprint = try #require(HostFingerprint("D20lU_8MD0R64g-t"))
    #expect(fingerprint.text == "D20lU_8MD0R64g-t")
    #expect("\(fingerprint)" == "D20l…")
    for text in ["", "D20lU_8MD0R64g-", "D20lU_8MD0R64g-tA", "D20lU_8MD0R64g+t", "D20lU_8MD0R64g=t", "D20lU_8MD0R64gé"]
    {
      #expect(HostFingerprint(text) == nil)
    }
  }
}
