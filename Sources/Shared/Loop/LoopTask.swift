extension EventLoop {
  /// Starts `body` on the loop and keeps it there: a task that does not prefer the loop passes through the shared thread
  /// pool each time it is resumed, at several times the cost.
  ///
  /// Tasks that are started on the loop begin in the order of these calls.
  @LoopActor @discardableResult
  package func start<Value: Sendable>(_ body: @escaping @LoopActor () async -> Value) -> Task<Value, Never> {
    Task(executorPreference: self) { await body() }
  }
}
