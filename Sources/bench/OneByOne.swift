internal import Http
internal import Loop
internal import Postgres
internal import Tls

/// The pattern that claims one delivery, sends it and finishes it, in a number of lanes side by side, until none is left: what
/// a worker is measured against. It keeps a worker's promises (one delivery of a phone at a time, in the order of admission; a
/// lease and a fence; an outcome for each recipient) and has the gateway's own libraries, so that the pattern alone makes the
/// difference.
///
/// The table `bench_deliveries` is made by whoever runs it.
@LoopActor
final class OneByOne {
  private static let claim = PostgresStatement(
    """
    update bench_deliveries set state = 1, owner = $1, fence = fence + 1, lease = push_now_ms() + 30000
     where id = (select d.id from bench_deliveries d
                  where d.state = 0 and d.due <= push_now_ms()
                    and not exists (select from bench_deliveries o
                                     where o.device_no = d.device_no and o.state < 2 and o.id < d.id)
                  order by d.due, d.id limit 1 for update skip locked)
     returning id, fence, device_no, host_no, number
    """)
  private static let read = PostgresStatement(
    """
    select d.token, d.dead_at, e.payload, e.expires_at
      from push_devices d, push_events e
     where d.device_no = $1 and e.host_no = $2 and e.kind = 1 and e.number = $3
    """)
  private static let finish = PostgresStatement(
    """
    with f as (
      update bench_deliveries set state = 2 where id = $1 and owner = $2 and fence = $3 and state = 1
       returning host_no, number, device_no)
    update push_event_recipients r set done_at = push_now_ms(), outcome = 1
      from f where r.host_no = f.host_no and r.kind = 1 and r.number = f.number and r.device_no = f.device_no
    """)

  private let database: PostgresPool
  private let origin: Origin
  private let pool: Http2Pool
  private let lanes: Int
  private var sent = 0
  private var failure: (any Error)?

  /// Absent when a word is missing or out of bounds. `lanes` 1 to 64.
  init?(_ words: [String]) throws {
    guard words.count == 3, let url = Url(words[1]), url.origin.secure, let lanes = Int(words[2]),
      (1...64).contains(lanes)
    else { return nil }
    database = PostgresPool(
      try PostgresUrl(words[0]), maximum: lanes, applicationName: "bench", limits: PostgresLimits(), log: { _ in })
    origin = url.origin
    pool = Http2Pool(origin: url.origin, tls: try TlsClientContext())
    self.lanes = lanes
  }

  /// What a run gave, as a line of JSON: how many went out, and in how many seconds.
  func run() async throws -> String {
    let began = Monotonic.now
    let crew = (0..<lanes).map { lane in EventLoop.shared.start { await self.attend(Int32(lane)) } }
    for lane in crew { await lane.value }
    if let failure { throw failure }
    let took = Double(Monotonic.now.milliseconds(since: began)) / 1_000
    pool.close()
    await database.close()
    return "{\"deliveries\":\(sent),\"seconds\":\(took)}"
  }

  private func attend(_ lane: Int32) async {
    do { try await work(lane) } catch { failure = error }
  }

  /// Until nothing can be claimed: what then is left of a phone is claimed by the lane that sends to it.
  private func work(_ lane: Int32) async throws {
    while failure == nil {
      let claimed = try await database.run(Self.claim, [.int4(lane)])
      guard claimed.count == 1 else { return }
      let (id, fence) = (try claimed.int8(0, 0), try claimed.int4(0, 1))
      let (phone, host, number) = (try claimed.int8(0, 2), try claimed.int8(0, 3), try claimed.int8(0, 4))
      let push = try await database.run(Self.read, [.int8(phone), .int8(host), .int8(number)])
      let answer = try await pool.send(Sender.request(origin, token: try push.text(0, 0)))
      guard answer.status == 200 else { throw BenchFailure("\(origin.authority) answers \(answer.status)") }
      _ = try await database.run(Self.finish, [.int8(id), .int4(lane), .int4(fence)])
      sent += 1
    }
  }
}
