import Contract

/// The query of `GET /v1/deliveries`: what is taken is in bounds, and reads the same when it is written out again.
enum Queries: Target {
  static func run(_ bytes: [UInt8]) {
    guard let asked = try? DeliveriesRequest(query: bytes.text) else { return }
    require(OpaqueId.isValid(asked.epoch) && (0...Limits.integer).contains(asked.seq), "\(asked)")
    let digits = Array("0123456789ABCDEF".utf8)
    let epoch = asked.epoch.utf8.flatMap { [UInt8(ascii: "%"), digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    let kind = asked.kinds.count == 1 ? "&kind=\(asked.kinds[0].rawValue)" : ""
    let written = "notificationSeq=\(asked.seq)&notificationEpoch=\(epoch.text)\(kind)"
    require((try? DeliveriesRequest(query: written)) == asked, "it reads otherwise: \(written)")
  }
}
