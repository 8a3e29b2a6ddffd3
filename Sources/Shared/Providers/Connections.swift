internal import Http
internal import Loop

/// The connections that a sender sends over: what it uses of `Http2Pool`.
@LoopActor
protocol PushConnections: AnyObject {
  func send(_ request: Http2ClientRequest, _ done: @escaping Http2Pool.Done)
  func send(_ request: Http2ClientRequest) async throws(Http2Failure) -> Http2ClientResponse
  var freeCapacity: Int { get }
  var inFlight: Int { get }
  var connectionCount: Int { get }
  func replaceConnections()
  func drain()
}

extension Http2Pool: PushConnections {}

/// Connections that are replaced once for a fault, however many pushes met it.
@LoopActor
final class Connections {
  let pool: any PushConnections
  /// Counts the replacements.
  private(set) var generation = 0

  init(_ pool: any PushConnections) { self.pool = pool }

  /// Replaces the connections, unless that was done since `seen` was read.
  func replace(ifStill seen: Int) {
    guard seen == generation else { return }
    generation += 1
    pool.replaceConnections()
  }
}
