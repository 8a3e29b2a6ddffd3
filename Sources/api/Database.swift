internal import Contract
internal import Keys
internal import Loop
internal import Operations
internal import Postgres
internal import Stores

/// The store of this process, and whether it can be used: a database may be out of reach when the program starts, or have
/// another schema than this build knows.
@LoopActor
final class Database {
  /// What stands in the way, as /ready tells it.
  enum Obstacle: Equatable {
    case unreachable
    /// Reads are answered, and nothing can be written; with the reason.
    case unwritable(String)
    case schema(String)
    case folder(String)
  }

  /// Sends in one commit that are a crowd: one that comes alone wakes the workers at once.
  private static let crowd = 4
  /// Calls under way at once, admissions aside.
  private static let callLimit = 256

  let name: String
  /// Path of the SQLite file; nil on Postgres.
  let file: String?
  /// The Postgres server's address and database, without a user; nil on SQLite.
  let server: String?
  /// Groups of sends that may be under way at once: on Postgres commits that do not wait for each other, on SQLite the second
  /// goes with the first when that still waits for the file.
  let admissionCalls: Int
  /// Nil in validation mode on SQLite, where opening the file would write it.
  let store: (any Store)?
  private let signal: (any QueueSignal)?
  private let postgres: PostgresStore?
  private let directory: String?
  /// Whether the schema has once been found right; from then on requests are served.
  private(set) var isUsable = false
  private var calls = 0
  private var checking: Task<Obstacle?, Never>?

  /// Opens the database that the configuration names; on SQLite creates what is missing.
  init(_ settings: DatabaseSettings, mode: GatewayMode, log: Log) async throws(ProgramFailure) {
    switch settings.place {
    case .postgres(let url):
      let location: PostgresUrl
      do {
        location = try PostgresUrl(url.reveal())
      } catch {
        throw ProgramFailure(.configuration, "ORCA_PUSH_DATABASE_URL cannot be read: \(error)")
      }
      name = "postgres"
      admissionCalls = 2
      directory = nil
      file = nil
      server = location.description
      let postgres = PostgresStore(url: location, maximum: settings.poolMax, applicationName: "push-api") {
        log.warning($0)
      }
      self.postgres = postgres
      store = postgres
      signal = mode == .active ? PostgresSignal(url: location, applicationName: "push-api-notify") : nil
    case .sqlite(let directory):
      name = "sqlite"
      admissionCalls = 2
      postgres = nil
      self.directory = directory
      file = directory + "/" + SQLiteStore.fileName
      server = nil
      if mode == .validation {
        store = nil
        signal = nil
      } else {
        store = try await Self.openFile(in: directory, log)
        signal = SQLiteWake(directory: directory)
        isUsable = true
      }
    }
  }

  private static func openFile(in directory: String, _ log: Log) async throws(ProgramFailure) -> SQLiteStore {
    do throws(StoreFailure) {
      return try await SQLiteStore(directory: directory, log: { log.warning($0) })
    } catch {
      throw error.opening(directory)
    }
  }

  /// The first look at the schema. Throws when it is not the one that this build knows; a database out of reach is waited
  /// for in the background.
  func begin() async throws(ProgramFailure) {
    if isUsable || store == nil { return }
    if case .schema(let why) = await check(milliseconds: 1_000) { throw ProgramFailure(.configuration, why) }
    if !isUsable { Task(executorPreference: EventLoop.shared) { await self.becomeUsable() } }
  }

  private func becomeUsable() async {
    while !isUsable {
      do { try await EventLoop.shared.sleep(milliseconds: 500) } catch { return }
      _ = await check(milliseconds: 5_000)
    }
  }

  /// Looks at the database now; nil when all is well. Whoever asks while a look is under way shares it.
  func check(milliseconds: Int) async -> Obstacle? {
    let look = checking ?? Task(executorPreference: EventLoop.shared) { await self.look() }
    checking = look
    return await within(milliseconds: milliseconds) { await look.value } ?? .unreachable
  }

  private func look() async -> Obstacle? {
    defer { checking = nil }
    guard let store else { return directory.flatMap(DataFolder.complaint).map(Obstacle.folder) }
    do throws(StoreFailure) {
      if let mismatch = Schema.mismatch(found: try await store.schemaVersion()) { return .schema(mismatch) }
      isUsable = true
      try await store.ping()
      return nil
    } catch {
      return error.whyUnwritable.map(Obstacle.unwritable) ?? .unreachable
    }
  }

  /// Asks the store something; it counts as busy when too much is asked of it at once.
  func call<T>(_ question: (any Store) async throws(StoreFailure) -> T) async throws(Problem) -> T {
    guard let store, isUsable else { throw .busy("database not ready") }
    guard calls < Self.callLimit else { throw .busy("too many calls wait for the database") }
    calls += 1
    defer { calls -= 1 }
    do { return try await question(store) } catch { throw Problem(error) }
  }

  /// Admits sends and wakes the workers when that gives them something to send.
  func admit(_ sends: [Admission]) async throws(StoreFailure) -> [[SendResult]] {
    guard let store, isUsable else { throw .unavailable("database not ready") }
    let admitted = try await store.admit(sends)
    if !admitted.routes.isEmpty { signal?.raise(admitted.routes, isCrowd: sends.count >= Self.crowd) }
    return admitted.results
  }

  /// Connections to the server, for metrics; nil on SQLite.
  var connections: (idle: Int, busy: Int, connecting: Int)? {
    guard let pool = postgres?.pool else { return nil }
    return (pool.openConnections - pool.busyConnections, pool.busyConnections, 0)
  }

  func close() async { await postgres?.close() }
}
