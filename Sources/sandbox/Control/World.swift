internal import Loop

/// What all servers of the sandbox share.
@LoopActor
final class World {
  var book = ScriptBook()
  var providerTokens: ProviderTokens
  var serviceKeys: ServiceKeys
  var accessTokens = AccessTokens()
  /// Called when the settings of push servers may have changed.
  var settingsChanged: (@LoopActor () -> Void)?
  let log = RequestLog()
  let connections = Connections()
  let tray = Tray()
  /// Bundle ids that the team may push to.
  let topics: [String]
  let projectId: String

  init(providerTokens: ProviderTokens, serviceKeys: ServiceKeys, topics: [String], projectId: String) {
    self.providerTokens = providerTokens
    self.serviceKeys = serviceKeys
    self.topics = topics
    self.projectId = projectId
  }

  /// What the script has in store for the next request for `token`.
  func next(_ lane: Lane, token: String) -> Step? { book.next(lane.provider, lane.environment, token: token) }

  /// Takes a script over, whole.
  func follow(_ script: Script) throws(ScriptFault) {
    guard book.count + script.rules.count + script.devices.count <= ScriptBook.limit else {
      throw ScriptFault("more than \(ScriptBook.limit) rules and devices")
    }
    for (token, rule) in script.rules { book.add(rule, token: token) }
    for (token, device) in script.devices { book.add(device, token: token) }
    for key in script.keys { providerTokens.add(key) }
    if let (keyId, after) = script.required {
      providerTokens.required = (keyId, WallClock.milliseconds + Int64(after))
    }
    for key in script.serviceKeys { serviceKeys.add(key.id, key.verifier) }
    if let (keyId, after) = script.requiredServiceKey {
      serviceKeys.required = (keyId, WallClock.milliseconds + Int64(after))
    }
    for (environment, value) in script.changes { book.change(environment, value) }
    settingsChanged?()
    if let life = script.accessTokenLife { accessTokens.life = Int64(life) }
    if script.revokesAccessTokens { accessTokens.revoke() }
  }

  /// Forgets every script. Keys that scripts brought stay known.
  func forgetScripts() {
    book = ScriptBook()
    providerTokens.required = nil
    serviceKeys.required = nil
    settingsChanged?()
    accessTokens.life = 3_600
  }
}
