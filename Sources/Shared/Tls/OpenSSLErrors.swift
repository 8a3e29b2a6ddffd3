internal import COpenSSL
internal import Glibc

/// OpenSSL's error queue, which belongs to the thread: emptied before each call whose failure is looked at.
enum OpenSSLErrors {
  static func clear() { ERR_clear_error() }

  /// The oldest reason in the queue (the cause), as OpenSSL words it; empties the queue.
  static func takeReason() -> String? {
    let code = ERR_peek_error()
    defer { ERR_clear_error() }
    guard code != 0 else { return nil }
    return ERR_reason_error_string(code).map { String(cString: $0) }
  }

  static func systemText(_ number: Int32) -> String { String(cString: strerror(number)) }

  static func configuration(_ what: String) -> TlsFailure {
    TlsFailure(kind: .configuration, text: takeReason().map { "\(what): \($0)" } ?? what)
  }
}
