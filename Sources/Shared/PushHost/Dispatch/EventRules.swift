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
    let id = event.notificationId.flatMap { isId($0, epoch: epoch) ? $0 : nil }
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
    fit(&notification)
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

  /// Depends on id and epoch alone, so that a dismissal has the id exactly when its alert has: there must be room for it
  /// beside the longest title that there could be.
  private static func isId(_ id: String, epoch: String) -> Bool {
    let title = String(repeating: "\u{1}", count: Limits.title)
    var fullest = PushNotification(
      id: id, seq: Limits.integer, epoch: epoch, source: .agentTaskComplete, title: title, body: "")
    fullest.agentState = .needsInput
    fullest.expiresAt = Limits.integer
    return isTaken(fullest)
  }

  /// An alert that leads nowhere, or tells less, is better than none: what the contract would refuse it for goes.
  private static func fit(_ notification: inout PushNotification) {
    if !isTaken(notification) { notification.executionHost = nil }
    if !isTaken(notification) { notification.paneKey = nil }
    if !isTaken(notification) { notification.worktreeId = nil }
    var shorter = Substring(notification.body)
    while !shorter.isEmpty, !isTaken(notification) {
      shorter.removeLast()
      notification.body = shorter.isEmpty ? "" : shorter + "…"
    }
  }

  private static func isTaken(_ notification: PushNotification) -> Bool {
    var notification = notification
    // A group of phones may be sent it so.
    notification.sound = false
    return (try? notification.request(to: ["r"])) != nil
  }

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
