import Glibc
import Http
import Loop
import Testing

extension ClientLiveTests {
  @Suite("HTTP/2 pool and broken networks") @LoopActor
  struct ClientFaultTests {
    /// Answers each request but those whose numbers are in `but`.
    func server(streams: Int = 100, port: UInt16 = 0, but held: Set<String> = []) -> ScriptedServer {
      ScriptedServer(port: port) { connection, event in
        switch event {
        case .opened: connection.settings(streams: streams)
        case .request(let stream, let body): if !held.contains(body) { connection.answer(stream) }
        }
      }
    }

    @Test("A request that is not answered in time fails alone, and its stream is given back")
    func timeout() async {
      let server = server(but: ["1"])
      let bench = Bench(server.port) { $0.connections = 1 }
      #expect(await bench.pool.answer(bench.numbered(1)[0]).status == 200)
      var requests = bench.numbered(3)
      requests[1].deadline = 30
      let answers = await bench.pool.blast(requests)
      #expect(answers.map(\.failure) == [nil, .timedOut(sent: true), nil])
      await until { bench.pool.inFlight == 0 }
      #expect(server.connections[0].resets == [5])
      #expect(await bench.pool.answer(bench.numbered(1)[0]).status == 200)
      #expect(server.connections.count == 1)
      bench.pool.close()
      server.stop()
    }

    @Test("A connection that answers nothing any more is given up, and the next request goes elsewhere")
    func hungConnection() async {
      let server = ScriptedServer { connection, event in
        switch event {
        case .opened: connection.settings(streams: 100)
        case .request(let stream, _): if connection.number > 0 { connection.answer(stream) }
        }
      }
      let bench = Bench(server.port) { $0.pingTimeout = 200 }
      var requests = bench.numbered(5)
      for number in 0..<3 { requests[number].deadline = 300 }
      let answers = await bench.pool.blast(requests)
      let late = Http2Failure.timedOut(sent: true)
      #expect(answers.map(\.failure) == [late, late, late, .connectionLost, .connectionLost])
      #expect(bench.log.losses == ["the server answers nothing"])
      #expect(await bench.pool.answer(bench.numbered(1)[0]).status == 200)
      bench.pool.close()
      server.stop()
    }

    @Test("After silence a request finds out early that the connection is a black hole")
    func blackHole() async {
      let server = server()
      let bench = Bench(server.port) {
        $0.silence = 0
        $0.pingTimeout = 1_000
      }
      #expect(await bench.pool.answer(bench.numbered(1)[0]).status == 200)
      server.connections[0].goDeaf()
      // Not at its own deadline.
      #expect(await bench.pool.answer(bench.numbered(1, deadline: 60_000)[0]).failure == .connectionLost)
      #expect(await bench.pool.answer(bench.numbered(1)[0]).status == 200)
      #expect(server.connections.count == 2)
      bench.pool.close()
      server.stop()
    }

    @Test("A server that goes away without a word is quoted with its code", arguments: ["", "Shutdown"])
    func goAwayWords(said: String) async {
      let server = ScriptedServer { connection, event in
        switch event {
        case .opened: connection.settings(streams: 1)
        case .request(let stream, _):
          connection.goAway(last: stream, code: 11, said)
          connection.close()
        }
      }
      let bench = Bench(server.port)
      let failure = await bench.pool.answer(bench.numbered(1)[0]).failure
      #expect(failure == .goneAway(said.isEmpty ? "HTTP/2 error 11" : said))
      bench.pool.close()
      server.stop()
    }

    @Test("A peer that stops reading holds up nobody for ever")
    func deaf() async {
      let server = server(streams: 2_000)
      let bench = Bench(server.port) {
        $0.connections = 1
        $0.pingTimeout = 500
      }
      #expect(await bench.pool.answer(bench.numbered(1)[0]).status == 200)
      server.connections[0].openWindow()
      server.connections[0].goDeaf()
      // More than the kernel's buffers take.
      var large = push(bench.origin, deadline: 1_000)
      large.body = Array(repeating: 0x61, count: 16_000)
      let answers = await bench.pool.blast(Array(repeating: large, count: 1_200))
      #expect(answers.filter { $0.failure == .timedOut(sent: true) }.count > 10)
      #expect(answers.filter { $0.failure == .timedOut(sent: false) }.count > 10)
      #expect(bench.log.losses == ["the server answers nothing"])
      #expect(await bench.pool.answer(bench.numbered(1)[0]).status == 200)
      #expect(server.connections.count == 2)
      bench.pool.close()
      server.stop()
    }

    @Test("An idle connection is pinged, and dropped when the peer keeps silent")
    func idlePing() async {
      let server = server()
      let bench = Bench(server.port) {
        $0.idlePing = 20
        $0.pingTimeout = 1_000
      }
      #expect(await bench.pool.answer(bench.numbered(1)[0]).status == 200)
      await until { server.connections[0].pings >= 3 }
      #expect(bench.pool.connectionCount == 1)
      server.connections[0].answersPings = false
      await until { bench.pool.connectionCount == 0 }
      #expect(bench.log.losses == ["the server answers nothing"])
      bench.pool.close()
      server.stop()
    }

    @Test("A connection that breaks fails what was sent as lost, with the server's reason where it gave one")
    func breaks() async {
      for reason in [nil, "BadCertificate"] {
        let server = ScriptedServer { connection, event in
          switch event {
          case .opened: connection.settings(streams: 10)
          case .request(let stream, _):
            guard connection.requests == 2 else { return }
            if let reason { connection.goAway(last: stream, code: 1, reason) }
            connection.close()
          }
        }
        let bench = Bench(server.port)
        let answers = await bench.pool.blast(bench.numbered(2))
        let expected = reason.map { Http2Failure.goneAway($0) } ?? .connectionLost
        #expect(answers.map(\.failure) == [expected, expected])
        bench.pool.close()
        server.stop()
      }
    }

