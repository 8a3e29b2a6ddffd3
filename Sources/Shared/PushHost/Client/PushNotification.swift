internal import Contract
internal import Json

/// What to show on phones, or to take away again: the `notification` of a send (contract, "Send").
///
/// An event is (kind, epoch, seq): sending it again with the same content is free and shows nothing twice.
public struct PushNotification: Equatable, Sendable {
  /// What the event came from.
  public enum Source: String, Sendable, CaseIterable {
    case agentTaskComplete = "agent-task-complete"
    case terminalBell = "terminal-bell"
    case plugin
  }

  /// What an agent wants.
  public enum AgentState: String, Sendable, CaseIterable {
    case needsInput = "needs-input"
    case finished
  }

  /// Whether it takes an alert away, silently. It then needs `id`.
  public var isDismissal = false
  /// What it is about: 1 to 2048 printable ASCII characters. A later alert about the same replaces the earlier one.
  public var id: String?
  /// 0 to 2^53 - 1, rising within an epoch.
  public var seq: Int64
  /// Names the run of the host's counter: 1 to 128 characters, a UUID as a rule.
  public var epoch: String
  /// What the event came from.
  public var source: Source
  /// What an agent wants, if there is one.
  public var agentState: AgentState?
  /// 1 to 80 UTF-16 units.
  public var title: String
  /// 0 to 180 UTF-16 units.
  public var body: String
  /// Where a tap leads: 1 to 2048 UTF-16 units.
  public var worktreeId: String?
  /// The pane that it is about, or the sealed part of a sealed push: 1 to 2048 UTF-16 units.
  public var paneKey: String?
  /// `runtime:NAME`.
  public var executionHost: String?
  /// When it is too late to show it, ms since 1970; at most five minutes from the first acceptance count.
  public var expiresAt: Int64?
  /// False for no sound. It belongs to the delivery and not to the event.
  public var sound: Bool?

  /// An alert; what is not given is absent.
  public init(id: String? = nil, seq: Int64, epoch: String, source: Source, title: String, body: String = "") {
    self.id = id
    self.seq = seq
    self.epoch = epoch
    self.source = source
    self.title = title
    self.body = body
  }

  /// What takes the alerts of this id and epoch up to `seq` away again.
  public func dismissal(seq: Int64) -> PushNotification {
    var dismissal = self
    dismissal.isDismissal = true
    dismissal.seq = seq
    dismissal.expiresAt = nil
    dismissal.sound = nil
    return dismissal
  }
}

extension PushNotification: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Kind and number, without any text.
  public var description: String { "PushNotification(\(isDismissal ? "dismiss" : "alert") \(seq))" }
  /// The same.
  public var debugDescription: String { description }
  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension PushNotification {
  /// The body of a send; throws what the contract has against it.
  func request(to registrationIds: [String]) throws(InvalidRequest) -> [UInt8] {
    var text = JsonText(reserving: 1_024)
    text.object {
      $0.member("v", 1)
      $0.array("registrationIds") { for id in registrationIds { $0.string(id) } }
      $0.key("notification")
      write(&$0)
    }
    guard let json = try? JsonReader.read(text.bytes) else {
      throw InvalidRequest("the notification cannot be written")
    }
    _ = try SendRequest(json)
    return text.bytes
  }

  private func write(_ text: inout JsonText) {
    text.object {
      if isDismissal { $0.member("kind", Notification.Kind.dismiss.rawValue) }
      $0.member("notificationId", ifPresent: id)
      $0.member("notificationSeq", seq)
      $0.member("notificationEpoch", epoch)
      $0.member("source", source.rawValue)
      $0.member("agentState", agentState.map { .string($0.rawValue) } ?? .null)
      $0.member("title", title)
      $0.member("body", body)
      $0.member("worktreeId", ifPresent: worktreeId)
      $0.member("paneKey", ifPresent: paneKey)
      $0.member("executionHost", ifPresent: executionHost)
      if let expiresAt { $0.member("expiresAt", expiresAt) }
      if let sound { $0.member("sound", sound) }
    }
  }
}

/// What the gateway said of one recipient.
public struct SendResult: Equatable, Sendable {
  /// Each of them final, for this request.
  public enum Status: String, Sendable, CaseIterable {
    /// Committed: it will be sent, or was covered already.
    case queued
    /// The token works no more: wait for the phone to register anew.
    case dead
    /// Over the quota of 300 in 15 minutes.
    case rateLimited = "rate_limited"
    /// Not this host's registration, another content under this identity, or too late.
    case error
  }

  /// Which registration.
  public let registrationId: String
  /// What became of it.
  public let status: Status
}
