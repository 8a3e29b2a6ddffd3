internal import Http

/// The fields that say how APNs is to treat a push (Apple, "Sending notification requests to APNs").
struct ApnsHeaders: Equatable, Sendable {
  let topic: String
  let pushType: ApnsPushType
  /// 1, 5 or 10.
  let priority: Int
  /// Seconds since 1970; 0 is now or never. Nil leaves it to Apple.
  let expiration: Int64?
  let collapseId: String?
  /// A lower-case UUID of the sender's.
  let id: String?

  /// - Parameter topics: bundle ids that the team may push to.
  init(_ headers: HttpHeaders, topics: [String]) throws(ApnsFault) {
    try Self.checkRepeats(headers)
    id = try Self.id(headers["apns-id"])
    pushType = try Self.pushType(headers["apns-push-type"])
    topic = try Self.topic(headers["apns-topic"], pushType, topics)
    priority = try Self.priority(headers["apns-priority"], pushType)
    expiration = try Self.expiration(headers["apns-expiration"])
    collapseId = try Self.collapseId(headers["apns-collapse-id"])
    guard headers["content-encoding"] == nil else { throw ApnsFault(.payloadEmpty, "a payload is never compressed") }
  }

  private static func checkRepeats(_ headers: HttpHeaders) throws(ApnsFault) {
    var seen: Set<String> = []
    for (name, _) in headers.fields where name == "authorization" || name.hasPrefix("apns-") {
      guard seen.insert(name).inserted else { throw ApnsFault(.duplicateHeaders, "\(name) came twice") }
    }
  }

  private static func id(_ text: String?) throws(ApnsFault) -> String? {
    guard let text else { return nil }
    let bytes = Array(text.utf8)
    let isUuid =
      bytes.count == 36
      && bytes.indices.allSatisfy { place in
        [8, 13, 18, 23].contains(place)
          ? bytes[place] == UInt8(ascii: "-") : "0123456789abcdef".utf8.contains(bytes[place])
      }
    guard isUuid else { throw ApnsFault(.badMessageId, "apns-id must be a UUID in lower case") }
    return text
  }

  /// Apple asks for the type of every push to a watch and lets others go without, at their risk. Here it is due.
  private static func pushType(_ text: String?) throws(ApnsFault) -> ApnsPushType {
    guard let text else { throw ApnsFault(.invalidPushType, "apns-push-type is missing") }
    guard let type = ApnsPushType(rawValue: text) else { throw ApnsFault(.invalidPushType, "no such apns-push-type") }
    return type
  }

  private static func topic(_ text: String?, _ type: ApnsPushType, _ topics: [String]) throws(ApnsFault) -> String {
    guard let text, !text.isEmpty else { throw ApnsFault(.missingTopic, "apns-topic is missing") }
    let isPlain = text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"): true
      default: false
      }
    }
    guard isPlain else { throw ApnsFault(.badTopic, "apns-topic is no bundle id") }
    if topics.contains(where: { text == $0 + type.topicSuffix }) { return text }
    let ofAnotherType = topics.contains { topic in ApnsPushType.allCases.contains { text == topic + $0.topicSuffix } }
    throw ofAnotherType
      ? ApnsFault(.badTopic, "apns-topic does not end as \(type.rawValue) asks")
      : ApnsFault(.topicDisallowed, "the team may not push to this topic")
  }

  private static func priority(_ text: String?, _ type: ApnsPushType) throws(ApnsFault) -> Int {
    guard let priority = ["1": 1, "5": 5, "10": 10][text ?? "10"] else {
      throw ApnsFault(.badPriority, "apns-priority must be 1, 5 or 10")
    }
    guard type != .background || priority == 5 else {
      throw ApnsFault(.badPriority, "a background push must have priority 5")
    }
    return priority
  }

  private static func expiration(_ text: String?) throws(ApnsFault) -> Int64? {
    guard let text else { return nil }
    // Twelve digits are the year 5138: whoever gets there, counts milliseconds.
    guard (1...11).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      throw ApnsFault(.badExpirationDate, "apns-expiration must be whole seconds since 1970")
    }
    return Int64(text)
  }

  private static func collapseId(_ text: String?) throws(ApnsFault) -> String? {
    guard let text else { return nil }
    guard (1...64).contains(text.utf8.count) else {
      throw ApnsFault(.badCollapseId, "apns-collapse-id must have 1 to 64 bytes, not \(text.utf8.count)")
    }
    return text
  }
}
