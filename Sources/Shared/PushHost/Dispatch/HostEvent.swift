/// Something that happened at the desktop, as the desktop knows it; ``Dispatcher`` decides what phones hear of it.
///
/// What has no room in the contract's 3,000 bytes is left out: execution host, pane, worktree, then the body from its end.
public struct HostEvent: Sendable {
  /// Whether it takes an earlier one away.
  public var isDismissal = false
  /// What it is about. A dismissal without one, or with one that is no printable ASCII or too long, is dropped.
  public var notificationId: String?
  /// Its number within the epoch; without one it is dropped.
  public var seq: Int64?
  /// The run of the desktop's counter; without one it is dropped.
  public var epoch: String?
  /// `agent-task-complete`, `terminal-bell` or `plugin`; others are dropped.
  public var source: String
  /// The agent's state in the desktop's own words: `working`, `running` and `busy` are no news; `blocked` and `waiting` need
  /// input; all others have finished.
  public var agentState: String?
  /// Any length; it is tidied and clipped. Of more than 4,096 Unicode scalars the first are looked at.
  public var title: String
  /// The same.
  public var body: String
  /// The workspace, and where a tap leads.
  public var worktreeId: String?
  /// The pane, where there is one.
  public var paneKey: String?
  /// `runtime:NAME`, where there is one.
  public var executionHost: String?
  /// Whether the desktop's settings allow notifications of this kind; they hold for phones too.
  public var isAllowed = true
  /// When it happened, ms since 1970; nil for now.
  public var emittedAt: Int64?

  /// An alert.
  public init(source: String, seq: Int64?, epoch: String?, title: String, body: String = "") {
    self.source = source
    self.seq = seq
    self.epoch = epoch
    self.title = title
    self.body = body
  }
}

/// Whether somebody is at the desktop.
public struct DesktopPresence: Equatable, Sendable {
  /// How long nobody touched keyboard or mouse, ms; nil when that is unknown.
  public var idle: Int64?
  /// Whether the screen is locked; nil when that is unknown.
  public var isLocked: Bool?

  /// Nobody touches it for so long, and the screen is locked or not.
  public init(idle: Int64?, isLocked: Bool?) {
    self.idle = idle
    self.isLocked = isLocked
  }

  /// A machine without a screen, or one that cannot tell.
  public static let unknown = DesktopPresence(idle: nil, isLocked: nil)

  /// How long it takes to be away, ms.
  public static let awayAfter: Int64 = 180_000

  /// Whether somebody is known to be there. What is unknown keeps no phone silent.
  public var isHere: Bool {
    guard isLocked != true, let idle else { return false }
    return idle < Self.awayAfter
  }
}
