/// A timer that was set; kept to call it off.
package struct Timer: Hashable, Sendable {
  fileprivate let id: UInt64
}

/// What is due when: a binary heap over the monotonic clock. Calling off is O(1); the dead entry leaves when it comes up,
/// or when dead entries outnumber live ones.
struct Timers {
  private struct Entry {
    var due: Monotonic
    var timer: Timer
  }
  private var heap: [Entry] = []
  private var bodies: [Timer: @LoopActor () -> Void] = [:]
  private var next: UInt64 = 0

  var count: Int { bodies.count }

  /// When the next live timer is due.
  var nextDue: Monotonic? {
    mutating get {
      while let first = heap.first, bodies[first.timer] == nil { removeFirst() }
      return heap.first?.due
    }
  }

  mutating func set(_ due: Monotonic, _ body: @escaping @LoopActor () -> Void) -> Timer {
    next += 1
    let timer = Timer(id: next)
    bodies[timer] = body
    heap.append(Entry(due: due, timer: timer))
    rise(heap.count - 1)
    return timer
  }

  mutating func cancel(_ timer: Timer) {
    bodies[timer] = nil
    if heap.count > 64, heap.count > 2 * bodies.count { sweep() }
  }

  /// Takes out the first timer due at `now`, if any.
  mutating func takeDue(_ now: Monotonic) -> (@LoopActor () -> Void)? {
    guard let due = nextDue, due <= now, let first = heap.first else { return nil }
    removeFirst()
    return bodies.removeValue(forKey: first.timer)
  }

  private mutating func sweep() {
    heap.removeAll { bodies[$0.timer] == nil }
    var i = heap.count / 2
    while i > 0 {
      i -= 1
      sink(i)
    }
  }

  private func before(_ a: Int, _ b: Int) -> Bool {
    // Equal times go in the order they were set.
    (heap[a].due.nanoseconds, heap[a].timer.id) < (heap[b].due.nanoseconds, heap[b].timer.id)
  }

  private mutating func rise(_ start: Int) {
    var i = start
    while i > 0, before(i, (i - 1) / 2) {
      heap.swapAt(i, (i - 1) / 2)
      i = (i - 1) / 2
    }
  }

  private mutating func sink(_ start: Int) {
    var i = start
    while true {
      var least = i
      for child in [2 * i + 1, 2 * i + 2] where child < heap.count && before(child, least) { least = child }
      if least == i { return }
      heap.swapAt(i, least)
      i = least
    }
  }

  private mutating func removeFirst() {
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    sink(0)
  }
}
