internal import Loop

/// One call of `run` on its way: waiting for a place, or in flight.
final class PostgresCall {
  let statement: PostgresStatement
  let values: [PostgresValue]
  let deadline: Monotonic
  /// It did not run, its connection being broken or its name gone, and is tried for the second and last time.
  var isSecondTry = false
  private var waiter: UnsafeContinuation<Result<PostgresRows, PostgresFailure>, Never>?

  init(
    _ statement: PostgresStatement, _ values: [PostgresValue], deadline: Monotonic,
    _ waiter: UnsafeContinuation<Result<PostgresRows, PostgresFailure>, Never>
  ) {
    self.statement = statement
    self.values = values
    self.deadline = deadline
    self.waiter = waiter
  }

  var isAnswered: Bool { waiter == nil }

  /// Answers the caller; later answers are dropped.
  func answer(_ result: Result<PostgresRows, PostgresFailure>) {
    waiter?.resume(returning: result)
    waiter = nil
  }
}
