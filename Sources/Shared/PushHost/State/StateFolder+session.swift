extension StateFolder: SessionShelf {
  private var sessionFile: DurableFile { file("session.json") }

  func session() async -> HostSession? {
    let file = sessionFile
    let content = try? await blocking { () throws(StateFault) in try file.read(limit: 4_096) }
    return content.flatMap { $0 }.flatMap(HostSession.init(stored:))
  }

  /// How long whoever proves is waited for, ms: a proof takes two requests.
  static let patience = 2 * GatewayClient.deadline + 5_000

  func turn() async -> FolderLock? { await turn(patience: Self.patience) }

  func turn(patience: Int64) async -> FolderLock? { try? await lock("session.lock", patience: patience) }

  // A session that cannot be kept is proved for again.
  func keep(_ session: HostSession) async {
    let file = sessionFile
    try? await locked { () throws(StateFault) in try file.replace(with: session.stored) }
  }
}
