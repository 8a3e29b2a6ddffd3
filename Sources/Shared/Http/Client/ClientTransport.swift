internal import CLinux
internal import Glibc
internal import Loop
internal import Tls

/// A connection to a server as bytes: TCP, with or without TLS.
@LoopActor
final class ClientTransport {
  let descriptor: Int32
  let address: PeerAddress
  private let bytes: Transport
  private var tls: TlsStream? { bytes.tls }
  private var closed = false

  private init(_ line: Dialer.Line, _ tls: TlsStream?) {
    descriptor = line.descriptor
    address = line.address
    bytes = Transport(line.descriptor, tls)
  }

  /// Resolves, connects and shakes hands, all before `deadline`.
  /// - Parameters:
  ///   - tls: for a secure origin; a secure origin without it cannot be reached.
  ///   - alpn: the protocol to ask for; a server that settles on none is taken to speak it only when `alpn` is HTTP/1.
  static func open(
    _ origin: Origin, tls: TlsClientContext?, alpn: String, resolver: NameResolver, before deadline: Monotonic
  ) async throws(ConnectFailure) -> ClientTransport {
    let looked = OneShot<Result<[PeerAddress], ConnectFailure>>()
    EventLoop.shared.start { looked.fulfil(await resolver.addresses(origin.host, origin.port)) }
    guard let found = await looked.value(before: deadline) else {
      throw ConnectFailure(step: .dns, text: "\(origin.host): the resolver does not answer")
    }
    let line = try await Dialer.connect(try found.get(), before: deadline)
    guard origin.secure else { return ClientTransport(line, nil) }
    let transport: ClientTransport
    do throws(TlsFailure) {
      guard let tls else { throw TlsFailure(kind: .configuration, text: "no TLS roots were given") }
      let stream = try TlsStream(client: tls, descriptor: line.descriptor, host: origin.host, alpn: [alpn])
      transport = ClientTransport(line, stream)
    } catch {
      Glibc.close(line.descriptor)
      throw ConnectFailure(step: .tls, text: error.text)
    }
    do throws(ConnectFailure) { try await transport.shakeHands(alpn, before: deadline) } catch {
      transport.close()
      throw error
    }
    return transport
  }

  private func shakeHands(_ alpn: String, before deadline: Monotonic) async throws(ConnectFailure) {
    guard let tls else { return }
    while true {
      let wanted: Interest
      switch tls.handshake() {
      case .done:
        guard tls.negotiatedProtocol == alpn || (tls.negotiatedProtocol == nil && alpn == "http/1.1") else {
          throw ConnectFailure(step: .tls, text: "\(address) does not offer \(alpn)")
        }
        return
      case .wantsRead: wanted = .read
      case .wantsWrite: wanted = .write
      case .failed(let failure):
        throw ConnectFailure(step: failure.kind == .trust ? .tlsTrust : .tls, text: failure.text)
      }
      guard await isReady(wanted, before: deadline) else {
        throw ConnectFailure(step: .timeout, text: "\(address) does not finish the TLS handshake")
      }
    }
  }

  /// Waits until the descriptor is ready; false when `deadline` came first. Not for a transport that someone watches.
  func isReady(_ interest: Interest, before deadline: Monotonic) async -> Bool {
    guard Monotonic.now < deadline else { return false }
    let watcher = ReadyOnce()
    EventLoop.shared.watch(descriptor, interest, watcher)
    defer { EventLoop.shared.forget(descriptor) }
    return await watcher.told.value(before: deadline) != nil
  }

  /// Bytes lie here already, so the descriptor may stay silent.
  var pending: Bool { bytes.pending }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> TlsTransfer { bytes.read(into: buffer) }

  /// See `TlsStream.write`.
  func write(_ buffer: UnsafeRawBufferPointer) -> TlsTransfer { bytes.write(buffer) }

  /// Closes the descriptor, after a goodbye where TLS has one. The watcher must have let go before.
  func close() {
    guard !closed else { return }
    closed = true
    tls?.shutdown()
    Glibc.close(descriptor)
  }
}

@LoopActor
private final class ReadyOnce: Readiness {
  let told = OneShot<Bool>()
  func ready(_ events: Interest) { told.fulfil(true) }
}
