import Contract
import Testing

@testable import Proof

@Suite struct HostProofTests {
  @Test func `There are cases to compare with`() {
    #expect(ProofCase.all.count == 3)
  }

  @Test(arguments: ProofCase.all)
  func `Transcript, box, digest and fingerprint follow byte for byte`(wanted: ProofCase) throws {
    let hostKey = try #require(HostKey(base64: wanted.hostPublicKeyB64))
    #expect(hostKey.fingerprint.text == wanted.hostFingerprint)
    let challenge = HostChallenge.make(
      hostKey: hostKey, origin: wanted.gatewayOrigin, challengeId: wanted.challengeId, issuedAt: wanted.issuedAt,
      expiresAt: wanted.expiresAt, ephemeralSecretKey: try bytes(wanted.gatewayEphemeralSecretKeyB64),
      nonce: try bytes(wanted.nonceB64), secret: try bytes(wanted.challengeSecretB64))
    #expect(challenge.offer.challengeId == wanted.challengeId)
    #expect(challenge.offer.gatewayEphemeralPublicKeyB64 == wanted.gatewayEphemeralPublicKeyB64)
    #expect(challenge.offer.nonceB64 == wanted.nonceB64)
    #expect(challenge.offer.ciphertextB64 == wanted.ciphertextB64)
    #expect(challenge.offer.expiresAt == wanted.expiresAt)
    #expect(Base64.encode(challenge.proofDigest.bytes) == wanted.storedProofDigestB64)
    let transcript = try Transcript(decoding: bytes(wanted.transcriptB64))
    #expect(Base64.encode(transcript.encoded) == wanted.transcriptB64)
  }

  @Test(arguments: ProofCase.all)
  func `The host answers with the right proof`(wanted: ProofCase) throws {
    let proof = try HostProof.answer(
      offer(wanted), origin: wanted.gatewayOrigin, keys: keys(wanted), now: wanted.issuedAt + 20)
    #expect(Base64.encode(proof) == wanted.proofB64)
    let stored = try #require(ProofDigest(stored: bytes(wanted.storedProofDigestB64)))
    #expect(stored.matches(proof))
    for place in proof.indices {
      var wrong = proof
      wrong[place] ^= 1
      #expect(!stored.matches(wrong))
    }
    #expect(!stored.matches([]))
    #expect(!stored.matches(proof + [0]))
    #expect(!stored.matches(stored.bytes))
  }

  @Test func `A digest that was stored has 32 bytes`() {
    #expect(ProofDigest(stored: []) == nil)
    #expect(ProofDigest(stored: [UInt8](repeating: 1, count: 31)) == nil)
  }

