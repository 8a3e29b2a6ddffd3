import Loop
import Testing

@testable import worker

@Suite("Under which name a lane claims")
struct LeaseOwnerTests {
  @Test("After a lost claim the name is another, and the old one is suspect until its leases have lapsed")
  func loss() {
    var owner = LeaseOwner()
    let start = Monotonic(nanoseconds: 1_000_000_000)
    let first = owner.current
    #expect(owner.suspects(start).isEmpty)
    owner.loseClaim(start)
    let second = owner.current
    #expect(second != first)
    #expect(owner.suspects(start) == [first])
    let later = start.advanced(milliseconds: 20_000)
    owner.loseClaim(later)
    #expect(owner.suspects(later) == [first, second])
    #expect(owner.suspects(start.advanced(milliseconds: LeaseOwner.memory)) == [second])
    #expect(owner.suspects(later.advanced(milliseconds: LeaseOwner.memory)).isEmpty)
  }
}
