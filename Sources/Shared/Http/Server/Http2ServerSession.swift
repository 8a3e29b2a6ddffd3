internal import CNghttp2
internal import Loop

/// HTTP/2 over a connection, with or without TLS: nghttp2 reads and writes the frames, this starts and answers requests.
@LoopActor
final class Http2ServerSession: ServerSession {
  unowned let connection: ServerConnection
  private var session: OpaquePointer?
  private var streams: [Int32: Http2ServerStream] = [:]
  private var requests = 0
  /// Bytes of bodies that are still coming.
  private var unfinishedBodies = 0
  /// The stream whose head has begun and is not whole; there is one at a time (RFC 9113 4.3).
  private var headInProgress: Int32?
  /// When the replies that lie here for want of window have to be gone.
  private var replyDeadline: Deadline?
  private var isDraining = false
  /// Having said GOAWAY, it leaves the close to the peer.
  private var keepsOpen = false

  private var limits: HttpServerLimits { connection.server.limits }

  var isIdle: Bool { streams.isEmpty }

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
    replyDeadline = Deadline { [weak self] in self?.resetStalled() }
    connection.deadline?.set(milliseconds: limits.idle)
    connection.flushSoon()
  }

  // MARK: ServerSession

  func receive(_ bytes: Span<UInt8>) {
    let result = bytes.withUnsafeBufferPointer { nghttp2_session_mem_recv(session, $0.baseAddress, $0.count) }
    if result < 0 { return connection.close() }
    connection.flushSoon()
    // nghttp2's own answers have no bound: whoever does not read is not read.
    if connection.backlog >= limits.gathered { connection.pauseReading() }
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
    if (isOver && !keepsOpen) || (isDraining && streams.isEmpty) { connection.finish() }
  }

  func written() {
    connection.resumeReading()
    connection.flushSoon()
  }

  func deadlinePassed() {
    // A request that is on its way meanwhile can be sent again elsewhere, which a bare close would not say.
    if streams.isEmpty { drain() } else { connection.close() }
  }

  func answer(_ exchange: HttpExchange, _ response: HttpResponse?) {
    guard let session, let response, let stream = streams[Int32(exchange.streamId)] else { return }
    reply(session, stream, response, withoutBody: exchange.isHead)
  }

  func drain() {
    guard let session else { return }
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
    replyDeadline?.end()
    for stream in open { stream.end() }
  }

  // MARK: For exchanges

  func reset(_ stream: Int32, code: UInt32) {
    guard let session else { return }
    nghttp2_submit_rst_stream(session, 0, stream, code)
    connection.flushSoon()
  }

  var lastStreamOpened: Int { session.map { Int(nghttp2_session_get_last_proc_stream_id($0)) } ?? 0 }

  func goAway(lastStream: Int32, code: UInt32, debug: [UInt8], keepsOpen: Bool) {
    guard let session else { return }
    self.keepsOpen = keepsOpen
    nghttp2_submit_goaway(session, 0, lastStream, code, debug, debug.count)
    connection.flushSoon()
  }

  func announce(maxConcurrentStreams: Int) {
    guard let session else { return }
    var entry = nghttp2_settings_entry(
      settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue),
      value: UInt32(clamping: maxConcurrentStreams))
    nghttp2_submit_settings(session, 0, &entry, 1)
    connection.flushSoon()
  }

  // MARK: Requests

  func begin(_ id: Int32) {
    streams[id] = Http2ServerStream(id: id, peer: connection.peer, limits: limits.request)
    headInProgress = id
    connection.deadline?.set(milliseconds: limits.head)
  }

  func received(_ id: Int32, name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
    streams[id]?.received(name: name, value: value)
  }

  func received(_ id: Int32, body: UnsafeBufferPointer<UInt8>) {
    guard let stream = streams[id] else { return }
    if stream.discards(body.count, limit: limits.discarded) { return reset(id, code: 0) }
    guard case .receiving = stream.phase else { return }
    let before = stream.request.body.count
    let isTooLarge = stream.received(body: body)
    unfinishedBodies += stream.request.body.count - before
    if isTooLarge {
      start(stream)
    } else if unfinishedBodies > limits.streamBodies {
      reset(id, code: UInt32(NGHTTP2_ENHANCE_YOUR_CALM.rawValue))
    }
  }

  func receivedHead(_ id: Int32, isEnd: Bool) {
    headInProgress = nil
    connection.deadline?.clear()
    guard let stream = streams[id], case .receiving = stream.phase else { return }
    let isTooLarge = stream.finishHead()
    if isEnd || isTooLarge || stream.isHeadTooLarge { return start(stream) }
    stream.setDeadline(limits.body) { [weak self] in self?.reset(id, code: UInt32(NGHTTP2_CANCEL.rawValue)) }
  }

  func receivedEnd(_ id: Int32) {
    guard let stream = streams[id], case .receiving = stream.phase else { return }
    start(stream)
  }

  private func start(_ stream: Http2ServerStream) {
    stream.phase = .handed
    stream.endDeadline()
    unfinishedBodies -= stream.request.body.count
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

  func closed(_ id: Int32) {
    guard let stream = streams.removeValue(forKey: id) else { return }
    if case .receiving = stream.phase { unfinishedBodies -= stream.request.body.count }
    stream.end()
    if headInProgress == id { headInProgress = nil }
    guard headInProgress == nil else { return }
    if streams.isEmpty { connection.deadline?.set(milliseconds: limits.idle) } else { connection.deadline?.clear() }
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
    if hasBody {
      stream.setReply(response.body, due: .now.advanced(milliseconds: limits.write))
      if replyDeadline?.isSet == false { replyDeadline?.set(milliseconds: limits.write) }
    }
    _ = head.withFields { fields, count in
      hasBody
        ? nghttp2_submit_response(session, stream.id, fields, count, &source)
        : nghttp2_submit_response(session, stream.id, fields, count, nil)
    }
    connection.flushSoon()
  }

  /// Gives up replies that the peer leaves no window for.
  private func resetStalled() {
    let now = Monotonic.now
    var next: Monotonic?
    for stream in streams.values {
      guard let due = stream.replyDue else { continue }
      if due <= now {
        reset(stream.id, code: UInt32(NGHTTP2_CANCEL.rawValue))
      } else {
        next = min(next ?? due, due)
      }
    }
    if let next { replyDeadline?.set(milliseconds: next.milliseconds(since: now) + 1) }
  }

  /// The reply is out. What the peer still sends of the request is thrown away for a while: some clients lose the reply
  /// when their stream is reset right behind it.
  func sentEnd(_ id: Int32) {
    guard let session, let stream = streams[id], nghttp2_session_get_stream_remote_close(session, id) == 0 else {
      return
    }
    stream.phase = .answered(discarded: 0)
    stream.setDeadline(limits.linger) { [weak self] in self?.reset(id, code: 0) }
  }
}
