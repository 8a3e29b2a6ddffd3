internal import Loop

/// Runs what takes long on a thread of its own. Tests share one loop: whoever keeps it busy makes the deadlines of others
/// pass.
package func offTheLoop<Value: Sendable, Failure: Error>(
  _ work: @Sendable () throws(Failure) -> Value
) async throws(Failure) -> Value {
  try await BlockingCalls(name: "test").run(work)
}
