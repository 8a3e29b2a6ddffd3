internal import Json

/// A message that FCM takes (FCM v1, `projects.messages.send`).
struct FcmMessage: Equatable, Sendable {
  /// Where it goes: a token, or a topic or condition with its kind before it.
  let target: String
  let isValidation: Bool
  /// In camelCase.
  let json: JsonValue

  /// Bytes of keys and values that a message may bring to a device; half for a topic.
  static let sizeLimit = 4_096
  /// Four weeks, in seconds.
  private static let longestLife: Int64 = 2_419_200

  init(_ bytes: [UInt8]) throws(FcmFault) {
    let request = try FcmReader.read(bytes)
    guard let message = request["message"], message.object != nil else {
      throw .refused("message", "The message is not set.")
    }
    json = message
    isValidation = request["validateOnly"]?.bool ?? false
    target = try Self.target(message)
    try Self.checkData(message["data"], "message.data")
    try Self.checkData(message["android"]?["data"], "message.android.data")
    try Self.checkAndroid(message["android"], v2: message["androidV2"])
    let limit = target.contains("/") ? Self.sizeLimit / 2 : Self.sizeLimit
    guard Self.size(message) <= limit else { throw .tooBig }
  }

  private static func target(_ message: JsonValue) throws(FcmFault) -> String {
    let targets = ["token", "fid", "topic", "condition"].compactMap { kind in
      message[kind]?.string.map { (kind: kind, text: $0) }
    }
    guard let (kind, text) = targets.first, !text.isEmpty else {
      throw .refused("message", "Recipient of the message is not set.")
    }
    if targets.count > 1 {
      throw .malformed(
        "message",
        "Invalid value at 'message' (oneof), oneof field 'target' is already set. Cannot set '\(targets[1].kind)'")
    }
    guard kind == "token" || kind == "fid" else { return "\(kind)/\(text)" }
    let isPlain = text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
      case UInt8(ascii: "0")...UInt8(ascii: "9"): true
      default: "_:.-".utf8.contains(byte)
      }
    }
    guard isPlain, text.utf8.count <= 4_096 else { throw .badToken }
    return text
  }

  private static func checkData(_ data: JsonValue?, _ field: String) throws(FcmFault) {
    for (key, _) in data?.object?.members ?? [] {
      let isReserved =
        key == "from" || key == "message_type" || key == "gcm" || key.hasPrefix("google")
        || key.hasPrefix("gcm.notification.")
      if isReserved { throw .refused(field, "Invalid data payload key: \(key)") }
      if key.isEmpty { throw .refused(field, "Invalid data payload key") }
    }
  }

  private static func checkAndroid(_ android: JsonValue?, v2: JsonValue?) throws(FcmFault) {
    guard let android else { return }
    if v2 != nil { throw .refused("message.android_v2", "android and android_v2 must not be combined.") }
    if let life = android["ttl"]?.string.flatMap(FcmDuration.seconds), life > longestLife {
      throw .refused("message.android.ttl", "Invalid time to live: 0 to \(longestLife) seconds are allowed.")
    }
    if let color = android["notification"]?["color"]?.string, !isColor(color) {
      throw .refused("message.android.notification.color", "Invalid color: #rrggbb is due.")
    }
  }

  private static func isColor(_ text: String) -> Bool {
    text.utf8.count == 7 && text.utf8.first == UInt8(ascii: "#")
      && text.utf8.dropFirst().allSatisfy { "0123456789abcdefABCDEF".utf8.contains($0) }
  }

  /// What the notification adds is not spelled out by Google; its texts are counted.
  private static func size(_ message: JsonValue) -> Int {
    let data = message["android"]?["data"] ?? message["data"]
    return [data, message["notification"], message["android"]?["notification"]].reduce(0) { size, part in
      (part?.object?.members ?? []).reduce(size) { $0 + $1.key.utf8.count + ($1.value.string?.utf8.count ?? 0) }
    }
  }
}
