import Contract
import Foundation
package import Json
import Proof
import Testing

/// Case files that stand beside the tests.
enum CaseFile {
  static func bytes(_ name: String) throws -> [UInt8] {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: name)
    return [UInt8](try Data(contentsOf: file))
  }

  static func values(_ name: String) throws -> [JsonValue] {
    try #require(try JsonReader.read(try bytes(name)).array)
  }
}

/// A route of the contract that takes a body, read as the api reads it.
enum Door: String, CaseIterable, Sendable {
  case challenge = "/v1/host/challenge"
  case session = "/v1/host/session"
  case devices = "/v1/devices"
  case send = "/v1/send"

  /// Reads a body that has been parsed; throws what the api answers 400 to.
  func read(_ body: JsonValue) throws {
    switch self {
    case .challenge:
      let request = try ChallengeRequest(body)
      guard HostKey(bytes: request.hostPublicKey) != nil else {
        throw InvalidRequest("hostPublicKeyB64 is of low order")
      }
    case .session: _ = try SessionRequest(body)
    case .devices: _ = try DeviceRequest(body)
    case .send: _ = try SendRequest(body)
    }
  }

  /// Reads a body as it came off the wire.
  func read(_ bytes: [UInt8]) throws { try read(try JsonReader.read(bytes)) }

  func read(_ text: String) throws { try read(Array(text.utf8)) }

  /// A body that is in order, to be bent.
  var sample: Bent {
    switch self {
    case .challenge: Bent(["v": 1, "hostPublicKeyB64": .string(Self.key)])
    case .session: Bent(["v": 1, "challengeId": "c-1", "proofB64": .string(Self.key)])
    case .devices:
      Bent(["v": 1, "deviceId": "d-1", "platform": "ios", "token": "0a0b", "apnsEnvironment": "production"])
    case .send: Bent(["v": 1, "registrationIds": ["r-1"], "notification": .object(Bent.notification.object)])
    }
  }

  /// The u coordinate 9, the base point.
  static let key = "CQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
}

/// A JSON object with members put in another's place or left out.
struct Bent {
  private(set) var members: [(key: String, value: JsonValue)]

  init(_ object: JsonObject) { members = object.members }

  var object: JsonObject { JsonObject(members) }
  var value: JsonValue { .object(object) }
  var bytes: [UInt8] { JsonText.render(value) }

  /// The same with the member set, or left out for nil.
  func with(_ name: String, _ value: JsonValue?) -> Bent {
    var bent = self
    let place = bent.members.firstIndex { $0.key == name }
    switch (place, value) {
    case (let place?, let value?): bent.members[place].value = value
    case (let place?, nil): bent.members.remove(at: place)
    case (nil, let value?): bent.members.append((name, value))
    case (nil, nil): break
    }
    return bent
  }

  /// A send of this notification.
  var send: Bent { Door.send.sample.with("notification", value) }

  static let notification = Bent([
    "notificationId": "n-1", "notificationSeq": 1, "notificationEpoch": "e-1", "source": "agent-task-complete",
    "agentState": "finished", "title": "Build", "body": "done", "worktreeId": "wt",
  ])

  /// A dismissal that is in order.
  static let dismissal = notification.with("kind", "dismiss")
}

extension JsonValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByArrayLiteral
{
  package init(stringLiteral text: String) { self = .string(text) }
  package init(integerLiteral number: Int64) { self = .integer(number) }
  package init(arrayLiteral elements: JsonValue...) { self = .array(elements) }
}

/// Whether reading throws what is answered 400: a fault of the JSON or of the contract, and nothing else.
func isRefused(_ read: () throws -> Void) -> Bool {
  do {
    try read()
    return false
  } catch {
    return error is InvalidRequest || error is JsonFault
  }
}
