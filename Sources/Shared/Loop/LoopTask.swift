extension EventLoop {
  /// Starts `body` on the loop and keeps it there: a task that does not prefer the loop passes through the shared thread
  /// pool each time it is resumed, at several times the cost.
  @LoopActor @discardableResult
  package func start(_ body: @escaping @LoopActor () async -> Void) -> Task<Void, Never> {
    Task(executorPreference: self) { await body() }
  }
}
