internal import CNghttp2
internal import Loop

/// What nghttp2 calls while it reads and writes frames, always on the loop's thread.
extension Http2ServerSession {
  nonisolated static let readReply: nghttp2_data_source_read_callback = {
    _, _, buffer, length, flags, source, _ in
    guard let raw = source?.pointee.ptr, let flags else { return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue) }
    // Both are used before the callback returns, on the loop's thread, which this is.
    nonisolated(unsafe) let room = UnsafeMutableRawBufferPointer(start: buffer, count: length)
    nonisolated(unsafe) var taken = (count: 0, isLast: false)
    // The stream is in the session's table for as long as nghttp2 reads its reply.
    let stream = Unmanaged<Http2ServerStream>.fromOpaque(raw).takeUnretainedValue()
    LoopActor.assumeIsolated { taken = stream.takeReply(into: room) }
    if taken.isLast { flags.pointee |= UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue) }
    return taken.count
  }

  /// Enters the session that a callback belongs to.
  nonisolated private static func enter(
    _ raw: UnsafeMutableRawPointer?, _ body: @LoopActor (Http2ServerSession) -> Void
  ) {
    guard let raw else { return }
    let session = Unmanaged<Http2ServerSession>.fromOpaque(raw).takeUnretainedValue()
    LoopActor.assumeIsolated { body(session) }
  }

  // Shared by all sessions, never changed, never freed.
  nonisolated(unsafe) static let callbacks: OpaquePointer? = {
    var callbacks: OpaquePointer?
    nghttp2_session_callbacks_new(&callbacks)
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, raw in
      guard let frame, frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST else { return 0 }
      let id = frame.pointee.hd.stream_id
      enter(raw) { $0.begin(id) }
      return 0
    }
    nghttp2_session_callbacks_set_on_header_callback(callbacks) { _, frame, name, nameLength, value, length, _, raw in
      guard let frame else { return 0 }
      // Both are used before the callback returns, on the loop's thread, which this is.
      nonisolated(unsafe) let name = UnsafeBufferPointer(start: name, count: nameLength)
      nonisolated(unsafe) let value = UnsafeBufferPointer(start: value, count: length)
      let id = frame.pointee.hd.stream_id
      enter(raw) { $0.received(id, name: name, value: value) }
      return 0
    }
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, id, bytes, count, raw in
      // Used before the callback returns, on the loop's thread, which this is.
      nonisolated(unsafe) let chunk = UnsafeBufferPointer(start: bytes, count: count)
      enter(raw) { $0.received(id, body: chunk) }
      return 0
    }
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, raw in
      guard let frame else { return 0 }
      let head = frame.pointee.hd
      let isEnd = UInt32(head.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0
      switch UInt32(head.type) {
      case NGHTTP2_HEADERS.rawValue where frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST:
        enter(raw) { $0.receivedHead(head.stream_id, isEnd: isEnd) }
      case NGHTTP2_HEADERS.rawValue where isEnd, NGHTTP2_DATA.rawValue where isEnd:
        enter(raw) { $0.receivedEnd(head.stream_id) }
      default: break
      }
      return 0
    }
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, raw in
      guard let frame else { return 0 }
      let head = frame.pointee.hd
      let isMessage = [NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue].contains(UInt32(head.type))
      if isMessage, UInt32(head.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0 {
        enter(raw) { $0.sentEnd(head.stream_id) }
      }
      return 0
    }
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, id, _, raw in
      enter(raw) { $0.closed(id) }
      return 0
    }
    return callbacks
  }()
}
