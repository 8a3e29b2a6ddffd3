internal import Glibc
internal import Http
internal import Loop
internal import Tls

/// Keeps a number of requests in flight, each like a push to Apple, until all have been answered.
@LoopActor
final class Sender {
  private let plan: SenderPlan
  private let pool: Http2Pool
  /// Made once, as h2load makes its own.
  private let request: Http2ClientRequest
  /// Not yet begun, and not yet answered.
  private var left = 0
  private var open = 0
  private var ended: CheckedContinuation<Void, Never>?
  private var failed = 0

  init(_ plan: SenderPlan) throws {
    self.plan = plan
    request = Self.request(plan.origin, token: "0")
    var limits = Http2PoolLimits()
    limits.connections = plan.connections
    limits.streamsPerConnection = plan.streams
    limits.growAfter = 1
    pool = Http2Pool(origin: plan.origin, tls: try TlsClientContext(), limits: limits)
  }

  /// What a run gave, as a line of JSON.
  func run() async throws -> String {
    try await connect()
    failed = 0
    let began = Monotonic.now
    let cpu = Self.cpu
    await send(plan.requests)
    let seconds = Double(Monotonic.now.milliseconds(since: began)) / 1_000
    let spent = (Self.cpu - cpu) / Double(plan.requests)
    pool.close()
    return
      "{\"requests\":\(plan.requests),\"failed\":\(failed),\"seconds\":\(seconds),\"cpuMicroseconds\":\(spent)}"
  }

  /// Sends until all connections are open, so that what is measured has a warm start, as h2load's figure has.
  private func connect() async throws {
    for _ in 0..<Self.warmUps where pool.connectionCount < plan.connections {
      failed = 0
      await send(plan.streams * plan.connections * 2)
      guard failed == 0 else { throw BenchFailure("\(plan.origin.authority) does not answer 200") }
    }
    guard pool.connectionCount == plan.connections else { throw BenchFailure("the connections could not be opened") }
  }
  private static let warmUps = 1_000

  private func send(_ count: Int) async {
    left = count
    open = count
    await withCheckedContinuation { waiter in
      ended = waiter
      for _ in 0..<plan.streams * plan.connections { sendNext() }
    }
  }

  private func sendNext() {
    guard left > 0 else { return }
    left -= 1
    pool.send(request) { [self] outcome in
      if (try? outcome.get().status) != 200 { failed += 1 }
      open -= 1
      if open == 0 { ended?.resume() }
      sendNext()
    }
  }

  /// Like a push to Apple for the phone with this token.
  static func request(_ origin: Origin, token: String) -> Http2ClientRequest {
    var head = HeaderBlock(method: "POST", origin: origin, path: "/3/device/\(token)")
    head.add("authorization", credential)
    head.add("apns-topic", "com.example.app")
    head.add("apns-push-type", "alert")
    head.add("apns-priority", "10")
    head.add("apns-expiration", "1800000000")
    head.add("apns-id", identity)
    return Http2ClientRequest(head: head, body: [UInt8](repeating: UInt8(ascii: "x"), count: 400))
  }

  /// As long as a provider token and an apns-id are.
  private static let credential = "bearer " + String(repeating: "x", count: 180)
  private static let identity = "00000000-0000-0000-0000-000000000000"

  /// What this process has used of the processors, in µs.
  private static var cpu: Double {
    var spent = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent)
    return Double(spent.tv_sec) * 1e6 + Double(spent.tv_nsec) / 1e3
  }
}
