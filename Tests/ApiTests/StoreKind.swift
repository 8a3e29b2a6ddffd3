import Foundation
import Loop
import Postgres
import SQLite
import Stores
import Support

/// The databases that the api serves from; every rule is tested on each.
enum StoreKind: String, CaseIterable, Sendable {
  case sqlite, postgres

  /// Runs `body` with an api on an empty database of its own, both gone afterwards whatever happens.
  func use<T>(_ more: [String: String] = [:], _ body: (Gateway) async throws -> T) async throws -> T {
    try await withPlace { place in
      let gateway = try await Gateway.start(on: place, more)
      return try await body(gateway)
    }
  }

  /// Runs `body` with an empty database; whatever was started on it is ended.
  func withPlace<T>(migrated: Bool = true, _ body: (Place) async throws -> T) async throws -> T {
    try await Turnstile.shared.pass {
      switch self {
      case .sqlite:
        return try await Folder.use { folder in try await ending(Place(sqlite: folder), body) }
      case .postgres:
        return try await ScratchDatabase.use { database in
          let pool = await PostgresPool(database.url, maximum: 2, applicationName: "tests", limits: .patient) { _ in }
          if migrated {
            let store = await PostgresStore(url: database.url, maximum: 1) { _ in }
            _ = try await store.migrate()
            await store.close()
          }
          return try await ending(Place(postgres: database, pool: pool), body)
        }
      }
    }
  }

  private func ending<T>(_ place: Place, _ body: (Place) async throws -> T) async throws -> T {
    let result: Result<T, any Error>
    do { result = .success(try await body(place)) } catch { result = .failure(error) }
    for process in place.started.withLock({ $0 }) {
      process.killAtOnce()
      _ = try? await process.ended()
    }
    await place.pool?.close()
    return try result.get()
  }
}

/// A database that apis are started on.
final class Place: Sendable {
  let kind: StoreKind
  let environment: [String: String]
  /// Folder of the SQLite file.
  let folder: String?
  let pool: PostgresPool?
  let started = Locked<[ApiProcess]>([])

  init(sqlite folder: String) {
    kind = .sqlite
    environment = ["ORCA_PUSH_DATA_DIR": folder]
    self.folder = folder
    pool = nil
  }

  /// A database that someone else looks after.
  init(environment: [String: String]) {
    kind = .postgres
    self.environment = environment
    folder = nil
    pool = nil
  }

  init(postgres database: ScratchDatabase, pool: PostgresPool) {
    kind = .postgres
    environment = ["ORCA_PUSH_DATABASE_URL": database.text]
    folder = nil
    self.pool = pool
  }

  /// Starts an api on it, without waiting until it serves.
  func start(_ more: [String: String] = [:]) throws -> ApiProcess {
    var variables = ["PORT": "0", "ORCA_PUSH_PUBLIC_URL": Gateway.origin]
    variables.merge(environment) { $1 }
    variables.merge(more) { $1 }
    let process = try ApiProcess(variables)
    started.withLock { $0.append(process) }
    return process
  }

  /// Runs statements behind the api's back.
  func script(_ sql: String) async throws {
    if let pool { return try await pool.script(sql) }
    let path = (folder ?? "") + "/" + SQLiteStore.fileName
    try await blocking { try SQLiteFile(path: path).script(sql) }
  }

  /// Keeps everyone else from a table of Postgres, or from writing to SQLite, until the hold is released.
  /// - Parameter seconds: after which a table of Postgres is free all the same.
  func hold(_ table: String, seconds: Int = 30) async throws -> Hold {
    guard let pool else {
      let path = (folder ?? "") + "/" + SQLiteStore.fileName
      let holder = FileHolder(path)
      try await holder.take()
      return Hold { try await holder.release() }
    }
    let holding = Task {
      _ = try? await pool.script(
        "begin; lock table \(table) in access exclusive mode; select pg_sleep(\(seconds)); commit")
    }
    while try await !isHeld(table) { try await Task.sleep(for: .milliseconds(5)) }
    return Hold {
      let end = PostgresStatement(
        "select count(pg_terminate_backend(pid)) from pg_stat_activity where query like 'begin; lock%' and datname = current_database()"
      )
      _ = try await pool.run(end)
      await holding.value
    }
  }
}

extension Place {
  /// Whether somebody keeps everyone else from a table of Postgres.
  func isHeld(_ table: String) async throws -> Bool {
    let held = PostgresStatement(
      """
      select count(*) from pg_locks l join pg_class c on c.oid = l.relation
       where c.relname = $1 and l.granted and l.mode = 'AccessExclusiveLock'
         and l.database = (select oid from pg_database where datname = current_database())
      """)
    return try await pool?.run(held, [.text(table)]).int8(0, 0) ?? 0 > 0
  }
}

/// Something held, to be released once.
struct Hold: Sendable {
  let release: @Sendable () async throws -> Void
}

/// Holds the one lock of a database file that writing needs.
private actor FileHolder {
  private let path: String
  private var file: SQLiteFile?

  init(_ path: String) { self.path = path }

  func take() throws {
    let file = try SQLiteFile(path: path)
    try file.script("begin immediate")
    self.file = file
  }

  func release() throws {
    try file?.script("rollback")
    file = nil
  }
}

enum Folder {
  /// Runs `body` with a folder that is gone afterwards.
  static func use<T>(_ body: (String) async throws -> T) async throws -> T {
    let path = FileManager.default.temporaryDirectory.appending(path: "api-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try await body(path)
  }
}

/// Lets few tests run at once: they all start together, and processors are not endless.
actor Turnstile {
  static let shared = Turnstile()

  private var free = 4
  private var waiters: [CheckedContinuation<Void, Never>] = []

  nonisolated func pass<T>(_ body: () async throws -> T) async throws -> T {
    await enter()
    do {
      let result = try await body()
      await leave()
      return result
    } catch {
      await leave()
      throw error
    }
  }

  private func enter() async {
    // Looked at inside: a task may let others run on its way into a continuation.
    await withCheckedContinuation { waiter in
      if free > 0 {
        free -= 1
        waiter.resume()
      } else {
        waiters.append(waiter)
      }
    }
  }

  private func leave() {
    if waiters.isEmpty { free += 1 } else { waiters.removeFirst().resume() }
  }
}
