import Foundation
import Json
import Loop
import Testing

/// A host's alerts to its phones, each one a new event.
struct Traffic {
  private let host: PythonHost
  private let registrations: [JsonValue]
  private var seq: Int64 = 0

  init(_ host: PythonHost, _ registrations: [JsonValue]) {
    self.host = host
    self.registrations = registrations
  }

  /// What must reach a provider in all.
  var deliveries: Int { Int(seq) * registrations.count }

  /// Sends so many, each `milliseconds` after the answer to the one before; all must be queued.
  mutating func send(_ count: Int, every milliseconds: Int = 0) async throws {
    for _ in 0..<count {
      seq += 1
      let notification: JsonObject = [
        "notificationId": .string("n-\(seq)"), "notificationSeq": .integer(seq), "notificationEpoch": .string("e"),
        "source": .string("plugin"), "agentState": .null, "title": .string("t"), "body": .string("b"),
      ]
      let answer = try await host.post(
        "/v1/send",
        .object(["v": .integer(1), "registrationIds": .array(registrations), "notification": .object(notification)]))
      let results = answer["results"]?.array ?? []
      #expect(results.count == registrations.count && results.allSatisfy { $0["status"] == .string("queued") })
      if milliseconds > 0 { try await EventLoop.shared.sleep(milliseconds: milliseconds) }
    }
  }

  static func register(
    _ host: PythonHost, ios: String? = nil, android: String? = nil
  ) async throws -> [JsonValue] {
    let token = JsonValue.string(ios ?? android ?? "")
    let id = JsonValue.string(String((ios ?? android ?? "").suffix(64)))
    let phone: JsonObject =
      ios == nil
      ? ["v": .integer(1), "deviceId": id, "platform": .string("android"), "token": token]
      : [
        "v": .integer(1), "deviceId": id, "platform": .string("ios"), "token": token,
        "apnsEnvironment": .string("production"),
      ]
    return [try #require(try await host.post("/v1/devices", .object(phone))["registrationId"])]
  }

  /// Each push was taken once by the provider, and by nobody twice.
  func expectAll(_ provider: String, _ gateway: Gateway) async throws {
    let taken = try await gateway.requests(provider, count: deliveries)
    #expect(taken.count == deliveries)
    if provider == "apns" {
      #expect(Set(taken.compactMap { $0["headers"]?["apns-id"]?.string }).count == deliveries)
    } else {
      #expect(
        Set(taken.compactMap { $0["body"]?["message"]?["data"]?["notificationSeq"]?.string }).count
          == deliveries)
    }
  }
}
