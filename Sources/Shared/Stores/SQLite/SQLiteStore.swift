internal import Contract
internal import Glibc
internal import Loop
internal import SQLite

/// The store in one file, for a single machine. Every program of the machine may have it open at once.
///
/// One writer at a time: the actor's thread owns the connection that writes, and readers have one of their own, so that a
/// bearer is looked up while a commit waits for the disk.
package actor SQLiteStore: Store {
  /// The file's name in the data directory.
  package static let fileName = "push.sqlite3"

  let file: SQLiteFile
  nonisolated let reader: SQLiteReader
  nonisolated let clock: @Sendable () -> Int64
  nonisolated let writes = SQLiteWrites()
  private let path: String
  private let log: @Sendable (String) -> Void
  /// With less on its disk the file is written to on trial, bytes.
  private static let leastRoom: UInt64 = 262_144
  /// Steps of the schema that opening the file has taken, until they are told.
  private var taken: [Int]
  /// Whether the disk had no room for the last write that needed some.
  private var isFull = false
  private nonisolated let thread: BlockingThread

  package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

  /// Opens the file in `directory`, creating the folder, the file and what it lacks.
  /// - Parameters:
  ///   - clock: Unix ms; every program of the machine has the same.
  ///   - log: gets single lines without values.
  package init(
    directory: String, clock: @escaping @Sendable () -> Int64 = { WallClock.milliseconds },
    log: @escaping @Sendable (String) -> Void = { _ in }
  ) async throws(StoreFailure) {
    let path = directory + "/" + Self.fileName
    let thread = BlockingThread(name: "sqlite")
    self.thread = thread
    self.clock = clock
    self.path = path
    self.log = log
    // Opened where it will be used: libsqlite3 takes the file's locks from the thread that asks.
    let opener = SQLiteOpener(thread: thread)
    (file, taken) = try await opener.open(path, in: directory)
    reader = try await SQLiteReader(path: path, clock: clock)
  }

  /// Runs `body` in a transaction that others see whole or not at all, together with what else waits to be written.
  /// Returns once that is committed.
  nonisolated func write<T: Sendable>(
    _ body: @escaping @Sendable (SQLiteFile) throws -> T
  ) async throws(StoreFailure) -> T {
    let write = SQLiteWrite(body)
    // Here and not on the store's thread, which may be waiting for the lock that this can then share.
    writes.add(write)
    return try await ended(write)
  }

  /// The outcome of a change, which an earlier one may have taken along.
  private func ended<T>(_ write: SQLiteWrite<T>) throws(StoreFailure) -> T {
    if write.outcome == nil { commit(for: write) }
    guard let outcome = write.outcome else { throw .refused("unexpected fault") }
    return try outcome.get()
  }

  /// Makes all changes that wait once the lock is there. When it never comes, that is `first`'s failure alone: the others
  /// have time left.
  private func commit(for first: any SQLiteWrites.Write) {
    var group: [any SQLiteWrites.Write] = []
    do {
      try file.transaction {
        group = writes.take()
        for write in group { try write.make(in: file) }
      }
      for write in group { write.end(nil) }
      // A small write may find room in the file where a larger one does not.
      if isFull { try? tryRoom() }
    } catch {
      if group.isEmpty { writes.remove(first) }
      if group.count > 1 { return group.forEach(commitAlone) }
      fail(first, error)
    }
  }

  /// One change that fails must not fail its neighbours.
  private func commitAlone(_ write: any SQLiteWrites.Write) {
    do {
      try file.transaction { try write.make(in: file) }
      write.end(nil)
    } catch {
      fail(write, error)
    }
  }

  private func fail(_ write: any SQLiteWrites.Write, _ error: any Error) {
    if case SQLiteFailure.full = error, !isFull {
      isFull = true
      log(StoreFailure.isFullNow)
    }
    write.end(StoreFailure(error))
  }

  /// Writes more than most calls do, in a row that a sweep would take should it be left.
  private func tryRoom() throws {
    try file.transaction {
      try file.run(
        """
        insert or replace into push_challenges (challenge_id, host_fingerprint, proof_digest, expires_at)
          values ('', '', zeroblob(?), 0)
        """, [.integer(Int64(Self.leastRoom))])
    }
    try file.transaction { try file.run("delete from push_challenges where challenge_id = ''") }
    if isFull { log(StoreFailure.hasRoomAgain) }
    isFull = false
  }

  package func schemaVersion() async throws(StoreFailure) -> Int { try await reader.schemaVersion() }

  package func migrate() async throws(StoreFailure) -> [Int] {
    // Opening has brought the file up to date.
    defer { taken = [] }
    return taken
  }

  package func ping() async throws(StoreFailure) {
    // Another program of the machine may have found it full, and this one may have had nothing to write.
    if isFull || DataFolder.room(beside: path) < Self.leastRoom {
      do { try tryRoom() } catch { throw StoreFailure(error) }
    }
    _ = try await reader.schemaVersion()
  }
}

/// Opens the writing connection on the thread that will own it.
private actor SQLiteOpener {
  private let thread: BlockingThread
  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

  init(thread: BlockingThread) { self.thread = thread }

  func open(_ path: String, in directory: String) throws(StoreFailure) -> sending (file: SQLiteFile, steps: [Int]) {
    if let why = DataFolder.make(directory) { throw .unavailable(why) }
    do {
      let file = try SQLiteFile(path: path)
      var steps: [Int] = []
      try file.transaction {
        let version = try file.run("pragma user_version").first?.integer(0) ?? 0
        if version > Schema.version { throw StoreFailure.refused(Schema.mismatch(found: Int(version)) ?? "") }
        for step in SQLiteSteps.all where step.number > version {
          try file.script(step.sql + "\npragma user_version = \(step.number);")
          steps.append(step.number)
        }
      }
      return (file, steps)
    } catch let failure as StoreFailure {
      throw failure
    } catch {
      throw StoreFailure(error)
    }
  }
}

extension StoreFailure {
  /// The reason of `unavailable` where the database's disk has no room.
  package static let diskFull = "the disk is full"
  /// The reason of `unavailable` where a Postgres server takes no writes.
  package static let readOnly = "the database is read-only"

  /// What the log says when nothing can be written any more, and when it can.
  static let isFullNow = "the disk that holds the database is full: nothing can be written"
  static let hasRoomAgain = "the disk that holds the database has room again"

  /// What `/ready` says where reads are answered and nothing can be written; nil for any other failure.
  package var whyUnwritable: String? {
    switch self {
    case .unavailable(let why) where why == Self.diskFull || why == Self.readOnly: "\(why): nothing can be written"
    default: nil
    }
  }

  /// What a failure of SQLite means to the caller of a store.
  init(_ error: any Error) {
    switch error {
    case let failure as StoreFailure: self = failure
    case SQLiteFailure.busy: self = .unavailable("the database file is locked by another program")
    case SQLiteFailure.full: self = .unavailable(Self.diskFull)
    case SQLiteFailure.readOnly: self = .unavailable("\(SQLiteStore.fileName) cannot be written")
    case SQLiteFailure.cannotOpen(let why): self = .unavailable(why)
    case SQLiteFailure.constraint: self = .refused("a constraint was broken")
    case SQLiteFailure.corrupt:
      self = .refused(
        "\(SQLiteStore.fileName) is damaged or no database: restore it, or move it away to begin anew")
    case SQLiteFailure.other(let code, _): self = .refused("SQLite fault \(code)")
    default: self = .refused("unexpected fault")
    }
  }
}
