/// How an HTTP/2 pool and its connections behave. Times are in ms.
package struct Http2PoolLimits: Sendable {
  /// Connections open for new requests at once; those that drain come on top.
  package var connections = 4
  /// Streams in flight on one connection, whatever more the server allows.
  package var streamsPerConnection = 1_000
  /// Requests that may wait for a stream; one more fails as `.overloaded`.
  package var waiting = 10_000
  /// How often one request is sent again because a server did not look at it, before it fails as `.refused`.
  package var resends = 5
  /// How long a request waits for a stream before another connection is opened for it.
  package var growAfter = 100
  /// A connection with so many requests in flight is crowded. Providers answer so slowly, not for want of streams but
  /// because they serve so many requests a second on one connection.
  package var crowd = 64
  /// How long all connections are crowded before another one is opened.
  package var crowdedFor = 500
  /// A connection on which the server has allowed no request for so long is replaced as soon as requests wait.
  package var barredFor = 2_000
  /// Name, TCP, TLS and the server's first SETTINGS, together.
  package var connectTimeout = 5_000
  /// The pause after the first failed connect; it doubles with each further one.
  package var firstPause = 100
  package var longestPause = 5_000
  /// So many connects may follow one another at once; after them, one may begin in each `connectInterval`.
  package var connectBurst = 16
  package var connectInterval = 250
  /// A connection that hears nothing for this long is pinged, so that no middlebox forgets it.
  package var idlePing = 300_000
  /// A request after this much silence takes a PING along, to learn early that the connection is dead.
  package var silence = 20_000
  /// A connection is pinged when requests wait on it and not a byte has come for so long. A slow provider answers PINGs.
  package var unheard = 2_000
  /// A connection that hears nothing for so long after a PING is dead.
  package var pingTimeout = 2_000
  /// A connection is dead once so many requests, out for at least `pingTimeout`, have timed out while it answered none.
  package var timeoutsUntilDead = 3
  /// A connection drains after this time (up to a quarter later), and its successor resolves the name afresh.
  package var connectionAge = 6 * 3_600_000
  /// A connection drains once a stream has this id or a higher one: ids are 31 bits long and are never used again.
  package var lastStreamId: Int32 = 0x7fff_ff00

  package init() {}
}
