import Http
import Loop
import Testing
import Tls

extension ClientLiveTests {
  /// A server of our own behind TLS, and a pool that reaches it over a line with faults.
  @Suite("HTTP/2 pool over bad lines, with TLS") @LoopActor
  struct ClientWireTests {
    @LoopActor
    private struct Line {
      let server: HttpServer
      let wire: FaultyWire
      let pool: Http2Pool
      let origin: Origin
      let log = EventLog()

      init(
        streams: Int = 100, resolver: NameResolver = .system, _ change: (inout Http2PoolLimits) -> Void = { _ in },
        _ handler: @escaping HttpServer.Handler = { _, _ in HttpResponse(status: 200) }
      ) throws {
        let certificates = TestCertificates.shared
        var serverLimits = HttpServerLimits()
        serverLimits.streams = streams
        server = HttpServer(limits: serverLimits, handler: handler)
        let port = try server.listen(
          address: "127.0.0.1", port: 0,
          tls: TlsServerContext(
            certificateChainPem: certificates.server, privateKeyPem: certificates.key, alpn: ["h2"]))
        wire = FaultyWire(to: UInt16(port))
        origin = Origin(host: "127.0.0.1", port: wire.port)
        var limits = Http2PoolLimits()
        change(&limits)
        pool = Http2Pool(
          origin: origin, tls: try TlsClientContext(additionalRoots: certificates.ca), limits: limits,
          resolver: resolver
        ) { [log] in log.add($0) }
      }

      func pushes(_ count: Int) -> [Http2ClientRequest] { (0..<count).map { _ in push(origin) } }

      func stop() {
        pool.close()
        wire.stop()
        server.stop()
      }
    }

    @Test("A line that dies right after traffic is found dead by a PING, long before a request's deadline")
    func blackHoleInTraffic() async throws {
      let line = try Line({
        $0.unheard = 200
        $0.pingTimeout = 200
      })
      #expect(await line.pool.blast(line.pushes(20)).allSatisfy { $0.status == 200 })
      line.wire.swallow()
      #expect(await line.pool.answer(line.pushes(1)[0]).failure == .connectionLost)
      #expect(line.log.losses == ["the server answers nothing"])
      #expect(await line.pool.answer(line.pushes(1)[0]).status == 200)
      #expect(line.wire.connects == 2)
      line.stop()
    }

    @Test("A provider that is slow and alive keeps its connection")
    func slow() async throws {
      let line = try Line({
        $0.unheard = 50
        $0.pingTimeout = 1_500
      }) { _, _ in
        try? await EventLoop.shared.sleep(milliseconds: 3_000)
        return HttpResponse(status: 200)
      }
      #expect(await line.pool.blast(line.pushes(3)).allSatisfy { $0.status == 200 })
      #expect(line.log.losses.isEmpty && line.wire.connects == 1)
      line.stop()
    }

    @Test("Bodies of 4 KB at 40 ms there and back do not go one after another")
    func flowControl() async throws {
      let line = try Line(streams: 1_000, { $0.connections = 1 })
      line.wire.delay = 20
      #expect(await line.pool.answer(line.pushes(1)[0]).status == 200)
      let count = 1_000
      let start = Monotonic.now
      #expect(await line.pool.blast(line.pushes(count)).allSatisfy { $0.status == 200 })
      // 4 MB through whatever windows there are: a tenth of a round trip for each push at the most.
      #expect(Monotonic.now.milliseconds(since: start) < count * 40 / 10)
      #expect(line.wire.connects == 1)
      line.stop()
    }

    @Test("A server that keeps silent in the TLS handshake fails the connect in time")
    func silentHandshake() async throws {
      let hole = BoundSocket(backlog: 8)
      let origin = Origin(host: "127.0.0.1", port: hole.port)
      var limits = Http2PoolLimits()
      limits.connectTimeout = 300
      let pool = Http2Pool(origin: origin, tls: try TlsClientContext(), limits: limits)
      let expected = ConnectFailure(
        step: .timeout, text: "127.0.0.1:\(hole.port) does not finish the TLS handshake")
      #expect(await pool.answer(push(origin)).failure == .connect(expected))
      pool.close()
    }

    @Test("An old connection serves until its successor is open; each connection asks for the name again")
    func age() async throws {
      var lookUps = 0
      let resolver = NameResolver { host, port in
        lookUps += 1
        return .success([PeerAddress(address: host, port: port)].compactMap(\.self))
      }
      let line = try Line(
        resolver: resolver,
        {
          $0.connectionAge = 300
          $0.connections = 1
        }
      ) { _, _ in
        try? await EventLoop.shared.sleep(milliseconds: 2)
        return HttpResponse(status: 200)
      }
      var sent = 0
      let end = Monotonic.now.advanced(milliseconds: 20_000)
      while line.wire.connects < 4, Monotonic.now < end {
        #expect(await line.pool.answer(line.pushes(1)[0]).status == 200)
        #expect(line.pool.connectionCount >= 1, "after the first there is always one to send on")
        sent += 1
      }
      // One that closes may still be there when its successor's successor comes.
      #expect(sent > 4 && (2...3).contains(line.wire.mostOpen))
      #expect(lookUps == line.wire.connects)
      #expect(line.log.losses.isEmpty)
      line.stop()
    }

