/// A request for an HTTP/2 connection.
package struct Http2ClientRequest: Sendable {
  /// Pseudo-header fields first.
  package var head: HeaderBlock
  package var body: [UInt8]
  /// How long the answer may take in all, waiting for a stream included, in ms.
  package var deadline: Int

  package init(head: HeaderBlock, body: [UInt8] = [], deadline: Int = 10_000) {
    self.head = head
    self.body = body
    self.deadline = deadline
  }
}

/// An answer, whole.
package struct Http2ClientResponse: Sendable {
  package var status = 0
  /// Without `:status`; at most 8 KiB, the rest is dropped.
  package var headers = HeaderBlock()
  /// At most 16 KiB, the rest is dropped.
  package var body: [UInt8] = []

  package init() {}

  /// A final answer may follow an interim one.
  mutating func begin(status digits: UnsafeBufferPointer<UInt8>) {
    headers.removeAll()
    headers.reserve(256)
    status = digits.reduce(0) { $0 &* 10 &+ Int($1) &- 0x30 }
  }

  mutating func add(header name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
    guard headers.size(with: name.count, value.count) <= Self.headerLimit else { return }
    headers.append(name, value, indexed: false)
  }

  static let headerLimit = 8 * 1024
  static let bodyLimit = 16 * 1024
}