    @Test("After GOAWAY nothing more is sent on the connection, though the server keeps it open")
    func goAwayAndOpen() async {
      let server = ScriptedServer { connection, event in
        switch event {
        case .opened: connection.settings(streams: 10)
        case .request(let stream, _):
          connection.goAway(last: stream)
          connection.answer(stream)
        }
      }
      let bench = Bench(server.port)
      for _ in 0..<5 { #expect(await bench.pool.answer(bench.numbered(1)[0]).status == 200) }
      let used = server.connections.filter { $0.requests > 0 }
      #expect(used.map(\.requests) == [1, 1, 1, 1, 1])
      await until { used.allSatisfy { !$0.isOpen } }
      #expect(used.allSatisfy { !$0.isOpen })
      bench.pool.close()
      server.stop()
    }

    @Test("A refused connect fails who waits, and the first request after recovery goes through")
    func recovery() async {
      // Bound, so that nobody else gets it; whoever comes is refused until somebody listens.
      let mine = BoundSocket(backlog: nil)
      let port = mine.port
      let bench = Bench(port)
      let answers = await bench.pool.blast(bench.numbered(10))
      let expected = ConnectFailure(step: .tcp, text: "127.0.0.1:\(port) Connection refused")
      #expect(answers.allSatisfy { $0.failure == .connect(expected) })
      #expect(bench.log.connectFailures == [expected])
      #expect(await bench.pool.answer(bench.numbered(1)[0]).failure == .connect(expected))
      let server = server(port: port)
      withExtendedLifetime(mine) {}
      #expect(await bench.pool.answer(bench.numbered(1)[0]).status == 200)
      bench.pool.close()
      server.stop()
    }

    @Test("A dead IPv6 address beside a live IPv4 one costs a moment, no request", arguments: ["::1", "100::1"])
    func deadV6(dead: String) async {
      let server = server()
      let resolver = NameResolver { _, port in
        .success(
          [PeerAddress(address: dead, port: port), PeerAddress(address: "127.0.0.1", port: port)].compactMap(\.self))
      }
      let bench = Bench(server.port, host: "push.example.com", resolver: resolver)
      #expect(await bench.pool.answer(bench.numbered(1)[0]).status == 200)
      bench.pool.close()
      server.stop()
    }

    @Test("A server that accepts and says nothing fails the connect in time, and says at which step")
    func silentServer() async {
      let hole = BoundSocket(backlog: 8)
      let bench = Bench(hole.port) { $0.connectTimeout = 400 }
      let failure = ConnectFailure(step: .settings, text: "127.0.0.1:\(hole.port) sends no HTTP/2 settings")
      #expect(await bench.pool.answer(bench.numbered(1)[0]).failure == .connect(failure))
      #expect(bench.pool.freeCapacity == 0 || bench.pool.connectionCount == 0)
      bench.pool.close()
    }

    @Test("An address that does not answer at all is given up in time")
    func silentAddress() async {
      // A full backlog drops what comes.
      let hole = BoundSocket(backlog: 0)
      var fill: [BoundSocket.Caller] = []
      for _ in 0..<4 { fill.append(BoundSocket.Caller(hole.port)) }
      let bench = Bench(hole.port) { $0.connectTimeout = 400 }
      let failure = ConnectFailure(step: .timeout, text: "127.0.0.1:\(hole.port) does not answer")
      #expect(await bench.pool.answer(bench.numbered(1)[0]).failure == .connect(failure))
      bench.pool.close()
      fill.removeAll()
    }

    @Test("A name that does not resolve is named")
    func unknownName() async {
      let bench = Bench(443, host: "no-such-host.invalid") { $0.connectTimeout = 5_000 }
      guard case .connect(let failure) = await bench.pool.answer(bench.numbered(1)[0]).failure else {
        return #expect(Bool(false), "must fail to connect")
      }
      #expect(failure.step == .dns)
      #expect(failure.text.hasPrefix("no-such-host.invalid: "))
      bench.pool.close()
    }

    @Test("A resolver that never answers is given up in time")
    func deadResolver() async {
      let never = OneAnswer()
      let bench = Bench(443, host: "example.com", resolver: NameResolver { _, _ in await never.wait() }) {
        $0.connectTimeout = 400
      }
      let failure = ConnectFailure(step: .dns, text: "example.com: the resolver does not answer")
      #expect(await bench.pool.answer(bench.numbered(1)[0]).failure == .connect(failure))
      never.give(.success([]))
      bench.pool.close()
    }

    @Test("A server that speaks something else is no HTTP/2 server")
    func otherProtocol() async {
      let server = ScriptedServer { connection, event in
        if case .opened = event { connection.say("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n") }
      }
      let bench = Bench(server.port)
      guard case .connect(let failure) = await bench.pool.answer(bench.numbered(1)[0]).failure else {
        return #expect(Bool(false), "must fail to connect")
      }
      #expect(failure.step == .settings)
      bench.pool.close()
      server.stop()
    }
  }
}

@LoopActor
private final class OneAnswer {
  private var waiter: CheckedContinuation<Result<[PeerAddress], ConnectFailure>, Never>?
  func wait() async -> Result<[PeerAddress], ConnectFailure> { await withCheckedContinuation { waiter = $0 } }
  func give(_ answer: Result<[PeerAddress], ConnectFailure>) { waiter?.resume(returning: answer) }
}
