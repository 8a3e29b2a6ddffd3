internal import Loop
internal import Stores

/// Asks the database what bearers are: at most 4 statements at once, and at most 32 callers that wait for one (rulings 2.4).
/// Those who waited are asked about together, so that a rush of hosts is through in a few statements.
@LoopActor
final class SessionLookUps {
  private struct Caller {
    let digest: [UInt8]
    let answer: UnsafeContinuation<Result<SessionStanding, Problem>, Never>
  }

  /// Asks the database, by the tokens' digests; as many answers, in their order.
  typealias Ask = @LoopActor ([[UInt8]]) async throws(Problem) -> [SessionStanding]

  static let runningLimit = 4
  static let waitingLimit = 32

  private let ask: Ask
  private var running = 0
  private var waiting: [Caller] = []

  init(_ ask: @escaping Ask) { self.ask = ask }

  /// Whether a look-up could start at once.
  var hasRoom: Bool { running < Self.runningLimit }

  /// What the token of this digest is; busy at once when too many wait already.
  func standing(of digest: [UInt8]) async -> Result<SessionStanding, Problem> {
    // All of it in the body: an await may let others run before the body does.
    await withUnsafeContinuation { answer in
      let caller = Caller(digest: digest, answer: answer)
      if hasRoom {
        start([caller])
      } else if waiting.count < Self.waitingLimit {
        waiting.append(caller)
      } else {
        answer.resume(returning: .failure(.busy("too many session look-ups")))
      }
    }
  }

  private func start(_ callers: [Caller]) {
    running += 1
    Task(executorPreference: EventLoop.shared) { await self.run(callers) }
  }

  private func run(_ callers: [Caller]) async {
    let answers = await result(callers.map(\.digest))
    running -= 1
    if !waiting.isEmpty {
      start(waiting)
      waiting = []
    }
    for (place, caller) in callers.enumerated() { caller.answer.resume(returning: answers.map { $0[place] }) }
  }

  private func result(_ digests: [[UInt8]]) async -> Result<[SessionStanding], Problem> {
    do throws(Problem) {
      let answers = try await ask(digests)
      return answers.count == digests.count ? .success(answers) : .failure(.busy("an answer is missing"))
    } catch {
      return .failure(error)
    }
  }
}
