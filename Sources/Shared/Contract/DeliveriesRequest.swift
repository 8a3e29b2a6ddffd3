/// `GET /v1/deliveries`: which event is asked about.
package struct DeliveriesRequest: Sendable, Equatable {
  package let epoch: String
  package let seq: Int64
  /// Of which kinds: an alert and a dismissal of one epoch and seq are two events.
  package let kinds: [Notification.Kind]

  /// - Parameter query: what follows the `?`, as it was sent.
  package init(query: String?) throws(InvalidRequest) {
    var query = try Query(query)
    let epoch = try query.required("notificationEpoch")
    let seq = try query.required("notificationSeq")
    let kind = try query.optional("kind")
    try query.end("notificationEpoch, notificationSeq and kind")

    guard OpaqueId.isValid(epoch) else {
      throw InvalidRequest("notificationEpoch must have 1 to 128 characters, none of them a control character")
    }
    self.epoch = epoch
    guard let number = Self.integer(seq) else {
      throw InvalidRequest("notificationSeq must be an integer from 0 to 9007199254740991")
    }
    self.seq = number
    guard let kind else {
      kinds = Notification.Kind.allCases
      return
    }
    guard let kind = Notification.Kind(rawValue: kind) else {
      throw InvalidRequest("kind must be alert or dismiss")
    }
    kinds = [kind]
  }

  /// As JSON writes one: no sign, no zeros in front.
  package static func integer(_ text: String) -> Int64? {
    guard text.utf8.allSatisfy({ (48...57).contains($0) }), text == "0" || text.utf8.first != UInt8(ascii: "0"),
      let number = Int64(text), number <= Limits.integer
    else { return nil }
    return number
  }
}
