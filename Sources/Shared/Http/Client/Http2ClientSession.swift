internal import CNghttp2
internal import Loop

/// nghttp2's client session: frames in, frames out, events to its connection. Calls back only from inside
/// `receive` and `takeOutput`, on the loop. Its owner frees it, never from inside a callback.
@LoopActor
final class Http2ClientSession {
  private var session: OpaquePointer?
  unowned let connection: Http2Connection

  init(_ connection: Http2Connection) {
    self.connection = connection
    nghttp2_session_client_new(&session, Self.callbacks, Unmanaged.passUnretained(self).toOpaque())
    var settings = [nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0)]
    nghttp2_submit_settings(session, 0, &settings, settings.count)
    // Answers are small and dropped beyond their bound: the connection's window must never be what holds them up.
    nghttp2_session_set_local_window_size(session, 0, 0, 1 << 24)
  }

  /// Ends the session. Streams still open are forgotten without a word.
  func free() {
    nghttp2_session_del(session)
    session = nil
  }

  /// Queues a request; the exchange must live until its stream is closed. The stream's id, or a negative error code.
  func submit(_ exchange: Http2Exchange) -> Int32 {
    let raw = Unmanaged.passUnretained(exchange).toOpaque()
    var source = nghttp2_data_provider()
    source.source.ptr = raw
    source.read_callback = Self.readBody
    let hasBody = !exchange.request.body.isEmpty
    return exchange.request.head.withFields { fields, count in
      hasBody
        ? nghttp2_submit_request(session, nil, fields, count, &source, raw)
        : nghttp2_submit_request(session, nil, fields, count, nil, raw)
    }
  }

  /// Gives a stream up (CANCEL).
  func cancel(_ stream: Int32) {
    nghttp2_submit_rst_stream(session, 0, stream, UInt32(NGHTTP2_CANCEL.rawValue))
  }

  func ping() { nghttp2_submit_ping(session, 0, nil) }

  /// Says GOAWAY; nothing is sent or read after it.
  func sayGoodbye() { nghttp2_session_terminate_session(session, UInt32(NGHTTP2_NO_ERROR.rawValue)) }

  /// Nothing more will be read or written: both ends are through, or the peer broke the protocol.
  var isOver: Bool { nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0 }

  /// How many streams the server allows at the moment.
  var peerStreamLimit: Int {
    Int(nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
  }

  /// The largest frame that is sent.
  static let largestFrame = 16_384 + 9

  /// Copies the next frame into `buffer`, which has room for the largest. 0: there is none; nil: the session broke.
  func takeOutput(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
    var bytes: UnsafePointer<UInt8>?
    let count = nghttp2_session_mem_send(session, &bytes)
    guard count > 0, let bytes else { return count == 0 ? 0 : nil }
    guard count <= buffer.count else { return nil }
    buffer.copyMemory(from: UnsafeRawBufferPointer(start: bytes, count: count))
    return count
  }

  /// Reads frames; false when this is not HTTP/2.
  func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
    nghttp2_session_mem_recv(session, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count) >= 0
  }

  // MARK: Callbacks

  nonisolated private static let readBody: nghttp2_data_source_read_callback = {
    _, _, buffer, length, flags, source, _ in
    guard let raw = source?.pointee.ptr, let flags else { return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue) }
    // Both are used before the callback returns, on the loop's thread, which this is.
    nonisolated(unsafe) let room = UnsafeMutableRawBufferPointer(start: buffer, count: length)
    nonisolated(unsafe) var taken = (count: 0, last: false)
    let exchange = Unmanaged<Http2Exchange>.fromOpaque(raw).takeUnretainedValue()
    LoopActor.assumeIsolated { taken = exchange.takeBody(into: room) }
    if taken.last { flags.pointee |= UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue) }
    return taken.count
  }

  /// Enters the isolation of the exchange behind a stream, if it has one.
  nonisolated private static func exchange(
    _ session: OpaquePointer?, _ stream: Int32, _ body: @LoopActor (Http2Exchange) -> Void
  ) {
    guard let raw = nghttp2_session_get_stream_user_data(session, stream) else { return }
    let exchange = Unmanaged<Http2Exchange>.fromOpaque(raw).takeUnretainedValue()
    LoopActor.assumeIsolated { body(exchange) }
  }

  nonisolated private static func connection(
    _ raw: UnsafeMutableRawPointer?, _ body: @LoopActor (Http2Connection) -> Void
  ) {
    guard let raw else { return }
    let session = Unmanaged<Http2ClientSession>.fromOpaque(raw).takeUnretainedValue()
    LoopActor.assumeIsolated { body(session.connection) }
  }

  // Shared by all sessions, never changed, never freed.
  nonisolated(unsafe) private static let callbacks: OpaquePointer? = {
    var callbacks: OpaquePointer?
    nghttp2_session_callbacks_new(&callbacks)
    nghttp2_session_callbacks_set_on_header_callback(callbacks) {
      session, frame, name, nameLength, value, length, _, _ in
      guard let frame else { return 0 }
      // Both are used before the callback returns, on the loop's thread, which this is.
      nonisolated(unsafe) let name = UnsafeBufferPointer(start: name, count: nameLength)
      nonisolated(unsafe) let value = UnsafeBufferPointer(start: value, count: length)
      exchange(session, frame.pointee.hd.stream_id) { $0.received(header: name, value) }
      return 0
    }
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { session, _, stream, bytes, count, _ in
      // Used before the callback returns, on the loop's thread, which this is.
      nonisolated(unsafe) let chunk = UnsafeBufferPointer(start: bytes, count: count)
      exchange(session, stream) { $0.received(body: chunk) }
      return 0
    }
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { session, frame, raw in
      guard let frame else { return 0 }
      let head = frame.pointee.hd
      switch UInt32(head.type) {
      case NGHTTP2_SETTINGS.rawValue:
        if UInt32(head.flags) & NGHTTP2_FLAG_ACK.rawValue == 0 { connection(raw) { $0.receivedSettings() } }
      case NGHTTP2_GOAWAY.rawValue:
        let notice = frame.pointee.goaway
        let reason = Http2GoAway(
          lastStream: notice.last_stream_id, code: notice.error_code,
          reason: UnsafeBufferPointer(start: notice.opaque_data, count: notice.opaque_data_len))
        connection(raw) { $0.received(reason) }
      case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
        guard UInt32(head.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0 else { return 0 }
        exchange(session, head.stream_id) { $0.ended = true }
        // An answer before the end of our body: the rest of it is of no use to anyone.
        if nghttp2_session_get_stream_local_close(session, head.stream_id) == 0 {
          nghttp2_submit_rst_stream(session, 0, head.stream_id, UInt32(NGHTTP2_NO_ERROR.rawValue))
        }
      default: break
      }
      return 0
    }
    nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks) { session, frame, _, _ in
      guard let frame, UInt32(frame.pointee.hd.type) == NGHTTP2_HEADERS.rawValue else { return 0 }
      exchange(session, frame.pointee.hd.stream_id) { $0.notSent = true }
      return 0
    }
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, code, raw in
      connection(raw) { $0.streamClosed(stream, code) }
      return 0
    }
    return callbacks
  }()
}
