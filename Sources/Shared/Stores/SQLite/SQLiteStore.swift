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
  private nonisolated let thread: BlockingThread

  package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

  /// Opens the file in `directory`, creating the folder, the file and what it lacks.
  /// - Parameter clock: Unix ms; every program of the machine has the same.
  package init(
    directory: String, clock: @escaping @Sendable () -> Int64 = { WallClock.milliseconds }
  ) async throws(StoreFailure) {
    let path = directory + "/" + Self.fileName
    let thread = BlockingThread(name: "sqlite")
    self.thread = thread
    self.clock = clock
    // Opened where it will be used: libsqlite3 takes the file's locks from the thread that asks.
    let opener = SQLiteOpener(thread: thread)
    file = try await opener.open(path, in: directory)
    reader = try await SQLiteReader(path: path, clock: clock)
  }

  /// Runs `body` as one transaction that others see whole or not at all.
  func transaction<T>(_ body: () throws -> T) throws(StoreFailure) -> T {
    do { return try file.transaction(body) } catch { throw StoreFailure(error) }
  }

  package func schemaVersion() async throws(StoreFailure) -> Int { try await reader.schemaVersion() }

  package func migrate() async throws(StoreFailure) -> [Int] {
    // Opening has brought the file up to date.
    []
  }

  package func ping() async throws(StoreFailure) { _ = try await reader.schemaVersion() }
}

/// Opens the writing connection on the thread that will own it.
private actor SQLiteOpener {
  private let thread: BlockingThread
  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

  init(thread: BlockingThread) { self.thread = thread }

  func open(_ path: String, in directory: String) throws(StoreFailure) -> sending SQLiteFile {
    // The folder itself may be missing, but not where it is to lie: that is a slip of the pen in the configuration.
    mkdir(directory, 0o700)
    do {
      let file = try SQLiteFile(path: path)
      try file.transaction {
        let version = try file.run("pragma user_version").first?.integer(0) ?? 0
        if version > Schema.version { throw StoreFailure.refused(Schema.mismatch(found: Int(version)) ?? "") }
        for step in SQLiteSteps.all where step.number > version {
          try file.script(step.sql + "\npragma user_version = \(step.number);")
        }
      }
      return file
    } catch let failure as StoreFailure {
      throw failure
    } catch {
      throw StoreFailure(error)
    }
  }
}

extension StoreFailure {
  /// What a failure of SQLite means to the caller of a store.
  init(_ error: any Error) {
    switch error {
    case let failure as StoreFailure: self = failure
    case SQLiteFailure.busy: self = .unavailable("the database file is locked by another program")
    case SQLiteFailure.full: self = .unavailable("the disk is full")
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
