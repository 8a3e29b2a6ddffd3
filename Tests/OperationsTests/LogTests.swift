import Contract
import Foundation
import Glibc
import Json
import Loop
import Testing

@testable import Operations

/// Resumes its waiter when a descriptor can be read.
@LoopActor
private final class Arrival: Readiness {
  private let descriptor: Int32
  private let waiter: CheckedContinuation<Void, Never>

  init(_ descriptor: Int32, _ waiter: CheckedContinuation<Void, Never>) {
    self.descriptor = descriptor
    self.waiter = waiter
    EventLoop.shared.watch(descriptor, .read, self)
  }

  func ready(_ events: Interest) {
    EventLoop.shared.forget(descriptor)
    waiter.resume()
  }
}

/// A pipe whose reading end stays with the test.
private final class Pipe {
  let readEnd: Int32
  let writeEnd: Int32

  init() {
    var ends: [Int32] = [-1, -1]
    pipe(&ends)
    (readEnd, writeEnd) = (ends[0], ends[1])
    _ = fcntl(readEnd, F_SETFL, O_NONBLOCK)
  }

  deinit {
    close(readEnd)
    close(writeEnd)
  }

  /// What has been written, line by line.
  func lines() -> [String] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = read(readEnd, &chunk, chunk.count), count > 0 { bytes += chunk[..<count] }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// Waits until something has been written.
  @LoopActor
  func readable() async {
    await withCheckedContinuation { waiter in _ = Arrival(readEnd, waiter) }
  }

  /// Fills the pipe to its last byte.
  func fill() {
    let flags = fcntl(writeEnd, F_GETFL)
    _ = fcntl(writeEnd, F_SETFL, flags | O_NONBLOCK)
    let page = [UInt8](repeating: UInt8(ascii: "x"), count: 4096)
    while write(writeEnd, page, page.count) > 0 {}
    _ = fcntl(writeEnd, F_SETFL, flags)
  }
}

private func object(_ line: String) throws -> JsonObject {
  try #require(JsonReader.read(Array(line.utf8)).object)
}

