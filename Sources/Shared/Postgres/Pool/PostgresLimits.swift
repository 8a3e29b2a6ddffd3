/// What bounds a pool. The defaults keep every caller's wait under 5 s, whatever the server does.
package struct PostgresLimits: Sendable {
  /// From the call of `run` to its answer, waiting included, in ms.
  package var statementMilliseconds = 4_500
  /// From the start of a connection attempt, name resolution included, to a usable connection, in ms.
  package var connectMilliseconds = 4_000
  /// For a whole script, in ms.
  package var scriptMilliseconds = 600_000
  /// Statements in flight on one connection.
  package var pipelineDepth = 8
  /// Statements that wait for a place on a connection; one more is `overloaded`.
  package var queue = 256

  package init() {}
}
