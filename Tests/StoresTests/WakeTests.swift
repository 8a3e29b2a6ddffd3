import Contract
import Loop
import Postgres
import Support
import Testing

@testable import Stores

/// Who is told that something was admitted: the lanes of the routes that have something new, and no lane more than need be.
@Suite(.timeLimit(.minutes(5))) struct WakeTests {
  @Test(arguments: StoreKind.allCases)
  func `Admission tells the routes that it queued something for`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let android = try await under.phone(host, "1")
      let iphone = try await under.phone(host, "2", route: .apnsProduction)
      let dead = try await under.phone(host, "3", route: .apnsSandbox)
      try await under.kill(host, dead, route: .apnsSandbox)
      // Whoever looks into the file reads for nothing, so all are woken there.
      func told(_ routes: Set<Route>) -> Set<Route> { kind == .sqlite ? Set(Route.allCases) : routes }

      #expect(try await under.store.admit([Event.alert(1).admission(host, [android])]).routes == told([.fcm]))
      let both = [
        Event.alert(2).admission(host, [iphone, dead]), Event.alert(3).admission(host, ["unknown", android]),
      ]
      #expect(try await under.store.admit(both).routes == told([.fcm, .apnsProduction]))
      // A repeat, and a second send of a host in a group, are decided by themselves.
      #expect(try await under.store.admit([both[0]]).routes == told([.apnsProduction]))
      let second = [Event.alert(4), .alert(5)].map { $0.admission(host, [$0.seq == 4 ? android : iphone]) }
      #expect(try await under.store.admit(second).routes == told([.fcm, .apnsProduction]))

      #expect(try await under.store.admit([Event.alert(6).admission(host, [dead, "unknown"])]).routes == [])
      #expect(try await under.store.admit([]).routes == [])
    }
  }

  // A pooler in transaction mode passes no notifications on; workers look by themselves behind one.
  @Test(.enabled(if: !ScratchDatabase.isPooled))
  func `A notification names its routes, and one that cannot be understood means all of them`() async throws {
    try await ScratchDatabase.use { database in
      let (heard, source) = AsyncStream.makeStream(of: Set<Route>.self)
      var told = heard.makeAsyncIterator()
      let all = Set(Route.allCases)
      let watch = await PostgresWatch(url: database.url, applicationName: database.name)
      await watch.start { source.yield($0) }
      // Something may have been said before it listened.
      #expect(await told.next() == all)

      let signal = await PostgresSignal(url: database.url, applicationName: database.name)
      await signal.raise([.fcm], isCrowd: false)
      #expect(await told.next() == [.fcm])
      await signal.raise([.apnsSandbox, .apnsProduction], isCrowd: false)
      #expect(await told.next() == [.apnsSandbox, .apnsProduction])

      let pool = await PostgresPool(database.url, maximum: 1, applicationName: database.name) { _ in }
      for payload in ["", "1x", "19", "億"] {
        _ = try await pool.run(PostgresStatement("select pg_notify('push_queue', $1)"), [.text(payload)])
        #expect(await told.next() == all, "\(payload)")
      }
      // What comes in one transaction is heard at once.
      try await pool.script("begin; notify push_queue, '1'; notify push_queue, '3'; commit")
      var together: Set<Route> = []
      while together != [.apnsProduction, .fcm], let next = await told.next() { together.formUnion(next) }
      #expect(together == [.apnsProduction, .fcm])
      await pool.close()
      await watch.stop()
    }
  }

  @Test(.enabled(if: !ScratchDatabase.isPooled))
  func `Routes that are raised while a notification is under way go with the next`() async throws {
    try await ScratchDatabase.use { database in
      let (heard, source) = AsyncStream.makeStream(of: Set<Route>.self)
      var told = heard.makeAsyncIterator()
      let watch = await PostgresWatch(url: database.url, applicationName: database.name)
      await watch.start { source.yield($0) }
      _ = await told.next()
      let signal = await PostgresSignal(url: database.url, applicationName: database.name)
      await EventLoop.shared.start { @LoopActor in
        for route in Route.allCases { signal.raise([route], isCrowd: false) }
      }.value
      #expect(await told.next() == Set(Route.allCases))
      await watch.stop()
    }
  }

  @Test(.enabled(if: !ScratchDatabase.isPooled))
  func `A crowd's notifications are apart, and what comes alone waits for none of them`() async throws {
    try await ScratchDatabase.use { database in
      let (heard, source) = AsyncStream.makeStream(of: Set<Route>.self)
      var told = heard.makeAsyncIterator()
      let watch = await PostgresWatch(url: database.url, applicationName: database.name)
      await watch.start { source.yield($0) }
      _ = await told.next()
      let signal = await PostgresSignal(url: database.url, applicationName: database.name)
      let began = Monotonic.now
      for _ in 0..<200 {
        await signal.raise([.fcm], isCrowd: true)
        try await EventLoop.shared.sleep(milliseconds: 1)
      }
      // The last of them is told as well, so this one ends the count.
      await signal.raise([.apnsSandbox], isCrowd: true)
      var count = 1
      while let next = await told.next(), !next.contains(.apnsSandbox) { count += 1 }
      #expect(count >= 2)
      #expect(count <= Int(Monotonic.now.milliseconds(since: began)) / 10 + 2)

      // While the crowd's next one is not due. Nothing else could be told before it.
      for _ in 0..<20 {
        await EventLoop.shared.start { @LoopActor in
          signal.raise([.fcm], isCrowd: true)
          signal.raise([.apnsProduction], isCrowd: false)
        }.value
        #expect(await told.next() == [.fcm, .apnsProduction])
      }
      await watch.stop()
    }
  }
}
