internal import Contract

extension StateFolder {
  private static let keyFile = "host.key"

  /// The host's identity; nil when the folder has none yet.
  public func keys() async throws(StateFault) -> HostKeys? {
    let file = file(Self.keyFile)
    return try await blocking { () throws(StateFault) in
      guard let content = try file.read(limit: 1_024) else { return nil }
      return try Self.keys(content, file.path)
    }
  }

  /// The host's identity, made now if the folder has none. Of two that make one at the same time, both get the same.
  public func keysOrNew() async throws(StateFault) -> HostKeys {
    let file = file(Self.keyFile)
    return try await locked { () throws(StateFault) in
      let new = HostKeys.generate()
      if try file.create(with: Array((Base64.encode(new.secretKey) + "\n").utf8)) { return new }
      return try Self.keys(try file.read(limit: 1_024) ?? [], file.path)
    }
  }

  private static func keys(_ content: [UInt8], _ path: String) throws(StateFault) -> HostKeys {
    let text = String(decoding: content, as: UTF8.self)
    guard text.hasSuffix("\n"), let secret = Base64.decode(String(text.dropLast())),
      let keys = HostKeys(secretKey: secret)
    else { throw StateFault(path: path, reason: "is no host key: one line, base64 of 32 bytes") }
    return keys
  }
}
