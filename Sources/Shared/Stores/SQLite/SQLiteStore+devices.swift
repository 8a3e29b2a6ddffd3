package import Contract
internal import SQLite

extension SQLiteStore {
  package nonisolated func register(
    _ host: Host, deviceId: String, route: Route, token: String, newId: String
  ) async throws(StoreFailure) -> String? {
    try await write { [clock] file in
      let now = clock()
      let known = try file.run(
        """
        update push_devices set is_proven = is_proven and token = ?1 and route = ?2, token = ?1, route = ?2, dead_at = null,
            registered_at = max(?3, registered_at + 1)
         where host_no = ?4 and device_id = ?5 returning registration_id
        """,
        [.text(token), .integer(Int64(route.rawValue)), .integer(now), .integer(host.number), .text(deviceId)])
      if let row = known.first { return try row.text(0) }
      let held = try file.run("select count(*) from push_devices where host_no = ?", [.integer(host.number)])
      if try held.first?.integer(0) ?? 0 >= Limits.devicesPerHost { return nil }
      _ = try file.run(
        """
        insert into push_devices (host_no, registration_id, device_id, route, token, registered_at, created_at)
          values (?1, ?2, ?3, ?4, ?5, ?6, ?6)
        """,
        [
          .integer(host.number), .text(newId), .text(deviceId), .integer(Int64(route.rawValue)), .text(token),
          .integer(now),
        ])
      return newId
    }
  }

  package nonisolated func unregister(_ host: Host, registrationId: String) async throws(StoreFailure) -> Bool {
    try await write { [clock] file in
      let gone = try file.run(
        "delete from push_devices where registration_id = ? and host_no = ? returning device_no, route",
        [.text(registrationId), .integer(host.number)])
      guard let device = gone.first else { return false }
      _ = try file.run(
        "insert into push_forgotten_devices (device_no, registration_id, route, forgotten_at) values (?, ?, ?, ?)",
        [
          .integer(try device.integer(0)), .text(registrationId), .integer(try device.integer(1)), .integer(clock()),
        ])
      return true
    }
  }

  package nonisolated func devices(of host: Host) async throws(StoreFailure) -> [DeviceListing] {
    try await reader.devices(of: host)
  }
}
