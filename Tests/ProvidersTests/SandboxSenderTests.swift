import Contract
import Http
import Json
import Keys
import Loop
import Operations
import Support
import Testing

@testable import Providers

/// The senders against the sandbox's Apple and Google, over TLS and HTTP/2. What a script changes counts for a whole
/// server, so each test has a sandbox of its own.
@Suite("Sending to the sandbox", .serialized)
@LoopActor
struct SandboxSenderTests {
  private func apns(
    _ sandbox: SandboxProcess, keyId: String = "SANDBOXKEY", key: Es256Key? = nil,
    _ change: (inout Http2PoolLimits) -> Void = { _ in }
  ) throws -> ApnsSender {
    var limits = Http2PoolLimits()
    change(&limits)
    return ApnsSender(
      route: .apnsProduction, origin: try Contract.Origin(sandbox.setting("ORCA_PUSH_APNS_PRODUCTION_URL")),
      topic: "com.stably.orca.mobile",
      credential: ApnsCredential(
        keyId: keyId, teamId: "ORCASANDBX", key: try key ?? Es256Key(pem: sandbox.setting("ORCA_PUSH_APNS_KEY"))),
      tls: sandbox.trust, limits: limits)
  }

  private func fcm(_ sandbox: SandboxProcess) throws -> FcmSender {
    FcmSender(
      origin: try Contract.Origin(sandbox.setting("ORCA_PUSH_FCM_URL")),
      project: sandbox.setting("ORCA_PUSH_FCM_PROJECT_ID"), alerts: .notification,
      tokens: MetadataServerTokens(origin: try Contract.Origin("http://" + sandbox.setting("GCE_METADATA_HOST"))),
      tls: sandbox.trust)
  }

  private func push(_ number: Int, _ route: Route = .apnsProduction, isProven: Bool = true) -> Push {
    let token = route == .fcm ? "fcm:" + String(repeating: "0", count: 30) + "\(number)" : "ab" + Self.hex(number)
    return Push.test(
      .full(), route, token: token, isProven: isProven,
      identity: (0..<16).map { UInt8(truncatingIfNeeded: number >> ($0 % 4 * 8)) },
      expiresAt: WallClock.milliseconds + 300_000)
  }

  private static func hex(_ number: Int) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// Sends all at once; the replies in their order.
  private func blast<Sender: ProviderSender & Sendable>(_ sender: Sender, _ pushes: [Push]) async -> [Reply] {
    let tasks = pushes.map { push in
      Task(executorPreference: EventLoop.shared) { await sender.send(push).reply }
    }
    var replies: [Reply] = []
    for task in tasks { replies.append(await task.value) }
    return replies
  }

  /// Sends one after another; whether all were accepted.
  private func sendInTurn(_ sender: ApnsSender, _ numbers: Range<Int>) async -> Bool {
    for number in numbers where !isAccepted(await sender.send(push(number)).reply) { return false }
    return true
  }

  private func isAccepted(_ reply: Reply) -> Bool { if case .accepted = reply { true } else { false } }

  private func count(_ sandbox: SandboxProcess, _ provider: String, _ status: Int64) async throws -> Int64 {
    try await sandbox.summary()["answers"]?.array?.reduce(0) { sum, answer in
      answer["provider"] == .string(provider) && answer["status"] == .integer(status)
        ? sum + (answer["count"]?.integer ?? 0) : sum
    } ?? 0
  }

  private func connections(_ sandbox: SandboxProcess) async throws -> [JsonValue] {
    try await sandbox.summary()["connections"]?.array ?? []
  }

