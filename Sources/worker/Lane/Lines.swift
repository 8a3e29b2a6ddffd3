internal import Stores

/// The deliveries that this worker holds, in one line per registration: the first of a line is on its way, the others wait
/// for it (rulings 6.1). Pure.
struct Lines {
  /// What waits behind the delivery that is on its way.
  private var waiting: [Int64: [Held]] = [:]

  private(set) var waitingCount = 0

  /// The same by host.
  private var waitingOf: [Int64: Int] = [:]

  /// How many of a host's deliveries wait for others to its own phones.
  func waitingCount(of host: Int64) -> Int { waitingOf[host] ?? 0 }

  /// Hosts of which at least so many wait.
  func hosts(waiting count: Int) -> [Int64] { waitingOf.compactMap { $0.value >= count ? $0.key : nil } }

  private mutating func count(_ held: Held, _ change: Int) {
    let host = held.delivery.host.number
    let count = waitingCount(of: host) + change
    waitingOf[host] = count > 0 ? count : nil
    waitingCount += change
  }

  /// Registrations that were marked dead since the last claim began: it may have seen them as they were before.
  private var marked: Set<Int64> = []

  mutating func claimBegins() { marked = [] }

  /// The mark stands.
  mutating func mark(_ device: Int64) { marked.insert(device) }

  /// Whether a delivery that the last claim brought must be looked at again before it goes.
  func isStale(_ held: Held) -> Bool { marked.contains(held.delivery.device) }

  /// Takes a claimed delivery in: true when nothing of its registration is on its way, so that it goes now.
  mutating func admit(_ held: Held) -> Bool {
    let device = held.delivery.device
    guard waiting[device] != nil else {
      waiting[device] = []
      return true
    }
    waiting[device]?.append(held)
    count(held, 1)
    return false
  }

  /// The delivery of this registration that was on its way is done: the next in line, which is now on its way.
  mutating func next(_ device: Int64) -> Held? {
    guard let first = waiting[device]?.first else {
      waiting[device] = nil
      return nil
    }
    waiting[device]?.removeFirst()
    count(first, -1)
    return first
  }

  /// Takes out everything that waits and is asked for, each line in its order; what is on its way stays.
  mutating func takeWaiting(_ isAskedFor: (Held) -> Bool = { _ in true }) -> [Held] {
    var taken: [Held] = []
    for (device, line) in waiting where line.contains(where: isAskedFor) {
      taken += line.filter(isAskedFor)
      waiting[device] = line.filter { !isAskedFor($0) }
    }
    for held in taken { count(held, -1) }
    return taken
  }

  /// Takes out of each line everything from the first on that is asked for.
  mutating func takeTails(from isFirst: (Held) -> Bool) -> [Held] {
    var taken: [Held] = []
    for (device, line) in waiting {
      guard let first = line.firstIndex(where: isFirst) else { continue }
      taken += line[first...]
      waiting[device] = Array(line[..<first])
    }
    for held in taken { count(held, -1) }
    return taken
  }

  /// Takes out everything that waits for this registration, in order.
  mutating func takeLine(_ device: Int64) -> [Held] {
    let line = waiting[device] ?? []
    if !line.isEmpty { waiting[device] = [] }
    for held in line { count(held, -1) }
    return line
  }
}
