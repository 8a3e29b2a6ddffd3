/// Writes Prometheus' text format 0.0.4.
struct Exposition {
  /// What the text is served as.
  static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  private(set) var text = ""

  /// The two lines before a metric's samples.
  mutating func head(_ name: String, _ type: String, help: String) {
    text += "# HELP \(name) \(Self.escaped(help, quotes: false))\n# TYPE \(name) \(type)\n"
  }

  /// One sample; `labels` is what stands between the braces.
  mutating func sample(_ name: String, _ labels: String, _ value: String) {
    text += labels.isEmpty ? "\(name) \(value)\n" : "\(name){\(labels)} \(value)\n"
  }

  static func number(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
    return value.magnitude < 1e15 && value == value.rounded() ? String(Int64(value)) : value.description
  }

  /// A label's value between its quotes.
  static func escapedLabel(_ value: String) -> String { escaped(value, quotes: true) }

  private static func escaped(_ text: String, quotes: Bool) -> String {
    var escaped = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": escaped.append(contentsOf: "\\\\".unicodeScalars)
      case "\n": escaped.append(contentsOf: "\\n".unicodeScalars)
      case "\"" where quotes: escaped.append(contentsOf: "\\\"".unicodeScalars)
      default: escaped.append(scalar)
      }
    }
    return String(escaped)
  }
}
