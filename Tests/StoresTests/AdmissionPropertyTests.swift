import Contract
import Stores
import Testing

/// A call with many sends does what as many calls with one send each do, and that is what the rules say.
@Suite struct AdmissionPropertyTests {
  /// SplitMix64.
  private struct Dice: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9e37_79b9_7f4a_7c15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
      return mixed ^ (mixed >> 31)
    }

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
  }

  /// Three hosts whose phones live, are dead, or belong to another.
  private struct World {
    var hosts: [Host] = []
    var ids: [[String]] = []
    var living: [Int64: Set<String>] = [:]
    var dead: [Int64: Set<String>] = [:]

    init(_ under: StoreUnderTest) async throws {
      for number in 0..<3 {
        let host = try await under.host("host \(number)")
        hosts.append(host)
        var own: [String] = []
        for device in 0..<4 {
          own.append(try await under.phone(host, "\(device)", route: Route.allCases[device % 3]))
        }
        living[host.number] = Set(own)
        let gone = try await under.phone(host, "dead")
        try await under.kill(host, gone)
        dead[host.number] = [gone]
        ids.append(own + [gone, "unknown"])
      }
      for number in 0..<3 { ids[number].append(ids[(number + 1) % 3][0]) }
    }
  }

  private func event(_ dice: inout Dice, start: Int64) -> Event {
    let seq = Int64.random(in: 1...9, using: &dice)
    let epoch = dice.chance(50) ? "e1" : "e2"
    var event: Event = dice.chance(25) ? .dismissal(seq, epoch: epoch, id: "n\(seq % 2)") : .alert(seq, epoch: epoch)
    if event.kind == .alert, seq % 3 != 0 { event.notificationId = "n\(seq % 2)" }
    // Deadlines are content, so they hang on the identity.
    if seq == 8 { event.expiresAt = start + 1_000_000 }
    if seq == 9 { event.expiresAt = start + 1_800_000 }
    if dice.chance(8) { event.content = "changed" }
    event.isSilent = dice.chance(30)
    return event
  }

  private func expectEqual(
    _ delivered: [ClaimedDelivery], _ expected: [AdmissionModel.Delivery], _ comment: Comment
  ) {
    // Order is promised for each registration.
    func byPhone(_ deliveries: [AdmissionModel.Delivery]) -> [String: [AdmissionModel.Delivery]] {
      Dictionary(grouping: deliveries) { "\($0.host) \($0.registrationId)" }
    }
    let found = delivered.map {
      AdmissionModel.Delivery(
        host: $0.host.number, registrationId: $0.registrationId, text: $0.text, isSilent: $0.isSilent,
        expiresAt: $0.expiresAt)
    }
    #expect(byPhone(found) == byPhone(expected), comment)
  }

  @Test(arguments: StoreKind.allCases, [1, 2, 3, 4] as [UInt64])
  func `Random sends are answered and delivered as the rules say, together or one by one`(
    on kind: StoreKind, seed: UInt64
  ) async throws {
    try await kind.use { together in
      let world = try await World(together)
      // The second database is made after the first, and the worlds are alike.
      try await kind.useAtOnce { single in
        let twin = try await World(single)
        try #require(twin.hosts == world.hosts && twin.ids == world.ids)
        try await run(together, single, world, seed)
      }
    }
  }

  private func run(
    _ together: StoreUnderTest, _ single: StoreUnderTest, _ world: World, _ seed: UInt64
  ) async throws {
    var dice = Dice(state: seed)
    var model = AdmissionModel()
    model.living = world.living
    model.dead = world.dead
    let start = together.now
    model.countKill(of: world.hosts, at: start)

    func admit(_ sends: [Admission], _ comment: Comment) async throws {
      let expected = sends.map { model.admit($0, now: together.now) }
      #expect(try await together.store.admit(sends).results == expected, comment)
      for (send, result) in zip(sends, expected) {
        #expect(try await single.store.admit([send]).results == [result], comment)
      }
    }

    // The first host is near its limit, which it passes and regains as the window slides; one was spent on the dead phone.
    let filling = (0..<294).map { Event.alert($0, epoch: "filling").admission(world.hosts[0], [world.ids[0][0]]) }
    for first in stride(from: 0, to: filling.count, by: 64) {
      let group = Array(filling[first..<min(first + 64, filling.count)])
      let results = group.map { model.admit($0, now: together.now) }
      #expect(try await together.store.admit(group).results == results)
      #expect(try await single.store.admit(group).results == results)
    }
    for round in 0..<40 {
      var sends: [Admission] = []
      for _ in 0..<Int.random(in: 1...12, using: &dice) {
        let number = Int.random(in: 0..<3, using: &dice)
        let count = Int.random(in: 1...4, using: &dice)
        let ids = Array(world.ids[number].shuffled(using: &dice).prefix(count))
        sends.append(event(&dice, start: start).admission(world.hosts[number], ids))
      }
      try await admit(sends, "round \(round) of seed \(seed)")
      if dice.chance(30) {
        let expected = model.deliver(now: together.now)
        expectEqual(try await together.deliver(), expected, "together, round \(round) of seed \(seed)")
        expectEqual(try await single.deliver(limit: 2), expected, "one by one, round \(round) of seed \(seed)")
      }
      let step = Int64.random(in: 0...90_000, using: &dice)
      try await together.advance(step)
      try await single.advance(step)
    }
  }
}