  @Test("GOAWAY every 100 pushes, on connections that stay open, loses and repeats none, and shows one token")
  func goAways() async throws {
    let sandbox = try await SandboxProcess.start()
    try await sandbox.script(#"{"apns":{"goawayEvery":100,"goawayReason":"Shutdown","goawayKeepsOpen":true}}"#)
    let sender = try apns(sandbox)
    let senders = (0..<50).map { place in
      Task(executorPreference: EventLoop.shared) { await sendInTurn(sender, place * 20..<place * 20 + 20) }
    }
    for task in senders { #expect(await task.value) }
    let summary = try await sandbox.summary()
    #expect(summary["delivered"] == .integer(1_000) && summary["deliveredTokens"] == .integer(1_000))
    #expect(summary["providerTokens"] == .integer(1))
    // Each answers 100, and of the other 49 senders what was there by then: 1,000 of at most 149 each.
    #expect(try await connections(sandbox).count >= 7)
    await sender.close()
  }

  @Test("Tokens that were never accepted go over a connection of their own")
  func unproven() async throws {
    let sandbox = try await SandboxProcess.start()
    let sender = try apns(sandbox)
    _ = await blast(sender, (0..<20).map { push($0) } + (100..<120).map { push($0, isProven: false) })
    var seen: [Bool: Set<Int64>] = [:]
    for request in try await sandbox.requests() {
      let isProven = (request["token"]?.string ?? "") < "ab" + Self.hex(100)
      seen[isProven, default: []].insert(request["connection"]?.integer ?? 0)
    }
    #expect(seen[true]?.isEmpty == false && seen[false]?.count == 1)
    #expect(seen[true]?.isDisjoint(with: seen[false] ?? []) == true)
    await sender.close()
  }

  @Test("A connection that Apple allows no requests on any more is left for another")
  func barred() async throws {
    let sandbox = try await SandboxProcess.start()
    let sender = try apns(sandbox) { $0.barredFor = 50 }
    try await sandbox.script(
      #"""
      {"rules":[{"token":"\#(push(0).token)","steps":[{"action":"settings","maxConcurrentStreams":0,"times":1}]}]}
      """#)
    #expect(isAccepted(await sender.send(push(0, isProven: false)).reply))
    // The settings may come a moment after the answer; what is sent in between still goes the old way.
    for number in 1..<200 where try await connections(sandbox).count < 2 {
      #expect(isAccepted(await sender.send(push(number, isProven: false)).reply))
    }
    #expect(try await connections(sandbox).count == 2)
    await sender.close()
  }

  @Test(
    "A connection wedged by an expired token is left: every push is taken after one retry and one new token",
    arguments: ["fail", "hang"])
  func wedge(_ wedge: String) async throws {
    let sandbox = try await SandboxProcess.start()
    let sender = try apns(sandbox)
    #expect(isAccepted(await sender.send(push(0)).reply))
    try await sandbox.script(
      #"{"apns":{"wedge":"\#(wedge)"},"rules":[{"token":"*","steps":[{"reason":"ExpiredProviderToken"}]}]}"#)
    #expect(isAccepted(await sender.send(push(1)).reply))
    #expect(await blast(sender, (2..<50).map { push($0) }).allSatisfy(isAccepted))
    #expect(try await count(sandbox, "apns", 403) == 1)
    #expect(try await sandbox.summary()["providerTokens"] == .integer(2))
    await sender.close()
  }

  @Test("A clock that is hours off is named by the provider's own")
  func clockSkew() async throws {
    let sandbox = try await SandboxProcess.start()
    try await sandbox.script(#"{"apns":{"clockOffsetSeconds":7200},"fcm":{"clockOffsetSeconds":7200}}"#)
    let sender = try apns(sandbox)
    guard case .park(let reason) = await sender.send(push(0)).reply else {
      Issue.record("not parked")
      return
    }
    #expect(reason.hasPrefix("ExpiredProviderToken: clock skew: the provider's clock differs from this machine's by "))
    let seconds = reason.split(separator: " ").compactMap { Int($0) }
    #expect(seconds.count == 1 && (7_195...7_200).contains(seconds[0]))
    try await sandbox.script(#"{"apns":{"clockOffsetSeconds":0}}"#)
    #expect(isAccepted(await sender.send(push(1)).reply))
    await sender.close()
  }

  @Test("Hundreds of pushes at once ask for one access token, and for one more when it is revoked")
  func accessTokens() async throws {
    let sandbox = try await SandboxProcess.start()
    let sender = try fcm(sandbox)
    #expect(await blast(sender, (0..<300).map { push($0, .fcm) }).allSatisfy(isAccepted))
    #expect(try await sandbox.summary()["accessTokensIssued"] == .integer(1))
    try await sandbox.script(#"{"revokeAccessTokens":true}"#)
    #expect(await blast(sender, (300..<600).map { push($0, .fcm) }).allSatisfy(isAccepted))
    #expect(try await sandbox.summary()["accessTokensIssued"] == .integer(2))
    // Many pushes on few connections, none beyond what Google lets one have.
    let connections = try await connections(sandbox).filter { $0["provider"] == .string("fcm") }
    #expect((1...4).contains(connections.count))
    #expect(connections.allSatisfy { ($0["maxInFlight"]?.integer ?? 0) <= 100 })
    await sender.close()
  }

  @Test("A wait that the provider asks for is kept, in seconds or as a date")
  func retryAfter() async throws {
    let sandbox = try await SandboxProcess.start()
    let sender = try fcm(sandbox)
    let date = "Sun, 06 Nov 2039 08:49:37 GMT"
    try await sandbox.script(
      #"""
      {"rules":[{"token":"*","provider":"fcm","steps":[
        {"status":503,"reason":"UNAVAILABLE","headers":{"Retry-After":"25"}},
        {"status":503,"reason":"UNAVAILABLE","headers":{"Retry-After":"\#(date)"}},
        {"status":429,"reason":"QUOTA_EXCEEDED","headers":{"Retry-After":"7"}}]}]}
      """#)
    var waits: [Int64] = []
    for number in 0..<3 {
      guard case .again(_, let minimum, _) = await sender.send(push(number, .fcm)).reply else { continue }
      waits.append(minimum)
    }
    // Google's minute for 429 goes before a shorter wait; no wait is taken for longer than a day.
    #expect(waits == [25_000, 86_400_000, 60_000])
    await sender.close()
  }

  @Test("Access tokens that live for seconds are replaced before their end: no push is refused")
  func shortLives() async throws {
    let sandbox = try await SandboxProcess.start()
    try await sandbox.script(#"{"accessTokenLifetime":4}"#)
    let sender = try fcm(sandbox)
    let end = Monotonic.now.advanced(milliseconds: 9_000)
    var number = 0
    while Monotonic.now < end {
      #expect(await blast(sender, (number..<number + 20).map { push($0, .fcm) }).allSatisfy(isAccepted))
      number += 20
      try await EventLoop.shared.sleep(milliseconds: 100)
    }
    #expect(try await count(sandbox, "fcm", 401) == 0)
    let issued = try await sandbox.summary()["accessTokensIssued"]?.integer ?? 0
    // One in three seconds, when pushes come.
    #expect((3...4).contains(issued))
    await sender.close()
  }

  @Test("Another key sends over connections of its own, once the provider has taken one delivery with it")
  func rotation() async throws {
    let sandbox = try await SandboxProcess.start()
    let (old, other) = (try apns(sandbox), try Es256Key.generate())
    let pem = String(decoding: JsonText.string(other.publicKeyPem()), as: UTF8.self)
    let sender = RenewableSender(old) { _ in }
    #expect(await blast(sender, (0..<20).map { push($0) }).allSatisfy(isAccepted))
    await sender.replace(with: try apns(sandbox, keyId: "SECONDKEY0", key: other))
    // Apple does not know it yet.
    #expect(await blast(sender, (20..<40).map { push($0) }).allSatisfy(isAccepted))
    #expect(sender.refusal?.hasPrefix("InvalidProviderToken") == true)
    #expect(try await count(sandbox, "apns", 403) == 1)
    try await sandbox.script(
      #"{"keys":[{"keyId":"SECONDKEY0","publicKey":\#(pem)}],"requireKey":{"keyId":"SECONDKEY0"}}"#)
    #expect(await blast(sender, (40..<60).map { push($0) }).allSatisfy(isAccepted))
    #expect(sender.refusal == nil)
    #expect(await blast(sender, (60..<80).map { push($0) }).allSatisfy(isAccepted))
    var keys: [Int64: Set<String>] = [:]
    for request in try await sandbox.requests() {
      keys[request["connection"]?.integer ?? 0, default: []].insert(request["credential"]?["kid"]?.string ?? "")
    }
    #expect(keys.count >= 2 && keys.values.allSatisfy { $0.count == 1 })
    await sender.close()
  }

  @Test("A ceiling of pushes a second on each connection leads to more connections, four at the most")
  func rateCeiling() async throws {
    let sandbox = try await SandboxProcess.start()
    try await sandbox.script(#"{"apns":{"connectionRate":100}}"#)
    let sender = try apns(sandbox) {
      $0.crowd = 16
      $0.crowdedFor = 100
    }
    // As a lane sends: so many at a time, and the next as soon as one has ended.
    let senders = (0..<100).map { place in
      Task(executorPreference: EventLoop.shared) { await sendInTurn(sender, place * 8..<place * 8 + 8) }
    }
    for task in senders { #expect(await task.value) }
    #expect(sender.connectionCount == 4)
    #expect(try await connections(sandbox).count == 4)
    await sender.close()
  }
}
