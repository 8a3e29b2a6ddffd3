/// How Google names projects. A wrong name parks the lane at the first push; one that can be none is told at the start.
enum ProjectId {
  private static let letters = "abcdefghijklmnopqrstuvwxyz"
  private static let digits = "0123456789"

  /// `my-project`, `example.com:my-project` as ids once were, or a project's number, which FCM takes too.
  static func isOne(_ text: String) -> Bool {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    switch parts.count {
    case 1: return isId(text) || isNumber(text)
    case 2: return isDomain(parts[0]) && isId(parts[1])
    default: return false
    }
  }

  private static func isId(_ text: String) -> Bool {
    text.isMade(of: letters + digits + "-", count: 6...30) && text.first.map { letters.contains($0) } == true
      && text.utf8.last != UInt8(ascii: "-")
  }

  private static func isNumber(_ text: String) -> Bool {
    text.isMade(of: digits, count: 6...19) && text.utf8.first != UInt8(ascii: "0")
  }

  private static func isDomain(_ text: String) -> Bool {
    text.isMade(of: letters + digits + "-.", count: 3...253) && text.utf8.contains(UInt8(ascii: "."))
      && text.hasNoEmptyLabel
  }
}
