internal import Json

/// What a host asks to show on its phones: the `notification` of a send (contract, "Send").
package struct Notification: Sendable, Equatable {
  /// Show something, or take it away.
  package enum Kind: String, Sendable, CaseIterable { case alert, dismiss }

  package enum Source: String, Sendable, CaseIterable {
    case agentTaskComplete = "agent-task-complete"
    case terminalBell = "terminal-bell"
    case plugin
  }

  package enum AgentState: String, Sendable, CaseIterable {
    case needsInput = "needs-input"
    case finished
  }

  /// Absent when the host sent none, which means an alert.
  package var statedKind: Kind?
  package var notificationId: String?
  package var seq: Int64
  package var epoch: String
  package var source: Source
  package var agentState: AgentState?
  package var title: String
  package var body: String
  package var worktreeId: String?
  package var paneKey: String?
  package var executionHost: String?
  /// Unix ms.
  package var expiresAt: Int64?
  /// A property of the delivery, not of the event (rulings 4.2).
  package var sound: Bool?

  package var kind: Kind { statedKind ?? .alert }

  /// The event as bytes: everything but `sound`. Equal content gives equal bytes, and `init(stored:)` reads them back.
  package var stored: [UInt8] { render(kind: statedKind) }

  /// What two events of one identity are compared by: an absent kind is an alert (rulings 4.1).
  package var content: [UInt8] { render(kind: kind) }

  private func render(kind: Kind?) -> [UInt8] {
    var text = JsonText(reserving: 512)
    text.object { text in
      text.member("kind", ifPresent: kind?.rawValue)
      text.member("notificationId", ifPresent: notificationId)
      text.member("notificationSeq", seq)
      text.member("notificationEpoch", epoch)
      text.member("source", source.rawValue)
      text.member("agentState", ifPresent: agentState?.rawValue)
      text.member("title", title)
      text.member("body", body)
      text.member("worktreeId", ifPresent: worktreeId)
      text.member("paneKey", ifPresent: paneKey)
      text.member("executionHost", ifPresent: executionHost)
      if let expiresAt { text.member("expiresAt", expiresAt) }
    }
    return text.bytes
  }
}
