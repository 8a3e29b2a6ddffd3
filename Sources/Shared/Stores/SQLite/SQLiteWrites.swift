internal import Loop
internal import SQLite

/// One change of a store, and once it has been tried what came of it.
///
/// `@unchecked Sendable`: whoever makes it puts it among the `SQLiteWrites`; from then on the store's thread alone reads and
/// writes it.
final class SQLiteWrite<Answer: Sendable>: SQLiteWrites.Write, @unchecked Sendable {
  private let body: @Sendable (SQLiteFile) throws -> Answer
  private var made: Answer?
  /// Nil until it is committed, or has failed.
  private(set) var outcome: Result<Answer, StoreFailure>?

  /// - Parameter body: the change, inside a transaction that it does not end. May be run again after that was rolled back.
  init(_ body: @escaping @Sendable (SQLiteFile) throws -> Answer) { self.body = body }

  func make(in file: SQLiteFile) throws { made = try body(file) }

  func end(_ failure: StoreFailure?) {
    outcome = failure.map { .failure($0) } ?? made.map { .success($0) }
  }
}

/// The changes that wait for the file's write lock. Whoever gets it makes all of them in one transaction, since waiting and
/// commit cost the same for one as for ten.
final class SQLiteWrites: Sendable {
  /// What a transaction needs to know of a change.
  protocol Write: AnyObject, Sendable {
    /// Makes the change, as part of a transaction.
    func make(in file: SQLiteFile) throws
    /// It has been committed, or has failed.
    func end(_ failure: StoreFailure?)
  }

  private let waiting = Locked<[any Write]>([])

  func add(_ write: any Write) { waiting.withLock { $0.append(write) } }

  func remove(_ write: any Write) { waiting.withLock { $0.removeAll { $0 === write } } }

  /// Takes all that waits, in the order in which it came.
  func take() -> [any Write] {
    waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
  }
}
