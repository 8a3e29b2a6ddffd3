import Foundation
import Glibc
import Json

/// A reply as it came.
struct Reply: Sendable {
  let status: Int
  /// Names in lower case.
  let headers: [String: String]
  let body: [UInt8]

  var text: String { String(decoding: body, as: UTF8.self) }
  var json: JsonValue? { try? JsonReader.read(body) }
  var error: String? { json?["error"]?.string }
  /// The names of the body's members.
  var members: [String] { json?.object?.members.map(\.key) ?? [] }

  /// Status and error, to be compared at one go.
  var verdict: String { "\(status)" + (error.map { " " + $0 } ?? "") }
}

/// One connection to a server, spoken to byte by byte. Calls block.
final class Wire: @unchecked Sendable {
  // Used by one caller at a time.
  private let socket: Int32
  private var rest: [UInt8] = []

  init(port: Int) throws {
    socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var patience = timeval(tv_sec: 60, tv_usec: 0)
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    if status != 0 {
      let reason = errno
      close(socket)
      throw Refused(number: reason)
    }
  }

  deinit { close(socket) }

  struct Refused: Error { let number: Int32 }

  func send(_ bytes: [UInt8]) throws {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes {
        Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count < 0 && errno == EINTR { continue }
      if count <= 0 { throw Unexpected("the connection takes no more") }
      sent += count
    }
  }

  func send(_ text: String) throws { try send(Array(text.utf8)) }

  /// Reads one reply; `head`: the request was a HEAD.
  func reply(head: Bool = false) throws -> Reply {
    let text = String(decoding: try take(through: Array("\r\n\r\n".utf8)), as: UTF8.self)
    let lines = text.components(separatedBy: "\r\n")
    guard let status = lines[0].split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
      throw Unexpected("no status in \(lines[0])")
    }
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      if parts.count == 2 { headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces) }
    }
    if status == 100 { return try reply(head: head) }
    let length = head || status == 204 ? 0 : Int(headers["content-length"] ?? "0") ?? 0
    while rest.count < length { try readMore() }
    let body = Array(rest.prefix(length))
    rest.removeFirst(length)
    return Reply(status: status, headers: headers, body: body)
  }

  /// Whether the other end closes without saying more.
  func isClosed() -> Bool {
    var byte: UInt8 = 0
    return rest.isEmpty && recv(socket, &byte, 1, 0) <= 0
  }

  private func take(through end: [UInt8]) throws -> [UInt8] {
    while true {
      if let place = rest.firstRange(of: end) {
        defer { rest.removeSubrange(..<place.upperBound) }
        return Array(rest[..<place.upperBound])
      }
      try readMore()
    }
  }

  private func readMore() throws {
    var chunk = [UInt8](repeating: 0, count: 16_384)
    let count = recv(socket, &chunk, chunk.count, 0)
    if count < 0 && errno == EINTR { return }
    if count <= 0 { throw Unexpected("the connection ended instead of a reply") }
    rest += chunk[..<count]
  }
}

/// A request in the making.
struct Ask: Sendable {
  var method: String
  var path: String
  var bearer: String?
  /// What a proxy would say of the client's address; fresh for each unless given.
  var address: String? = Ask.freshAddress
  var headers: [String: String] = [:]
  var body: [UInt8]?
  var isChunked = false

  static func get(_ path: String, bearer: String? = nil) -> Ask { Ask(method: "GET", path: path, bearer: bearer) }

  static func post(_ path: String, _ body: String, bearer: String? = nil) -> Ask {
    Ask(method: "POST", path: path, bearer: bearer, body: Array(body.utf8))
  }

  static func post(_ path: String, _ body: JsonValue, bearer: String? = nil) -> Ask {
    Ask(method: "POST", path: path, bearer: bearer, body: JsonText.render(body))
  }

  func from(_ address: String?) -> Ask {
    var ask = self
    ask.address = address
    return ask
  }

  /// With another method, or the body in chunks.
  func with(method: String? = nil, isChunked: Bool? = nil) -> Ask {
    var ask = self
    ask.method = method ?? self.method
    ask.isChunked = isChunked ?? self.isChunked
    return ask
  }

  /// An address that nobody had before.
  static var freshAddress: String {
    let bits = UInt32.random(in: 0 ... .max)
    return "10.\(bits >> 16 & 255).\(bits >> 8 & 255).\(bits & 255).\(bits >> 24)"
  }

  var head: String {
    var text = "\(method) \(path) HTTP/1.1\r\nhost: gateway\r\n"
    if let bearer { text += "authorization: Bearer \(bearer)\r\n" }
    if let address { text += "x-forwarded-for: \(address)\r\n" }
    for (name, value) in headers { text += "\(name): \(value)\r\n" }
    if isChunked {
      text += "transfer-encoding: chunked\r\n"
    } else if let body {
      text += "content-length: \(body.count)\r\n"
    }
    return text + "\r\n"
  }

  var bytes: [UInt8] {
    var bytes = Array(head.utf8)
    guard isChunked else { return bytes + (body ?? []) }
    var rest = (body ?? [])[...]
    while !rest.isEmpty {
      let chunk = rest.prefix(1_000)
      bytes += Array("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + Array("\r\n".utf8)
      rest = rest.dropFirst(chunk.count)
    }
    return bytes + Array("0\r\n\r\n".utf8)
  }

  /// Sends it on a connection of its own.
  func send(to port: Int) async throws -> Reply {
    try await blocking {
      let wire = try Wire(port: port)
      // A server that has seen enough may stop reading before all is sent.
      try? wire.send(bytes)
      return try wire.reply(head: method == "HEAD")
    }
  }
}
