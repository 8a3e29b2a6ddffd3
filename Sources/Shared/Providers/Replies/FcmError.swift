internal import Json

/// The parts of a Google API error that decide (google.rpc.Status), whatever the order of its details.
struct FcmError {
  /// FCM's own `errorCode`, from a detail of type `FcmError`.
  var code: String?
  /// google.rpc.Code's name, e.g. `NOT_FOUND`.
  var status: String?
  var message: String?
  /// The fields that a `BadRequest` detail complains of.
  var fields: [String] = []
  /// `RetryInfo.retryDelay`, in ms.
  var retryDelay: Int64?

  /// Nothing is set when the body is no such error: a proxy's page, or no body.
  init(_ body: [UInt8]) {
    guard let error = (try? JsonReader.read(body))?["error"] else { return }
    status = error["status"]?.string
    message = error["message"]?.string
    for detail in error["details"]?.array ?? [] {
      guard let type = detail["@type"]?.string?.split(separator: "/").last else { continue }
      switch type {
      case "google.firebase.fcm.v1.FcmError": code = detail["errorCode"]?.string ?? code
      case "google.rpc.BadRequest":
        fields += (detail["fieldViolations"]?.array ?? []).compactMap { $0["field"]?.string }
      case "google.rpc.RetryInfo": retryDelay = detail["retryDelay"]?.string.flatMap(Self.duration)
      default: break
      }
    }
  }

  /// The error is about the token and not about the rest of the message. Fields are exact and come first: a message may
  /// quote anything.
  var namesToken: Bool {
    if !fields.isEmpty { return fields.contains { ["message.token", "message.fid"].contains($0) } }
    let message = (message ?? "").lowercased()
    return ["registration token", "message.token", "message.fid"].contains { message.contains($0) }
  }

  /// Milliseconds of a protobuf duration in JSON, such as `3s` or `1.5s`, rounded up.
  private static func duration(_ text: String) -> Int64? {
    guard text.utf8.last == UInt8(ascii: "s"), let seconds = Double(text.dropLast()), seconds >= 0,
      seconds <= Double(RetryAfter.longest / 1_000)
    else { return nil }
    return Int64((seconds * 1_000).rounded(.up))
  }
}