    @Test("Stream ids that run out lead to another connection, and to no loss")
    func streamIds() async throws {
      var seen: [String: Int] = [:]
      var most = 0
      let line = try Line({
        $0.connections = 1
        $0.lastStreamId = 99
      }) { request, exchange in
        seen[String(decoding: request.body, as: UTF8.self), default: 0] += 1
        most = max(most, exchange.requestsOnConnection)
        return HttpResponse(status: 200)
      }
      var requests = line.pushes(300)
      for number in requests.indices { requests[number].body = Array("\(number)".utf8) }
      #expect(await line.pool.blast(requests).allSatisfy { $0.status == 200 })
      #expect(seen.count == 300 && seen.values.allSatisfy { $0 == 1 })
      #expect(most == 50 && line.wire.connects >= 6)
      line.stop()
    }

    @Test("A ceiling of requests a second on each connection leads to more connections, up to the bound")
    func rateCeiling() async throws {
      var next: [Int: Monotonic] = [:]
      let line = try Line(
        streams: 1_000,
        {
          $0.crowd = 16
          $0.crowdedFor = 100
          $0.connections = 3
        }
      ) { _, exchange in
        let now = Monotonic.now
        let turn = max(now, next[exchange.connectionId] ?? now)
        next[exchange.connectionId] = turn.advanced(milliseconds: 5)
        try? await EventLoop.shared.sleep(milliseconds: turn.milliseconds(since: now))
        return HttpResponse(status: 200)
      }
      // 200 a second on a connection; 64 at a time for longer than one connection needs to be called crowded.
      let senders = (0..<64).map { _ in
        Task(executorPreference: EventLoop.shared) {
          var isWell = true
          for _ in 0..<10 { isWell = await line.pool.answer(push(line.origin)).status == 200 && isWell }
          return isWell
        }
      }
      for sender in senders { #expect(await sender.value) }
      #expect(line.wire.connects == 3)
      line.stop()
    }

    @Test("A server that is away for a while sees few connects, and traffic when it is back")
    func outage() async throws {
      let port = BoundSocket(backlog: nil).port
      let bench = Bench(port) {
        $0.firstPause = 20
        $0.longestPause = 200
      }
      let end = Monotonic.now.advanced(milliseconds: 1_000)
      while Monotonic.now < end {
        let answers = await bench.pool.blast(bench.numbered(10))
        #expect(answers.allSatisfy { if case .connect = $0.failure { true } else { false } })
      }
      // 20, 40, 80, 160 ms and so on, each up to a quarter shorter.
      #expect((2...14).contains(bench.log.connectFailures.count))
      let server = ScriptedServer(port: port) { connection, event in
        switch event {
        case .opened: connection.settings(streams: 100)
        case .request(let stream, _): connection.answer(stream)
        }
      }
      #expect(await bench.pool.answer(bench.numbered(1)[0]).status == 200)
      #expect(server.connections.count == 1)
      let longest = Http2PoolLimits().longestPause
      #expect(longest + Http2PoolLimits().connectTimeout <= 10_000, "back within 10 s")
      bench.pool.close()
      server.stop()
    }

    @Test("GOAWAY from a server that then neither answers nor closes holds up nobody else")
    func goAwayAndSilence() async throws {
      let server = ScriptedServer { connection, event in
        switch event {
        case .opened: connection.settings(streams: 100)
        case .request(let stream, _):
          if connection.number > 0 { return connection.answer(stream) }
          if connection.requests == 3 { connection.goAway(last: stream, "Shutdown") }
        }
      }
      let bench = Bench(server.port)
      let hung = Task(executorPreference: EventLoop.shared) {
        await bench.pool.blast(bench.numbered(3, deadline: 1_500))
      }
      await until { bench.log.goAways.count == 1 }
      // Its successor is opened while the three still wait.
      await until { server.connections.count == 2 && bench.pool.connectionCount == 1 }
      #expect(bench.pool.inFlight == 3)
      #expect(await bench.pool.blast(bench.numbered(50)).allSatisfy { $0.status == 200 })
      #expect(await hung.value.allSatisfy { $0.failure == .timedOut(sent: true) })
      await until { !server.connections[0].isOpen }
      #expect(!server.connections[0].isOpen && server.connections[0].requests == 3)
      bench.pool.close()
      server.stop()
    }

    @Test("An address that swallows everything costs a moment when another one answers")
    func deadAddress() async throws {
      // A full backlog drops what comes, as a dead route does.
      let hole = BoundSocket(backlog: 0)
      let fill = (0..<4).map { _ in BoundSocket.Caller(hole.port) }
      let server = ScriptedServer { connection, event in
        switch event {
        case .opened: connection.settings(streams: 100)
        case .request(let stream, _): connection.answer(stream)
        }
      }
      let resolver = NameResolver { _, _ in
        .success(
          [
            PeerAddress(address: "127.0.0.1", port: hole.port), PeerAddress(address: "127.0.0.1", port: server.port),
          ].compactMap(\.self))
      }
      // The best of three, since the machine may be busy.
      var quickest = Int.max
      for _ in 0..<3 {
        let bench = Bench(server.port, host: "push.example.com", resolver: resolver)
        let start = Monotonic.now
        #expect(await bench.pool.answer(bench.numbered(1)[0]).status == 200)
        quickest = min(quickest, Monotonic.now.milliseconds(since: start))
        bench.pool.close()
      }
      #expect(quickest < 1_000)
      withExtendedLifetime((hole, fill)) {}
      server.stop()
    }
  }
}
