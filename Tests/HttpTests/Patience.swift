@testable import Http

// What is no test of a time limit must not meet one, however busy the machine is and whatever else the loop has to do.

extension HttpServerLimits {
  /// As by default, but with ten minutes for whatever a peer does.
  static var patient: HttpServerLimits {
    var limits = HttpServerLimits()
    limits.tlsHandshake = 600_000
    limits.firstByte = 600_000
    limits.head = 600_000
    limits.body = 600_000
    limits.idle = 600_000
    limits.write = 600_000
    return limits
  }
}

extension Http2PoolLimits {
  /// As by default, but with ten minutes for connecting and for the answer to a PING.
  static var patient: Http2PoolLimits {
    var limits = Http2PoolLimits()
    limits.connectTimeout = 600_000
    limits.pingTimeout = 600_000
    return limits
  }
}
