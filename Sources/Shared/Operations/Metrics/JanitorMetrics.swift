package import Loop

/// What the janitor counts (rulings 9).
@LoopActor
package struct JanitorMetrics {
  /// `table`.
  package let deleted: CounterFamily

  /// - Parameter tables: the tables that are swept.
  package init(_ metrics: Metrics, tables: [String]) {
    deleted = metrics.counter(
      "orca_push_janitor_deleted_total", "Rows that the janitor removed.", MetricLabel("table", tables))
  }
}
