internal import Contract
internal import Json

/// The `orca` part of a push: what the app on the phone reads to route a tap, tell repeats and take alerts away
/// (contract, "Provider payloads"; rulings 6.5).
extension Push {
  /// The members of Apple's `orca` object, in the order that rulings 6.5 gives.
  func writeOrcaMembers(_ text: inout JsonText) {
    text.member("kind", ifPresent: notification.statedKind?.rawValue)
    text.member("hostFingerprint", hostFingerprint)
    text.member("worktreeId", ifPresent: notification.worktreeId)
    text.member("paneKey", ifPresent: notification.paneKey)
    text.member("executionHost", ifPresent: notification.executionHost)
    text.member("notificationId", ifPresent: notification.notificationId)
    text.member("notificationSeq", notification.seq)
    text.member("notificationEpoch", notification.epoch)
    text.member("source", notification.source.rawValue)
    if let state = notification.agentState {
      text.member("agentState", state.rawValue)
    } else {
      text.member("agentState", .null)
    }
  }

  /// The same as FCM's `data`, where every value is a string and what is null is left out.
  func writeOrcaStrings(_ text: inout JsonText) {
    text.member("kind", ifPresent: notification.statedKind?.rawValue)
    text.member("hostFingerprint", hostFingerprint)
    text.member("worktreeId", ifPresent: notification.worktreeId)
    text.member("paneKey", ifPresent: notification.paneKey)
    text.member("executionHost", ifPresent: notification.executionHost)
    text.member("notificationId", ifPresent: notification.notificationId)
    text.member("notificationSeq", String(notification.seq))
    text.member("notificationEpoch", notification.epoch)
    text.member("source", notification.source.rawValue)
    text.member("agentState", ifPresent: notification.agentState?.rawValue)
  }
}
