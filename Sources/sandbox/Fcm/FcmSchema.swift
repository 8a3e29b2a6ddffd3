/// The part of the API's own description that a message can hold: names in camelCase, and what each may be.
indirect enum FcmType: Sendable {
  case string, bool, integer, number
  /// Seconds with up to nine decimals and an `s`.
  case duration
  /// RFC 3339.
  case timestamp
  /// One of these names; lower case is taken too.
  case word([String])
  case list(FcmType)
  /// Any names, text values.
  case texts
  /// Any JSON object.
  case anything
  case object([(name: String, type: FcmType)])
}

extension FcmType {
  /// The body of `messages:send`.
  static let request = FcmType.object([("message", message), ("validateOnly", .bool)])

  private static let message = FcmType.object([
    ("name", .string), ("token", .string), ("fid", .string), ("topic", .string), ("condition", .string),
    ("data", .texts), ("notification", .object([("title", .string), ("body", .string), ("image", .string)])),
    ("android", android), ("androidV2", .anything), ("webpush", webpush), ("apns", apns), ("fcmOptions", options),
  ])

  private static let options = FcmType.object([("analyticsLabel", .string)])

  private static let android = FcmType.object([
    ("collapseKey", .string), ("priority", .word(["NORMAL", "HIGH"])), ("ttl", .duration),
    ("restrictedPackageName", .string), ("data", .texts), ("notification", androidNotification),
    ("fcmOptions", options), ("directBootOk", .bool), ("bandwidthConstrainedOk", .bool),
    ("restrictedSatelliteOk", .bool),
  ])

  private static let androidNotification = FcmType.object([
    ("title", .string), ("body", .string), ("icon", .string), ("color", .string), ("sound", .string), ("tag", .string),
    ("clickAction", .string), ("bodyLocKey", .string), ("bodyLocArgs", .list(.string)), ("titleLocKey", .string),
    ("titleLocArgs", .list(.string)), ("channelId", .string), ("ticker", .string), ("sticky", .bool),
    ("eventTime", .timestamp), ("localOnly", .bool),
    (
      "notificationPriority",
      .word([
        "PRIORITY_UNSPECIFIED", "PRIORITY_MIN", "PRIORITY_LOW", "PRIORITY_DEFAULT", "PRIORITY_HIGH", "PRIORITY_MAX",
      ])
    ),
    ("defaultSound", .bool), ("defaultVibrateTimings", .bool), ("defaultLightSettings", .bool),
    ("vibrateTimings", .list(.duration)),
    ("visibility", .word(["VISIBILITY_UNSPECIFIED", "PRIVATE", "PUBLIC", "SECRET"])),
    ("notificationCount", .integer), ("lightSettings", lightSettings), ("image", .string),
    ("bypassProxyNotification", .bool),
    ("proxy", .word(["PROXY_UNSPECIFIED", "ALLOW", "DENY", "IF_PRIORITY_LOWERED"])),
  ])

  private static let lightSettings = FcmType.object([
    (
      "color",
      .object([
        ("red", .number), ("green", .number), ("blue", .number), ("alpha", .number),
      ])
    ),
    ("lightOnDuration", .duration), ("lightOffDuration", .duration),
  ])

  private static let webpush = FcmType.object([
    ("headers", .texts), ("data", .texts), ("notification", .anything),
    ("fcmOptions", .object([("link", .string), ("analyticsLabel", .string)])),
  ])

  private static let apns = FcmType.object([
    ("headers", .texts), ("payload", .anything), ("liveActivityToken", .string),
    ("fcmOptions", .object([("analyticsLabel", .string), ("image", .string)])),
  ])
}
