import Loop
import Testing

@testable import worker

@Suite("A parked lane and a mended credential")
struct RecoveryTests {
  private let start = Monotonic(nanoseconds: 0)

  @Test("The next probe is due at once, however long the pauses have become, and they begin afresh")
  func due() {
    var parking = Parking()
    var now = start
    _ = parking.fault("x", now)
    for _ in 0..<6 {
      now = now.advanced(milliseconds: parking.untilProbe(now) ?? 0)
      parking.beginProbe()
      _ = parking.fault("x", now)
    }
    #expect(parking.untilProbe(now) == Parking.longestPause)
    parking.expectRecovery(now)
    #expect(parking.untilProbe(now) == 0)
    parking.beginProbe()
    _ = parking.fault("x", now)
    #expect(parking.untilProbe(now) == 2 * Parking.firstPause)
  }

  @Test("A probe under way is not doubled, and an open lane stays open")
  func others() {
    var parking = Parking()
    parking.expectRecovery(start)
    #expect(!parking.isParked && parking.untilProbe(start) == nil)
    _ = parking.fault("x", start)
    parking.beginProbe()
    parking.expectRecovery(start)
    #expect(parking.untilProbe(start) == nil)
  }
}
