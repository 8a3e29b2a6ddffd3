import Glibc
import Http
import Loop
import Testing

extension ClientLiveTests {
  @Suite("HTTP/2 pool") @LoopActor
  struct ClientPoolTests {
    @Test("GOAWAY every 500 streams, at once, loses and repeats nothing")
    func goAwayBlast() async {
      var seen: [String: Int] = [:]
      let server = ScriptedServer { connection, event in
        switch event {
        case .opened: connection.settings(streams: 100)
        case .request(let stream, let body):
          // Streams above the last one named are dropped unseen.
          guard connection.requests <= 500 else { return }
          seen[body, default: 0] += 1
          if connection.requests == 500 { connection.goAway(last: stream, #"{"reason":"Shutdown"}"#) }
          connection.answer(stream)
        }
      }
      let bench = Bench(server.port) { $0.connections = 1 }
      let answers = await bench.pool.blast(bench.numbered(5_000))
      #expect(answers.allSatisfy { $0.status == 200 })
      #expect(seen.count == 5_000 && seen.values.allSatisfy { $0 == 1 })
      #expect(bench.log.goAways.count >= 9)
      #expect(bench.log.goAways.allSatisfy { $0 == #"{"reason":"Shutdown"}"# })
      bench.pool.close()
      server.stop()
    }

    @Test("Refused streams are sent again at once, and are no attempt")
    func refused() async {
      var refusals = 0
      let server = ScriptedServer { connection, event in
        switch event {
        case .opened: connection.settings(streams: 10)
        case .request(let stream, _):
          if connection.requests % 3 == 1 {
            refusals += 1
            connection.reset(stream, 7)
          } else {
            connection.answer(stream)
          }
        }
      }
      let bench = Bench(server.port) { $0.resends = 20 }
      let answers = await bench.pool.blast(bench.numbered(100))
      #expect(answers.allSatisfy { $0.status == 200 })
      #expect(refusals > 20)
      bench.pool.close()
      server.stop()
    }

    @Test("A request that is refused again and again fails as refused")
    func refusedForEver() async {
      let server = ScriptedServer { connection, event in
        switch event {
        case .opened: connection.settings(streams: 10)
        case .request(let stream, _): connection.reset(stream, 7)
        }
      }
      let bench = Bench(server.port) { $0.resends = 5 }
      let answers = await bench.pool.blast(bench.numbered(1))
      #expect(answers[0].failure == .refused)
      #expect(server.connections.map(\.requests).reduce(0, +) == 6)
      bench.pool.close()
      server.stop()
    }

    @Test("Other resets fail that request alone, with their code")
    func reset() async {
      let server = ScriptedServer { connection, event in
        switch event {
        case .opened: connection.settings(streams: 10)
        case .request(let stream, let body): body == "1" ? connection.reset(stream, 2) : connection.answer(stream)
        }
      }
      let bench = Bench(server.port)
      let answers = await bench.pool.blast(bench.numbered(3))
      #expect(answers.map(\.failure) == [nil, .reset(2), nil])
      bench.pool.close()
      server.stop()
    }

    @Test("A limit of one stream until the first answer, then a thousand, is obeyed")
    func limitGrows() async {
      let server = ScriptedServer { connection, event in
        switch event {
        case .opened: connection.settings(streams: 1)
        case .request(let stream, _):
          if connection.requests == 1 { connection.settings(streams: 1_000) }
          connection.answer(stream)
        }
      }
      let bench = Bench(server.port) { $0.connections = 1 }
      let answers = await bench.pool.blast(bench.numbered(3_000))
      #expect(answers.allSatisfy { $0.status == 200 })
      #expect(!server.limitBroken)
      #expect(server.mostStreams > 1)
      #expect(server.connections.count == 1)
      bench.pool.close()
      server.stop()
    }

    @Test("A limit that shrinks while requests are in flight is never exceeded")
    func limitShrinks() async {
      var held: [Int32] = []
      let server = ScriptedServer { connection, event in
        switch event {
        case .opened: connection.settings(streams: 100)
        case .request(let stream, _):
          held.append(stream)
          if connection.requests == 100 { connection.settings(streams: 3) }
          // From the hundredth on, answer the oldest: the client must not refill beyond three.
          if connection.requests >= 100 {
            while held.count > 0 { connection.answer(held.removeFirst()) }
          }
        }
      }
      let bench = Bench(server.port) { $0.connections = 1 }
      let answers = await bench.pool.blast(bench.numbered(400))
      #expect(answers.allSatisfy { $0.status == 200 })
      #expect(!server.limitBroken)
      #expect(server.mostStreams == 100)
      #expect(bench.pool.freeCapacity == 3)
      bench.pool.close()
      server.stop()
    }

    @Test("Requests that wait make the pool open more connections, up to its bound")
    func growth() async {
      let server = ScriptedServer { connection, event in
        switch event {
        case .opened: connection.settings(streams: 1)
        case .request(let stream, _):
          EventLoop.shared.after(milliseconds: 5) { connection.answer(stream) }
        }
      }
      let bench = Bench(server.port) {
        $0.connections = 3
        $0.growAfter = 10
      }
      let answers = await bench.pool.blast(bench.numbered(40))
      #expect(answers.allSatisfy { $0.status == 200 })
      #expect(server.connections.count == 3)
      #expect(server.connections.allSatisfy { $0.requests > 1 })
      bench.pool.close()
      server.stop()
    }

    @Test("A connection on which the server allows no requests any more is replaced when one waits")
    func barred() async {
      let server = ScriptedServer { connection, event in
        switch event {
        case .opened: connection.settings(streams: 1)
        case .request(let stream, _):
          connection.answer(stream)
          if connection.number == 0 { connection.settings(streams: 0) }
        }
      }
      let bench = Bench(server.port) {
        $0.connections = 1
        $0.barredFor = 100
      }
      #expect(await bench.pool.answer(bench.numbered(1)[0]).status == 200)
      await until { bench.pool.freeCapacity == 0 }
      #expect(bench.pool.connectionCount == 1)
      let answers = await bench.pool.blast(bench.numbered(3))
      #expect(answers.allSatisfy { $0.status == 200 })
      #expect(server.connections.map(\.requests) == [1, 3])
      #expect(bench.log.losses == ["the server allows no requests"])
      await until { !server.connections[0].isOpen }
      bench.pool.close()
      server.stop()
    }

    @Test("A server that allows requests on none of its connections is not stormed, and none of them is lost for good")
    func allBarred() async {
      let limit = ServerBox<Int>()
      let server = ScriptedServer { connection, event in
        switch event {
        case .opened: connection.settings(streams: limit.value ?? 0)
        case .request(let stream, _): connection.answer(stream)
        }
      }
      let bench = Bench(server.port) {
        $0.connections = 1
        $0.barredFor = 10
        $0.firstPause = 200
        $0.longestPause = 200
        $0.connectInterval = 1
      }
      let began = Monotonic.now
      #expect(await bench.pool.answer(bench.numbered(1, deadline: 2_000)[0]).failure == .timedOut(sent: false))
      let pauses = Monotonic.now.milliseconds(since: began) / 150
      #expect(server.connections.count >= 4)
      #expect(server.connections.count <= pauses + 2)
      limit.value = 10
      #expect(await bench.pool.answer(bench.numbered(1)[0]).status == 200)
      bench.pool.close()
      server.stop()
    }

    @Test("A connection that is barred for a moment is kept")
    func barredBriefly() async {
      let server = ScriptedServer { connection, event in
        switch event {
        case .opened: connection.settings(streams: 1)
        case .request(let stream, _):
          connection.answer(stream)
          guard connection.requests == 1 else { return }
          connection.settings(streams: 0)
          EventLoop.shared.after(milliseconds: 100) { connection.settings(streams: 1) }
        }
      }
      let bench = Bench(server.port) {
        $0.connections = 1
        $0.barredFor = 600_000
      }
      let answers = await bench.pool.blast(bench.numbered(3))
      #expect(answers.allSatisfy { $0.status == 200 })
      #expect(server.connections.count == 1 && bench.log.losses.isEmpty)
      bench.pool.close()
      server.stop()
    }

    @Test("More waiting requests than the bound are turned away at once")
    func overloaded() async {
      let server = ScriptedServer { connection, event in
        switch event {
        case .opened: connection.settings(streams: 1)
        case .request(let stream, _): if connection.requests == 1 { connection.answer(stream) }
        }
      }
      let bench = Bench(server.port) {
        $0.connections = 1
        $0.waiting = 5
      }
      _ = await bench.pool.blast(bench.numbered(1))
      let answers = await bench.pool.blast(bench.numbered(20, deadline: 100))
      #expect(answers.filter { $0.failure == .overloaded }.count == 14)
      // The stream of the first may come free for another, just before that one's own deadline.
      let late = answers.filter { [.timedOut(sent: true), .timedOut(sent: false)].contains($0.failure) }
      #expect(late.count == 6 && late.contains { $0.failure == .timedOut(sent: true) })
      bench.pool.close()
      server.stop()
    }

    @Test("After a pause of the whole process nothing goes out past its deadline")
    func pause() async {
      var requests = 0
      let server = ScriptedServer { connection, event in
        switch event {
        case .opened: connection.settings(streams: 1)
        case .request(let stream, _):
          requests += 1
          connection.answer(stream)
          // The answer and the deadline of the one that waits are both found when the loop goes on.
          if requests == 2 { usleep(200_000) }
        }
      }
      let bench = Bench(server.port) { $0.connections = 1 }
      _ = await bench.pool.blast(bench.numbered(1))
      let answers = await bench.pool.blast(bench.numbered(1) + bench.numbered(1, deadline: 100))
      #expect(answers[0].status == 200)
      #expect(answers[1].failure == .timedOut(sent: false))
      #expect(requests == 2)
      bench.pool.close()
      server.stop()
    }

    @Test("The first of many requests leave while the others are being made")
    func earlyStart() async {
      let server = ScriptedServer { connection, event in
        switch event {
        case .opened: connection.settings(streams: 100)
        case .request(let stream, _): connection.answer(stream)
        }
      }
      let bench = Bench(server.port) { $0.connections = 1 }
      #expect(await bench.pool.answer(push(bench.origin)).status == 200)
      var answers: [Answer] = []
      for _ in 0..<10 { bench.pool.send(push(bench.origin)) { answers.append($0) } }
      // The turn in which they were made is not over.
      server.connections[0].readWhatCame()
      #expect((2...10).contains(server.connections[0].requests))
      await until { answers.count == 10 }
      #expect(answers.allSatisfy { $0.status == 200 })
      bench.pool.close()
      server.stop()
    }

    @Test("A connection that breaks while requests are being made fails those that left, and the others go elsewhere")
    func breaksAmidRequests() async {
      let server = ScriptedServer { connection, event in
        switch event {
        case .opened: connection.settings(streams: 100)
        case .request(let stream, _): connection.answer(stream)
        }
      }
      let bench = Bench(server.port) { $0.connections = 1 }
      #expect(await bench.pool.answer(push(bench.origin)).status == 200)
      server.connections[0].close()
      var answers: [Answer] = []
      for _ in 0..<40 { bench.pool.send(push(bench.origin)) { answers.append($0) } }
      await until { answers.count == 40 }
      let lost = answers.filter { $0.failure == .connectionLost }.count
      #expect(lost > 0 && lost + answers.filter { $0.status == 200 }.count == 40)
      #expect(bench.log.connects == 2)
      #expect(await bench.pool.answer(push(bench.origin)).status == 200)
      #expect(answers.count == 40)
      bench.pool.close()
      server.stop()
    }

    @Test("A request without time left is not sent")
    func noTime() async {
      let server = ScriptedServer { connection, event in
        switch event {
        case .opened: connection.settings(streams: 10)
        case .request(let stream, _): connection.answer(stream)
        }
      }
      let bench = Bench(server.port)
      #expect(await bench.pool.answer(bench.numbered(1)[0]).status == 200)
      #expect(await bench.pool.answer(bench.numbered(1, deadline: 0)[0]).failure == .timedOut(sent: false))
      bench.pool.close()
      server.stop()
    }

    @Test("Replacing the connections lets old ones finish, and sends new requests elsewhere")
    func replace() async {
      var held: [(ScriptedConnection, Int32)] = []
      let server = ScriptedServer { connection, event in
        switch event {
        case .opened: connection.settings(streams: 10)
        case .request(let stream, let body):
          body == "0" && connection.number == 0 ? held.append((connection, stream)) : connection.answer(stream)
          if body == "1" { for (connection, stream) in held { connection.answer(stream) } }
        }
      }
      let bench = Bench(server.port)
      let first = Task { await bench.pool.answer(bench.numbered(1)[0]) }
      await until { !held.isEmpty }
      bench.pool.replaceConnections()
      let second = await bench.pool.answer(bench.numbered(2)[1])
      #expect(second.status == 200)
      #expect(await first.value.status == 200)
      #expect(server.connections.map(\.requests) == [1, 1])
      await until { !server.connections[0].isOpen }
      #expect(bench.pool.connectionCount == 1)
      bench.pool.close()
      server.stop()
    }

    @Test("A pool that drains finishes what is in flight and takes nothing new")
    func drain() async {
      var held: [(ScriptedConnection, Int32)] = []
      let server = ScriptedServer { connection, event in
        switch event {
        case .opened: connection.settings(streams: 1)
        case .request(let stream, _): held.append((connection, stream))
        }
      }
      let bench = Bench(server.port) { $0.connections = 1 }
      let first = Task { await bench.pool.answer(bench.numbered(1)[0]) }
      await until { !held.isEmpty }
      let second = Task { await bench.pool.answer(bench.numbered(1)[0]) }
      await until { bench.pool.waiting == 1 }
      bench.pool.drain()
      #expect(await second.value.failure == .refused)
      #expect(await bench.pool.answer(bench.numbered(1)[0]).failure == .refused)
      #expect(bench.pool.freeCapacity == 0)
      for (connection, stream) in held { connection.answer(stream) }
      #expect(await first.value.status == 200)
      await until { !server.connections[0].isOpen }
      server.stop()
    }
  }
}
