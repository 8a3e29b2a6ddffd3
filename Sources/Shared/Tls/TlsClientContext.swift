internal import COpenSSL

/// What all TLS connections to servers share: whom to trust and which versions to speak (TLS 1.2 or newer).
/// The peer's certificate and its name are always checked.
///
/// Sendable: the OpenSSL context is not changed after `init`, and OpenSSL locks what it counts and caches in it.
package final class TlsClientContext: Sendable {
  nonisolated(unsafe) let context: OpaquePointer

  /// Trusts the system's roots (`SSL_CERT_FILE` and `SSL_CERT_DIR` can point elsewhere) and those in `additionalRoots`.
  /// - Parameter additionalRoots: PEM text with one or more certificates.
  package init(additionalRoots: String? = nil) throws(TlsFailure) {
    OpenSSLErrors.clear()
    guard let context = SSL_CTX_new(TLS_client_method()) else { throw OpenSSLErrors.configuration("TLS cannot start") }
    self.context = context
    prepare(context)
    guard SSL_CTX_set_default_verify_paths(context) == 1 else {
      throw OpenSSLErrors.configuration("the system's CA roots cannot be read")
    }
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
    if let additionalRoots {
      let what = "the additional CA roots"
      for root in try Pem.certificates(additionalRoots, what: what) {
        X509_STORE_add_cert(SSL_CTX_get_cert_store(context), root)
        X509_free(root)
      }
    }
    OpenSSLErrors.clear()
  }

  deinit { SSL_CTX_free(context) }
}

/// Settings that both ends share.
func prepare(_ context: OpaquePointer) {
  _ = ossl_ctx_min_proto(context, TLS1_2_VERSION)
  // HTTP/2 forbids renegotiation (RFC 9113 9.2.1). A close without close_notify reads as a close: HTTP frames itself.
  SSL_CTX_set_options(context, UInt64(ossl_op_no_renegotiation() | ossl_op_ignore_unexpected_eof()))
  let modes = Int(SSL_MODE_ENABLE_PARTIAL_WRITE) | Int(SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER)
  SSL_CTX_ctrl(context, SSL_CTRL_MODE, modes, nil)
  // One read of the socket for many records, instead of two for each.
  SSL_CTX_ctrl(context, SSL_CTRL_SET_READ_AHEAD, 1, nil)
  SSL_CTX_set_default_read_buffer_len(context, 32 * 1024)
}

/// Protocol names as ALPN writes them: each behind its length (RFC 7301).
func alpnList(_ names: [String]) -> [UInt8] {
  names.flatMap { [UInt8(clamping: $0.utf8.count)] + Array($0.utf8.prefix(255)) }
}
