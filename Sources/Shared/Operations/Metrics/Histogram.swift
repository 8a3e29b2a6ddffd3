package import Loop

/// How values spread over buckets, for each series of its labels.
@LoopActor
package final class HistogramFamily: MetricFamily {
  let name: String
  let help: String
  private let series: SeriesTable
  private let bounds: [Double]
  /// For each series a count a bucket, the last of them for what exceeds every bound.
  private var counts: [UInt64]
  private var sums: [Double]

  /// - Parameter bounds: the buckets' upper bounds, rising, without infinity.
  init(_ name: String, _ help: String, _ labels: [MetricLabel], bounds: [Double]) {
    precondition(!bounds.isEmpty && zip(bounds, bounds.dropFirst()).allSatisfy(<), "bounds must rise")
    self.name = name
    self.help = help
    self.bounds = bounds
    series = SeriesTable(labels)
    counts = Array(repeating: 0, count: series.count * (bounds.count + 1))
    sums = Array(repeating: 0, count: series.count)
  }

  /// The series with these values, in the labels' order; look it up once and keep it.
  package func at(_ values: String...) -> Histogram { Histogram(family: self, index: series.index(values)) }

  /// Counts `value` in the series with these values.
  package func observe(_ value: Double, _ values: String...) { observe(value, series.index(values)) }

  fileprivate func observe(_ value: Double, _ index: Int) {
    let bucket = bounds.firstIndex { value <= $0 } ?? bounds.count
    counts[index * (bounds.count + 1) + bucket] &+= 1
    sums[index] += value
  }

  fileprivate func count(_ index: Int) -> UInt64 { buckets(index).reduce(0, &+) }

  private func buckets(_ index: Int) -> ArraySlice<UInt64> {
    counts[(index * (bounds.count + 1))..<((index + 1) * (bounds.count + 1))]
  }

  func write(into exposition: inout Exposition) {
    exposition.head(name, "histogram", help: help)
    for index in sums.indices where series.showsUntouched(index) || count(index) > 0 {
      let labels = series.text(index)
      let prefix = labels.isEmpty ? "" : labels + ","
      var sum: UInt64 = 0
      for (bound, count) in zip(bounds + [.infinity], buckets(index)) {
        sum &+= count
        exposition.sample(name + "_bucket", "\(prefix)le=\"\(Exposition.number(bound))\"", String(sum))
      }
      exposition.sample(name + "_sum", labels, Exposition.number(sums[index]))
      exposition.sample(name + "_count", labels, String(sum))
    }
  }
}

/// One series of a ``HistogramFamily``.
@LoopActor
package struct Histogram {
  fileprivate let family: HistogramFamily
  fileprivate let index: Int

  /// Counts `value`, in the metric's base unit.
  package func observe(_ value: Double) { family.observe(value, index) }

  /// How many values were counted.
  package var count: UInt64 { family.count(index) }
}
