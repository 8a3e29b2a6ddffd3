import Loop
import Testing

@testable import Providers

/// Gives out tokens one by one, when it is told to.
@LoopActor
private final class Mint: AccessTokenSource {
  private(set) var asked = 0
  private var waiter: CheckedContinuation<Result<AccessToken, AccessTokenFailure>, Never>?
  private var arrival: CheckedContinuation<Void, Never>?

  func fetch() async throws(AccessTokenFailure) -> AccessToken {
    asked += 1
    return try await withCheckedContinuation {
      waiter = $0
      arrival?.resume()
      arrival = nil
    }.get()
  }

  /// Returns once somebody asks.
  func called() async {
    // Looked at inside: a task may let others run on its way into a continuation.
    await withCheckedContinuation { continuation in
      if waiter == nil { arrival = continuation } else { continuation.resume() }
    }
  }

  func give(_ result: Result<AccessToken, AccessTokenFailure>) {
    waiter?.resume(returning: result)
    waiter = nil
  }
}

@Suite("Access tokens")
@LoopActor
struct AccessTokensTests {
  @Test("A thousand sends wait for one fetch and share its outcome")
  func singleFlight() async throws {
    let mint = Mint()
    let tokens = AccessTokens(mint)
    let sends = (0..<1_000).map { _ in Task { try await tokens.current() } }
    await mint.called()
    mint.give(.success(AccessToken(text: "A", lifetime: 3_600)))
    for send in sends { #expect(try await send.value == "A") }
    #expect(mint.asked == 1)
    #expect(tokens.age != nil)
  }

  @Test("Everyone who waits for a fetch that fails is told why")
  func failure() async {
    let mint = Mint()
    let tokens = AccessTokens(mint)
    async let first = Self.outcome(tokens)
    async let second = Self.outcome(tokens)
    await mint.called()
    mint.give(.failure(AccessTokenFailure("down")))
    #expect(await [first, second] == ["down", "down"])
    #expect(await Self.outcome(tokens) == "down")
    #expect(mint.asked == 1)
  }

  @Test("A refused token has a successor, unless the same comes again")
  func successor() async throws {
    let mint = Mint()
    let tokens = AccessTokens(mint)
    async let first = tokens.current()
    await mint.called()
    mint.give(.success(AccessToken(text: "A", lifetime: 3_600)))
    #expect(try await first == "A")
    async let second = tokens.successor(of: "A")
    await mint.called()
    mint.give(.success(AccessToken(text: "B", lifetime: 3_600)))
    #expect(try await second == "B")
    #expect(try await tokens.successor(of: "A") == "B")
    async let third = tokens.successor(of: "B")
    await mint.called()
    mint.give(.success(AccessToken(text: "B", lifetime: 3_600)))
    #expect(try await third == nil)
    #expect(mint.asked == 3)
  }

  private static func outcome(_ tokens: AccessTokens) async -> String {
    do throws(AccessTokenFailure) { return try await tokens.current() } catch { return error.description }
  }
}
