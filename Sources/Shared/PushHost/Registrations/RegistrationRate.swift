/// At most 10 registrations a minute and device: each is a request and a write, and a phone could go round in a loop. Pure.
struct RegistrationRate {
  static let most = 10
  static let window: Int64 = 60_000
  /// Devices that are remembered; the one that was seen longest ago goes first.
  static let devices = 1_024

  private var times: [String: [Int64]] = [:]

  /// Whether the device may register now; if so, it has. `uptime` in ms.
  mutating func admit(_ deviceId: String, uptime: Int64) -> Bool {
    var recent = (times[deviceId] ?? []).filter { uptime - $0 < Self.window }
    defer { times[deviceId] = recent }
    guard recent.count < Self.most else { return false }
    if times[deviceId] == nil, times.count >= Self.devices { forget() }
    recent.append(uptime)
    return true
  }

  private mutating func forget() {
    let oldest = times.min { ($0.value.last ?? .min) < ($1.value.last ?? .min) }
    if let oldest { times[oldest.key] = nil }
  }
}
