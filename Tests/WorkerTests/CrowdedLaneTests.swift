import Contract
import FoundationEssentials
import Http
import Keys
import Loop
import Operations
import Postgres
import Providers
import Stores
import Support
import Testing

@testable import worker

/// Lanes on one queue, each with connections to an Apple of its own.
@Suite("A lane without a way out", .serialized) @LoopActor
struct CrowdedLaneTests {
  private func apple(streams: Int) throws -> (server: HttpServer, sender: ApnsSender) {
    var limits = HttpServerLimits()
    limits.streams = streams
    let server = HttpServer(limits: limits) { _, _ in HttpResponse(status: 200) }
    let port = try server.listen(address: "127.0.0.1", port: 0)
    let sender = ApnsSender(
      route: .apnsSandbox, origin: try Contract.Origin("http://127.0.0.1:\(port)"), topic: "com.example.app",
      credential: ApnsCredential(keyId: "AAAAAAAAAA", teamId: "BBBBBBBBBB", key: try Es256Key.generate()), tls: nil)
    return (server, sender)
  }

  private func lane(_ store: any Store, _ sender: ApnsSender) -> Lane {
    let log = Log(program: "test", minimum: nil)
    return Lane(
      route: .apnsSandbox, sender: sender,
      context: LaneContext(
        store: store, capacity: 64, batch: 8, counts: DeliveryCounts(WorkerMetrics(Metrics())), log: log,
        faults: LogTally(log, "the queue could not be reached"), random: { 0 }))
  }

  /// Waits until `condition` holds, which changes on the loop alone. Two minutes without it are a failure.
  private func until(_ condition: () -> Bool) async throws {
    let end = Monotonic.now.advanced(milliseconds: 120_000)
    while !condition() {
      try #require(Monotonic.now < end, "waited in vain")
      try await EventLoop.shared.sleep(milliseconds: 5)
    }
  }

  /// Here a trigger says what a server says that cannot take a change for now. One connection, so that statements go in turn.
  @Test("While an outcome cannot be recorded nothing is claimed, and then all of it goes on")
  func stuckOutcome() async throws {
    try await ScratchDatabase.use { database in
      let store = PostgresStore(url: database.url, maximum: 1)
      _ = try await store.migrate()
      let pool = PostgresPool(database.url, maximum: 1, applicationName: "tests") { _ in }
      try await pool.script(
        """
        create function stuck() returns trigger language plpgsql as
          $$ begin raise exception 'x' using errcode = '53300'; end $$;
        create trigger stuck before update on push_event_recipients execute function stuck();
        """)
      let apple = try apple(streams: 10)
      let lane = lane(store, apple.sender)
      try await Queue.admit(store, try await Queue.host(store))
      lane.look()
      try await until { lane.context.settler.isStuck }
      try await Queue.admit(store, try await Queue.host(store, "B"))
      lane.look()
      // Behind whatever the lane asked for.
      _ = try await store.depth()
      let claimed = PostgresStatement("select count(*) from push_delivery_batches where owner is not null")
      #expect(try await pool.run(claimed).int8(0, 0) == 1)
      #expect(lane.held == 1)
      try await pool.script("drop trigger stuck on push_event_recipients")
      try await until { lane.held == 0 && !lane.context.settler.isStuck }
      lane.look()
      let sent = PostgresStatement("select count(*) from push_event_recipients where outcome = 1")
      while try await pool.run(sent).int8(0, 0) < 2 { try await EventLoop.shared.sleep(milliseconds: 5) }
      #expect(apple.server.acceptedConnections == 1)
      lane.drain()
      await apple.sender.close()
      apple.server.stop()
      await pool.close()
      await store.close()
    }
  }

  @Test("What no stream came free for goes back to the queue, and another worker gets it")
  func crowdedOut() async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "lane-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let store = try await SQLiteStore(directory: directory)
    try await Queue.admitOne(store)
    let (barred, open) = (try apple(streams: 0), try apple(streams: 10))
    let (stuck, other) = (lane(store, barred.sender), lane(store, open.sender))
    stuck.look()
    try await until { stuck.held == 1 }
    try await until { stuck.held == 0 }
    // Due by now, and not taken again by the one that could not send it.
    try await EventLoop.shared.sleep(milliseconds: Int(Outage.longest) + 500)
    #expect(stuck.held == 0)
    #expect(barred.server.acceptedConnections > 1)
    other.look()
    // Held from before there is a connection until the outcome is recorded.
    try await until { open.server.acceptedConnections == 1 }
    try await until { other.held == 0 }
    #expect(try await store.depth().deliveries == 0)
    for lane in [stuck, other] { lane.drain() }
    for apple in [barred, open] {
      await apple.sender.close()
      apple.server.stop()
    }
  }
}
