import Foundation
import Json
import Testing

/// Every answer of `provider-outcomes.json`, given by the sandbox to the real worker, with what the store and the sandbox
/// tell of the consequence.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ProviderOutcomeTests {
  /// An answer, and what it must lead to.
  private struct Row {
    let number: Int
    let json: JsonValue
    let want: String

    var isApple: Bool { json["provider"]?.string == "apns" }
    var isAboutTheCredential: Bool { ["park", "refresh", "reconnect"].contains(want) }
    var phone: Phone { Phone(isApple ? .production : .android, number, of: 7) }
    /// Seconds before it may come again.
    var pause: Int64 { Int64(want.split(separator: "=").last.flatMap { Int64($0) } ?? 1) }

    /// The sandbox gives this answer to the phone's next push, and accepts those after it.
    var rule: String {
      var step: JsonObject = ["status": json["status"] ?? .null]
      if let raw = json["rawBody"] { step = JsonObject(step.members + [(key: "body", value: raw)]) }
      if let body = json["body"] { step = JsonObject(step.members + [(key: "body", value: body)]) }
      if let headers = json["headers"] { step = JsonObject(step.members + [(key: "headers", value: headers)]) }
      let text = String(decoding: JsonText.render(.object(step)), as: UTF8.self)
        .replacing("\"before-registration\"", with: "1000")
      return #"{"token":"\#(phone.token)","provider":"\#(phone.provider)","steps":[\#(text)]}"#
    }

    static let all: [Row] = {
      let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "ProvidersTests/provider-outcomes.json")
      let rows = (try? JsonReader.read(Array(Data(contentsOf: file))))?.array ?? []
      return rows.enumerated().map { Row(number: $0, json: $1, want: $1["want"]?.string ?? "") }
    }()
  }

  @Test("Each answer of a provider has its outcome", arguments: Gateway.StoreKind.allCases)
  func outcomes(kind: Gateway.StoreKind) async throws {
    try #require(Row.all.count == 43)
    try await Gateway.run(kind) { gateway in
      try await PythonHost.run(on: gateway) { host in
        let registrations = try await host.register(Row.all.map(\.phone))
        try await gateway.script("{\"rules\":[\(Row.all.map(\.rule).joined(separator: ","))]}")
        try await pushes(Row.all.filter { !$0.isAboutTheCredential }, registrations, host, gateway)
        try await credentials(Row.all.filter(\.isAboutTheCredential), registrations, host, gateway)
      }
    }
  }

  /// Answers about a push or a token, all at once.
  private func pushes(
    _ rows: [Row], _ registrations: [String], _ host: PythonHost, _ gateway: Gateway
  ) async throws {
    let said = try await host.alert(1, to: rows.map { registrations[$0.number] })
    #expect(said == rows.map { _ in "queued" })
    // Google's pauses are long: they are read off the queue, and not waited for.
    let patient = rows.filter { $0.want.hasPrefix("retry>=") }
    let due = try await gateway.retries(patient.map { registrations[$0.number] })
    let first = try await log(gateway)
    for row in patient {
      let asked = try #require(first[row.phone.token]?.first?["time"]?.integer)
      #expect(try #require(due[registrations[row.number]]) - asked >= row.pause * 1_000, "\(row.json)")
    }
    try await gateway.hastenRetries()
    try await gateway.drained()

    let log = try await log(gateway)
    let states = Dictionary(uniqueKeysWithValues: try await gateway.outcomes().map { ($0.registration, $0.state) })
    let dead = try await host.dead()
    for row in rows {
      let registration = registrations[row.number]
      let isRetried = row.want.hasPrefix("retry")
      #expect(states[registration] == (isRetried ? "sent" : row.want), "\(row.json)")
      #expect(dead.contains(registration) == (row.want == "dead"), "\(row.json)")
      let tries = log[row.phone.token] ?? []
      #expect(tries.count == (isRetried ? 2 : 1), "\(row.json)")
      if isRetried, tries.count == 2 { expectSame(tries[0], tries[1], row) }
    }
  }

  /// Answers about the credential, one by one: each must be got over before the next.
  private func credentials(
    _ rows: [Row], _ registrations: [String], _ host: PythonHost, _ gateway: Gateway
  ) async throws {
    for (seq, row) in rows.enumerated() {
      let registration = registrations[row.number]
      #expect(try await host.alert(Int64(100 + seq), to: [registration]) == ["queued"])
      if row.want == "park" {
        let reason = try #require(try await gateway.programs.logged("lane parked")["reason"]?.string)
        // Apple's own words, or Google's status: what an operator can look up.
        let words = row.json["body"]?["reason"]?.string ?? row.json["body"]?["error"]?["status"]?.string ?? ""
        let code = row.json["body"]?["error"]?["details"]?.array?.first?["errorCode"]?.string
        #expect(reason.hasPrefix(code ?? words), "\(reason) for \(row.json)")
        _ = try await gateway.programs.logged("lane open again")
      }
      try await gateway.drained()
      let tries = try await log(gateway)[row.phone.token] ?? []
      try #require(tries.count == 2, "\(row.json)")
      expectSame(tries[0], tries[1], row)
      if row.isApple, row.want != "park" {
        #expect(tries[0]["connection"] != tries[1]["connection"], "a new connection is needed: \(row.json)")
        let digests = tries.map { $0["credential"]?["digest"] }
        #expect((digests[0] != digests[1]) == (row.want == "refresh"), "\(row.json)")
      }
    }
    #expect(try await gateway.outcomes().filter { Int($0.seq) ?? 0 >= 100 }.allSatisfy { $0.state == "sent" })
  }

  private func expectSame(_ first: JsonValue, _ second: JsonValue, _ row: Row) {
    #expect(second["answer"]?["status"]?.integer == 200, "\(row.json)")
    #expect(first["headers"]?["apns-id"] == second["headers"]?["apns-id"], "\(row.json)")
    #expect(first["headers"]?["apns-collapse-id"] == second["headers"]?["apns-collapse-id"], "\(row.json)")
    if row.isApple { #expect(first["body"] == second["body"], "\(row.json)") }
    #expect(first["body"]?["message"]?["data"] == second["body"]?["message"]?["data"], "\(row.json)")
  }

  /// What each phone's pushes were, by token.
  private func log(_ gateway: Gateway) async throws -> [String: [JsonValue]] {
    Dictionary(grouping: try await gateway.log("apns") + gateway.log("fcm")) { request in
      request["body"]?["message"]?["token"]?.string ?? request["token"]?.string ?? ""
    }
  }
}
