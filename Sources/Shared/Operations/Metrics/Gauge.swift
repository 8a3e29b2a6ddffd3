package import Loop

/// A number that goes up and down, one for each series of its labels. A series is shown once it has been set.
@LoopActor
package final class GaugeFamily: MetricFamily {
  let name: String
  let help: String
  private let series: SeriesTable
  private var values: [Double?]

  init(_ name: String, _ help: String, _ labels: [MetricLabel]) {
    self.name = name
    self.help = help
    series = SeriesTable(labels)
    values = Array(repeating: nil, count: series.count)
  }

  /// The series with these values, in the labels' order; look it up once and keep it.
  package func at(_ values: String...) -> Gauge { Gauge(family: self, index: series.index(values)) }

  fileprivate subscript(index: Int) -> Double? {
    get { values[index] }
    set { values[index] = newValue }
  }

  func write(into exposition: inout Exposition) {
    exposition.head(name, "gauge", help: help)
    for (index, value) in values.enumerated() {
      if let value { exposition.sample(name, series.text(index), Exposition.number(value)) }
    }
  }
}

/// One series of a ``GaugeFamily``.
@LoopActor
package struct Gauge {
  fileprivate let family: GaugeFamily
  fileprivate let index: Int

  package func set(_ value: Double) { family[index] = value }
  package func set(_ value: Int) { family[index] = Double(value) }
  package func set(_ value: Bool) { family[index] = value ? 1 : 0 }
  package func add(_ amount: Int) { family[index] = (family[index] ?? 0) + Double(amount) }
  /// Shows the series no longer.
  package func clear() { family[index] = nil }

  package var value: Double? { family[index] }
}

/// A metric whose value is asked for when it is read.
@LoopActor
final class SampledMetric: MetricFamily {
  let name: String
  let help: String
  private let type: String
  private let labels: [MetricLabel]
  private let sample: @LoopActor () -> [(values: [String], value: Double)]

  init(
    _ name: String, _ help: String, type: String, labels: [MetricLabel],
    sample: @escaping @LoopActor () -> [(values: [String], value: Double)]
  ) {
    self.name = name
    self.help = help
    self.type = type
    self.labels = labels
    self.sample = sample
  }

  func write(into exposition: inout Exposition) {
    let series = SeriesTable(labels)
    // What folds into one series is added up.
    var sums: [Int: Double] = [:]
    for (values, value) in sample() { sums[series.index(values), default: 0] += value }
    exposition.head(name, type, help: help)
    for (index, value) in sums.sorted(by: { $0.key < $1.key }) {
      exposition.sample(name, series.text(index), Exposition.number(value))
    }
  }
}
