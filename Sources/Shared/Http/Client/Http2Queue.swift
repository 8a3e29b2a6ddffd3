internal import Loop

/// Requests that wait for a stream: first those that a server has refused, then the others in the order they came.
@LoopActor
struct Http2Queue {
  private var returned: [Http2Exchange] = []
  private var line: [Http2Exchange] = []
  private var head = 0

  var count: Int { returned.count + line.count - head }
  var isEmpty: Bool { count == 0 }

  /// When the one that is next was sent by its owner.
  var oldestArrival: Monotonic? { (returned.first ?? (head < line.count ? line[head] : nil))?.arrived }

  var deadlines: [Monotonic] { (returned + line[head...]).map(\.deadline) }

  mutating func append(_ exchange: Http2Exchange) { line.append(exchange) }

  /// Puts one back that was refused.
  mutating func putBack(_ exchange: Http2Exchange) { returned.append(exchange) }

  mutating func next() -> Http2Exchange? {
    if !returned.isEmpty { return returned.removeFirst() }
    guard head < line.count else { return nil }
    let exchange = line[head]
    head += 1
    if head == line.count {
      line.removeAll(keepingCapacity: true)
      head = 0
    } else if head >= 1_024, head * 2 >= line.count {
      line.removeSubrange(..<head)
      head = 0
    }
    return exchange
  }

  /// Takes out those that fulfil `condition`.
  mutating func take(_ condition: @LoopActor (Http2Exchange) -> Bool) -> [Http2Exchange] {
    var taken: [Http2Exchange] = []
    var kept = Http2Queue()
    for exchange in returned { condition(exchange) ? taken.append(exchange) : kept.putBack(exchange) }
    for exchange in line[head...] { condition(exchange) ? taken.append(exchange) : kept.append(exchange) }
    self = kept
    return taken
  }
}