@Suite struct LogTests {
  @Test func `A line is a JSON object as Cloud Logging reads it`() throws {
    let pipe = Pipe()
    let log = Log(program: "api", descriptor: pipe.writeEnd, clock: { 1_700_000_000_123 })
    let host = try #require(HostFingerprint("abcdEFGH01234567"))
    log.warning(
      "store is slow", ["seconds": 1.5, "tries": 3, "last": true, "table": "push_devices", "host": .host(host)])
    let lines = pipe.lines()
    #expect(
      lines == [
        #"{"severity":"WARNING","time":"2023-11-14T22:13:20.123Z","program":"api","message":"store is slow","#
          + #""host":"abcd…","last":true,"seconds":1.5,"table":"push_devices","tries":3}"#
      ])
  }

  @Test(arguments: Severity.allCases)
  func `Severities are Cloud Logging's own`(severity: Severity) throws {
    let pipe = Pipe()
    Log(program: "api", descriptor: pipe.writeEnd, minimum: .debug).write(severity, "m")
    let line = try object(try #require(pipe.lines().first))
    #expect(["DEBUG", "INFO", "NOTICE", "WARNING", "ERROR", "CRITICAL"].contains(line["severity"]?.string))
    #expect(line["severity"]?.string == severity.rawValue)
  }

  @Test func `Less important lines than asked for are not written`() {
    let pipe = Pipe()
    let log = Log(program: "api", descriptor: pipe.writeEnd)
    log.debug("d")
    log.info("i")
    #expect(pipe.lines().count == 1)
    #expect(Severity.debug < .info && Severity.error < .critical)
  }

  @Test func `Whatever the text, the line stays one line of JSON`() throws {
    let nasty = "a\nb\r\u{0}\u{1b}[31m\"\\\u{2028}\u{7f}é\u{1F600}"
    let bytes = LogLine.bytes(.info, nasty, [nasty: .text(nasty)], program: "api", milliseconds: 0)
    #expect(bytes.dropLast().allSatisfy { $0 >= 0x20 })
    #expect(bytes.last == UInt8(ascii: "\n"))
    let line = try #require(JsonReader.read(Array(bytes.dropLast())).object)
    #expect(line["message"]?.string == nasty && line[nasty]?.string == nasty)
  }

  @Test func `Long texts are cut at 500 characters`() throws {
    for (text, whole) in [(String(repeating: "é", count: 500), true), (String(repeating: "é", count: 501), false)] {
      let bytes = LogLine.bytes(.info, text, [:], program: "api", milliseconds: 0)
      let line = try #require(JsonReader.read(Array(bytes.dropLast())).object)
      #expect(line["message"]?.string == (whole ? text : String(repeating: "é", count: 500) + "…"))
    }
  }

  @Test func `A line fits into one write to a pipe, and says when fields were left out`() throws {
    let wide = String(repeating: "\u{1}", count: 600)
    let fields = Dictionary(uniqueKeysWithValues: (0..<20).map { ("f\($0)", LogField.text(wide)) })
    let bytes = LogLine.bytes(.info, wide, fields, program: "api", milliseconds: 0, dropped: 7)
    #expect(bytes.count <= 4096)
    let line = try #require(JsonReader.read(Array(bytes.dropLast())).object)
    #expect(line["clipped"]?.bool == true && line["dropped"]?.integer == 7)
  }

  @Test func `A field cannot take the place of the line's own members`() throws {
    let bytes = LogLine.bytes(
      .error, "m", ["severity": "INFO", "time": 0, "message": "x"], program: "api", milliseconds: 0)
    let line = try #require(JsonReader.read(Array(bytes.dropLast())).object)
    #expect(line["severity"]?.string == "ERROR" && line["message"]?.string == "m")
  }

  @Test(.timeLimit(.minutes(1)))
  func `A reader that stands still costs lines, which are counted, and never a wait`() throws {
    let pipe = Pipe()
    pipe.fill()
    let log = Log(program: "api", descriptor: pipe.writeEnd)
    log.info("lost")
    log.info("lost too")
    #expect(log.dropped == 2)
    _ = pipe.lines()
    log.info("through")
    log.info("again")
    let lines = try pipe.lines().map(object)
    #expect(lines.map { $0["message"]?.string } == ["through", "again"])
    #expect(lines.map { $0["dropped"]?.integer } == [2, nil])
    #expect(log.dropped == 2)
  }

  @Test func `A closed descriptor loses lines and nothing else`() {
    let log = Log(program: "api", descriptor: 100_000)
    log.info("lost")
    #expect(log.dropped == 1)
  }

  @Test func `Lines of many threads do not mix`() async throws {
    let pipe = Pipe()
    let log = Log(program: "api", descriptor: pipe.writeEnd)
    await withTaskGroup { group in
      for n in 0..<64 { group.addTask { log.info("line", ["n": .integer(n)]) } }
    }
    let lines = try pipe.lines().map(object)
    #expect(Set(lines.compactMap { $0["n"]?.integer }) == Set(0..<64))
    #expect(lines.count == 64)
  }

  @Test(
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"), (951_782_399_999, "2000-02-28T23:59:59.999Z"),
      (951_782_400_000, "2000-02-29T00:00:00.000Z"), (1_709_251_199_001, "2024-02-29T23:59:59.001Z"),
      (4_107_542_400_000, "2100-03-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
      (1_798_761_599_999, "2026-12-31T23:59:59.999Z"),
    ] as [(Int64, String)])
  func `Times are RFC 3339 in UTC`(milliseconds: Int64, text: String) {
    #expect(Rfc3339.text(milliseconds: milliseconds) == text)
  }

  @Test func `Times agree with Foundation's on every day of four centuries`() {
    let formatter = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    for day in stride(from: -10_000, to: 146_097, by: 13) {
      let milliseconds = Int64(day) * 86_400_000 + Int64(day & 0xffff) * 997
      let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
      #expect(Rfc3339.text(milliseconds: milliseconds).prefix(19) == formatter.format(date).prefix(19))
    }
  }
}

@Suite @LoopActor struct LogTallyTests {
  @Test func `The first fault is told at once, the rest by the final flush`() throws {
    let pipe = Pipe()
    let tally = LogTally(Log(program: "worker", descriptor: pipe.writeEnd), "attempts failed")
    tally.count("timeout")
    tally.count("timeout")
    tally.count("tls", 3)
    let first = try pipe.lines().map(object)
    #expect(first.map { $0["timeout"]?.integer } == [1])
    #expect(first.map { $0["severity"]?.string } == ["WARNING"])
    tally.flush()
    let rest = try pipe.lines().map(object)
    #expect(rest.map { $0["timeout"]?.integer } == [1])
    #expect(rest.map { $0["tls"]?.integer } == [3])
    tally.flush()
    #expect(pipe.lines().isEmpty)
  }

  @Test(.timeLimit(.minutes(1)))
  func `What gathers within the interval comes as one line at its end`() async throws {
    let pipe = Pipe()
    let tally = LogTally(Log(program: "worker", descriptor: pipe.writeEnd), "attempts failed", interval: 20)
    for _ in 0..<10 { tally.count("timeout") }
    #expect(pipe.lines().count == 1)
    await pipe.readable()
    #expect(try pipe.lines().map { try object($0)["timeout"]?.integer } == [9])
  }

  @Test func `Categories are bounded`() throws {
    var counts = TallyCounts()
    for n in 0..<100 { counts.add("c\(n)", 1) }
    let taken = counts.take()
    let fields = try #require(taken)
    #expect(fields.count == 33)
    #expect(fields["other"] == .integer(Int64(68)))
    #expect(counts.take() == nil)
  }
}
