/// First in, first out, both in constant time on average.
struct Fifo<Element> {
  private var slots: [Element?] = []
  private var head = 0

  var count: Int { slots.count - head }
  var isEmpty: Bool { head == slots.count }

  /// The oldest, to be read or changed in place.
  var first: Element? {
    get { isEmpty ? nil : slots[head] }
    set { if !isEmpty { slots[head] = newValue } }
  }

  mutating func append(_ element: Element) { slots.append(element) }

  mutating func removeFirst() -> Element? {
    if isEmpty { return nil }
    let element = slots[head]
    slots[head] = nil
    head += 1
    if head == slots.count {
      slots.removeAll(keepingCapacity: true)
      head = 0
    } else if head >= 64, head * 2 >= slots.count {
      slots.removeFirst(head)
      head = 0
    }
    return element
  }

  mutating func removeAll() -> [Element] {
    defer {
      slots = []
      head = 0
    }
    return slots[head...].compactMap { $0 }
  }
}
