/// A label of a metric and the values that it may take, fixed when the metric is made. Any other value counts as `other`.
package struct MetricLabel: Sendable {
  /// What stands in for a value that was not foreseen.
  package static let other = "other"

  package let name: String
  /// Distinct; `other` comes last.
  package let values: [String]

  package init(_ name: String, _ values: [String]) {
    self.name = name
    self.values = values.filter { $0 != Self.other } + [Self.other]
  }

  /// The place of `value`, or of `other`.
  func index(of value: String) -> Int { values.firstIndex(of: value) ?? values.count - 1 }
}

/// The series of one metric: every combination of its labels' values, numbered. Pure.
struct SeriesTable: Sendable {
  /// The most series of a metric.
  static let limit = 512
  /// A metric of more series than this shows only those that were ever touched.
  static let sparseAbove = 64

  let labels: [MetricLabel]
  let count: Int

  init(_ labels: [MetricLabel]) {
    self.labels = labels
    count = labels.reduce(1) { $0 * $1.values.count }
    precondition(count <= Self.limit, "too many series")
  }

  /// The number of the series with these values, given in the labels' order.
  func index(_ values: [String]) -> Int {
    precondition(values.count == labels.count, "a value for each label")
    return zip(labels, values).reduce(0) { $0 * $1.0.values.count + $1.0.index(of: $1.1) }
  }

  /// Whether the series has a value of its own in every label.
  func isForeseen(_ index: Int) -> Bool {
    var rest = index
    for label in labels.reversed() {
      if rest % label.values.count == label.values.count - 1 { return false }
      rest /= label.values.count
    }
    return true
  }

  /// `a="x",b="y"`.
  func text(_ index: Int) -> String {
    var rest = index
    var parts: [String] = []
    for label in labels.reversed() {
      parts.append("\(label.name)=\"\(Exposition.escapedLabel(label.values[rest % label.values.count]))\"")
      rest /= label.values.count
    }
    return parts.reversed().joined(separator: ",")
  }
}
