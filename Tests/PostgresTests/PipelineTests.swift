import Testing

@testable import Postgres

@Suite("Pipeline, without a server")
struct PipelineTests {
  typealias Line = Pipeline<String, Int>
  let broken = PostgresFailure.database(sqlState: "22012", message: "division by zero")

  func outcome(_ line: inout Line) -> Result<Int, PostgresFailure>? { line.received(.sync)?.1 }

  @Test("Answers go to the statements in the order they were sent")
  func order() throws {
    var line = Line()
    line.sent("a", name: 1, preparing: true)
    line.sent("b", name: 1, preparing: false)
    #expect(line.inFlight == 2 && line.head == "a")
    #expect(line.received(.completed(0)) == nil)
    #expect(line.received(.completed(10)) == nil)
    let first = line.received(.sync)
    #expect(first?.0 == "a" && first?.1 == .success(10))
    #expect(line.received(.completed(20)) == nil)
    let second = line.received(.sync)
    #expect(second?.0 == "b" && second?.1 == .success(20))
    #expect(line.inFlight == 0)
  }

  @Test("An error ends its own statement alone")
  func isolation() throws {
    var line = Line()
    line.sent("a", name: nil, preparing: false)
    line.sent("b", name: nil, preparing: false)
    _ = line.received(.failed(broken))
    #expect(outcome(&line) == .failure(broken))
    _ = line.received(.completed(2))
    #expect(outcome(&line) == .success(2))
  }

  @Test("A name that failed to be prepared is prepared again")
  func failedPreparation() throws {
    var line = Line()
    #expect(line.mustPrepare(1))
    line.sent("a", name: 1, preparing: true)
    #expect(!line.mustPrepare(1))
    _ = line.received(.failed(broken))
    _ = line.received(.skipped)
    #expect(outcome(&line) == .failure(broken))
    #expect(line.mustPrepare(1))
  }

  @Test("A name stays when its statement failed by itself, and goes when the server does not know it")
  func names() {
    var line = Line()
    line.sent("a", name: 1, preparing: true)
    _ = line.received(.completed(0))
    _ = line.received(.failed(broken))
    _ = line.received(.sync)
    #expect(!line.mustPrepare(1))
    line.sent("b", name: 1, preparing: false)
    _ = line.received(.failed(.database(sqlState: "26000", message: "")))
    _ = line.received(.sync)
    #expect(line.mustPrepare(1))
  }

  @Test("A name that was prepared anew stays, though older statements still miss it")
  func renewedName() {
    var line = Line()
    line.sent("a", name: 1, preparing: false)
    line.sent("b", name: 1, preparing: false)
    let gone = PostgresFailure.database(sqlState: "26000", message: "")
    _ = line.received(.failed(gone))
    _ = line.received(.sync)
    line.sent("a", name: 1, preparing: true)
    _ = line.received(.failed(gone))
    _ = line.received(.sync)
    #expect(!line.mustPrepare(1))
  }

  @Test("A broken connection gives back all that was in flight, and strange replies harm nothing")
  func abandon() {
    var line = Line()
    #expect(line.received(.sync) == nil)
    #expect(line.received(.completed(1)) == nil)
    line.sent("a", name: nil, preparing: false)
    line.sent("b", name: nil, preparing: false)
    #expect(line.abandon() == ["a", "b"])
    #expect(line.inFlight == 0)
  }

  @Test("First in, first out, through growth and compaction")
  func fifo() {
    var fifo = Fifo<Int>()
    var next = 0
    var expected = 0
    for round in 0..<1_000 {
      for _ in 0..<(round % 7) {
        fifo.append(next)
        next += 1
      }
      for _ in 0..<(round % 5) where !fifo.isEmpty {
        #expect(fifo.first == expected)
        #expect(fifo.removeFirst() == expected)
        expected += 1
      }
    }
    #expect(fifo.removeAll() == Array(expected..<next))
    #expect(fifo.isEmpty && fifo.removeFirst() == nil)
  }

  @Test("Pauses double from 100 ms to 1 s, less at most a quarter, and begin anew after a success")
  func backoff() {
    var backoff = Backoff()
    #expect((0..<6).map { _ in backoff.failed(random: 0) } == [100, 200, 400, 800, 1_000, 1_000])
    backoff.succeeded()
    #expect((0..<6).map { _ in backoff.failed(random: 1) } == [75, 150, 300, 600, 750, 750])
  }
}
