/// At most one alert per 5 s for a phone and a workspace, by the events' own time. Pure.
struct AlertSpacing {
  static let gap: Int64 = 5_000
  /// Phones and workspaces that are remembered; the one that had an alert longest ago is forgotten first.
  static let most = 50

  private struct Key: Equatable {
    let deviceId: String
    let worktreeId: String?
  }

  // Oldest first.
  private var last: [(key: Key, at: Int64)] = []

  /// Whether the phone gets it; if so, that is remembered. `emittedAt` in ms, 0 to 2^53 - 1.
  mutating func admit(deviceId: String, worktreeId: String?, emittedAt: Int64) -> Bool {
    let key = Key(deviceId: deviceId, worktreeId: worktreeId)
    if let place = last.firstIndex(where: { $0.key == key }) {
      // Whichever way round they came. What is long before the last one comes from a clock that was set back since.
      if abs(emittedAt - last[place].at) < Self.gap { return false }
      last.remove(at: place)
    } else if last.count == Self.most {
      last.removeFirst()
    }
    last.append((key, emittedAt))
    return true
  }
}
