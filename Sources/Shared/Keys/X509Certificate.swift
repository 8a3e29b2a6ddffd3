internal import COpenSSL

/// The owner of one X509. It is changed by the function that makes it alone; then any thread may read it.
final class X509Certificate: Sendable {
  private nonisolated(unsafe) let pointer: OpaquePointer

  /// A version 3 certificate with a random serial, not yet signed. It holds from an hour ago, as clocks differ.
  init(subject: String, publicKey: EvpKey, days: Int) throws(KeyFault) {
    guard let pointer = X509_new() else { throw .library }
    self.pointer = pointer
    let day = 86_400
    guard X509_set_version(pointer, 2) == 1,
      setSerial(),
      X509_gmtime_adj(X509_getm_notBefore(pointer), -3_600) != nil,
      X509_gmtime_adj(X509_getm_notAfter(pointer), days * day - 3_600) != nil,
      X509_NAME_add_entry_by_NID(
        X509_get_subject_name(pointer), NID_commonName, MBSTRING_UTF8, subject, CInt(subject.utf8.count), -1, 0) == 1,
      X509_set_pubkey(pointer, publicKey.pointer) == 1
    else { throw failure() }
  }

  /// Reads the first certificate of `pem`.
  init(pem: String) throws(KeyFault) {
    guard let block = try PemText.blocks(in: Array(pem.utf8), unwraps: 0).first(where: { $0.kind == .certificate })
    else { throw .otherBlock }
    let der = try block.der
    let read = der.withUnsafeBufferPointer { bytes in
      var cursor = bytes.baseAddress
      return d2i_X509(nil, &cursor, bytes.count)
    }
    guard let read else {
      ERR_clear_error()
      throw .corrupt
    }
    pointer = read
  }

  deinit { X509_free(pointer) }

  /// Whether the certificate is of that key and has not run out.
  func isFit(for key: EvpKey) -> Bool {
    defer { ERR_clear_error() }
    return X509_check_private_key(pointer, key.pointer) == 1
      && X509_cmp_current_time(X509_get0_notAfter(pointer)) > 0
  }

  /// 127 random bits: positive and far within the 20 bytes that RFC 5280 allows.
  private func setSerial() -> Bool {
    var bytes = SecureRandom.bytes(16)
    bytes[0] = bytes[0] & 0x7f | 0x40
    guard let number = BN_bin2bn(bytes, CInt(bytes.count), nil) else { return false }
    defer { BN_free(number) }
    return BN_to_ASN1_INTEGER(number, X509_get_serialNumber(pointer)) != nil
  }

  /// Adds a subjectAltName: an address as such, anything else as a host name (RFC 5280, 4.2.1.6).
  func add(alternativeNames: [String]) throws(KeyFault) {
    guard let list = GENERAL_NAMES_new() else { throw .library }
    defer { GENERAL_NAMES_free(list) }
    for text in alternativeNames {
      guard !text.isEmpty, text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }), let name = GENERAL_NAME_new()
      else { throw .library }
      if let address = a2i_IPADDRESS(text) {
        GENERAL_NAME_set0_value(name, GEN_IPADD, address)
      } else if let dns = ASN1_IA5STRING_new(), ASN1_STRING_set(dns, text, CInt(text.utf8.count)) == 1 {
        GENERAL_NAME_set0_value(name, GEN_DNS, dns)
      }
      // Takes the name over.
      guard ossl_names_push(list, name) > 0 else {
        GENERAL_NAME_free(name)
        throw failure()
      }
    }
    guard !alternativeNames.isEmpty,
      X509_add1_ext_i2d(pointer, NID_subject_alt_name, UnsafeMutableRawPointer(list), 0, 0) == 1
    else { throw failure() }
  }

  /// Adds extensions, each with its value in OpenSSL's configuration syntax, then the issuer's name and signature.
  func sign(by issuer: X509Certificate, key: EvpKey, extensions: [(CInt, String)]) throws(KeyFault) {
    guard X509_set_issuer_name(pointer, X509_get_subject_name(issuer.pointer)) == 1 else { throw failure() }
    var context = X509V3_CTX()
    ossl_v3_ctx_nodb(&context)
    X509V3_set_ctx(&context, issuer.pointer, pointer, nil, nil, 0)
    for (kind, value) in extensions {
      guard let added = X509V3_EXT_conf_nid(nil, &context, kind, value) else { throw failure() }
      defer { X509_EXTENSION_free(added) }
      guard X509_add_ext(pointer, added, -1) == 1 else { throw failure() }
    }
    guard X509_sign(pointer, key.pointer, Sha256.algorithm) > 0 else { throw failure() }
  }

  /// The certificate as PEM.
  func pem() -> String { Keys.pem { PEM_write_bio_X509($0, pointer) } }

  /// Drops the thread's queue of errors, which its TLS connections would take for their own.
  private func failure() -> KeyFault {
    ERR_clear_error()
    return .library
  }
}
