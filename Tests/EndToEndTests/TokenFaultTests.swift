import Foundation
import Json
import Testing

/// What providers say against tokens, through the real programs: who is marked dead, who is spared, what operators see.
@Suite(.serialized, .timeLimit(.minutes(5))) struct TokenFaultTests {
  @Test(
    "A token called dead works again after the phone registers, a wave of them is believed, an unknown reason parks",
    arguments: Gateway.StoreKind.allCases)
  func tokens(kind: Gateway.StoreKind) async throws {
    try await Gateway.run(kind) { gateway in
      try await PythonHost.run(on: gateway) { host in
        try await mistake(gateway, host)
        try await wave(gateway, host)
        try await unknownReason(gateway, host)
      }
    }
  }

  private func mistake(_ gateway: Gateway, _ host: PythonHost) async throws {
    let phone = Phone(.android, 100)
    try await gateway.script(rules([(phone, #"{"status":404,"reason":"UNREGISTERED"}"#)]))
    let registrations = try await host.register([phone])
    #expect(try await host.alert(1, to: registrations) == ["queued"])
    try await gateway.drained()
    #expect(try await host.dead() == Set(registrations))
    #expect(try await host.alert(2, to: registrations) == ["dead"])

    #expect(try await host.register([phone]) == registrations)
    #expect(try await host.dead().isEmpty)
    #expect(try await host.alert(3, to: registrations) == ["queued"])
    try await gateway.drained()
    #expect(try await gateway.log("fcm").map { $0["answer"]?["status"]?.integer } == [404, 200])
  }

  private func wave(_ gateway: Gateway, _ host: PythonHost) async throws {
    let phones = (0..<60).map { Phone(.android, $0) }
    let gone = Set(0..<60).filter { $0 % 3 == 0 || $0 > 50 }
    try await gateway.script(rules(gone.map { (phones[$0], #"{"status":404,"reason":"UNREGISTERED"}"#) }))
    let registrations = try await host.register(phones)
    try await host.alert(10, to: registrations)
    try await gateway.drained()
    #expect(try await host.dead() == Set(gone.map { registrations[$0] }))
    #expect(try await gateway.programs.operatorsSee("/ready").status == 200)
  }

  /// It parks, and is shown as it came.
  private func unknownReason(_ gateway: Gateway, _ host: PythonHost) async throws {
    let phone = Phone(.sandbox, 1)
    try await gateway.script(rules([(phone, #"{"status":403,"reason":"KeyOfAnotherMoon"}"#)]))
    let registrations = try await host.register([phone])
    try await host.alert(20, to: registrations)
    #expect(try await gateway.programs.logged("lane parked")["reason"]?.string == "KeyOfAnotherMoon")
    try await gateway.drained()
    #expect(try await host.dead().isDisjoint(with: registrations))
  }

  @Test(
    "Too many tokens that Apple calls wrong spare the rest, and operators see it", arguments: Gateway.StoreKind.allCases
  )
  func wrongEnvironment(kind: Gateway.StoreKind) async throws {
    try await Gateway.run(kind) { gateway in
      try await PythonHost.run(on: gateway) { host in
        let good = (0..<20).map { Phone(.production, $0) }
        let wrong = (20..<60).map { Phone(.production, $0) }
        let devices = wrong.map { #"{"token":"\#($0.token)","environment":"sandbox"}"# }
        try await gateway.script("{\"devices\":[\(devices.joined(separator: ","))]}")
        let registrations = try await host.register(good + wrong)
        for seq in 0..<3 as Range<Int64> { try await host.alert(seq, to: Array(registrations.prefix(20))) }
        try await gateway.drained()
        try await host.alert(10, to: Array(registrations.suffix(40)))
        try await gateway.drained()

        // 30 % of the last 50 may be wrong in earnest, more is somebody's mistake.
        let dead = try await host.dead()
        #expect(dead.count == 15)
        #expect(dead.isDisjoint(with: registrations.prefix(20)))
        let refused = try await gateway.outcomes().filter { $0.seq == "10" }
        #expect(refused.count { $0.state == "failed" } == 25)
        #expect(refused.allSatisfy { $0.detail == "BadDeviceToken" })
        let ready = try await gateway.programs.operatorsSee("/ready")
        #expect(ready.status == 503)
        #expect(
          ready.text.contains(#""apnsProduction":"open; too many tokens refused, none is marked dead""#), "\(ready)")
        let metrics = try await gateway.programs.operatorsSee("/metrics").text
        #expect(metrics.contains(#"orca_push_invalidation_paused{provider="apns"} 1"#))

        for seq in 20..<23 as Range<Int64> { try await host.alert(seq, to: Array(registrations.prefix(20))) }
        try await gateway.drained()
        #expect(try await gateway.programs.operatorsSee("/ready").status == 200)
        let lines = await gateway.programs.stopAll().compactMap { try? JsonReader.read(Array($0.utf8)) }
        let paused = lines.filter { $0["message"]?.string?.hasPrefix("too many tokens refused") == true }
        #expect(paused.count == 1)
        #expect(paused.first?["environment"]?.string == "production")
        let resumed = lines.filter { $0["message"]?.string == "refused tokens are marked dead again" }
        #expect(resumed.map { $0["spared"]?.integer } == [25])
      }
    }
  }

  @Test(
    "A refused credential kills nobody, parks its lane alone, and says so once", arguments: Gateway.StoreKind.allCases)
  func refusedCredential(kind: Gateway.StoreKind) async throws {
    try await Gateway.run(kind) { gateway in
      try await PythonHost.run(on: gateway) { host in
        let phones = (0..<40).map { Phone(.production, $0) } + (40..<50).map { Phone(.sandbox, $0) }
        try await gateway.script(
          #"{"rules":[{"token":"*","environment":"production","steps":[{"status":403,"reason":"InvalidProviderToken","times":"always"}]}]}"#
        )
        let registrations = try await host.register(phones)
        for seq in 0..<3 as Range<Int64> { try await host.alert(seq, to: registrations) }
        let parked = try await gateway.programs.logged("lane parked")
        // Key id and team id are easily swapped: the reason names both, and the environment.
        #expect(
          parked["reason"]?.string == "InvalidProviderToken: key id SANDBOXKEY, team id ORCASANDBX, production",
          "\(parked)")
        _ = try await gateway.requests("apns", count: 30)
        let sandbox = try await gateway.log("apns").filter { $0["environment"]?.string == "sandbox" }
        #expect(sandbox.count == 30, "the other environment goes on")
        let ready = try await gateway.programs.operatorsSee("/ready")
        #expect(
          ready.status == 503 && ready.text.contains(#""apnsProduction":"parked: InvalidProviderToken"#), "\(ready)")
        #expect(ready.text.contains(#""apnsSandbox":"open""#), "\(ready)")
        let metrics = try await gateway.programs.operatorsSee("/metrics").text
        #expect(metrics.contains(#"orca_push_lane_parked{provider="apns",environment="production"} 1"#))
        #expect(metrics.contains(#"orca_push_lane_parked{provider="apns",environment="sandbox"} 0"#))

        try await gateway.forgetScript()
        let open = try await gateway.programs.logged("lane open again")
        #expect(try #require(open["refused"]?.integer) >= 1)
        try await gateway.drained()
        #expect(try await host.dead().isEmpty)
        #expect(try await gateway.outcomes().allSatisfy { $0.state == "sent" })
        let lines = await gateway.programs.stopAll()
        #expect(lines.count { $0.contains("lane parked") } == 1)
        #expect(lines.count { $0.contains("lane open again") } == 1)
        #expect(lines.count < 40, "lines tell changes of state, never deliveries: \(lines)")
      }
    }
  }

  private func rules(_ steps: [(phone: Phone, step: String)]) -> String {
    let rules = steps.map {
      #"{"token":"\#($0.phone.token)","provider":"\#($0.phone.provider)","steps":[\#($0.step)]}"#
    }
    return "{\"rules\":[\(rules.joined(separator: ","))]}"
  }
}
