internal import COpenSSL
internal import Glibc

/// How far a handshake has come.
package enum TlsHandshake: Equatable {
  case done
  /// Call again when the descriptor is readable.
  case wantsRead
  /// Call again when the descriptor is writable.
  case wantsWrite
  case failed(TlsFailure)
}

/// What one read or write came to.
package enum TlsTransfer: Equatable {
  /// So many bytes, at least 1.
  case bytes(Int)
  case wantsRead
  case wantsWrite
  /// The peer has ended its side.
  case closed
  case failed(TlsFailure)
}

/// TLS over a connected, non-blocking descriptor, which stays its owner's: close it after letting go of the stream.
/// Belongs to one connection; never blocks.
package final class TlsStream {
  private let ssl: OpaquePointer
  private let peerName: String?
  // The OpenSSL context calls back into it.
  private let context: AnyObject
  private var broken = false

  /// The client's end. `host` (a DNS name or an IP address) must be what the certificate is made out to, and goes out
  /// as SNI when it is a name. `alpn` in order of preference.
  package init(client context: TlsClientContext, descriptor: Int32, host: String, alpn: [String]) throws(TlsFailure) {
    ssl = try Self.open(context.context, descriptor)
    self.context = context
    peerName = host
    var address = in6_addr()
    let isAddress = inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1
    let named: Int32
    if isAddress {
      named = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host)
    } else {
      SSL_set_hostflags(ssl, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
      named = SSL_set1_host(ssl, host) == 1 && ossl_set_sni(ssl, host) == 1 ? 1 : 0
    }
    // Without a name to check, anyone's certificate would do.
    guard named == 1, !host.isEmpty, !host.utf8.contains(0) else {
      throw OpenSSLErrors.configuration("not a host name")
    }
    let list = alpnList(alpn)
    if !list.isEmpty { SSL_set_alpn_protos(ssl, list, UInt32(list.count)) }
    SSL_set_connect_state(ssl)
  }

  /// The server's end.
  package init(server context: TlsServerContext, descriptor: Int32) throws(TlsFailure) {
    ssl = try Self.open(context.context, descriptor)
    self.context = context
    peerName = nil
    SSL_set_accept_state(ssl)
  }

  deinit { SSL_free(ssl) }

  private static func open(_ context: OpaquePointer, _ descriptor: Int32) throws(TlsFailure) -> OpaquePointer {
    OpenSSLErrors.clear()
    guard let ssl = SSL_new(context) else { throw OpenSSLErrors.configuration("TLS cannot start") }
    guard SSL_set_fd(ssl, descriptor) == 1 else {
      SSL_free(ssl)
      throw OpenSSLErrors.configuration("TLS cannot use the descriptor")
    }
    return ssl
  }

  /// The protocol that ALPN settled on, once the handshake is done.
  package var negotiatedProtocol: String? {
    var name: UnsafePointer<UInt8>?
    var length: UInt32 = 0
    SSL_get0_alpn_selected(ssl, &name, &length)
    guard let name, length > 0 else { return nil }
    return String(decoding: UnsafeBufferPointer(start: name, count: Int(length)), as: UTF8.self)
  }

  /// Bytes from the peer lie here already: read again, since the descriptor may stay silent.
  package var pending: Bool { SSL_has_pending(ssl) == 1 }

  /// Goes on with the handshake.
  package func handshake() -> TlsHandshake {
    OpenSSLErrors.clear()
    let result = SSL_do_handshake(ssl)
    if result == 1 { return .done }
    switch outcome(result, during: "the TLS handshake") {
    case .wantsRead: return .wantsRead
    case .wantsWrite: return .wantsWrite
    case .failed(let failure): return .failed(failure)
    case .closed, .bytes:
      return .failed(TlsFailure(kind: .io, text: "the peer closed during the TLS handshake"))
    }
  }

  /// Reads what fits. After `.bytes` there may be more: see `pending`.
  package func read(into buffer: UnsafeMutableRawBufferPointer) -> TlsTransfer {
    OpenSSLErrors.clear()
    let result = SSL_read(ssl, buffer.baseAddress, Int32(clamping: buffer.count))
    return result > 0 ? .bytes(Int(result)) : outcome(result, during: "a read")
  }

  /// Writes a first part of `buffer`, which must not be empty. After `.wantsRead` or `.wantsWrite` the next write must
  /// begin with the same bytes; they may lie elsewhere.
  package func write(_ buffer: UnsafeRawBufferPointer) -> TlsTransfer {
    OpenSSLErrors.clear()
    let result = SSL_write(ssl, buffer.baseAddress, Int32(clamping: buffer.count))
    return result > 0 ? .bytes(Int(result)) : outcome(result, during: "a write")
  }

  /// Tells the peer, as far as the socket takes it at once, that nothing more will come.
  package func shutdown() {
    if broken || SSL_is_init_finished(ssl) == 0 { return }
    SSL_shutdown(ssl)
    OpenSSLErrors.clear()
  }

  private func outcome(_ result: Int32, during step: String) -> TlsTransfer {
    let number = errno
    switch SSL_get_error(ssl, result) {
    case SSL_ERROR_WANT_READ: return .wantsRead
    case SSL_ERROR_WANT_WRITE: return .wantsWrite
    case SSL_ERROR_ZERO_RETURN: return .closed
    case SSL_ERROR_SYSCALL:
      broken = true
      let cause = number == 0 ? "the peer closed" : OpenSSLErrors.systemText(number)
      OpenSSLErrors.clear()
      return .failed(TlsFailure(kind: .io, text: "\(cause) during \(step)"))
    default:
      broken = true
      return .failed(refusal(step))
    }
  }

  private func refusal(_ step: String) -> TlsFailure {
    let verdict = SSL_get_verify_result(ssl)
    guard peerName == nil || verdict == Int(X509_V_OK) else {
      OpenSSLErrors.clear()
      let reason = String(cString: X509_verify_cert_error_string(verdict))
      let named = [X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH].contains(Int32(verdict))
      let suffix = named ? " (expected \(peerName ?? ""))" : ""
      return TlsFailure(kind: .trust, text: "certificate verify failed: \(reason)\(suffix)")
    }
    return TlsFailure(kind: .negotiation, text: OpenSSLErrors.takeReason() ?? "TLS failed during \(step)")
  }
}
