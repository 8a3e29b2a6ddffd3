internal import CPostgres
internal import Loop

/// Asks the server to give a connection's current statement up. libpq does that on a second connection and blocks
/// meanwhile, so a thread of its own runs it.
///
/// `@unchecked Sendable`: libpq's cancel object never changes, and is freed with its one owner.
final class CancelRequest: @unchecked Sendable {
  @LoopActor private static let thread = BlockingCalls(name: "pg-cancel")
  @LoopActor private static var pending = 0
  private let raw: OpaquePointer

  private init(_ raw: OpaquePointer) { self.raw = raw }
  deinit { PQfreeCancel(raw) }

  /// Sends a request for `link` and forgets about it. Not even that when many hang already: the server's own time-out
  /// ends the statement then.
  @LoopActor
  static func send(for link: ServerLink) {
    guard pending < 8, let raw = PQgetCancel(link.raw) else { return }
    let request = CancelRequest(raw)
    pending += 1
    Task { @LoopActor in
      await thread.run { request.perform() }
      pending -= 1
    }
  }

  private func perform() {
    var complaint = [CChar](repeating: 0, count: 256)
    PQcancel(raw, &complaint, Int32(complaint.count))
  }
}
