internal import Contract
internal import Operations

/// Records of deliveries as a table for a terminal. Pure.
enum RecordTable {
  private static let titles = [
    "KIND", "REGISTRATION", "PHONE", "STATE", "TRIES", "QUEUED", "LAST TRY", "ENDED", "DEADLINE", "WHAT",
  ]

  /// One line a delivery under a line of titles. Times but the first are counted from it.
  static func text(_ records: [DeliveryRecord]) -> String {
    let lines = [titles] + records.map(cells)
    let widths = titles.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
    return lines.map { line in
      var text = ""
      for (cell, width) in zip(line.dropLast(), widths) {
        text += cell + String(repeating: " ", count: width - cell.count + 2)
      }
      return text + (line.last ?? "")
    }.joined(separator: "\n")
  }

  private static func cells(_ record: DeliveryRecord) -> [String] {
    [
      record.kind.rawValue, record.registrationId ?? "(deleted)", phone(record.route), record.state.rawValue,
      String(record.attempts), Rfc3339.text(milliseconds: record.queuedAt),
      later(record.lastAttemptAt, record), later(record.finishedAt, record), later(record.deadline, record),
      what(record),
    ]
  }

  private static func phone(_ route: Route?) -> String {
    guard let route else { return "?" }
    return route == .fcm ? "android" : "ios \(route.environment)"
  }

  /// `+1.250 s` after it was queued.
  private static func later(_ time: Int64?, _ record: DeliveryRecord) -> String {
    guard let time else { return "-" }
    let wait = max(0, time - record.queuedAt)
    let thousandths = String(wait % 1_000)
    return "+\(wait / 1_000).\(String(repeating: "0", count: 3 - thousandths.count))\(thousandths) s"
  }

  private static func what(_ record: DeliveryRecord) -> String {
    var parts: [String] = []
    if let id = record.providerId { parts.append(id) }
    if let reason = record.reason { parts.append(reason) }
    if let detail = record.detail { parts.append(detail) }
    if let next = record.nextAttemptAt { parts.append("next try at \(later(next, record))") }
    if record.waitsFor == .worker { parts.append("no worker has taken it") }
    if let reason = record.retryReason { parts.append("tried again after \(reason)") }
    if record.unknownOutcomes > 0 { parts.append("outcomes unknown: \(record.unknownOutcomes)") }
    return parts.isEmpty ? "-" : parts.joined(separator: "; ")
  }
}
