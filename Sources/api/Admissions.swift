internal import Loop
internal import Operations
internal import Stores

/// Folds sends that arrive while a commit is under way into the next one, since a commit costs the same for one as for
/// fifty. A send that comes alone goes at once.
@LoopActor
final class Admissions: Flushable {
  private struct Waiter: Sendable {
    let send: Admission
    let since: Monotonic
    let answer: UnsafeContinuation<Result<[SendResult], Problem>, Never>
  }

  /// For how long a send is worth committing, in ms: whoever asked has been told to come again after 5 s.
  private static let patience = 4_000
  /// For how long after a group began its sends are tried one by one, in ms.
  private static let retryPatience = 2_000

  /// Admits a group in one transaction.
  typealias Commit = @LoopActor ([Admission]) async throws(StoreFailure) -> [[SendResult]]

  private let store: Commit
  private let batchSize: Histogram
  private let callLimit: Int
  private var queue = AdmissionQueue<Waiter>()
  private let hold: Int
  /// Sends in each commit under way.
  private var underWay: [Int] = []
  /// Runs while what waits is too little for a commit beside another.
  private var holding: Loop.Timer?
  private var isOverdue = false
  private var willFlush = false

  /// - Parameters:
  ///   - calls: commits under way at once.
  ///   - hold: for how long sends wait at most, in ms, while they are too few for a commit beside another.
  init(calls: Int, batchSize: Histogram, hold: Int = 20, _ store: @escaping Commit) {
    self.store = store
    self.batchSize = batchSize
    self.hold = hold
    callLimit = calls
  }

  /// Admits the send and returns once that is committed, with an answer for each of its registrations.
  func admit(_ send: Admission) async throws(Problem) -> [SendResult] {
    let result = await withUnsafeContinuation { answer in
      if queue.add(Waiter(send: send, since: .now, answer: answer), host: send.host.number) {
        flushSoon()
      } else {
        answer.resume(returning: .failure(.busy("too many sends wait")))
      }
    }
    return try result.get()
  }

  /// At the end of the turn, so that requests that were read in one turn go in one commit.
  private func flushSoon() {
    if willFlush || !hasPlace { return }
    willFlush = true
    EventLoop.shared.flushAtTurnsEnd(self)
  }

  private var hasPlace: Bool { queue.hasNext && underWay.count < callLimit }

  /// Beside another commit, one must be worth its price: at least half as large as that one. Otherwise what comes in while
  /// replies go out would be committed in crumbs, since the place that became free is taken by the first to come.
  private var isWorthIt: Bool { isOverdue || queue.count * 2 >= underWay.max() ?? 0 }

  func flush() {
    willFlush = false
    while hasPlace {
      guard isWorthIt else { return holdBack() }
      let (waiters, hosts) = queue.take()
      underWay.append(waiters.count)
      isOverdue = false
      EventLoop.shared.cancel(holding)
      holding = nil
      Task(executorPreference: EventLoop.shared) { await self.run(waiters, hosts) }
    }
  }

  /// A commit that hangs must not keep a few others waiting.
  private func holdBack() {
    if holding != nil { return }
    holding = EventLoop.shared.after(milliseconds: hold) { [weak self] in
      self?.holding = nil
      self?.isOverdue = true
      self?.flush()
    }
  }

  private func run(_ waiters: [Waiter], _ hosts: [Int64]) async {
    await commit(waiters)
    if let place = underWay.firstIndex(of: waiters.count) { underWay.remove(at: place) }
    queue.ended(hosts)
    flushSoon()
  }

  private func commit(_ all: [Waiter]) async {
    let began = Monotonic.now
    let late = all.filter { began.milliseconds(since: $0.since) >= Self.patience }
    for waiter in late { waiter.answer.resume(returning: .failure(.busy("sends waited too long"))) }
    let waiters = late.isEmpty ? all : all.filter { began.milliseconds(since: $0.since) < Self.patience }
    if waiters.isEmpty { return }
    switch await admit(waiters.map(\.send)) {
    case .success(let answers):
      for (waiter, answer) in zip(waiters, answers) { waiter.answer.resume(returning: .success(answer)) }
    case .failure(.refused(let kind)) where waiters.count == 1: refuse(waiters[...], .refused(kind))
    case .failure(.unavailable(let why)): refuse(waiters[...], .unavailable(why))
    case .failure: await commitAlone(waiters, since: began)
    }
  }

  /// One send that the database refuses must not fail its neighbours, and what may have been committed is free to repeat.
  private func commitAlone(_ waiters: [Waiter], since began: Monotonic) async {
    for (place, waiter) in waiters.enumerated() {
      if Monotonic.now.milliseconds(since: began) >= Self.retryPatience {
        return refuse(waiters[place...], .unknown("no time left"))
      }
      switch await admit([waiter.send]) {
      case .success(let answers): waiter.answer.resume(returning: .success(answers[0]))
      case .failure(.refused(let kind)): refuse(waiters[place...place], .refused(kind))
      case .failure(let failure): return refuse(waiters[place...], failure)
      }
    }
  }

  private func refuse(_ waiters: ArraySlice<Waiter>, _ failure: StoreFailure) {
    for waiter in waiters { waiter.answer.resume(returning: .failure(Problem(failure))) }
  }

  private func admit(_ sends: [Admission]) async -> Result<[[SendResult]], StoreFailure> {
    batchSize.observe(Double(sends.count))
    do throws(StoreFailure) {
      let answers = try await store(sends)
      guard answers.count == sends.count else { return .failure(.refused("an answer is missing")) }
      return .success(answers)
    } catch {
      return .failure(error)
    }
  }
}
