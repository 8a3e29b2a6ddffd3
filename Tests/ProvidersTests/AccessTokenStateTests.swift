import Loop
import Testing

@testable import Providers

@Suite("Access token state")
struct AccessTokenStateTests {
  private let down = AccessTokenFailure("down")

  private func at(_ seconds: Double) -> Monotonic { Monotonic(nanoseconds: UInt64((seconds + 1_000) * 1e9)) }

  private func state(_ text: String = "A", lifetime: Double) -> AccessTokenState {
    var state = AccessTokenState()
    #expect(state.need(at(0)) == .wait(fetches: true))
    state.fetched(AccessToken(text: text, lifetime: lifetime), asked: at(0))
    return state
  }

  @Test("However many wait, one fetch is started")
  func single() {
    var state = AccessTokenState()
    #expect(state.need(at(0)) == .wait(fetches: true))
    for _ in 0..<1_000 { #expect(state.need(at(0)) == .wait(fetches: false)) }
  }

  @Test("A token is replaced early, once, while it serves", arguments: [(3_600.0, 3_375.0), (900, 675), (20, 15)])
  func early(_ lifetime: Double, _ refreshAt: Double) {
    var state = state(lifetime: lifetime)
    #expect(state.need(at(refreshAt - 0.01)) == .use("A", fetches: false))
    #expect(state.need(at(refreshAt)) == .use("A", fetches: true))
    #expect(state.need(at(refreshAt)) == .use("A", fetches: false))
    state.fetched(AccessToken(text: "B", lifetime: lifetime), asked: at(refreshAt))
    #expect(state.need(at(lifetime)) == .use("B", fetches: false))
  }

  @Test("Past its end a token is not used")
  func end() {
    var state = state(lifetime: 20)
    #expect(state.need(at(19.99)) == .use("A", fetches: true))
    #expect(state.need(at(20)) == .wait(fetches: false))
  }

  @Test("Failures pause the fetching, 1 s doubling to 30 s, and say why at once")
  func failures() {
    var state = AccessTokenState()
    var now = 0.0
    for pause in [1.0, 2, 4, 8, 16, 30, 30] {
      #expect(state.need(at(now)) == .wait(fetches: true))
      state.failed(down, at(now))
      #expect(state.need(at(now)) == .refuse(down))
      #expect(state.need(at(now + pause - 0.01)) == .refuse(down))
      now += pause
    }
    #expect(state.need(at(now)) == .wait(fetches: true))
    state.fetched(AccessToken(text: "A", lifetime: 20), asked: at(now))
    #expect(state.need(at(now)) == .use("A", fetches: false))
  }

  @Test("A failed refresh lets the old token serve to its end")
  func failedRefresh() {
    var state = state(lifetime: 20)
    #expect(state.need(at(15)) == .use("A", fetches: true))
    state.failed(down, at(15))
    #expect(state.need(at(15.5)) == .use("A", fetches: false))
    #expect(state.need(at(16)) == .use("A", fetches: true))
    state.failed(down, at(19.5))
    #expect(state.need(at(20)) == .refuse(down))
  }

  @Test("A 401 forces one fetch for the token that was refused, and none for one that comes back")
  func refusal() {
    var state = state(lifetime: 3_600)
    #expect(state.refused("A", at(1)) == .wait(fetches: true))
    for _ in 0..<1_000 { #expect(state.refused("A", at(1)) == .wait(fetches: false)) }
    state.fetched(AccessToken(text: "B", lifetime: 3_600), asked: at(1))
    // Late answers to the first token.
    #expect(state.refused("A", at(2)) == .use("B", fetches: false))
    // Another token may be refused in its turn.
    #expect(state.refused("B", at(3)) == .wait(fetches: true))
    state.fetched(AccessToken(text: "B", lifetime: 3_600), asked: at(3))
    #expect(state.refused("B", at(4)) == nil)
    #expect(state.need(at(4)) == .use("B", fetches: false))
  }
}
