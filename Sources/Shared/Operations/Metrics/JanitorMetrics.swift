package import Loop

/// What the janitor counts (rulings 9).
@LoopActor
package struct JanitorMetrics {
  /// `table`.
  package let deleted: CounterFamily
  /// Seconds since the Unix epoch at the end of the last whole sweep; 0 before the first.
  package let lastSweep: Gauge

  /// - Parameter tables: the tables that are swept.
  package init(_ metrics: Metrics, tables: [String]) {
    deleted = metrics.counter(
      "orca_push_janitor_deleted_total", "Rows that the janitor removed.", MetricLabel("table", tables))
    lastSweep =
      metrics.gauge(
        "orca_push_janitor_last_sweep_timestamp_seconds", "End of the last whole sweep since the Unix epoch."
      ).at()
  }
}
