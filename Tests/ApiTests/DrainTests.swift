import Foundation
import Json
import Testing

/// Contract, "Individual delivery": shutdown; rulings 1.3 and 6.12.
@Suite struct DrainTests {
  @Test(arguments: StoreKind.allCases)
  func `What is under way at SIGTERM is answered, and the process ends with 0`(on kind: StoreKind) async throws {
    try await kind.use { gateway in
      let token = try await gateway.bearer()
      let phone = try await gateway.phone(token)
      let hold = try await gateway.place.hold("push_events")
      let sends = try (Int64(0)..<3).map { number in
        let wire = try Wire(port: gateway.port)
        try wire.send(Ask.post("/v1/send", Body.send([phone], Body.notification(number)), bearer: token).bytes)
        return wire
      }
      // A head without its body: the request has begun.
      let half = try Wire(port: gateway.port)
      try half.send("POST /v1/host/session HTTP/1.1\r\nhost: g\r\ncontent-length: 2\r\n\r\n")
      // And one that is kept alive without a request. It has its answer, so those before it have been read.
      let idle = try await blocking {
        let wire = try Wire(port: gateway.port)
        try wire.send(Ask.get("/health").bytes)
        _ = try wire.reply()
        return wire
      }
      gateway.process.terminate()
      _ = try await gateway.process.line("draining")
      #expect(try await blocking { idle.isClosed() })
      try half.send("{}")
      let reply = try await blocking { try half.reply() }
      #expect(reply.verdict == "503 shutting_down")
      #expect(reply.headers["connection"] == "close")
      #expect(try await blocking { half.isClosed() })
      await #expect(throws: Wire.Refused.self) { _ = try await gateway.ask(.get("/health")) }
      #expect(!gateway.process.hasEnded)
      try await hold.release()
      for wire in sends { #expect(try await blocking { try wire.reply() }.results == ["queued"]) }
      #expect(try await gateway.process.ended().code == 0)
    }
  }

  @Test func `Without anything under way the process ends at once`() async throws {
    try await StoreKind.sqlite.use { gateway in
      let began = ContinuousClock.now
      gateway.process.terminate()
      let code = try await gateway.process.ended().code
      #expect(code == 0)
      // Whoever waits for what may still come waits for the whole grace.
      #expect(began.duration(to: .now) < .seconds(8))
      #expect(gateway.process.said.contains(#""message":"stopped","code":0"#))
    }
  }

  @Test func `A request that never comes whole does not keep the process beyond its grace`() async throws {
    try await StoreKind.sqlite.use { gateway in
      let half = try Wire(port: gateway.port)
      try half.send("POST /v1/host/session HTTP/1.1\r\nhost: g\r\ncontent-length: 2\r\n\r\n")
      // Another request is answered, so that the first has been read.
      #expect(try await gateway.ask(.get("/health")).status == 200)
      gateway.process.terminate()
      // A second after the grace it would be ended by force, with another code.
      #expect(try await gateway.process.ended().code == 0)
    }
  }
}
