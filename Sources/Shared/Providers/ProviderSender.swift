package import Loop

/// The way to one provider's one environment, as a lane of the worker sees it.
@LoopActor
package protocol ProviderSender: AnyObject {
  /// Told what came of a push.
  typealias Done = @LoopActor (SendReport) -> Void

  /// Sends one push and says what the provider made of it: calls `done` once, on the loop, perhaps at once and within 12 s
  /// whatever happens. Sees to renewed credentials and new connections itself: the report never holds `refreshCredential`
  /// or `reconnect`.
  ///
  /// Not `async`, since a worker has thousands of pushes on their way, and a task that waits takes several kB. What is rare
  /// on the way is a task nevertheless.
  func send(_ push: Push, _ done: @escaping Done)

  /// How many pushes could go out at this moment without waiting for a stream; a lane claims no more than that.
  var freeCapacity: Int { get }

  /// Pushes that await their answer.
  var inFlight: Int { get }
  var connectionCount: Int { get }

  /// Seconds since the token in use was made or fetched; nil while there is none.
  var credentialAge: Double? { get }

  /// Lets what is in flight finish and closes the connections.
  func close() async
}

/// What came of one push.
package struct SendReport: Sendable {
  package let reply: Reply
  /// From the request to its answer, in seconds.
  package let seconds: Double

  package init(reply: Reply, seconds: Double) {
    self.reply = reply
    self.seconds = seconds
  }
}
