/// What a path names (contract, "Gateway HTTP API").
enum Resource: Equatable {
  case health
  case ready
  case challenge
  case session
  case devices
  /// By registration id, as it stands in the path.
  case device(String)
  case send
  case deliveries

  /// Nil for a path that the gateway does not know.
  init?(path: String) {
    switch path {
    case "/health": self = .health
    case "/ready": self = .ready
    case "/v1/host/challenge": self = .challenge
    case "/v1/host/session": self = .session
    case "/v1/devices": self = .devices
    case "/v1/send": self = .send
    case "/v1/deliveries": self = .deliveries
    default:
      let prefix = "/v1/devices/"
      guard path.utf8.starts(with: prefix.utf8) else { return nil }
      let id = path.dropFirst(prefix.count)
      if id.isEmpty || id.utf8.contains(UInt8(ascii: "/")) { return nil }
      self = .device(String(id))
    }
  }

  /// As metrics call it.
  var pattern: String {
    switch self {
    case .health: "/health"
    case .ready: "/ready"
    case .challenge: "/v1/host/challenge"
    case .session: "/v1/host/session"
    case .devices: "/v1/devices"
    case .device: "/v1/devices/:registrationId"
    case .send: "/v1/send"
    case .deliveries: "/v1/deliveries"
    }
  }

  /// The methods that it knows; HEAD goes with GET (rulings 1.11).
  var methods: [String] {
    switch self {
    case .health, .ready, .deliveries: ["GET", "HEAD"]
    case .challenge, .session, .send: ["POST"]
    case .devices: ["GET", "HEAD", "POST"]
    case .device: ["DELETE"]
    }
  }
}
