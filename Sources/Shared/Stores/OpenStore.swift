internal import Contract
internal import Keys
package import Loop
package import Operations
internal import Postgres

/// The gateway's database, opened as the configuration says, with what wakes workers.
@LoopActor
package struct OpenStore: Sendable {
  package let store: any Store
  /// Says that something was admitted.
  package let signal: any QueueSignal
  /// Hears it.
  package let watch: any QueueWatch
  /// What the log says of it at a program's start: which database, and a file's path or a server's address.
  package let place: [String: LogField]
  private let postgres: PostgresStore?

  /// Opens it. A SQLite file is created and brought up to date; a Postgres server is not asked yet, so it may be away.
  /// - Parameter program: how the server's list of sessions names this program.
  package init(_ settings: DatabaseSettings, program: String, log: Log) async throws(ProgramFailure) {
    switch settings.place {
    case .sqlite(let directory):
      do { store = try await SQLiteStore(directory: directory, log: { log.warning($0) }) } catch {
        throw error.opening(directory)
      }
      guard let wake = SQLiteWake(directory: directory) else {
        throw ProgramFailure(.unavailable, "ORCA_PUSH_DATA_DIR (\(directory)): no file can be made there")
      }
      signal = wake
      watch = wake
      postgres = nil
      place = ["database": "sqlite", "file": .text(directory + "/" + SQLiteStore.fileName)]
    case .postgres(let secret):
      let url: PostgresUrl
      do { url = try PostgresUrl(secret.reveal()) } catch {
        throw ProgramFailure(.configuration, "ORCA_PUSH_DATABASE_URL: \(error.reason)")
      }
      let opened = PostgresStore(
        url: url, maximum: settings.poolMax, applicationName: "push-\(program)", log: { log.warning($0) })
      store = opened
      postgres = opened
      place = ["database": "postgres", "server": .text(url.description)]
      signal = PostgresSignal(url: url, applicationName: "push-\(program)-notify")
      watch = PostgresWatch(url: url, applicationName: "push-\(program)-listen", log: { log.notice($0) })
    }
  }

  /// Whether the schema is the one that this build knows.
  package func schema() async -> SchemaStanding {
    do {
      let found = try await store.schemaVersion()
      return Schema.mismatch(found: found).map { .wrong($0) } ?? .right
    } catch { return .unreachable(error.reason) }
  }

  /// Waits for the database to be there and of the right schema, asking every second and saying once why it waits. A schema
  /// that this build does not know ends the program (rulings 7).
  /// - Returns: false when the program was told to stop meanwhile.
  package func awaitSchema(_ service: Service) async throws(ProgramFailure) -> Bool {
    var said = ""
    while !service.isDraining {
      switch await schema() {
      case .right: return true
      case .wrong(let mend): throw ProgramFailure(.configuration, mend)
      case .unreachable(let why):
        if why != said { service.log.warning("waiting for the database", ["reason": .text(why)]) }
        said = why
        try? await EventLoop.shared.sleep(milliseconds: 1_000)
      }
    }
    return false
  }

  /// Postgres connections; zeros on SQLite.
  package var connections: (idle: Int, busy: Int, connecting: Int) {
    guard let pool = postgres?.pool else { return (0, 0, 0) }
    return (pool.openConnections - pool.busyConnections, pool.busyConnections, 0)
  }

  /// Lets statements in flight finish.
  package func close() async {
    watch.stop()
    await postgres?.close()
  }
}

/// What a look at the schema found.
package enum SchemaStanding: Sendable, Equatable {
  case right
  /// With what to mend.
  case wrong(String)
  /// With the reason.
  case unreachable(String)
}

extension StoreFailure {
  /// One line for operators; holds no row's values.
  package var reason: String {
    switch self {
    case .unavailable(let why), .unknown(let why), .refused(let why): why
    }
  }
}
