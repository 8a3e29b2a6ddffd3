internal import CLinux
internal import Glibc
internal import Tls

/// A connected socket as bytes, with or without TLS. The descriptor stays its owner's.
struct Transport {
  let descriptor: Int32
  let tls: TlsStream?

  /// The caller shakes hands with `tls` before anything else.
  init(_ descriptor: Int32, _ tls: TlsStream?) {
    self.descriptor = descriptor
    self.tls = tls
  }

  /// Bytes lie here already, so the descriptor may stay silent.
  var pending: Bool { tls?.pending ?? false }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> TlsTransfer {
    if let tls { return tls.read(into: buffer) }
    let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
    if count == 0 { return .closed }
    return count > 0 ? .bytes(count) : failed(.wantsRead)
  }

  /// See `TlsStream.write`.
  func write(_ buffer: UnsafeRawBufferPointer) -> TlsTransfer {
    if let tls { return tls.write(buffer) }
    let count = send(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
    return count > 0 ? .bytes(count) : failed(.wantsWrite)
  }

  private func failed(_ again: TlsTransfer) -> TlsTransfer {
    let number = errno
    if number == EAGAIN || number == EINTR { return again }
    return .failed(TlsFailure(kind: .io, text: String(cString: strerror(number))))
  }

  /// Tells the peer that nothing more will come.
  func endSending() {
    tls?.shutdown()
    shutdown(descriptor, Int32(SHUT_WR))
  }
}
