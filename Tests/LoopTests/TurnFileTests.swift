import Foundation
import Glibc
import Loop
import Testing

@Suite("Turn file", .timeLimit(.minutes(1)))
struct TurnFileTests {
  @Test("One at a time is next, until it leaves")
  func next() throws {
    try withPath { path in
      let first = try #require(TurnFile(path: path))
      let second = try #require(TurnFile(path: path))
      #expect(first.join(milliseconds: 0))
      #expect(!second.join(milliseconds: 5))
      first.leave()
      #expect(second.join(milliseconds: 0))
      #expect(!first.join(milliseconds: 0))
    }
  }

  @Test("A process that is killed while it is next is next no more")
  func killed() async throws {
    let path = makePath()
    defer { unlink(path) }
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let turn = TurnFile(path: path)
      if turn?.join(milliseconds: 0) == true { kill(getpid(), SIGKILL) }
    }
    #expect(try #require(TurnFile(path: path)).join(milliseconds: 0))
  }

  @Test("Whoever waits is woken when another passes, or has since it came")
  func pass() async throws {
    let path = makePath()
    defer { unlink(path) }
    let turn = try #require(TurnFile(path: path))
    let early = try #require(TurnFile(path: path))
    early.pass()
    let start = Monotonic.now
    turn.wait(milliseconds: 30_000)
    let other = Task {
      await BlockingCalls(name: "other").run { TurnFile(path: path)?.pass() }
    }
    turn.wait(milliseconds: 30_000)
    await other.value
    #expect(Monotonic.now.milliseconds(since: start) < 30_000)
    // What came before it joined says nothing of what it waits for.
    early.pass()
    #expect(turn.join(milliseconds: 0))
    let again = Monotonic.now
    turn.wait(milliseconds: 20)
    #expect(Monotonic.now.milliseconds(since: again) >= 20)
  }

  @Test("It is for its owner alone, and absent where no file can be made")
  func mode() {
    withPath { path in
      let turn = TurnFile(path: path)
      #expect(turn != nil)
      var status = stat()
      #expect(stat(path, &status) == 0)
      #expect(status.st_mode & 0o777 == 0o600)
      #expect(TurnFile(path: path + "/below") == nil)
    }
  }
}

private func makePath() -> String { "/tmp/push-test-turn-\(getpid())-\(UInt64.random(in: 0 ... .max))" }

private func withPath(_ body: (String) throws -> Void) rethrows {
  let path = makePath()
  defer { unlink(path) }
  try body(path)
}
