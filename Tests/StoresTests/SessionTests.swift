import Contract
import Keys
import Testing

@testable import Stores

/// Rulings 2 and the contract's "Host authentication".
@Suite struct SessionTests {
  private let proof = Sha256.digest("proof")

  private func challenge(_ under: StoreUnderTest, _ id: String, _ host: String = "host") async throws {
    try await under.store.saveChallenge(
      id: id, fingerprint: try StoreUnderTest.fingerprint(host), proofDigest: proof)
  }

  private func standing(_ under: StoreUnderTest, _ token: String) async throws -> SessionStanding {
    let standing = try await under.store.session(Sha256.digest(token))
    #expect(try await under.second.session(Sha256.digest(token)) == standing)
    return standing
  }

  private func open(_ under: StoreUnderTest, _ id: String, _ token: String) async throws -> Int64? {
    try await under.store.openSession(challengeId: id, tokenDigest: Sha256.digest(token))
  }

  @Test(arguments: StoreKind.allCases)
  func `Many bearers asked about at once are each told apart`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let (first, second) = (try await under.host("first"), try await under.host("second"))
      let tokens = ["token of second", "nobody's", "token of first", "token of second"].map { Sha256.digest($0) }
      let standings = try await under.store.sessions(tokenDigests: tokens)
      let hosts = standings.map { (standing) -> Host? in
        if case .active(let host, _) = standing { host } else { nil }
      }
      #expect(hosts == [second, nil, first, second])
      #expect(standings[1] == .unknown)
      #expect(try await under.store.sessions(tokenDigests: []).isEmpty)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A challenge is known to every process, and an unknown one to none`(on kind: StoreKind) async throws {
    try await kind.use { under in
      try await challenge(under, "c")
      let expected = StoredChallenge(
        fingerprint: try StoreUnderTest.fingerprint("host"), proofDigest: proof, isOpen: true)
      #expect(try await under.store.challenge(id: "c") == expected)
      #expect(try await under.second.challenge(id: "c") == expected)
      #expect(try await under.store.challenge(id: "C") == nil)
      #expect(try await open(under, "C", "t") == nil)
      #expect(try await standing(under, "t") == .unknown)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A challenge is good for 10 seconds and then late, not unknown`(on kind: StoreKind) async throws {
    try await kind.use { under in
      try await challenge(under, "early")
      try await challenge(under, "late")
      try await under.advance(9_999)
      #expect(try await under.store.challenge(id: "late")?.isOpen == true)
      #expect(try await open(under, "early", "t1") != nil)
      try await under.advance(2)
      #expect(try await under.store.challenge(id: "late")?.isOpen == false)
      #expect(try await open(under, "late", "t2") == nil)
      #expect(try await standing(under, "t2") == .unknown)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A challenge is spent once`(on kind: StoreKind) async throws {
    try await kind.use { under in
      try await challenge(under, "c")
      #expect(try await open(under, "c", "t1") == under.now + 24 * .hour)
      #expect(try await under.second.challenge(id: "c")?.isOpen == false)
      #expect(try await open(under, "c", "t2") == nil)
      #expect(try await standing(under, "t2") == .unknown)
      guard case .active(_, remaining: 86_400_000) = try await standing(under, "t1") else {
        throw Unexpected("the first session fell with the second answer")
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Of many right proofs at once, one wins`(on kind: StoreKind) async throws {
    try await kind.use { under in
      for round in 0..<5 {
        try await challenge(under, "c\(round)")
        let opened = try await withThrowingTaskGroup(of: (Int, Int64?).self) { group in
          for number in 0..<12 {
            group.addTask {
              let token = Sha256.digest("t\(round).\(number)")
              return (number, try await under[number].openSession(challengeId: "c\(round)", tokenDigest: token))
            }
          }
          return try await group.reduce(into: [Int]()) { if $1.1 != nil { $0.append($1.0) } }
        }
        #expect(opened.count == 1)
        for number in 0..<12 {
          let isActive = try await standing(under, "t\(round).\(number)") != .unknown
          #expect(isActive == opened.contains(number))
        }
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A host has one session however many challenges it answers at once`(on kind: StoreKind) async throws {
    try await kind.use { under in
      for number in 0..<12 { try await challenge(under, "c\(number)") }
      try await withThrowingTaskGroup(of: Int64?.self) { group in
        for number in 0..<12 {
          group.addTask {
            try await under[number].openSession(challengeId: "c\(number)", tokenDigest: Sha256.digest("t\(number)"))
          }
        }
        for try await expiry in group { #expect(expiry != nil) }
      }
      var active = 0
      for number in 0..<12 where try await standing(under, "t\(number)") != .unknown { active += 1 }
      #expect(active == 1)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A newer session ends the host's earlier one and no other host's`(on kind: StoreKind) async throws {
    try await kind.use { under in
      for id in ["c1", "c2"] { try await challenge(under, id, "host") }
      try await challenge(under, "c3", "other")
      _ = try await open(under, "c1", "t1")
      _ = try await open(under, "c3", "t3")
      guard case .active(let first, _) = try await standing(under, "t1"),
        case .active(let other, _) = try await standing(under, "t3")
      else { throw Unexpected("no session") }
      try await under.advance(.second)
      _ = try await open(under, "c2", "t2")
      #expect(try await standing(under, "t1") == .unknown)
      #expect(try await standing(under, "t2") == .active(first, remaining: 24 * .hour))
      #expect(try await standing(under, "t3") == .active(other, remaining: 24 * .hour - .second))
      #expect(first.number != other.number)
      #expect(try first.fingerprint == StoreUnderTest.fingerprint("host"))
      #expect(try other.fingerprint == StoreUnderTest.fingerprint("other"))
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A session is active, then expired for ten minutes, then unknown`(on kind: StoreKind) async throws {
    try await kind.use { under in
      try await challenge(under, "c")
      _ = try await open(under, "c", "t")
      try await under.advance(24 * .hour - 1)
      guard case .active(_, remaining: 1) = try await standing(under, "t") else { throw Unexpected("ended early") }
      try await under.advance(2)
      #expect(try await standing(under, "t") == .expired)
      #expect(try await standing(under, "never") == .unknown)
      try await under.advance(10 * .minute - 2)
      #expect(try await under.sweep(.sessions).values.reduce(0, +) == 0)
      #expect(try await standing(under, "t") == .expired)
      try await under.advance(2)
      #expect(try await under.sweep(.sessions).values.reduce(0, +) == 1)
      #expect(try await standing(under, "t") == .unknown)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A host whose session expired proves itself again and is the same host`(on kind: StoreKind) async throws {
    try await kind.use { under in
      try await challenge(under, "c1")
      _ = try await open(under, "c1", "t1")
      guard case .active(let host, _) = try await standing(under, "t1") else { throw Unexpected("no session") }
      let phone = try await under.phone(host)
      try await under.advance(48 * .hour)
      try await under.sweep(.challenges)
      try await under.sweep(.sessions)
      try await challenge(under, "c2")
      _ = try await open(under, "c2", "t2")
      #expect(try await standing(under, "t2") == .active(host, remaining: 24 * .hour))
      #expect(try await standing(under, "t1") == .unknown)
      #expect(try await under.store.devices(of: host).map(\.registrationId) == [phone])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A challenge is forgotten 30 seconds after its end, spent or not`(on kind: StoreKind) async throws {
    try await kind.use { under in
      for id in ["spent", "unspent"] { try await challenge(under, id) }
      _ = try await open(under, "spent", "t")
      try await under.advance(39_999)
      #expect(try await under.sweep(.challenges) == ["push_challenges": 0])
      #expect(try await under.store.challenge(id: "unspent")?.isOpen == false)
      try await under.advance(2)
      #expect(try await under.sweep(.challenges) == ["push_challenges": 2])
      #expect(try await under.store.challenge(id: "spent") == nil)
      #expect(try await under.store.challenge(id: "unspent") == nil)
      #expect(try await standing(under, "t") != .unknown)
    }
  }
}
