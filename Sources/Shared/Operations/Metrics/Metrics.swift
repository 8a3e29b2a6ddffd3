package import Loop

/// Something that ``Metrics`` writes out.
@LoopActor
protocol MetricFamily: AnyObject {
  var name: String { get }
  func write(into exposition: inout Exposition)
}

/// The metrics of one process. All of it lives on the loop, so that counting is an addition in an array.
@LoopActor
package final class Metrics {
  private var families: [any MetricFamily] = []
  private var scrapes: [@LoopActor () -> Void] = []

  package init() {}

  /// A number that only grows; by custom its name ends in `_total`.
  package func counter(_ name: String, _ help: String, _ labels: MetricLabel...) -> CounterFamily {
    add(CounterFamily(name, help, labels))
  }

  /// A number that goes up and down.
  package func gauge(_ name: String, _ help: String, _ labels: MetricLabel...) -> GaugeFamily {
    add(GaugeFamily(name, help, labels))
  }

  /// A spread of values; `bounds` rise and leave infinity out.
  package func histogram(
    _ name: String, _ help: String, _ labels: MetricLabel..., bounds: [Double]
  ) -> HistogramFamily {
    add(HistogramFamily(name, help, labels, bounds: bounds))
  }

  /// A gauge that is asked for when the metrics are read; nil shows nothing.
  package func sampledGauge(_ name: String, _ help: String, _ sample: @escaping @LoopActor () -> Double?) {
    _ = add(SampledMetric(name, help, type: "gauge", labels: []) { sample().map { [([], $0)] } ?? [] })
  }

  /// A gauge that is asked for when the metrics are read, with a value for each combination of labels.
  package func sampledGauge(
    _ name: String, _ help: String, _ labels: MetricLabel...,
    sample: @escaping @LoopActor () -> [(values: [String], value: Double)]
  ) {
    _ = add(SampledMetric(name, help, type: "gauge", labels: labels, sample: sample))
  }

  /// A counter that someone else keeps and that is asked for when the metrics are read.
  package func sampledCounter(_ name: String, _ help: String, _ sample: @escaping @LoopActor () -> Double) {
    _ = add(SampledMetric(name, help, type: "counter", labels: []) { [([], sample())] })
  }

  /// Runs `body` before each exposition: the place to bring gauges up to date.
  package func onScrape(_ body: @escaping @LoopActor () -> Void) { scrapes.append(body) }

  /// Everything in Prometheus' text format 0.0.4.
  package func exposition() -> String {
    for body in scrapes { body() }
    var exposition = Exposition()
    for family in families { family.write(into: &exposition) }
    return exposition.text
  }

  private func add<Family: MetricFamily>(_ family: Family) -> Family {
    precondition(!families.contains { $0.name == family.name }, "a metric of that name exists")
    families.append(family)
    return family
  }
}
