import Testing

@testable import Providers

@Suite("Which credential sends")
struct SuccessionTests {
  /// `old` sends, `new` waits.
  private func staged() -> Succession<String> {
    var succession = Succession("old")
    let replaced = succession.stage("new")
    #expect(replaced == nil)
    return succession
  }

  private func begin(_ succession: inout Succession<String>) throws -> Succession<String>.Trial {
    let trial = succession.beginTrial()
    return try #require(trial)
  }

  @Test("A new credential is tried once at a time, and takes over when it is taken")
  func takesOver() throws {
    var succession = staged()
    let trial = try begin(&succession)
    #expect(trial.member == "new" && succession.current == "old" && succession.isOnTrial)
    let second = succession.beginTrial()
    #expect(second == nil)
    let old = succession.passed(trial)
    #expect(old == "old" && succession.current == "new" && succession.successor == nil)
    let none = succession.beginTrial()
    #expect(none == nil)
  }

  @Test("A refused one waits until the present one is refused too")
  func refused() throws {
    var succession = staged()
    let trial = try begin(&succession)
    let isNews = succession.refused(trial, "why")
    #expect(isNews && succession.refusal == "why")
    let early = succession.beginTrial()
    #expect(early == nil)
    succession.currentRefused()
    let again = try begin(&succession)
    #expect(again.member == "new")
  }

  @Test("A trial that says nothing is made again")
  func undecided() throws {
    var succession = staged()
    let trial = try begin(&succession)
    succession.undecided(trial)
    let again = try begin(&succession)
    #expect(again.member == "new")
  }

  @Test("What becomes of a credential that another has replaced meanwhile counts for nothing")
  func replacedOnTrial() throws {
    var succession = staged()
    let trial = try begin(&succession)
    let replaced = succession.stage("newer")
    #expect(replaced == "new")
    let old = succession.passed(trial)
    let isNews = succession.refused(trial, "why")
    succession.undecided(trial)
    #expect(old == nil && !isNews && succession.current == "old" && succession.refusal == nil)
    let again = try begin(&succession)
    #expect(again.member == "newer")
  }
}
