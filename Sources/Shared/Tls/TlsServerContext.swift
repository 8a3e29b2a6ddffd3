internal import COpenSSL

/// What all TLS connections of a listener share: its certificate, its key and the protocols it speaks
/// (TLS 1.2 or newer, no session resumption).
///
/// Sendable: the OpenSSL context is not changed after `init`, and OpenSSL locks what it counts and caches in it.
package final class TlsServerContext: Sendable {
  nonisolated(unsafe) let context: OpaquePointer
  private let protocols: [UInt8]

  /// - Parameters:
  ///   - certificateChainPem: the server's certificate first, then its issuers.
  ///   - privateKeyPem: the key of that certificate, without a password.
  ///   - alpn: protocols in the server's order of preference, e.g. `["h2", "http/1.1"]`. A client that offers only
  ///     others is refused; one that offers none is served.
  package init(certificateChainPem: String, privateKeyPem: String, alpn: [String]) throws(TlsFailure) {
    OpenSSLErrors.clear()
    guard let context = SSL_CTX_new(TLS_server_method()) else { throw OpenSSLErrors.configuration("TLS cannot start") }
    self.context = context
    protocols = alpnList(alpn)
    prepare(context)
    SSL_CTX_ctrl(context, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
    SSL_CTX_set_num_tickets(context, 0)
    SSL_CTX_ctrl(context, SSL_CTRL_MODE, Int(SSL_MODE_RELEASE_BUFFERS), nil)
    try useCertificates(certificateChainPem)
    try useKey(privateKeyPem)
    if !alpn.isEmpty {
      SSL_CTX_set_alpn_select_cb(context, Self.select, Unmanaged.passUnretained(self).toOpaque())
    }
    OpenSSLErrors.clear()
  }

  deinit { SSL_CTX_free(context) }

  private func useCertificates(_ pem: String) throws(TlsFailure) {
    let chain = try Pem.certificates(pem, what: "the server certificate")
    defer { for certificate in chain { X509_free(certificate) } }
    guard SSL_CTX_use_certificate(context, chain[0]) == 1 else {
      throw OpenSSLErrors.configuration("the server certificate cannot be used")
    }
    for issuer in chain.dropFirst() {
      SSL_CTX_ctrl(context, SSL_CTRL_CHAIN_CERT, 1, UnsafeMutableRawPointer(issuer))
    }
  }

  private func useKey(_ pem: String) throws(TlsFailure) {
    let key = try Pem.privateKey(pem, what: "the server key")
    defer { EVP_PKEY_free(key) }
    guard SSL_CTX_use_PrivateKey(context, key) == 1, SSL_CTX_check_private_key(context) == 1 else {
      throw OpenSSLErrors.configuration("the server key does not belong to the certificate")
    }
  }

  // Each stream keeps its context, so the pointer outlives every call.
  private static let select: SSL_CTX_alpn_select_cb_func = { _, out, outLength, offered, offeredLength, raw in
    guard let raw, let out, let outLength else { return SSL_TLSEXT_ERR_ALERT_FATAL }
    let server = Unmanaged<TlsServerContext>.fromOpaque(raw).takeUnretainedValue()
    return server.protocols.withUnsafeBufferPointer { own in
      for start in starts(own) {
        let name = UnsafeBufferPointer(rebasing: own[(start + 1)..<(start + 1 + Int(own[start]))])
        let theirs = UnsafeBufferPointer(start: offered, count: Int(offeredLength))
        for other in starts(theirs) where theirs[other] == own[start] {
          let candidate = UnsafeBufferPointer(rebasing: theirs[(other + 1)..<(other + 1 + Int(theirs[other]))])
          guard candidate.elementsEqual(name) else { continue }
          // Points into the client's list, which lives as long as OpenSSL needs the answer.
          out.pointee = candidate.baseAddress
          outLength.pointee = UInt8(candidate.count)
          return SSL_TLSEXT_ERR_OK
        }
      }
      return SSL_TLSEXT_ERR_ALERT_FATAL
    }
  }

  /// Where the entries of a list of length-prefixed names start; an entry cut short ends the list.
  private static func starts(_ list: UnsafeBufferPointer<UInt8>) -> [Int] {
    var starts: [Int] = []
    var at = 0
    while at < list.count, at + 1 + Int(list[at]) <= list.count {
      starts.append(at)
      at += 1 + Int(list[at])
    }
    return starts
  }
}
