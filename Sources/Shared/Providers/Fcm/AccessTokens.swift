package import Loop

/// The access token of one credential, for everyone who sends with it: fetched once however many wait, replaced early
/// while the old one serves.
@LoopActor
package final class AccessTokens {
  private let source: any AccessTokenSource
  private let now: @LoopActor () -> Monotonic
  private var state = AccessTokenState()
  /// Bounded by the pushes under way.
  private var waiters: [CheckedContinuation<Result<String, AccessTokenFailure>, Never>] = []
  /// What the fetch before came to.
  private var lastResult: Result<String, AccessTokenFailure>?

  /// - Parameter now: the clock by which tokens age.
  package init(_ source: any AccessTokenSource, now: @escaping @LoopActor () -> Monotonic = { .now }) {
    self.source = source
    self.now = now
  }

  /// The token to send with. Fails at once during the pause after a failed fetch.
  package func current() async throws(AccessTokenFailure) -> String { try await follow(state.need(now())) }

  /// Another token than the one that Google refused; nil when there is no hope of one.
  package func successor(of refused: String) async throws(AccessTokenFailure) -> String? {
    guard let answer = state.refused(refused, now()) else { return nil }
    let text = try await follow(answer)
    return text == refused ? nil : text
  }

  /// Lets go of the token that Google refused, without waiting for another.
  func giveUp(_ refused: String) {
    if case .wait(fetches: true) = state.refused(refused, now()) { startFetch() }
  }

  /// Seconds since the token in use was asked for; nil while there is none.
  package var age: Double? { state.age(now()) }

  /// A fetch is under way.
  var isFetching: Bool { state.isFetching }

  private func follow(_ answer: AccessTokenState.Answer) async throws(AccessTokenFailure) -> String {
    switch answer {
    case .use(let text, let fetches):
      if fetches { startFetch() }
      return text
    case .wait(let fetches):
      if fetches { startFetch() }
      // Looked at inside: the fetch may end on the way into the continuation.
      return try await withCheckedContinuation { waiter in
        if !state.isFetching, let lastResult { waiter.resume(returning: lastResult) } else { waiters.append(waiter) }
      }.get()
    case .refuse(let failure): throw failure
    }
  }

  private func startFetch() {
    Task { await fetch() }
  }

  private func fetch() async {
    let asked = now()
    let result: Result<String, AccessTokenFailure>
    do throws(AccessTokenFailure) {
      let token = try await source.fetch()
      state.fetched(token, asked: asked)
      result = .success(token.text)
    } catch {
      state.failed(error, now())
      result = .failure(error)
    }
    lastResult = result
    let waiting = waiters
    waiters = []
    for waiter in waiting { waiter.resume(returning: result) }
  }
}
