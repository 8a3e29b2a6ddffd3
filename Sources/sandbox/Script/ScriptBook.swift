internal import Json

/// Everything that a test has asked for, and how far it has been used up.
struct ScriptBook: Sendable {
  /// Rules and devices that are kept; a script beyond is refused.
  static let limit = 200_000

  private(set) var apnsProduction = LaneSettings.apple
  private(set) var apnsSandbox = LaneSettings.apple
  private(set) var fcm = LaneSettings.google
  private(set) var devices: [String: Device] = [:]
  private var exact: [String: [Rule]] = [:]
  private var prefixes: [(prefix: String, rule: Rule)] = []
  private var ruleCount = 0

  /// How many rules and devices there are.
  var count: Int { ruleCount + devices.count }

  /// The settings of a push server.
  func settings(_ environment: ApnsEnvironment?) -> LaneSettings {
    switch environment {
    case .production: apnsProduction
    case .sandbox: apnsSandbox
    case nil: fcm
    }
  }

  /// Takes over the settings that `value` holds, which have been read once for their faults.
  mutating func change(_ environment: ApnsEnvironment?, _ value: JsonValue) {
    switch environment {
    case .production: try? apnsProduction.read(value, "")
    case .sandbox: try? apnsSandbox.read(value, "")
    case nil: try? fcm.read(value, "")
    }
  }

  /// Adds a rule for `token`; one that ends in `*` means all that begin so.
  mutating func add(_ rule: Rule, token: String) {
    ruleCount += 1
    if token.hasSuffix("*") {
      prefixes.append((String(token.dropLast()), rule))
      // The longest goes first: it says most.
      prefixes.sort { $0.prefix.utf8.count > $1.prefix.utf8.count }
    } else {
      exact[token, default: []].append(rule)
    }
  }

  mutating func add(_ device: Device, token: String) { devices[token] = device }

  /// What is to be done with a request for `token`; nil is the usual.
  mutating func next(_ provider: Provider, _ environment: ApnsEnvironment?, token: String) -> Step? {
    for place in exact[token]?.indices ?? 0..<0 {
      guard exact[token]?[place].scope.covers(provider, environment) == true else { continue }
      if let step = exact[token]?[place].next() { return step }
    }
    for place in prefixes.indices
    where token.hasPrefix(prefixes[place].prefix) && prefixes[place].rule.scope.covers(provider, environment) {
      if let step = prefixes[place].rule.next() { return step }
    }
    return nil
  }
}
