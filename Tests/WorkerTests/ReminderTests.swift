import Contract
import FoundationEssentials
import Glibc
import Json
import Keys
import Loop
import Operations
import Providers
import Stores
import Testing

@testable import worker

@Suite("What lasts is told again")
struct ReminderTests {
  private let start = Monotonic(nanoseconds: 1_000_000_000)

  @Test("Each minute while it lasts, not at once, and afresh when it begins anew")
  func minutes() {
    var reminder = Reminder()
    let seconds = stride(from: 0, to: 600, by: 2)
    let told = seconds.filter { second in
      // Over for half a minute after 150 s.
      let lasts = !(150..<180).contains(second)
      return reminder.isDue(while: lasts, start.advanced(milliseconds: second * 1_000))
    }
    #expect(told == [60, 120, 240, 300, 360, 420, 480, 540])
  }

  @Test("A parked lane, and one that kills no token, say so each minute until that is over")
  @LoopActor
  func told() async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "reminder-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let path = directory + "/log"
    let descriptor = open(path, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0o600)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    let lane = try await lane(directory, Log(program: "worker", descriptor: descriptor))
    var now = Monotonic.now
    func told(minutes: Int) throws -> [String] {
      for _ in 0..<(30 * minutes) {
        lane.remind(now)
        now = now.advanced(milliseconds: 2_000)
      }
      let text = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
      return try text.split(separator: "\n").map { line in
        let line = try JsonReader.read(Array(line.utf8))
        return [line["message"]?.string, line["reason"]?.string].compactMap(\.self).joined(separator: ": ")
      }
    }
    #expect(try told(minutes: 3).isEmpty)
    lane.park("KeyOfAnotherMoon")
    let parked = ["lane parked: KeyOfAnotherMoon"] + Array(repeating: "lane still parked: KeyOfAnotherMoon", count: 3)
    lane.remind(now)
    now = now.advanced(milliseconds: 2_000)
    #expect(try told(minutes: 3) == parked)
    lane.unpark()
    #expect(try told(minutes: 3) == parked + ["lane open again"])
    for _ in 0..<InvalidationBreaker.window { lane.breaker.count(isSuspicious: true) }
    lane.remind(now)
    now = now.advanced(milliseconds: 2_000)
    let paused = Array(repeating: "too many tokens are still refused: none is marked dead", count: 2)
    #expect(try told(minutes: 2) == parked + ["lane open again"] + paused)
    lane.drain()
  }

  @LoopActor
  private func lane(_ directory: String, _ log: Log) async throws -> Lane {
    let sender = ApnsSender(
      route: .apnsSandbox, origin: try Contract.Origin("http://127.0.0.1:9"), topic: "com.example.app",
      credential: ApnsCredential(keyId: "AAAAAAAAAA", teamId: "BBBBBBBBBB", key: try Es256Key.generate()), tls: nil)
    return Lane(
      route: .apnsSandbox, sender: sender,
      context: LaneContext(
        store: try await SQLiteStore(directory: directory), capacity: 64, batch: 8,
        counts: DeliveryCounts(WorkerMetrics(Metrics())), log: log,
        faults: LogTally(log, "the queue could not be reached"), random: { 0 }))
  }
}
