internal import Contract
internal import Http
internal import Json
internal import Keys
internal import Loop
internal import Stores

/// `/v1/devices`: the phones that a host sends to (contract, "Device registration").
@LoopActor
struct DevicesEndpoint {
  let callers: Callers
  let database: Database

  func post(_ request: HttpRequest) async throws(Problem) -> HttpResponse {
    let host = try await callers.host(of: request)
    let body = try request.read(DeviceRequest.init)
    let registrationId = try await database.call { store throws(StoreFailure) in
      try await store.register(
        host, deviceId: body.deviceId, route: body.route, token: body.token,
        newId: Base64Url.encode(SecureRandom.bytes(24)))
    }
    guard let registrationId else { throw .tooManyDevices }
    return .json { $0.member("registrationId", registrationId) }
  }

  func get(_ request: HttpRequest) async throws(Problem) -> HttpResponse {
    let host = try await callers.host(of: request)
    try request.checkSize()
    let devices = try await database.call { store throws(StoreFailure) in try await store.devices(of: host) }
    return .json {
      $0.array("devices") { list in
        for device in devices {
          list.object {
            $0.member("registrationId", device.registrationId)
            $0.member("deviceId", device.deviceId)
            $0.member("platform", device.platform.rawValue)
            $0.member("dead", device.isDead)
          }
        }
      }
    }
  }

  func delete(_ registrationId: String, _ request: HttpRequest) async throws(Problem) -> HttpResponse {
    let host = try await callers.host(of: request)
    try request.checkSize()
    let wasThere = try await database.call { store throws(StoreFailure) in
      try await store.unregister(host, registrationId: registrationId)
    }
    if !wasThere { throw .notFound }
    return .noContent
  }
}
