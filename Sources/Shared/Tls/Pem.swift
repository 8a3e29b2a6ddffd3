internal import COpenSSL

/// Certificates and keys out of PEM text.
enum Pem {
  /// Every certificate in `text`, in order; the caller frees them with `X509_free`.
  /// `what` names the text in the error, e.g. `the additional CA roots`.
  static func certificates(_ text: String, what: String) throws(TlsFailure) -> [OpaquePointer] {
    OpenSSLErrors.clear()
    guard let reader = openReader(text) else { throw OpenSSLErrors.configuration("\(what) cannot be read") }
    defer { BIO_free(reader) }
    var certificates: [OpaquePointer] = []
    while let certificate = PEM_read_bio_X509(reader, nil, refusePassword, nil) { certificates.append(certificate) }
    let reason = ERR_peek_last_error()
    let endReached = Int32(truncatingIfNeeded: reason & UInt(ERR_REASON_MASK)) == PEM_R_NO_START_LINE
    if endReached, !certificates.isEmpty {
      OpenSSLErrors.clear()
      return certificates
    }
    for certificate in certificates { X509_free(certificate) }
    if endReached {
      OpenSSLErrors.clear()
      throw TlsFailure(kind: .configuration, text: "\(what): no PEM certificate in it")
    }
    throw OpenSSLErrors.configuration("\(what): certificate \(certificates.count + 1) cannot be read")
  }

  /// The first private key in `text`; the caller frees it with `EVP_PKEY_free`.
  static func privateKey(_ text: String, what: String) throws(TlsFailure) -> OpaquePointer {
    OpenSSLErrors.clear()
    guard let reader = openReader(text) else { throw OpenSSLErrors.configuration("\(what) cannot be read") }
    defer { BIO_free(reader) }
    guard let key = PEM_read_bio_PrivateKey(reader, nil, refusePassword, nil) else {
      throw OpenSSLErrors.configuration("\(what): no readable PEM private key in it")
    }
    return key
  }

  private static func openReader(_ text: String) -> OpaquePointer? {
    var text = text
    return text.withUTF8 { bytes in
      guard let reader = BIO_new(BIO_s_mem()) else { return nil }
      if BIO_write(reader, bytes.baseAddress, Int32(clamping: bytes.count)) == Int32(clamping: bytes.count) {
        return reader
      }
      BIO_free(reader)
      return nil
    }
  }

  // OpenSSL would otherwise ask for a password on the terminal.
  private static let refusePassword:
    @convention(c) (
      UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?
    ) -> Int32 = { _, _, _, _ in -1 }
}
