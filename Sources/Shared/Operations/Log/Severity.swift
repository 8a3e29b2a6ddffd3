/// How much a line matters, in Cloud Logging's words.
package enum Severity: String, Comparable, CaseIterable, Sendable {
  case debug = "DEBUG"
  case info = "INFO"
  case notice = "NOTICE"
  case warning = "WARNING"
  case error = "ERROR"
  case critical = "CRITICAL"

  private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }

  package static func < (a: Severity, b: Severity) -> Bool { a.rank < b.rank }
}
