internal import Loop

/// What all servers of the sandbox share.
@LoopActor
final class World {
  var book = ScriptBook()
  var providerTokens: ProviderTokens
  var accessTokens = AccessTokens()
  let log = RequestLog()
  let connections = Connections()
  let tray = Tray()
  /// Bundle ids that the team may push to.
  let topics: [String]
  let projectId: String

  init(providerTokens: ProviderTokens, topics: [String], projectId: String) {
    self.providerTokens = providerTokens
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
    for (environment, value) in script.changes { book.change(environment, value) }
    if let life = script.accessTokenLife { accessTokens.life = Int64(life) }
    if script.revokesAccessTokens { accessTokens.revoke() }
  }

  /// Forgets every script. Keys that scripts brought stay known.
  func forgetScripts() {
    book = ScriptBook()
    providerTokens.required = nil
    accessTokens.life = 3_600
  }
}
