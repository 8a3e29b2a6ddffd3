internal import CNghttp2
internal import Loop

/// What a simulator of a provider does to an HTTP/2 stream or connection. On HTTP/1 these do nothing.
extension HttpExchange {
  /// Ends the stream with this HTTP/2 error code instead of a reply.
  package func resetStream(code: UInt32) { http2?.reset(Int32(streamId), code: code) }

  /// Says that the request was not looked at (REFUSED_STREAM): the peer may send it again at once.
  package func refuse() { resetStream(code: UInt32(NGHTTP2_REFUSED_STREAM.rawValue)) }

  /// The highest stream that the peer has opened; 0 on HTTP/1.
  package var lastStreamOpened: Int { http2?.lastStreamOpened ?? 0 }

  /// Takes no streams above `lastStreamId` (this one, when nil) any more. Streams up to it are still answered; those above
  /// it were not looked at. Then the connection is closed, unless `keepsOpen` leaves that to the peer.
  package func goAway(lastStreamId: Int? = nil, code: UInt32 = 0, debug: [UInt8] = [], keepsOpen: Bool = false) {
    http2?.goAway(
      lastStream: Int32(clamping: lastStreamId ?? streamId), code: code, debug: debug, keepsOpen: keepsOpen)
  }

  /// Changes how many streams the peer may have open.
  package func announce(maxConcurrentStreams: Int) { http2?.announce(maxConcurrentStreams: maxConcurrentStreams) }
}
