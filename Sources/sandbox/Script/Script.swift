internal import Http
internal import Json
internal import Keys

/// What `POST /script` brings, read whole before any of it counts.
struct Script: Sendable {
  /// A day, in ms: no wait is longer.
  static let longestWait = 86_400_000

  var rules: [(token: String, rule: Rule)] = []
  var devices: [(token: String, device: Device)] = []
  var keys: [ApnsKey] = []
  /// Keys that the service account has as well.
  var serviceKeys: [(id: String, verifier: Rs256Verifier)] = []
  /// The one key that counts from then on, that many ms after the script came: Apple's, and the service account's.
  var required: (keyId: String, after: Int)?
  var requiredServiceKey: (keyId: String, after: Int)?
  /// Changes to the settings of push servers, in order.
  var changes: [(environment: ApnsEnvironment?, value: JsonValue)] = []
  /// Seconds that access tokens are good for from now on.
  var accessTokenLife: Int?
  var revokesAccessTokens = false

  init(_ bytes: [UInt8]) throws(ScriptFault) {
    let json: JsonValue
    do throws(JsonFault) {
      json = try JsonReader.read(bytes, maxMembers: ScriptBook.limit)
    } catch {
      throw ScriptFault("the script is not JSON: \(error)")
    }
    var members = try ScriptMembers(json, "script")
    for value in try members.list("rules") { rules.append(try Self.rule(value)) }
    for value in try members.list("devices") { devices.append(try Self.device(value)) }
    for value in try members.list("keys") { keys.append(try Self.key(value)) }
    for value in try members.list("serviceKeys") { serviceKeys.append(try Self.serviceKey(value)) }
    if let value = members.value("requireKey") { required = try Self.requirement(value, "requireKey") }
    if let value = members.value("requireServiceKey") {
      requiredServiceKey = try Self.requirement(value, "requireServiceKey")
    }
    for (name, environments) in Self.lanes {
      guard let value = members.value(name) else { continue }
      // Read once for its faults; members that are missing leave what they stand for.
      var probe = LaneSettings.apple
      try probe.read(value, name)
      for environment in environments { changes.append((environment, value)) }
    }
    accessTokenLife = try members.integer("accessTokenLifetime", 0...86_400)
    revokesAccessTokens = try members.bool("revokeAccessTokens") ?? false
    try members.end()
  }

  /// The names of servers in a script. Apple's are known by their environment, Google's has none.
  private static let lanes: [(name: String, environments: [ApnsEnvironment?])] = [
    ("apns", [.production, .sandbox]), ("apnsProduction", [.production]), ("apnsSandbox", [.sandbox]), ("fcm", [nil]),
  ]

  private static func rule(_ value: JsonValue) throws(ScriptFault) -> (token: String, rule: Rule) {
    var members = try ScriptMembers(value, "rules[]")
    let token = try members.text("token") ?? "*"
    let scope = Rule.Scope(provider: try members.word("provider"), environment: try members.word("environment"))
    var steps: [Step] = []
    for step in try members.list("steps") { steps.append(try Step(step)) }
    let repeats = try members.bool("repeat") ?? false
    try members.end()
    if steps.isEmpty { throw ScriptFault("rules[].steps must hold a step") }
    return (token, Rule(scope: scope, steps: steps, repeats: repeats))
  }

  private static func device(_ value: JsonValue) throws(ScriptFault) -> (token: String, device: Device) {
    var members = try ScriptMembers(value, "devices[]")
    guard let token = try members.text("token") else { throw ScriptFault("devices[].token is missing") }
    let device = Device(environment: try members.word("environment"), topic: try members.text("topic"))
    try members.end()
    return (token, device)
  }

  private static func key(_ value: JsonValue) throws(ScriptFault) -> ApnsKey {
    var members = try ScriptMembers(value, "keys[]")
    let id = try members.text("keyId")
    let pem = try members.text("publicKey")
    let environment: ApnsEnvironment? = try members.word("environment")
    try members.end()
    guard let id, let pem, let verifier = try? Es256Verifier(pem: pem) else {
      throw ScriptFault("keys[] must hold keyId and publicKey (PEM of a P-256 key)")
    }
    return ApnsKey(id: id, verifier: verifier, environment: environment)
  }

