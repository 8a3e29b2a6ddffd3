package import Contract
internal import Postgres

extension PostgresStore {
  private static let register = PostgresStatement("select push_register_v1($1, $2, $3, $4, $5, $6)")
  private static let delete = PostgresStatement(
    """
    with gone as (
      delete from push_devices where registration_id = $1 and host_no = $2 returning device_no, route, registration_id)
    insert into push_forgotten_devices (device_no, forgotten_at, route, registration_id)
      select device_no, push_now_ms(), route, registration_id from gone returning device_no
    """)
  private static let list = PostgresStatement(
    """
    select registration_id, device_id, route, dead_at is not null from push_devices
     where host_no = $1 order by created_at, device_no limit 1024
    """)

  package func register(
    _ host: Host, deviceId: String, route: Route, token: String, newId: String
  ) async throws(StoreFailure) -> String? {
    try await run(
      Self.register,
      [
        .int8(host.number), .text(deviceId), .int2(route.rawValue), .text(token), .text(newId),
        .int4(Int32(Limits.devicesPerHost)),
      ]
    ) { rows throws(PostgresFailure) in try rows.optionalText(0, 0) }
  }

  package func unregister(_ host: Host, registrationId: String) async throws(StoreFailure) -> Bool {
    try await run(Self.delete, [.text(registrationId), .int8(host.number)]) { rows throws(PostgresFailure) in
      rows.count > 0
    }
  }

  package func devices(of host: Host) async throws(StoreFailure) -> [DeviceListing] {
    try await run(Self.list, [.int8(host.number)]) { rows throws(PostgresFailure) in
      var listings: [DeviceListing] = []
      for row in 0..<rows.count {
        guard let route = Route(rawValue: try rows.int2(row, 2)) else { continue }
        listings.append(
          DeviceListing(
            registrationId: try rows.text(row, 0), deviceId: try rows.text(row, 1), platform: route.platform,
            isDead: try rows.bool(row, 3)))
      }
      return listings
    }
  }
}
