internal import CNghttp2
internal import Loop

/// HTTP/2 over a connection, with or without TLS: nghttp2 reads and writes the frames, this starts and answers requests.
@LoopActor
final class Http2ServerSession: ServerSession {
  unowned let connection: ServerConnection
  private var session: OpaquePointer?
  private var streams: [Int32: Http2ServerStream] = [:]
  private var requests = 0
  private var unfinishedBodies = 0
  private var isDraining = false

  private var limits: HttpServerLimits { connection.server.limits }

  init(_ connection: ServerConnection) {
    self.connection = connection
    nghttp2_session_server_new(&session, Self.callbacks, Unmanaged.passUnretained(self).toOpaque())
    var settings = [
      nghttp2_settings_entry(
        settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: UInt32(limits.streams)),
      nghttp2_settings_entry(
        settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue), value: UInt32(limits.request.head)),
    ]
    nghttp2_submit_settings(session, 0, &settings, settings.count)
    // Bodies are bounded one by one and all together: the connection's window must not be what holds streams up.
    nghttp2_session_set_local_window_size(session, 0, 0, 1 << 20)
    connection.deadline?.set(milliseconds: limits.idle)
    connection.flushSoon()
  }

  // MARK: ServerSession

  func receive(_ bytes: Span<UInt8>) {
    let result = bytes.withUnsafeBufferPointer { nghttp2_session_mem_recv(session, $0.baseAddress, $0.count) }
    if result < 0 { return connection.close() }
    connection.flushSoon()
  }

  func receivedEnd() { connection.close() }

  func gather() {
    guard let session else { return }
    while connection.backlog < limits.gathered {
      var bytes: UnsafePointer<UInt8>?
      let count = nghttp2_session_mem_send(session, &bytes)
      guard count > 0, let bytes else { break }
      connection.write { $0.append(contentsOf: UnsafeBufferPointer(start: bytes, count: count)) }
    }
    let isOver = nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0
    if isOver || (isDraining && streams.isEmpty) { connection.finish() }
  }

  func written() { connection.flushSoon() }

  func answer(_ exchange: HttpExchange, _ response: HttpResponse?) {
    guard let session, let response, let stream = streams[Int32(exchange.streamId)] else { return }
    reply(session, stream, response, withoutBody: exchange.isHead)
  }

  func drain() {
    isDraining = true
    let last = nghttp2_session_get_last_proc_stream_id(session)
    nghttp2_submit_goaway(session, 0, last, UInt32(NGHTTP2_NO_ERROR.rawValue), nil, 0)
    connection.flushSoon()
  }

  func ended() {
    let open = streams.values
    streams = [:]
    nghttp2_session_del(session)
    session = nil
    for stream in open { stream.end() }
  }

  // MARK: For exchanges

  func reset(_ stream: Int32, code: UInt32) {
    nghttp2_submit_rst_stream(session, 0, stream, code)
    connection.flushSoon()
  }

  func goAway(lastStream: Int32, code: UInt32, debug: [UInt8]) {
    nghttp2_submit_goaway(session, 0, lastStream, code, debug, debug.count)
    connection.flushSoon()
  }

  func announce(maxConcurrentStreams: Int) {
    var entry = nghttp2_settings_entry(
      settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue),
      value: UInt32(clamping: maxConcurrentStreams))
    nghttp2_submit_settings(session, 0, &entry, 1)
    connection.flushSoon()
  }

  // MARK: Requests

  fileprivate func begin(_ id: Int32) {
    streams[id] = Http2ServerStream(id: id, peer: connection.peer, limits: limits.request)
    connection.deadline?.clear()
  }

  fileprivate func received(_ id: Int32, name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
    streams[id]?.received(name: name, value: value)
  }

  fileprivate func received(_ id: Int32, body: UnsafeBufferPointer<UInt8>) {
    guard let stream = streams[id], case .receiving = stream.phase else { return }
    unfinishedBodies += body.count
    if unfinishedBodies > limits.streamBodies {
      return reset(id, code: UInt32(NGHTTP2_ENHANCE_YOUR_CALM.rawValue))
    }
    if stream.received(body: body) { start(stream) }
  }

  fileprivate func receivedHead(_ id: Int32, isEnd: Bool) {
    guard let stream = streams[id], case .receiving = stream.phase else { return }
    let isTooLarge = stream.finishHead()
    if isEnd || isTooLarge || stream.isHeadTooLarge { return start(stream) }
    let deadline = Deadline { [weak self] in self?.reset(id, code: UInt32(NGHTTP2_CANCEL.rawValue)) }
    deadline.set(milliseconds: limits.body)
    stream.deadline = deadline
  }

  fileprivate func receivedEnd(_ id: Int32) {
    guard let stream = streams[id], case .receiving = stream.phase else { return }
    start(stream)
  }

  private func start(_ stream: Http2ServerStream) {
    stream.phase = .handed
    stream.deadline?.end()
    unfinishedBodies = max(0, unfinishedBodies - stream.request.body.count)
    requests += 1
    let exchange = HttpExchange(
      connection, streamId: Int(stream.id), requestsOnConnection: requests, isHead: stream.request.method == "HEAD",
      http2: self)
    stream.exchange = exchange
    if let session, stream.isHeadTooLarge || stream.request.path.utf8.first != UInt8(ascii: "/") {
      return reply(session, stream, .refusal(stream.isHeadTooLarge ? 431 : 400), withoutBody: exchange.isHead)
    }
    connection.server.start(stream.request, exchange)
  }

  fileprivate func closed(_ id: Int32) {
    guard let stream = streams.removeValue(forKey: id) else { return }
    if case .receiving = stream.phase { unfinishedBodies = max(0, unfinishedBodies - stream.request.body.count) }
    stream.end()
    if streams.isEmpty { connection.deadline?.set(milliseconds: limits.idle) }
  }

  private func reply(
    _ session: OpaquePointer, _ stream: Http2ServerStream, _ response: HttpResponse, withoutBody: Bool
  ) {
    var head = HeaderBlock()
    head.add(":status", String(response.status))
    response.forEachField { head.add($0, $1) }
    if response.mayHaveBody { head.add("content-length", String(response.body.count)) }
    let hasBody = response.mayHaveBody && !withoutBody && !response.body.isEmpty
    var source = nghttp2_data_provider()
    source.source.ptr = Unmanaged.passUnretained(stream).toOpaque()
    source.read_callback = Self.readReply
    if hasBody { stream.setReply(response.body) }
    _ = head.withFields { fields, count in
      hasBody
        ? nghttp2_submit_response(session, stream.id, fields, count, &source)
        : nghttp2_submit_response(session, stream.id, fields, count, nil)
    }
    connection.flushSoon()
  }

  /// The reply is out; what the peer still sends of the request is of no use.
  fileprivate func sentEnd(_ id: Int32) {
    guard let session, nghttp2_session_get_stream_remote_close(session, id) == 0 else { return }
    nghttp2_submit_rst_stream(session, 0, id, UInt32(NGHTTP2_NO_ERROR.rawValue))
  }

  // MARK: Callbacks

  nonisolated private static let readReply: nghttp2_data_source_read_callback = {
    _, _, buffer, length, flags, source, _ in
    guard let raw = source?.pointee.ptr, let flags else { return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue) }
    nonisolated(unsafe) let room = UnsafeMutableRawBufferPointer(start: buffer, count: length)
    // The stream is in the session's table for as long as nghttp2 reads its reply.
    let stream = Unmanaged<Http2ServerStream>.fromOpaque(raw).takeUnretainedValue()
    let (count, isLast) = LoopActor.assumeIsolated { stream.takeReply(into: room) }
    if isLast { flags.pointee |= UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue) }
    return count
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
  nonisolated(unsafe) private static let callbacks: OpaquePointer? = {
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
      nonisolated(unsafe) let name = UnsafeBufferPointer(start: name, count: nameLength)
      nonisolated(unsafe) let value = UnsafeBufferPointer(start: value, count: length)
      let id = frame.pointee.hd.stream_id
      enter(raw) { $0.received(id, name: name, value: value) }
      return 0
    }
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, id, bytes, count, raw in
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