  @Test func `Chosen at random, a challenge is answered by its host alone, and never twice the same`() throws {
    let host = HostKeyPair.generate()
    let other = HostKeyPair.generate()
    func make() -> HostChallenge {
      HostChallenge.make(
        hostKey: host.publicKey, origin: "https://push.example", challengeId: "c", issuedAt: 1_000, expiresAt: 11_000)
    }
    let one = make()
    let two = make()
    #expect(one.offer.gatewayEphemeralPublicKey != two.offer.gatewayEphemeralPublicKey)
    #expect(one.offer.nonce != two.offer.nonce)
    #expect(one.proofDigest != two.proofDigest)
    let proof = try HostProof.answer(one.offer, origin: "https://push.example", keys: host, now: 1_000)
    #expect(one.proofDigest.matches(proof))
    #expect(!two.proofDigest.matches(proof))
    #expect(throws: HostProofFault.unopened) {
      try HostProof.answer(one.offer, origin: "https://push.example", keys: other, now: 1_000)
    }
  }

  /// Values that differ from the right one in length, first and last byte.
  static func tampered(_ value: [UInt8]) -> [[UInt8]] {
    var first = value
    first[0] ^= 1
    var last = value
    last[value.count - 1] ^= 1
    return [[], first, last, value + [0], Array(value.dropLast()), value + value]
  }

  @Test(arguments: TranscriptField.allCases)
  func `A transcript with any field tampered is refused, by its name`(field: TranscriptField) throws {
    for wanted in ProofCase.all {
      let transcript = try Transcript(decoding: bytes(wanted.transcriptB64))
      for value in Self.tampered(transcript[field]) {
        var other = transcript
        other[field] = value
        // A millisecond more or less is the gateway's to say.
        if field == .issuedAt, value.count == 8, value[0] == 0 { continue }
        #expect(throws: HostProofFault.refused(field)) { try answer(other.encoded, wanted) }
      }
    }
  }

  @Test(arguments: TranscriptField.allCases)
  func `A field that is missing, renamed, out of place or cut off is refused, by its name`(field: TranscriptField)
    throws
  {
    let wanted = try #require(ProofCase.all.first)
    let transcript = try Transcript(decoding: bytes(wanted.transcriptB64))
    let parts = TranscriptField.allCases.map { part($0.rawValue, transcript[$0]) }
    let place = try #require(TranscriptField.allCases.firstIndex(of: field))
    let malformed = HostProofFault.malformed(field)
    var missing = parts
    missing.remove(at: place)
    var renamed = parts
    renamed[place] = part(field.rawValue + "2", transcript[field])
    let cut = parts[...place].joined().dropLast()
    for other in [Array(missing.joined()), Array(renamed.joined()), Array(cut), Array(parts[..<place].joined())] {
      #expect(throws: malformed) { try answer(other, wanted) }
    }
    if place + 1 < parts.count {
      var swapped = parts
      swapped.swapAt(place, place + 1)
      #expect(throws: malformed) { try answer(Array(swapped.joined()), wanted) }
    }
  }

  @Test func `A transcript that goes on is refused`() throws {
    let wanted = try #require(ProofCase.all.first)
    let transcript = try bytes(wanted.transcriptB64)
    #expect(throws: HostProofFault.trailingBytes) { try answer(transcript + [0], wanted) }
    #expect(throws: HostProofFault.trailingBytes) { try answer(transcript + part("more", [1]), wanted) }
  }

  @Test func `A length that runs past the end is refused`() throws {
    let wanted = try #require(ProofCase.all.first)
    #expect(throws: HostProofFault.malformed(.protocol)) { try answer([255, 255, 255, 255], wanted) }
    #expect(throws: HostProofFault.malformed(.protocol)) { try answer([0, 0, 0], wanted) }
  }

  @Test(arguments: [
    (0, nil), (-30_000, nil), (-30_001, TranscriptField.issuedAt), (40_000, nil), (40_001, .expiresAt),
    (10_000, nil), (86_400_000, .expiresAt), (-86_400_000, .issuedAt),
  ])
  func `The host's clock may be 30 seconds off and no more`(shift: Int, refused: TranscriptField?) throws {
    for wanted in ProofCase.all {
      let answer = Result {
        try HostProof.answer(
          offer(wanted), origin: wanted.gatewayOrigin, keys: keys(wanted), now: wanted.issuedAt + Int64(shift))
      }
      switch (answer, refused) {
      case (.success, nil): break
      case (.failure(let fault as HostProofFault), let field?): #expect(fault == .refused(field))
      default: Issue.record("\(answer) at \(shift) ms")
      }
    }
  }

  @Test func `A challenge that ends before it begins is refused`() throws {
    let host = HostKeyPair.generate()
    for end: Int64 in [1_000, 999] {
      let challenge = HostChallenge.make(
        hostKey: host.publicKey, origin: "https://a", challengeId: "c", issuedAt: 1_000, expiresAt: end)
      #expect(throws: HostProofFault.refused(.expiresAt)) {
        try HostProof.answer(challenge.offer, origin: "https://a", keys: host, now: 1_000)
      }
    }
  }

  @Test func `A challenge that was made long before it was asked for is refused, however late it ends`() throws {
    let host = HostKeyPair.generate()
    for (age, isAnswered) in [(40_000, true), (40_001, false), (86_400_000, false)] as [(Int64, Bool)] {
      let now: Int64 = 1_790_000_000_000
      let challenge = HostChallenge.make(
        hostKey: host.publicKey, origin: "https://a", challengeId: "c", issuedAt: now - age, expiresAt: now + 5_000)
      let answer = Result { try HostProof.answer(challenge.offer, origin: "https://a", keys: host, now: now) }
      switch answer {
      case .success: #expect(isAnswered, "\(age)")
      case .failure(let fault): #expect(!isAnswered && fault as? HostProofFault == .refused(.issuedAt), "\(age)")
      }
    }
  }

  @Test(arguments: [
    "https://push.onorca.dev/", "https://PUSH.onorca.dev", "http://push.onorca.dev", "https://push.onorca.dev:443", "",
  ])
  func `The origin is compared byte for byte`(origin: String) throws {
    let wanted = try #require(ProofCase.all.first)
    #expect(throws: HostProofFault.refused(.gatewayOrigin)) {
      try HostProof.answer(offer(wanted), origin: origin, keys: keys(wanted), now: wanted.issuedAt)
    }
  }

  @Test func `Origins that Swift calls equal but bytes do not are told apart`() throws {
    let host = HostKeyPair.generate()
    let challenge = HostChallenge.make(
      hostKey: host.publicKey, origin: "https://caf\u{e9}", challengeId: "c", issuedAt: 0, expiresAt: 10_000)
    #expect(throws: HostProofFault.refused(.gatewayOrigin)) {
      try HostProof.answer(challenge.offer, origin: "https://cafe\u{301}", keys: host, now: 0)
    }
  }

  @Test func `A reply whose members differ from the transcript is refused`() throws {
    let wanted = try #require(ProofCase.all.first)
    let right = try offer(wanted)
    let keys = try keys(wanted)
    let other = ChallengeOffer(
      challengeId: "challenge-9", gatewayEphemeralPublicKey: right.gatewayEphemeralPublicKey, nonce: right.nonce,
      ciphertext: right.ciphertext, expiresAt: right.expiresAt)
    #expect(throws: HostProofFault.refused(.challengeId)) {
      try HostProof.answer(other, origin: wanted.gatewayOrigin, keys: keys, now: wanted.issuedAt)
    }
    let later = ChallengeOffer(
      challengeId: right.challengeId, gatewayEphemeralPublicKey: right.gatewayEphemeralPublicKey, nonce: right.nonce,
      ciphertext: right.ciphertext, expiresAt: right.expiresAt + 1)
    #expect(throws: HostProofFault.refused(.expiresAt)) {
      try HostProof.answer(later, origin: wanted.gatewayOrigin, keys: keys, now: wanted.issuedAt)
    }
  }

  @Test func `A box that was changed, cut or sealed otherwise does not open`() throws {
    let wanted = try #require(ProofCase.all.first)
    let right = try offer(wanted)
    let host = try keys(wanted)
    let zero = [UInt8](repeating: 0, count: 32)
    var boxes = [[], [1, 2, 3], Array(right.ciphertext.dropLast())]
    for place in [0, 15, 16, right.ciphertext.count - 1] {
      boxes.append(right.ciphertext)
      boxes[boxes.count - 1][place] ^= 128
    }
    for (box, key) in boxes.map({ ($0, right.gatewayEphemeralPublicKey) }) + [(right.ciphertext, zero)] {
      let other = ChallengeOffer(
        challengeId: right.challengeId, gatewayEphemeralPublicKey: key, nonce: right.nonce, ciphertext: box,
        expiresAt: right.expiresAt)
      #expect(throws: HostProofFault.unopened) {
        try HostProof.answer(other, origin: wanted.gatewayOrigin, keys: host, now: wanted.issuedAt)
      }
    }
  }

  @Test func `A box that holds no challenge is refused`() throws {
    let wanted = try #require(ProofCase.all.first)
    var counted: [UInt8] = []
    appendCounted(try bytes(wanted.transcriptB64), to: &counted)
    let secret = [UInt8](repeating: 7, count: 32)
    let prefix = HostChallenge.prefix
    for plaintext in [
      [], prefix, prefix + [0, 0], counted + secret, prefix.dropLast() + [1] + counted + secret, prefix + counted,
      prefix + counted + secret.dropLast(), prefix + counted + secret + [7],
      Array("orca-relay-host-challenge/v1\0".utf8) + counted + secret,
    ] {
      #expect(throws: HostProofFault.notAChallenge) { try answer(plaintext: plaintext, wanted) }
    }
  }

  @Test(arguments: [
    ("AAAA", "ZI+OGToGwwdn5x+zKkqyq+4txkDalngr", "AAAA", "gatewayEphemeralPublicKeyB64"),
    ("P+trwyPLv7iUQ3zS0iChk288EUXQ0wbyRU0aEwkjSBw=", "AAAA", "AAAA", "nonceB64"),
    ("P+trwyPLv7iUQ3zS0iChk288EUXQ0wbyRU0aEwkjSBw=", "ZI+OGToGwwdn5x+zKkqyq+4txkDalngr", "A", "ciphertextB64"),
  ])
  func `A reply of the wrong form is refused, by its member's name`(
    key: String, nonce: String, ciphertext: String, member: String
  ) {
    #expect(throws: HostProofFault.reply(member)) {
      try ChallengeOffer(
        challengeId: "c", gatewayEphemeralPublicKeyB64: key, nonceB64: nonce, ciphertextB64: ciphertext, expiresAt: 1)
    }
  }

  @Test func `A key pair prints without its secret`() throws {
    let wanted = try #require(ProofCase.all.first)
    let pair = try keys(wanted)
    var dumped = ""
    dump(pair, to: &dumped)
    #expect("\(pair) \(String(reflecting: pair)) \(dumped)".contains("xxmA…"))
    #expect(!"\(pair) \(String(reflecting: pair)) \(dumped)".contains("59"))
    #expect(HostKeyPair(secretKey: [1, 2, 3]) == nil)
  }

  // MARK: What the cases give

  private func bytes(_ text: String) throws -> [UInt8] { try #require(Base64.decode(text)) }

  private func keys(_ wanted: ProofCase) throws -> HostKeyPair {
    let pair = try #require(HostKeyPair(secretKey: bytes(wanted.hostSecretKeyB64)))
    #expect(pair.publicKey.base64 == wanted.hostPublicKeyB64)
    return pair
  }

  private func offer(_ wanted: ProofCase) throws -> ChallengeOffer {
    try ChallengeOffer(
      challengeId: wanted.challengeId, gatewayEphemeralPublicKeyB64: wanted.gatewayEphemeralPublicKeyB64,
      nonceB64: wanted.nonceB64, ciphertextB64: wanted.ciphertextB64, expiresAt: wanted.expiresAt)
  }

  private func part(_ name: String, _ value: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    appendCounted(Array(name.utf8), to: &bytes)
    appendCounted(value, to: &bytes)
    return bytes
  }

  /// What the host says to another transcript, sealed as the right one was.
  private func answer(_ transcript: [UInt8], _ wanted: ProofCase) throws -> [UInt8] {
    var plaintext = HostChallenge.prefix
    appendCounted(transcript, to: &plaintext)
    return try answer(plaintext: plaintext + bytes(wanted.challengeSecretB64), wanted)
  }

  private func answer(plaintext: [UInt8], _ wanted: ProofCase) throws -> [UInt8] {
    let right = try offer(wanted)
    let host = try keys(wanted)
    let box = try #require(
      Sodium.seal(
        plaintext, nonce: right.nonce, to: host.publicKey.bytes, from: bytes(wanted.gatewayEphemeralSecretKeyB64)))
    let other = ChallengeOffer(
      challengeId: right.challengeId, gatewayEphemeralPublicKey: right.gatewayEphemeralPublicKey, nonce: right.nonce,
      ciphertext: box, expiresAt: right.expiresAt)
    return try HostProof.answer(other, origin: wanted.gatewayOrigin, keys: host, now: wanted.issuedAt)
  }
}
