/// What is in flight on one connection, and what the server's replies mean. Knows no socket.
///
/// Each statement is followed by a sync of its own, which makes it a transaction of its own: an error spoils nothing but
/// the statement. Its replies are: one for the preparation, if it was sent along; one for the statement; the sync.
struct Pipeline<Ticket, Rows> {
  enum Reply {
    case completed(Rows)
    case failed(PostgresFailure)
    /// Skipped by the server, because the preparation before it failed.
    case skipped
    case sync
  }

  private struct Sent {
    var ticket: Ticket
    var place: UInt64
    /// The name it runs under, if any.
    var name: UInt64?
    var preparing: Bool
    var outcome: Result<Rows, PostgresFailure>?
  }

  private var sent = Fifo<Sent>()
  private var places: UInt64 = 0
  /// Names, with the place of the statement that they were prepared with.
  private var prepared: [UInt64: UInt64] = [:]

  var inFlight: Int { sent.count }
  /// The statement that the server works on.
  var head: Ticket? { sent.first?.ticket }

  /// Whether the statement must be prepared in the same breath as it is sent.
  func mustPrepare(_ name: UInt64) -> Bool { prepared[name] == nil }

  mutating func sent(_ ticket: Ticket, name: UInt64?, preparing: Bool) {
    places += 1
    sent.append(Sent(ticket: ticket, place: places, name: name, preparing: preparing))
    if let name, preparing { prepared[name] = places }
  }

  /// Takes one reply in; at the sync gives back the statement that it ends, with its outcome.
  mutating func received(_ reply: Reply) -> (Ticket, Result<Rows, PostgresFailure>)? {
    switch reply {
    case .completed(let rows):
      if sent.first?.preparing == true {
        sent.first?.preparing = false
      } else if sent.first?.outcome == nil {
        sent.first?.outcome = .success(rows)
      }
    case .failed(let failure):
      // A name that could not be prepared, or is gone (26000), is prepared anew next time, unless it was meanwhile.
      if let first = sent.first, let name = first.name, first.preparing || failure.sqlState == "26000",
        let place = prepared[name], place <= first.place
      {
        prepared[name] = nil
      }
      sent.first?.outcome = .failure(failure)
    case .skipped: break
    case .sync:
      guard let done = sent.removeFirst() else { return nil }
      return (done.ticket, done.outcome ?? .failure(.unreachable("the server did not answer the statement")))
    }
    return nil
  }

  /// The connection broke: all that was in flight, oldest first.
  mutating func abandon() -> [Ticket] { sent.removeAll().map(\.ticket) }
}
