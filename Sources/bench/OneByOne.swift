internal import Http
internal import Loop
internal import Postgres
internal import Tls

/// The pattern that claims one delivery, sends it and finishes it, in a number of lanes side by side: what a worker is
/// measured against. It has the gateway's own libraries, so that the pattern alone makes the difference.
///
/// The table `bench_deliveries` is made by whoever runs it.
@LoopActor
final class OneByOne {
  private static let claim = PostgresStatement(
    """
    update bench_deliveries set state = 1, owner = $1, lease = push_now_ms() + 30000
     where id = (select id from bench_deliveries where state = 0 and due <= push_now_ms() order by due, id limit 1
                 for update skip locked)
     returning id, device_no
    """)
  private static let device = PostgresStatement("select token, dead_at from push_devices where device_no = $1")
  private static let finish = PostgresStatement(
    "update bench_deliveries set state = 2, done_at = push_now_ms() where id = $1 and owner = $2")

  private let database: PostgresPool
  private let origin: Origin
  private let pool: Http2Pool
  private let lanes: Int
  private let seconds: Int
  private var sent = 0
  private var failure: (any Error)?

  /// Absent when a word is missing or out of bounds. `lanes` 1 to 64, `seconds` 1 to 3,600.
  init?(_ words: [String]) throws {
    guard words.count == 4, let url = Url(words[1]), url.origin.secure, let lanes = Int(words[2]),
      (1...64).contains(lanes), let seconds = Int(words[3]), (1...3_600).contains(seconds)
    else { return nil }
    database = PostgresPool(
      try PostgresUrl(words[0]), maximum: lanes, applicationName: "bench", limits: PostgresLimits(), log: { _ in })
    origin = url.origin
    pool = Http2Pool(origin: url.origin, tls: try TlsClientContext())
    self.lanes = lanes
    self.seconds = seconds
  }

  /// What a run gave, as a line of JSON: how many went out, and in how many seconds.
  func run() async throws -> String {
    let began = Monotonic.now
    let end = began.advanced(milliseconds: seconds * 1_000)
    let crew = (0..<lanes).map { lane in EventLoop.shared.start { await self.attend(Int32(lane), until: end) } }
    for lane in crew { await lane.value }
    if let failure { throw failure }
    let took = Double(Monotonic.now.milliseconds(since: began)) / 1_000
    pool.close()
    await database.close()
    return "{\"deliveries\":\(sent),\"seconds\":\(took)}"
  }

  private func attend(_ lane: Int32, until end: Monotonic) async {
    do { try await work(lane, until: end) } catch { failure = error }
  }

  private func work(_ lane: Int32, until end: Monotonic) async throws {
    while Monotonic.now < end {
      let claimed = try await database.run(Self.claim, [.int4(lane)])
      guard claimed.count == 1 else { return }
      let id = try claimed.int8(0, 0)
      let phone = try await database.run(Self.device, [.int8(try claimed.int8(0, 1))])
      let answer = try await pool.send(Sender.request(origin, token: try phone.text(0, 0)))
      guard answer.status == 200 else { throw BenchFailure("\(origin.authority) answers \(answer.status)") }
      _ = try await database.run(Self.finish, [.int8(id), .int4(lane)])
      sent += 1
    }
  }
}
