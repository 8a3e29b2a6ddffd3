import Contract
import Http
import Keys
import Loop
import Operations
import Stores
import Support
import Testing

@testable import api

/// Group commit, against a database that the test plays.
@Suite struct AdmissionsTests {
  /// Takes commits and answers them when told to, or at once.
  @LoopActor
  final class Ledger {
    /// What each commit held, by the sends' `seq`.
    private(set) var commits: [[Int64]] = []
    var verdict: ([Int64]) -> StoreFailure? = { _ in nil }
    var isOpen = true
    /// Commits that have begun.
    let begun = Occurrences()
    private var waiters: [CheckedContinuation<Void, Never>] = []
    private let calls: Int
    private let hold: Int

    init(calls: Int = 1, hold: Int = 20) {
      self.calls = calls
      self.hold = hold
    }

    lazy var admissions = Admissions(
      calls: calls, batchSize: ApiMetrics(Metrics()).admissionBatchSize, hold: hold
    ) { sends throws(StoreFailure) in try await self.commit(sends) }

    private func commit(_ sends: [Admission]) async throws(StoreFailure) -> [[SendResult]] {
      let seqs = sends.map(\.seq)
      commits.append(seqs)
      begun.add()
      // Looked at inside: a task may let others run on its way into a continuation.
      await withCheckedContinuation { waiter in if isOpen { waiter.resume() } else { waiters.append(waiter) } }
      if let failure = verdict(seqs) { throw failure }
      return sends.map { $0.seq.isMultiple(of: 2) ? [.queued] : [.dead] }
    }

    /// Answers the commits that wait.
    func answer() {
      let all = waiters
      waiters = []
      for waiter in all { waiter.resume() }
    }

    /// Starts sends; what becomes of each, as text.
    func send(_ seqs: [Int64], host: (Int64) -> Int64 = { $0 }) throws -> [Task<String, Never>] {
      try seqs.map { seq in
        let send = try AdmissionsTests.admission(host(seq), seq)
        return EventLoop.shared.start { await self.outcome(of: send) }
      }
    }

    private func outcome(of send: Admission) async -> String {
      do throws(Problem) { return try await admissions.admit(send)[0].rawValue } catch {
        return "\(error.status) \(error.code.rawValue) \(error.headers["retry-after"] ?? "")"
      }
    }

    /// Returns once every send has come as far as it can: the loop takes its tasks in turn.
    func settled() async {
      for _ in 0..<4 { await EventLoop.shared.start {}.value }
    }
  }

