/// Keeps a wrong topic, environment or project from wiping every token (rulings 6.10). Pure.
///
/// Of the last 50 outcomes of one credential and topic, more than 30 % that would kill a token for a suspicious reason pause
/// killing; it resumes by itself when the share falls.
struct InvalidationBreaker {
  static let window = 50
  /// Per cent.
  static let threshold = 30

  private var outcomes: [Bool] = []
  private var next = 0
  private var suspicious = 0

  /// Killing is paused.
  var isOpen: Bool { outcomes.count == Self.window && suspicious * 100 > Self.threshold * outcomes.count }

  /// Counts an outcome, before it is decided whether it may kill.
  mutating func count(isSuspicious: Bool) {
    if outcomes.count < Self.window {
      outcomes.append(isSuspicious)
    } else {
      if outcomes[next] { suspicious -= 1 }
      outcomes[next] = isSuspicious
      next = (next + 1) % Self.window
    }
    if isSuspicious { suspicious += 1 }
  }
}
