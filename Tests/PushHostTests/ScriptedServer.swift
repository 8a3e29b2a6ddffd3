import Foundation
import Glibc

@testable import PushHost

/// A TCP server that reads HTTP requests and answers with whatever bytes a test wants, one request a connection.
final class ScriptedServer: Sendable {
  /// What is done with a request.
  enum Act: Sendable {
    case bytes([UInt8])
    /// Says nothing for as long as the client stays.
    case hang
    /// Cuts the connection.
    case reset
  }

  let port: Int
  private let listener: Int32

  init(_ acts: @escaping @Sendable (HttpCall) -> Act) throws {
    signal(SIGPIPE, SIG_IGN)
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listener, address, length) == 0 && listen(listener, 64) == 0
          && getsockname(listener, address, &length) == 0
      }
    }
    guard bound else { throw POSIXError(.EADDRNOTAVAIL) }
    port = Int(UInt16(bigEndian: address.sin_port))
    self.listener = listener
    Thread.detachNewThread {
      while true {
        let peer = accept(listener, nil, nil)
        if peer < 0 { break }
        Thread.detachNewThread { Self.serve(peer, acts) }
      }
    }
  }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
  }

  private static func serve(_ peer: Int32, _ acts: @Sendable (HttpCall) -> Act) {
    defer { close(peer) }
    guard let call = read(peer) else { return }
    switch acts(call) {
    case .bytes(let bytes):
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(peer, $0.baseAddress, $0.count) }
        if count <= 0 { return }
        rest = rest.dropFirst(count)
      }
    case .hang:
      var byte: UInt8 = 0
      while Glibc.read(peer, &byte, 1) > 0 {}
    case .reset:
      var linger = linger(l_onoff: 1, l_linger: 0)
      setsockopt(
        peer, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
    }
  }

  private static func read(_ peer: Int32) -> HttpCall? {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16_384)
    while true {
      let count = Glibc.read(peer, &chunk, chunk.count)
      if count <= 0 { return nil }
      bytes += chunk[..<count]
      // Not HTTP, a TLS greeting for instance.
      guard let first = bytes.first, (65...90).contains(first) else { return nil }
      let text = String(decoding: bytes, as: UTF8.self)
      guard let end = text.firstRange(of: "\r\n\r\n") else { continue }
      let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
      let fields = Dictionary(
        lines.dropFirst().map { line in
          let parts = line.split(separator: ":", maxSplits: 1).map {
            $0.trimmingCharacters(in: .whitespaces)
          }
          return (parts[0].lowercased(), parts.count > 1 ? parts[1] : "")
        }, uniquingKeysWith: { first, _ in first })
      let body = bytes.dropFirst(text[..<end.upperBound].utf8.count)
      guard body.count >= Int(fields["content-length"] ?? "0") ?? 0 else { continue }
      let words = lines[0].split(separator: " ")
      guard words.count == 3 else { return nil }
      return HttpCall(
        String(words[0]), String(words[1]),
        bearer: fields["authorization"].map { String($0.dropFirst("Bearer ".count)) },
        body: body.isEmpty ? nil : Array(body))
    }
  }
}

extension ScriptedServer.Act {
  /// A whole answer.
  static func reply(_ reply: HttpReply, _ fields: [String] = []) -> Self {
    var head = "HTTP/1.1 \(reply.status) Status\r\nconnection: close\r\n"
    if reply.status != 204 { head += "content-length: \(reply.body.count)\r\n" }
    if let retryAfter = reply.retryAfter { head += "retry-after: \(retryAfter)\r\n" }
    for field in fields { head += field + "\r\n" }
    return .bytes(Array((head + "\r\n").utf8) + reply.body)
  }
}
