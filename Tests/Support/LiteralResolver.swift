package import Http

extension NameResolver {
  /// Takes the host for the address that it is: tests open more connections at once than look-ups may wait.
  package static let literal = NameResolver { host, port in
    guard let address = PeerAddress(address: host, port: port) else {
      return .failure(ConnectFailure(step: .dns, text: "\(host) is no address"))
    }
    return .success([address])
  }
}
