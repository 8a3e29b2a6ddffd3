internal import Contract
internal import Postgres

extension PostgresStore {
  private static let admission = PostgresStatement(
    "select push_admit_v3($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)")

  package func admit(_ sends: [Admission]) async throws(StoreFailure) -> Admitted {
    let codes = try await run(Self.admission, Self.values(of: sends)) { rows throws(PostgresFailure) in
      try rows.int2Array(0, 0)
    }
    let results = codes.dropLast().map { (code) -> SendResult in
      switch code {
      case 0: .queued
      case 1: .dead
      case 2: .rateLimited
      default: .error
      }
    }
    var at = 0
    let bySend = sends.map { send in
      defer { at += send.registrationIds.count }
      return Array(results[at..<min(at + send.registrationIds.count, results.count)])
    }
    // The last entry: the routes that may have something new, a bit each.
    let ways = codes.last ?? 0
    return Admitted(results: bySend, routes: Set(Route.allCases.filter { ways >> $0.rawValue & 1 == 1 }))
  }

  /// What `push_admit_v3` is given for a group, in its order.
  static func values(of sends: [Admission]) -> [PostgresValue] {
    [
      .int8s(sends.map(\.host.number)), .int2s(sends.map { $0.kind == .alert ? 1 : 2 }), .int8s(sends.map(\.seq)),
      .uuids(sends.map(\.eventKey)), .uuids(sends.map(\.fenceKey)), .uuids(sends.map(\.contentDigest)),
      .bytesArray(sends.map(\.payload)), .bools(sends.map(\.isSilent)), .optionalInt8s(sends.map(\.expiresAt)),
      .int4s(sends.map { Int32($0.registrationIds.count) }), .texts(sends.flatMap(\.registrationIds)),
      .int4s(sends.indices.flatMap { repeatElement(Int32($0 + 1), count: sends[$0].registrationIds.count) }),
      .int4(Int32(Limits.eventsPerWindow)), .int8(Limits.quotaWindow), .int8(Limits.eventLife),
    ]
  }
}
