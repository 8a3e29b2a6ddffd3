/// Steps for the requests of some tokens, used up in order.
struct Rule: Sendable {
  /// Which requests; nil is any.
  struct Scope: Sendable {
    var provider: Provider?
    var environment: ApnsEnvironment?

    /// Pushes alone are meant where no provider is named.
    func covers(_ provider: Provider, _ environment: ApnsEnvironment?) -> Bool {
      let isCovered = self.provider.map { $0 == provider } ?? (provider == .apns || provider == .fcm)
      return isCovered && (self.environment == nil || self.environment == environment)
    }
  }

  let scope: Scope
  let steps: [Step]
  /// Whether the first step follows the last.
  let repeats: Bool
  private var place = 0
  private var used = 0

  init(scope: Scope, steps: [Step], repeats: Bool) {
    self.scope = scope
    self.steps = steps
    self.repeats = repeats
  }

  /// The step for the next request; nil when all are used up.
  mutating func next() -> Step? {
    guard place < steps.count else { return nil }
    let step = steps[place]
    guard let times = step.times else { return step }
    used += 1
    if used >= times {
      used = 0
      place += 1
      if repeats, place == steps.count { place = 0 }
    }
    return step
  }
}
