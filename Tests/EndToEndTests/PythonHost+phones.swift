import Foundation
import Json
import Testing

/// A phone that a host pairs with. Tokens are its own, from its number.
struct Phone: Hashable {
  enum Kind: String { case production, sandbox, android }
  let kind: Kind
  let token: String

  init(_ kind: Kind, _ number: Int, of host: Int = 0) {
    self.kind = kind
    let hex = String(format: "%04x%04x", host, number)
    token =
      kind == .android ? "phone-\(hex):APA91b" + String(repeating: "x-_7", count: 30) : String(repeating: hex, count: 8)
  }

  init(_ kind: Kind, token: String) {
    self.kind = kind
    self.token = token
  }

  /// What a sandbox's rule says of it.
  var provider: String { kind == .android ? "fcm" : "apns" }
}

extension PythonHost {
  /// Registers phones; their registration ids, in order.
  func register(_ phones: [Phone]) async throws -> [String] {
    var registrations: [String] = []
    for phone in phones {
      let body: JsonObject = [
        "v": .integer(1), "deviceId": .string(String(phone.token.prefix(40))),
        "platform": .string(phone.kind == .android ? "android" : "ios"), "token": .string(phone.token),
      ]
      let environment: JsonObject =
        phone.kind == .android ? [:] : ["apnsEnvironment": .string(phone.kind.rawValue)]
      let answer = try await post("/v1/devices", .object(JsonObject(body.members + environment.members)))
      registrations.append(try #require(answer["registrationId"]?.string))
    }
    return registrations
  }

  /// Sends an alert, in as many requests as it takes; what was said to each registration.
  @discardableResult
  func alert(
    _ seq: Int64, to registrations: [String], _ changes: JsonObject = [:]
  ) async throws -> [String] {
    let plain: JsonObject = [
      "notificationId": .string("run-\(seq)"), "notificationSeq": .integer(seq), "notificationEpoch": .string("e"),
      "source": .string("plugin"), "agentState": .null, "title": .string("title"), "body": .string("body"),
    ]
    let notification = JsonObject(changes.members + plain.members.filter { changes[$0.key] == nil })
    var said: [String] = []
    for start in stride(from: 0, to: registrations.count, by: 20) {
      let some = registrations[start..<min(start + 20, registrations.count)]
      let answer = try await post(
        "/v1/send",
        .object([
          "v": .integer(1), "registrationIds": .array(some.map { .string($0) }), "notification": .object(notification),
        ]))
      said += answer["results"]?.array?.map { $0["status"]?.string ?? "" } ?? []
    }
    return said
  }

  /// The registrations that a provider called dead.
  func dead() async throws -> Set<String> {
    let devices = try await get("/v1/devices")["devices"]?.array ?? []
    return Set(devices.filter { $0["dead"] == .bool(true) }.compactMap { $0["registrationId"]?.string })
  }
}
