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

  static let headerLimit = 8 * 1024
  static let bodyLimit = 16 * 1024
}
