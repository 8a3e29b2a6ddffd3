import Loop
import Testing

@testable import Http

@Suite("A value that arrives once")
struct ClientOneShotTests {
  @Test("A value that comes while its waiter is on the way into the wait is not lost", arguments: 0..<8) @LoopActor
  func onTheWay(turns: Int) async {
    let shot = OneShot<Int>()
    // A task that does not prefer the loop stands in its queue anew on each step into the wait: the value comes between.
    Self.fulfil(shot, after: turns)
    #expect(await shot.value(before: .now.advanced(milliseconds: 10_000)) == 1)
  }

  @LoopActor
  private static func fulfil(_ shot: OneShot<Int>, after turns: Int) {
    EventLoop.shared.start { turns == 0 ? shot.fulfil(1) : fulfil(shot, after: turns - 1) }
  }

  @Test("A deadline ends the wait, and what comes later is let go") @LoopActor
  func late() async {
    let shot = OneShot<Int>()
    #expect(await shot.value(before: .now) == nil)
    shot.fulfil(1)
    shot.fulfil(2)
    #expect(await shot.value(before: .now) == 1)
  }
}
