/// A request to a provider, without `:scheme` and `:authority`, which the connection knows.
struct ProviderRequest: Sendable, Equatable {
  struct Field: Sendable, Equatable {
    let name: String
    let value: String
    /// May enter the HPACK table. Fields that differ each time would only push the others out, and secrets must not
    /// lie in a table at all (RFC 7541, 7.1).
    let isIndexed: Bool
  }

  /// In the order of sending, pseudo fields first.
  var fields: [Field]
  var body: [UInt8]

  /// The value of a field, for tests and logs.
  subscript(_ name: String) -> String? { fields.first { $0.name == name }?.value }
}
