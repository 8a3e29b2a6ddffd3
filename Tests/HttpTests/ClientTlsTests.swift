import CLinux
import Glibc
import Testing
import Tls

@Suite("TLS")
struct ClientTlsTests {
  /// Two ends of a socket pair, each with TLS on it, pumped in turn.
  final class Pair {
    let descriptors: [Int32]
    let client: TlsStream
    let server: TlsStream

    init(
      host: String = "localhost", trust: String? = TestCertificates.shared.ca, offers: [String] = ["h2"],
      serverSpeaks: [String] = ["h2", "http/1.1"]
    ) throws {
      var ends: [Int32] = [-1, -1]
      socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends)
      descriptors = ends
      let clientContext = try TlsClientContext(additionalRoots: trust)
      let serverContext = try TlsServerContext(
        certificateChainPem: TestCertificates.shared.server, privateKeyPem: TestCertificates.shared.key,
        alpn: serverSpeaks)
      client = try TlsStream(client: clientContext, descriptor: ends[0], host: host, alpn: offers)
      server = try TlsStream(server: serverContext, descriptor: ends[1])
    }

    deinit { for end in descriptors { close(end) } }

    func shake() -> (client: TlsHandshake, server: TlsHandshake) {
      var result: (client: TlsHandshake, server: TlsHandshake) = (.wantsRead, .wantsRead)
      for _ in 0..<20 {
        if !Self.settled(result.client) { result.client = client.handshake() }
        if !Self.settled(result.server) { result.server = server.handshake() }
      }
      return result
    }

    private static func settled(_ step: TlsHandshake) -> Bool { step != .wantsRead && step != .wantsWrite }
  }

  @Test("Ends that trust each other agree, on the server's choice of protocol")
  func agreement() throws {
    let pair = try Pair(offers: ["http/1.1", "h2"])
    let result = pair.shake()
    #expect(result.client == .done && result.server == .done)
    #expect(pair.client.negotiatedProtocol == "h2")
    #expect(pair.server.negotiatedProtocol == "h2")
  }

  @Test("A client without ALPN is served without one")
  func noAlpn() throws {
    let pair = try Pair(offers: [])
    #expect(pair.shake().server == .done)
    #expect(pair.server.negotiatedProtocol == nil)
  }

  @Test("No protocol in common ends the handshake")
  func noProtocolInCommon() throws {
    let pair = try Pair(offers: ["spdy"])
    guard case .failed(let failure) = pair.shake().client else { return #expect(Bool(false), "must fail") }
    #expect(failure.kind == .negotiation)
    #expect(failure.text.contains("no application protocol"))
  }

  @Test(
    "A server that cannot prove who it is, is not trusted, and the operator reads why",
    arguments: [
      ("localhost", false, "certificate verify failed: unable to get local issuer certificate"),
      ("example.com", true, "certificate verify failed: hostname mismatch (expected example.com)"),
      ("10.0.0.1", true, "certificate verify failed: IP address mismatch (expected 10.0.0.1)"),
    ])
  func distrust(host: String, knowsTheCa: Bool, text: String) throws {
    let pair = try Pair(host: host, trust: knowsTheCa ? TestCertificates.shared.ca : nil)
    #expect(pair.shake().client == .failed(TlsFailure(kind: .trust, text: text)))
  }

  @Test("Names and addresses in the certificate are accepted", arguments: ["localhost", "127.0.0.1", "::1"])
  func names(host: String) throws { #expect(try Pair(host: host).shake().client == .done) }

  @Test("Bytes arrive whole, and the end of the stream is told")
  func transfer() throws {
    let pair = try Pair()
    _ = pair.shake()
    let sent = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    var offset = 0
    var received: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 20_000)
    while received.count < sent.count {
      if offset < sent.count {
        let step = sent.withUnsafeBytes { pair.client.write(UnsafeRawBufferPointer(rebasing: $0[offset...])) }
        if case .bytes(let count) = step { offset += count }
      }
      let step = buffer.withUnsafeMutableBytes { pair.server.read(into: $0) }
      if case .bytes(let count) = step { received += buffer[..<count] }
      if case .failed(let failure) = step { throw failure }
    }
    #expect(received == sent)
    #expect(buffer.withUnsafeMutableBytes { pair.server.read(into: $0) } == .wantsRead)
    #expect(!pair.server.pending)
    pair.client.shutdown()
    #expect(buffer.withUnsafeMutableBytes { pair.server.read(into: $0) } == .closed)
  }

  @Test("Bytes beyond the buffer are pending")
  func pending() throws {
    let pair = try Pair()
    _ = pair.shake()
    let text: [UInt8] = Array("abcdef".utf8)
    #expect(text.withUnsafeBytes { pair.client.write($0) } == .bytes(6))
    var buffer = [UInt8](repeating: 0, count: 4)
    #expect(buffer.withUnsafeMutableBytes { pair.server.read(into: $0) } == .bytes(4))
    #expect(pair.server.pending)
    #expect(buffer.withUnsafeMutableBytes { pair.server.read(into: $0) } == .bytes(2))
  }

  @Test("A peer that hangs up during the handshake is a fault of the line")
  func hangUp() throws {
    let pair = try Pair()
    _ = pair.client.handshake()
    Glibc.shutdown(pair.descriptors[1], Int32(SHUT_RDWR))
    guard case .failed(let failure) = pair.client.handshake() else { return #expect(Bool(false), "must fail") }
    #expect(failure.kind == .io)
  }

  @Test("A peer that speaks something else is refused")
  func otherProtocol() throws {
    let pair = try Pair()
    _ = pair.client.handshake()
    _ = write(pair.descriptors[1], "HTTP/1.0 400 Bad Request\r\n\r\n", 28)
    guard case .failed(let failure) = pair.client.handshake() else { return #expect(Bool(false), "must fail") }
    #expect(failure.kind == .negotiation)
    #expect(failure.text == "wrong version number")
  }

  @Test(
    "Certificates and keys that cannot be used are named in one line",
    arguments: [
      ("", "the additional CA roots: no PEM certificate in it"),
      ("hello", "the additional CA roots: no PEM certificate in it"),
      (
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        "the additional CA roots: certificate 1 cannot be read"
      ),
    ])
  func badRoots(pem: String, text: String) {
    #expect { try TlsClientContext(additionalRoots: pem) } throws: { error in
      guard let failure = error as? TlsFailure else { return false }
      return failure.kind == .configuration && failure.text.hasPrefix(text) && !failure.text.contains("\n")
    }
  }

  @Test("A key of another certificate, or none, is refused")
  func badKey() {
    let certificates = TestCertificates.shared
    for (key, text) in [
      ("", "the server key: no readable PEM private key in it"),
      (certificates.otherKey, "the server key does not belong to the certificate"),
    ] {
      #expect {
        try TlsServerContext(certificateChainPem: certificates.server, privateKeyPem: key, alpn: ["h2"])
      } throws: { error in (error as? TlsFailure)?.text.hasPrefix(text) == true }
    }
  }

  @Test("Without a name there is nothing to check, so no stream")
  func emptyName() throws {
    let context = try TlsClientContext()
    #expect(throws: TlsFailure.self) { try TlsStream(client: context, descriptor: 0, host: "", alpn: []) }
  }
}
