package import Loop

/// The end of a program's life: it serves, then lets what runs come to an end, then is done. Pure.
package struct Drain: Sendable {
  package enum Phase: Equatable, Sendable {
    case serving
    case draining(until: Monotonic)
    /// `clean`: nothing was left when the time was over.
    case done(clean: Bool)
  }

  package private(set) var phase = Phase.serving
  private let grace: Int

  /// - Parameter grace: how long what runs may take to end, in ms.
  package init(grace: Int = 8_000) { self.grace = grace }

  package var isServing: Bool { phase == .serving }

  /// Begins to drain; whether this was the first call.
  package mutating func begin(now: Monotonic) -> Bool {
    guard isServing else { return false }
    phase = .draining(until: now.advanced(milliseconds: grace))
    return true
  }

  /// Tells how much still runs; done when nothing does, or when the time is over.
  package mutating func progress(inFlight: Int, now: Monotonic) {
    guard case .draining(let end) = phase else { return }
    if inFlight == 0 { phase = .done(clean: true) } else if now >= end { phase = .done(clean: false) }
  }

  /// How long what runs may still take, in ms; the whole grace while serving, 0 when done.
  package func remaining(now: Monotonic) -> Int {
    switch phase {
    case .serving: grace
    case .draining(let end): end.milliseconds(since: now)
    case .done: 0
    }
  }
}
