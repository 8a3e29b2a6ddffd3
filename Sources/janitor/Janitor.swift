internal import Loop
internal import Operations
internal import Stores

/// The cleaner: brings the schema up to date, and deletes what has outlived its use. Runs on a schedule and exits. Also
/// tells what became of an event.
@main
enum Janitor {
  static let usage = """
    usage: janitor migrate   bring the database's schema up to date
           janitor sweep     delete what has outlived its use, once
           janitor watch     sweep every minute
           janitor scale     set the worker pool's count by the queue, once
           janitor explain HOST EPOCH SEQ [--json]
                             what became of an event of the last 24 hours: HOST is the host's fingerprint or how it
                             begins, at least 4 characters; EPOCH and SEQ are the notification's
    """

  static func main() {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.first == "explain" {
      Service.run("janitor", usage: usage, logs: false) { service in
        try await Explain(arguments.dropFirst()).run(try JanitorConfiguration(environment: service.environment))
      }
    }
    Service.run("janitor", usage: usage) { service in
      guard let word = arguments.first else { throw ProgramFailure(.usage, usage) }
      guard let command = Command(rawValue: word) else { throw ProgramFailure.unknown(word, usage) }
      if arguments.count > 1 { throw ProgramFailure.unknown(arguments[1], usage) }
      let configuration = try JanitorConfiguration(environment: service.environment)
      if configuration.mode == .validation {
        return service.log.notice("validation mode: nothing is written")
      }
      let scale = command == .scale ? try ScaleConfiguration(environment: service.environment) : nil
      let database = try await OpenStore(configuration.database, program: "janitor", log: service.log)
      service.log.notice("database chosen", database.place)
      try await run(command, service, configuration, scale, database)
      await database.close()
    }
  }

  enum Command: String { case migrate, sweep, watch, scale }

  @LoopActor
  private static func run(
    _ command: Command, _ service: Service, _ configuration: JanitorConfiguration,
    _ scale: ScaleConfiguration?, _ database: OpenStore
  ) async throws {
    switch command {
    case .migrate: try await Migrate(database.store, service.log).run()
    case .sweep:
      try await database.requireSchema()
      try await Sweep(database.store, service.log).run()
    case .watch: try await Watch(service, configuration, database).run()
    case .scale:
      guard let scale else { return }
      try await database.requireSchema()
      let store = database.store
      try await Scale(scale, service.log) { () throws(StoreFailure) in try await store.depth() }.run()
    }
  }
}

extension OpenStore {
  /// A schedule comes again: a database that is away or of another schema ends the program instead of keeping it waiting.
  func requireSchema() async throws(ProgramFailure) {
    switch await schema() {
    case .right: return
    case .wrong(let mend): throw ProgramFailure(.configuration, mend)
    case .unreachable(let why): throw ProgramFailure(.unavailable, "the database cannot be reached: \(why)")
    }
  }
}
