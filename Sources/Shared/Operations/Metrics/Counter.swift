package import Loop

/// A number that only grows, one for each series of its labels.
@LoopActor
package final class CounterFamily: MetricFamily {
  let name: String
  let help: String
  private let series: SeriesTable
  private var values: [UInt64]

  init(_ name: String, _ help: String, _ labels: [MetricLabel]) {
    self.name = name
    self.help = help
    series = SeriesTable(labels)
    values = Array(repeating: 0, count: series.count)
  }

  /// The series with these values, in the labels' order; look it up once and keep it.
  package func at(_ values: String...) -> Counter { Counter(family: self, index: series.index(values)) }

  /// Counts in the series with these values.
  package func increment(_ values: String..., by amount: Int = 1) { add(amount, series.index(values)) }

  fileprivate func add(_ amount: Int, _ index: Int) { values[index] &+= UInt64(max(0, amount)) }
  fileprivate func value(_ index: Int) -> UInt64 { values[index] }

  func write(into exposition: inout Exposition) {
    exposition.head(name, "counter", help: help)
    for index in values.indices where values[index] > 0 || series.showsUntouched(index) {
      exposition.sample(name, series.text(index), String(values[index]))
    }
  }
}

/// One series of a ``CounterFamily``.
@LoopActor
package struct Counter {
  fileprivate let family: CounterFamily
  fileprivate let index: Int

  /// Adds `amount`; a negative one counts as none.
  package func increment(by amount: Int = 1) { family.add(amount, index) }

  package var value: UInt64 { family.value(index) }
}

extension SeriesTable {
  /// Rates are computed from the step off zero, so what is foreseen is there from the start, unless it is too much.
  func showsUntouched(_ index: Int) -> Bool { count <= Self.sparseAbove && isForeseen(index) }
}
