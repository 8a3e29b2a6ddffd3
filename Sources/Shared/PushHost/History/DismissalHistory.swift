/// Which pushes were sent and which of them were dismissed, so that a phone that comes back can ask what it still shows in vain.
///
/// Kept in the state folder: identities and numbers, no text and no tokens; at most 4,096 records for seven days.
public actor DismissalHistory {
  /// The most pushes that one question names.
  public static let mostAsked = 256

  private let state: StateFolder
  private let clock: HostClock
  private let journal: Journal

  /// The history in this folder; all processes that use the folder see the same.
  public init(state: StateFolder) { self.init(state: state, clock: .system) }

  init(state: StateFolder, clock: HostClock) {
    self.state = state
    self.clock = clock
    journal = Journal(state.file("dismissals.log"))
  }

  /// Writes down that an alert goes out; nil when it is on the disk.
  @discardableResult
  public func shown(_ identity: PushIdentity) async -> StateFault? { await add(.shown, identity) }

  /// Writes down that everything about this up to its number is dismissed; nil when it is on the disk.
  @discardableResult
  public func dismissed(_ identity: PushIdentity) async -> StateFault? { await add(.dismissed, identity) }

  /// Which of the pushes on a phone's screen were dismissed. Unknown ones, newer ones and those of other epochs are not
  /// among them. Only the first 256 are looked at.
  public func getMissedSince(delivered: [PushIdentity]) async -> Result<[PushIdentity], StateFault> {
    let (journal, now) = (journal, clock.wall())
    do throws(StateFault) {
      return .success(
        try await state.locked { () throws(StateFault) in
          let records = try journal.current(now: now)
          return delivered.prefix(Self.mostAsked).filter { records.isDismissed($0, now: now) }
        })
    } catch {
      return .failure(error)
    }
  }

  private func add(_ kind: HistoryRecords.Entry.Kind, _ identity: PushIdentity) async -> StateFault? {
    // What no gateway takes, no phone ever shows: it would only make the file long.
    guard identity.isPossible else { return nil }
    let (journal, entry) = (journal, HistoryRecords.Entry(kind: kind, identity: identity, at: clock.wall()))
    do throws(StateFault) {
      try await state.locked { () throws(StateFault) in try journal.add(entry) }
      return nil
    } catch {
      return error
    }
  }
}
