/// A parameter of a statement. Its case fixes the parameter's type in SQL, so the statement needs no cast for it;
/// `null` alone leaves the type to the server, which then wants a cast (`$1::text`) where nothing else tells it.
package enum PostgresValue: Sendable, Equatable {
  case null
  case bool(Bool)
  case int2(Int16)
  case int4(Int32)
  case int8(Int64)
  /// `text`. A NUL character is refused by the server.
  case text(String)
  /// `bytea`.
  case bytes([UInt8])
  /// `uuid`: exactly 16 bytes.
  case uuid([UInt8])
  case bools([Bool])
  case int2s([Int16])
  case int4s([Int32])
  case int8s([Int64])
  case optionalInt8s([Int64?])
  case texts([String?])
  /// `bytea[]`.
  case bytesArray([[UInt8]?])
  /// `uuid[]`: each of exactly 16 bytes.
  case uuids([[UInt8]?])
}
