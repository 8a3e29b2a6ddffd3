internal import Json

/// What a push brings to the phone.
///
/// Apple drops or delays a payload that does not fit its push type, without a word. Here such a push is refused.
struct ApnsPayload: Equatable, Sendable {
  let json: JsonValue
  let title: String?
  let subtitle: String?
  let body: String?
  /// Whether the phone makes a sound.
  let isAudible: Bool

  init(_ bytes: [UInt8], type: ApnsPushType) throws(ApnsFault) {
    guard bytes.count <= type.payloadLimit else {
      throw ApnsFault(.payloadTooLarge, "\(bytes.count) bytes, \(type.payloadLimit) are allowed")
    }
    guard !bytes.isEmpty else { throw ApnsFault(.payloadEmpty, "there is no payload") }
    do throws(JsonFault) {
      json = try JsonReader.read(bytes)
    } catch {
      throw ApnsFault(.payloadEmpty, "the payload is not JSON: \(error)")
    }
    guard let aps = json["aps"]?.object else { throw ApnsFault(.payloadEmpty, "aps is missing or no object") }
    try Self.checkTypes(aps)

    let alert = aps["alert"]
    title = alert?["title"]?.string
    subtitle = alert?["subtitle"]?.string
    body = alert?["body"]?.string ?? alert?.string
    isAudible = aps["sound"] != nil
    switch type {
    case .background:
      guard aps.count == 1, aps["content-available"] == .integer(1) else {
        throw ApnsFault(.invalidPushType, "aps of a background push holds content-available: 1 and nothing else")
      }
    case .alert:
      guard alert != nil || aps["badge"] != nil || aps["sound"] != nil else {
        throw ApnsFault(.invalidPushType, "aps of an alert push lacks alert, badge and sound")
      }
      guard title != nil || body != nil || alert == nil || alert?["title-loc-key"] != nil || alert?["loc-key"] != nil
      else { throw ApnsFault(.payloadEmpty, "aps.alert says nothing") }
    default: break
    }
  }

  private static func checkTypes(_ aps: JsonObject) throws(ApnsFault) {
    for (key, value) in aps.members {
      let fits =
        switch key {
        case "alert": value.string != nil || value.object.map(isAlert) == true
        case "badge": value.integer.map { $0 >= 0 } == true
        case "sound": value.string != nil || value.object != nil
        case "thread-id", "category", "target-content-id", "interruption-level", "filter-criteria": value.string != nil
        case "content-available", "mutable-content": value == .integer(0) || value == .integer(1)
        default: true
        }
      guard fits else { throw ApnsFault(.payloadEmpty, "aps.\(key) has the wrong type") }
    }
  }

  private static func isAlert(_ alert: JsonObject) -> Bool {
    alert.members.allSatisfy { key, value in
      key.hasSuffix("-loc-args") || key == "loc-args" ? value.array != nil : value.string != nil
    }
  }
}
