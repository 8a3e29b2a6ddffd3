internal import Contract

/// From what happened to what is sent, before anyone asks which phones. Pure.
enum EventRules {
  /// Why nothing is sent of an event.
  enum Drop: Error, Equatable {
    case noNumber, unknownSource, notAllowed, notFinal, noId
  }

  /// - Parameter now: ms since 1970; fixes the deadline once, so that a retry is the same request to the letter.
  static func notification(for event: HostEvent, now: Int64) throws(Drop) -> PushNotification {
    guard let seq = event.seq, (0...Limits.integer).contains(seq), let epoch = event.epoch, OpaqueId.isValid(epoch)
    else { throw .noNumber }
    guard let source = PushNotification.Source(rawValue: event.source) else { throw .unknownSource }
    let state = State(event.agentState)
    let id = event.notificationId.flatMap { isId($0) ? $0 : nil }
    if event.isDismissal {
      if id == nil { throw .noId }
    } else {
      guard event.isAllowed else { throw .notAllowed }
      if state == .working { throw .notFinal }
    }
    var notification = PushNotification(id: id, seq: seq, epoch: epoch, source: source, title: "", body: "")
    notification.agentState = state.wire
    notification.expiresAt = now + Limits.eventLife
    if event.isDismissal {
      // It is shown nowhere.
      notification.isDismissal = true
      notification.title = genericTitle(state.wire)
      return notification
    }
    let title = Text.tidied(event.title)
    notification.title = title.isEmpty ? genericTitle(state.wire) : Text.clipped(title, to: Limits.title)
    notification.body = Text.clipped(Text.tidied(event.body), to: Limits.body)
    notification.worktreeId = routing(event.worktreeId)
    notification.paneKey = routing(event.paneKey)
    notification.executionHost = routing(event.executionHost)
    return notification
  }

  /// What can be said to everyone.
  static func genericTitle(_ state: PushNotification.AgentState?) -> String {
    switch state {
    case .needsInput: "Your input is needed"
    case .finished: "Finished"
    case nil: "New notification"
    }
  }

  private static func isId(_ id: String) -> Bool {
    (1...Limits.routingText).contains(id.utf8.count) && id.utf8.allSatisfy { (0x20...0x7e).contains($0) }
  }

  /// An alert that leads nowhere is better than none.
  private static func routing(_ text: String?) -> String? {
    text.flatMap { (1...Limits.routingText).contains($0.utf16.count) ? $0 : nil }
  }

  private enum State: Equatable {
    case none, working, needsInput, finished

    init(_ word: String?) {
      switch word {
      case nil: self = .none
      case "working", "running", "busy": self = .working
      case "blocked", "waiting", "needs-input": self = .needsInput
      default: self = .finished
      }
    }

    var wire: PushNotification.AgentState? {
      switch self {
      case .none, .working: nil
      case .needsInput: .needsInput
      case .finished: .finished
      }
    }
  }
}