  static func admission(_ host: Int64, _ seq: Int64) throws -> Admission {
    let text = String(Base64Url.encode(Sha256.digest("\(host)")).prefix(16))
    return Admission(
      host: Host(number: host, fingerprint: try #require(HostFingerprint(text))), registrationIds: ["r"], kind: .alert,
      seq: seq, eventKey: [], fenceKey: nil, contentDigest: [], payload: [], isSilent: false, expiresAt: nil)
  }

  @LoopActor
  private func values(_ tasks: [Task<String, Never>]) async -> [String] {
    var values: [String] = []
    for task in tasks { values.append(await task.value) }
    return values
  }

  @Test @LoopActor func `A send that comes alone goes at once, those that come meanwhile go together`() async throws {
    let ledger = Ledger()
    ledger.isOpen = false
    let first = try ledger.send([1])
    await ledger.begun.reached(1)
    let rest = try ledger.send([2, 3, 4, 5])
    await ledger.settled()
    #expect(ledger.commits == [[1]])
    ledger.isOpen = true
    ledger.answer()
    #expect(await values(first + rest) == ["dead", "queued", "dead", "queued", "dead"])
    #expect(ledger.commits == [[1], [2, 3, 4, 5]])
  }

  @Test @LoopActor func `No more commits are under way than the database takes at once`() async throws {
    let ledger = Ledger(calls: 2)
    ledger.isOpen = false
    var tasks = try ledger.send([1])
    await ledger.begun.reached(1)
    tasks += try ledger.send([2])
    await ledger.begun.reached(2)
    tasks += try ledger.send([3, 4])
    await ledger.settled()
    #expect(ledger.commits == [[1], [2]])
    ledger.isOpen = true
    ledger.answer()
    _ = await values(tasks)
    #expect(ledger.commits == [[1], [2], [3, 4]])
  }

  @Test @LoopActor func `A commit beside another is at least half as large: sends do not go in crumbs`() async throws {
    // Longer than any test: nothing goes because time has passed.
    let ledger = Ledger(calls: 2, hold: 600_000)
    ledger.isOpen = false
    var tasks = try ledger.send([1, 2, 3, 4])
    await ledger.begun.reached(1)
    tasks += try ledger.send([5])
    await ledger.settled()
    #expect(ledger.commits == [[1, 2, 3, 4]])
    tasks += try ledger.send([6])
    await ledger.begun.reached(2)
    #expect(ledger.commits == [[1, 2, 3, 4], [5, 6]])
    // Alone, the smallest goes as soon as it can.
    tasks += try ledger.send([7])
    await ledger.settled()
    ledger.isOpen = true
    ledger.answer()
    _ = await values(tasks)
    #expect(ledger.commits == [[1, 2, 3, 4], [5, 6], [7]])
  }

  @Test @LoopActor func `A commit that hangs holds a few others back for a moment only`() async throws {
    let ledger = Ledger(calls: 2, hold: 1)
    ledger.isOpen = false
    let tasks = try ledger.send([1, 2, 3, 4]) + ledger.send([5])
    await ledger.begun.reached(1)
    let late = try ledger.send([6])
    await ledger.begun.reached(2)
    #expect(ledger.commits == [[1, 2, 3, 4, 5], [6]])
    ledger.isOpen = true
    ledger.answer()
    _ = await values(tasks + late)
  }

  @Test @LoopActor func `A send that the database refuses does not fail its neighbours`() async throws {
    let ledger = Ledger()
    ledger.verdict = { $0.contains(3) ? .refused("SQL state 22021") : nil }
    let tasks = try ledger.send([2, 3, 4])
    #expect(await values(tasks) == ["queued", "500 internal ", "queued"])
    #expect(ledger.commits == [[2, 3, 4], [2], [3], [4]])
  }

  @Test @LoopActor func `When the answer is lost, each is said once more`() async throws {
    let ledger = Ledger()
    var isLost = true
    ledger.verdict = { _ in
      defer { isLost = false }
      return isLost ? .unknown("the connection broke") : nil
    }
    #expect(await values(try ledger.send([2, 4])) == ["queued", "queued"])
    #expect(ledger.commits == [[2, 4], [2], [4]])
    isLost = true
    #expect(await values(try ledger.send([6])) == ["queued"])
    #expect(ledger.commits.suffix(2) == [[6], [6]])
  }

  @Test @LoopActor func `When the answer is lost again, all are told to come again`() async throws {
    let ledger = Ledger()
    ledger.verdict = { _ in .unknown("the connection broke") }
    #expect(await values(try ledger.send([2, 4, 6])) == ["503 busy 1", "503 busy 1", "503 busy 1"])
    #expect(ledger.commits == [[2, 4, 6], [2]])
  }

  @Test @LoopActor func `A database that is not to be had is not asked again`() async throws {
    let ledger = Ledger()
    ledger.verdict = { _ in .unavailable("down") }
    #expect(await values(try ledger.send([2, 4])) == ["503 busy 1", "503 busy 1"])
    #expect(ledger.commits == [[2, 4]])
    ledger.verdict = { _ in nil }
    #expect(await values(try ledger.send([8])) == ["queued"])
  }

  @Test @LoopActor func `A crowd waits up to its bound and the next is told to come again`() async throws {
    let ledger = Ledger()
    ledger.isOpen = false
    let first = try ledger.send([0])
    await ledger.begun.reached(1)
    let crowd = try ledger.send(Array(1...1_024).map { $0 * 2 })
    let beyond = try ledger.send([9_999])
    #expect(await values(beyond) == ["503 busy 1"])
    ledger.isOpen = true
    ledger.answer()
    #expect(Set(await values(first + crowd)) == ["queued"])
    #expect(ledger.commits.map(\.count) == [1] + Array(repeating: 64, count: 16))
  }
}
