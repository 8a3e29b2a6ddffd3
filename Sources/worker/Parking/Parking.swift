internal import Contract
internal import Loop

/// Whether a lane sends, or waits for its credential to be mended (rulings 6.8). Pure: told what happened, it says what to
/// do next.
///
/// While parked, one delivery at a time is sent as a probe: the first after 2 s, then with doubling pauses up to 30 s. Any
/// answer that the credential was good enough for opens the lane again. The pauses spare the provider: a probe for which
/// there was no delivery, as when other workers' open lanes take them all, is made with the next that comes.
struct Parking {
  /// ms.
  static let firstPause = 2_000
  static let longestPause = 30_000

  private(set) var reason: String?
  private(set) var since: Monotonic?
  private var pause = Parking.firstPause
  private var nextProbe: Monotonic?
  private var isProbing = false
  private var lacksDelivery = false

  var isParked: Bool { reason != nil }

  /// For the record of a delivery that has to wait: the reason's first word, without what only operators should read.
  var word: String? {
    reason.map { DeliveryReason.parked + ($0.split(separator: ":").first.map(String.init) ?? $0) }
  }

  /// How long until a probe is due, in ms; nil while the lane is open or a probe is on its way.
  func untilProbe(_ now: Monotonic) -> Int? {
    guard isParked, !isProbing, let nextProbe else { return nil }
    return nextProbe.milliseconds(since: now)
  }

  /// A credential fault. True when it closes an open lane.
  mutating func fault(_ why: String, _ now: Monotonic) -> Bool {
    let closes = !isParked
    reason = why
    if closes {
      since = now
      pause = Self.firstPause
    } else if isProbing {
      pause = min(Self.longestPause, pause * 2)
    } else {
      // An answer to what was sent before the lane closed says nothing new.
      return false
    }
    isProbing = false
    nextProbe = now.advanced(milliseconds: pause)
    return closes
  }

  /// Something was mended, perhaps: a probe is due now, and pauses begin afresh.
  mutating func expectRecovery(_ now: Monotonic) {
    guard isParked else { return }
    pause = Self.firstPause
    if !isProbing { nextProbe = now }
  }

  /// A probe goes out.
  mutating func beginProbe() {
    isProbing = true
    lacksDelivery = false
  }

  /// There was nothing to send: looks again soon, and when something comes.
  mutating func probeLacksDelivery(_ now: Monotonic) {
    guard isParked, isProbing else { return }
    isProbing = false
    lacksDelivery = true
    nextProbe = now.advanced(milliseconds: Self.firstPause)
  }

  /// Something may have come. True when a probe has waited for that, and is due now.
  mutating func expectDelivery(_ now: Monotonic) -> Bool {
    guard lacksDelivery else { return false }
    nextProbe = now
    return true
  }

  /// The probe could not be sent or its answer says nothing about the credential: try again after the same pause.
  mutating func probeInconclusive(_ now: Monotonic) {
    guard isParked, isProbing else { return }
    isProbing = false
    nextProbe = now.advanced(milliseconds: pause)
  }

  /// An answer that the credential was good enough for. True when it opens a closed lane.
  mutating func credentialWorks() -> Bool {
    guard isParked else { return false }
    self = Parking()
    return true
  }
}
