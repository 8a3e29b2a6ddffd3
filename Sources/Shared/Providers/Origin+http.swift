internal import Contract
internal import Http

extension Http.Origin {
  /// A configured origin as the HTTP client takes it.
  init(_ origin: Contract.Origin) {
    self.init(host: origin.host, port: UInt16(clamping: origin.port), secure: origin.scheme == .https)
  }
}
