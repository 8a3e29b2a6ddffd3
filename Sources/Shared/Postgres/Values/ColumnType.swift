internal import CPostgres

/// Type numbers of pg_type, which are the same in every Postgres.
enum ColumnType {
  static let bool: Oid = 16
  static let bytes: Oid = 17
  static let name: Oid = 19
  static let int8: Oid = 20
  static let int2: Oid = 21
  static let int4: Oid = 23
  static let text: Oid = 25
  static let varchar: Oid = 1043
  static let uuid: Oid = 2950
  static let bools: Oid = 1000
  static let bytesArray: Oid = 1001
  static let int2s: Oid = 1005
  static let int4s: Oid = 1007
  static let texts: Oid = 1009
  static let int8s: Oid = 1016
  static let uuids: Oid = 2951
}
