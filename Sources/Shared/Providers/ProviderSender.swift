package import Loop

/// The way to one provider's one environment, as a lane of the worker sees it.
@LoopActor
package protocol ProviderSender: AnyObject {
  /// Sends one push and says what the provider made of it. Sees to renewed credentials and new connections itself: the
  /// report never holds `refreshCredential` or `reconnect`. Ends within 12 s whatever happens.
  func send(_ push: Push) async -> SendReport

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
