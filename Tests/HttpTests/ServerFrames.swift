/// HTTP/2 frames made by hand (RFC 9113 4.1), for saying what no library would say.
struct ServerFrame: Sendable {
  enum Kind: UInt8 { case data, headers, priority, reset, settings, push, ping, goAway, windowUpdate, continuation }

  static let endStream: UInt8 = 1
  static let acknowledged: UInt8 = 1
  static let endHeaders: UInt8 = 4
  static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
  /// What a client opens with.
  static let hello = preface + ServerFrame(.settings).bytes

  var kind: UInt8
  var flags: UInt8
  var stream: UInt32
  var payload: [UInt8]

  init(_ kind: Kind, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = []) {
    self.kind = kind.rawValue
    self.flags = flags
    self.stream = stream
    self.payload = payload
  }

  /// From the nine bytes of its head.
  init(head: [UInt8]) {
    kind = head[3]
    flags = head[4]
    stream = head[5...].reduce(0) { $0 << 8 | UInt32($1) } & 0x7fff_ffff
    payload = [UInt8](repeating: 0, count: head[..<3].reduce(0) { $0 << 8 | Int($1) })
  }

  var bytes: [UInt8] {
    let count = UInt32(payload.count)
    return Self.number(count).dropFirst() + [kind, flags] + Self.number(stream) + payload
  }

  func `is`(_ kind: Kind) -> Bool { self.kind == kind.rawValue }

  /// The number that RST_STREAM and WINDOW_UPDATE consist of.
  var code: UInt32 { number(at: 0) }

  func number(at: Int) -> UInt32 { payload.dropFirst(at).prefix(4).reduce(0) { $0 << 8 | UInt32($1) } }

  static func number(_ value: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
  }

  /// Fields as HPACK literals without indexing (RFC 7541 6.2.2).
  static func block(_ fields: [(String, String)]) -> [UInt8] {
    fields.flatMap { name, value in [0] + text(name) + text(value) }
  }

  static func request(_ method: String = "GET", _ path: String = "/", _ more: [(String, String)] = []) -> [UInt8] {
    block([(":method", method), (":scheme", "http"), (":path", path), (":authority", "x")] + more)
  }

  static func head(_ stream: UInt32, _ block: [UInt8] = request(), ends: Bool = true) -> [UInt8] {
    ServerFrame(.headers, flags: endHeaders | (ends ? endStream : 0), stream: stream, block).bytes
  }

  static func data(_ stream: UInt32, _ payload: [UInt8], ends: Bool) -> [UInt8] {
    ServerFrame(.data, flags: ends ? endStream : 0, stream: stream, payload).bytes
  }

  private static func text(_ text: String) -> [UInt8] {
    var count = text.utf8.count
    guard count >= 127 else { return [UInt8(count)] + text.utf8 }
    var length: [UInt8] = [127]
    count -= 127
    while count >= 128 {
      length.append(UInt8(count & 127) | 128)
      count >>= 7
    }
    return length + [UInt8(count)] + text.utf8
  }
}

extension ServerSocket {
  /// The next frame; nil at the end of the connection.
  func frame() -> ServerFrame? {
    let head = read(count: 9)
    guard head.count == 9 else { return nil }
    var frame = ServerFrame(head: head)
    let count = frame.payload.count
    frame.payload = read(count: count)
    return frame.payload.count == count ? frame : nil
  }

  /// The next frame of a kind; nil when the connection ends before one comes.
  func frame(_ kind: ServerFrame.Kind) -> ServerFrame? {
    while let frame = frame() {
      if frame.is(kind), !(frame.is(.settings) && frame.flags == ServerFrame.acknowledged) { return frame }
    }
    return nil
  }
}
