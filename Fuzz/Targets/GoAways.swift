@testable import Http

/// The debug data of a GOAWAY: its text is bounded and printable.
enum GoAways: Target {
  static func run(_ bytes: [UInt8]) {
    let notice = bytes.withUnsafeBufferPointer { Http2GoAway(lastStream: 1, code: 0, reason: $0) }
    require(notice.reason.utf8.count == min(bytes.count, 256), "\(notice.reason.utf8.count) bytes")
    require(notice.reason.utf8.allSatisfy { (0x20...0x7e).contains($0) }, notice.reason.debugDescription)
  }
}
