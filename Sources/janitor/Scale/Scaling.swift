/// How many workers there should be. Pure: what was read goes in, the count comes out.
///
/// More come at once, fewer one at a time and late: a worker too many costs cents, one too few costs minutes.
struct Scaling: Equatable {
  let bounds: ClosedRange<Int>
  /// Deliveries in the queue that one worker is to hold.
  let depthEach: Int

  /// A delivery that has been due for longer, in ms, asks for one more worker however short the queue is.
  static let late: Int64 = 15_000
  /// Nothing that is due has waited longer, in ms, where a worker is taken away.
  static let prompt: Int64 = 5_000
  /// A worker that was added has this long to show before lateness adds another, in seconds.
  static let settling: Int64 = 90
  /// None is taken away this soon after a change, in seconds.
  static let holding: Int64 = 300

  /// What decides.
  struct Reading: Equatable {
    /// Deliveries that have not reached their last state.
    var depth: Int64
    /// For how long the longest waiting due delivery has been due, ms.
    var oldestDue: Int64
    /// The pool's count.
    var instances: Int
    /// Since the pool was last changed, by whomever.
    var secondsSinceChange: Int64
  }

  enum Decision: Equatable {
    case stay(Why)
    case change(to: Int, Why)
  }

  /// Shown in the log.
  enum Why: String {
    case fits
    /// Somebody set the pool to none: that is for them to undo.
    case stopped
    case outOfBounds = "out of bounds"
    case deep = "the queue is deep"
    case late = "deliveries are late"
    case atMost = "at the most"
    case shallow = "the queue is shallow"
    /// Fewer would do, but not yet.
    case holding
  }

  func decide(_ now: Reading) -> Decision {
    if now.instances == 0 { return .stay(.stopped) }
    if !bounds.contains(now.instances) {
      return .change(to: min(max(now.instances, bounds.lowerBound), bounds.upperBound), .outOfBounds)
    }
    let isLate = now.oldestDue > Self.late && now.secondsSinceChange >= Self.settling
    let deep = workers(for: now.depth)
    let wanted = max(deep, isLate ? now.instances + 1 : 0)
    if wanted > now.instances {
      let count = min(wanted, bounds.upperBound)
      return count == now.instances ? .stay(.atMost) : .change(to: count, deep > now.instances ? .deep : .late)
    }
    // One fewer must hold the queue with half of what they may hold to spare, so that the next minute does not undo it.
    let isRoomy = workers(for: doubled(now.depth)) < now.instances && now.oldestDue <= Self.prompt
    guard isRoomy, now.instances > bounds.lowerBound else { return .stay(.fits) }
    return now.secondsSinceChange < Self.holding ? .stay(.holding) : .change(to: now.instances - 1, .shallow)
  }

  private func workers(for depth: Int64) -> Int {
    let each = Int64(depthEach)
    let count = depth / each + (depth % each > 0 ? 1 : 0)
    return Int(min(max(count, 0), Int64(bounds.upperBound) + 1))
  }

  private func doubled(_ depth: Int64) -> Int64 {
    let (twice, overflows) = depth.multipliedReportingOverflow(by: 2)
    return overflows ? .max : twice
  }
}
