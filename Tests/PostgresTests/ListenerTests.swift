import Glibc
import Loop
import Postgres
import Support
import Testing

@Suite("Listener", .timeLimit(.minutes(1)))
struct ListenerTests {
  enum Event: Equatable { case notified(Set<String>), listening, lost, restored }

  @Test("It is told at the start, at each bunch of notifications, and after each reconnection")
  func wakeUps() async throws {
    try await withPool { pool, database in
      let (events, source) = AsyncStream.makeStream(of: Event.self)
      var told = events.makeAsyncIterator()
      let listener = await PostgresListener(
        database.url, channel: "odd \"channel", applicationName: "\(database.name)-listener",
        onNotify: { source.yield(.notified($0)) }, onListening: { source.yield(.listening) },
        onLost: { _ in source.yield(.lost) }, onRestored: { source.yield(.restored) })
      await listener.start()
      #expect(await told.next() == .listening)
      let notify = PostgresStatement("select pg_notify('odd \"channel', $1)")
      _ = try await pool.run(notify, [.text("x")])
      #expect(await told.next() == .notified(["x"]))
      _ = try await pool.run(PostgresStatement("select pg_notify('other', '')"))

      try await ScratchDatabase.administer(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = '\(database.name)-listener'")
      #expect(await told.next() == .lost)
      #expect(await told.next() == .restored)
      #expect(await told.next() == .listening)
      _ = try await pool.run(notify, [.text("y")])
      #expect(await told.next() == .notified(["y"]))

      await listener.stop()
      _ = try await pool.run(notify, [.text("z")])
      await listener.start()
      #expect(await told.next() == .listening)
      await listener.stop()
    }
  }

  @Test("It keeps trying while the server is away, and says so once")
  func away() async throws {
    let (events, source) = AsyncStream.makeStream(of: Event.self)
    let door = await ClosingDoor()
    let listener = await PostgresListener(
      try PostgresUrl("host=127.0.0.1 port=\(door.port) user=u dbname=d sslmode=disable gssencmode=disable"),
      channel: "c", applicationName: "t",
      onNotify: { source.yield(.notified($0)) }, onListening: { source.yield(.listening) },
      onLost: { _ in source.yield(.lost) })
    await listener.start()
    await door.callers.reached(4)
    await listener.stop()
    await door.close()
    source.finish()
    var seen: [Event] = []
    for await event in events { seen.append(event) }
    #expect(seen == [.lost])
  }
}