  private static func serviceKey(_ value: JsonValue) throws(ScriptFault) -> (id: String, verifier: Rs256Verifier) {
    var members = try ScriptMembers(value, "serviceKeys[]")
    let id = try members.text("keyId")
    let pem = try members.text("publicKey")
    try members.end()
    guard let id, let pem, let verifier = try? Rs256Verifier(pem: pem) else {
      throw ScriptFault("serviceKeys[] must hold keyId and publicKey (PEM of an RSA key)")
    }
    return (id, verifier)
  }

  private static func requirement(
    _ value: JsonValue, _ name: String
  ) throws(ScriptFault) -> (keyId: String, after: Int) {
    var members = try ScriptMembers(value, name)
    let after = try members.integer("afterMs", 0...longestWait) ?? 0
    guard let keyId = try members.text("keyId") else { throw ScriptFault("\(name).keyId is missing") }
    try members.end()
    return (keyId, after)
  }
}

extension LaneSettings {
  /// Takes over what the object holds.
  mutating func read(_ value: JsonValue, _ name: String) throws(ScriptFault) {
    var members = try ScriptMembers(value, name)
    latency = try members.integer("latencyMs", 0...Script.longestWait) ?? latency
    goawayEvery = try members.integer("goawayEvery", 0...1_000_000_000) ?? goawayEvery
    goawayReason = try members.text("goawayReason") ?? goawayReason
    goawayKeepsOpen = try members.bool("goawayKeepsOpen") ?? goawayKeepsOpen
    wedge = try members.word("wedge") ?? wedge
    firstStreamLimit = try members.integer("firstStreamLimit", 0...100_000) ?? firstStreamLimit
    maxConcurrentStreams = try members.integer("maxConcurrentStreams", 0...100_000) ?? maxConcurrentStreams
    tokenUpdateInterval = try members.integer("tokenUpdateIntervalMs", 0...Script.longestWait) ?? tokenUpdateInterval
    connectionRate = try members.integer("connectionRate", 0...1_000_000) ?? connectionRate
    clockOffset = Int64(try members.integer("clockOffsetSeconds", -100_000_000...100_000_000) ?? Int(clockOffset))
    try members.end()
  }
}

extension Step {
  /// Reads a step of a script.
  init(_ value: JsonValue) throws(ScriptFault) {
    var members = try ScriptMembers(value, "steps[]")
    action = try members.word("action") ?? .reply
    status = try members.integer("status", 200...599)
    reason = try members.text("reason")
    switch members.value("body") {
    case nil: break
    case .string(let text): body = Array(text.utf8)
    case .some(let json): body = JsonText.render(json)
    }
    if let value = members.value("headers") {
      guard let object = value.object else { throw ScriptFault("steps[].headers must be an object") }
      for (name, value) in object.members {
        guard let text = value.string else { throw ScriptFault("steps[].headers.\(name) must be a string") }
        headers.add(name.lowercased(), text)
      }
    }
    delay = try members.integer("delayMs", 0...Script.longestWait) ?? 0
    times =
      switch members.value("times") {
      case nil: 1
      case .string("always"): nil
      case .integer(let number) where (1...1_000_000_000).contains(number): Int(number)
      default: throw ScriptFault("steps[].times must be a positive integer or \"always\"")
      }
    maxConcurrentStreams = try members.integer("maxConcurrentStreams", 0...100_000)
    timestamp = try members.integer("timestamp", 0...Int.max).map(Int64.init)
    isDelivered = try members.bool("deliver") ?? false
    try members.end()
    if action == .settings, maxConcurrentStreams == nil {
      throw ScriptFault("steps[] with action settings lacks maxConcurrentStreams")
    }
  }
}
