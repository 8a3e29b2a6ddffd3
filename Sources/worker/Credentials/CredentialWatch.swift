internal import Contract
internal import Loop
internal import Operations

/// Reads keys and certificates again when one of their files has changed, and at SIGHUP, and hands what is new to the
/// senders. What cannot be used is told in one line, and the old stays in use.
@LoopActor
final class CredentialWatch {
  /// The files are looked at this often, in ms.
  static let interval = 5_000

  private let environment: [String: String]
  private let files: [String]
  private let senders: Senders
  private let log: Log
  /// Called with the routes that have something new to try.
  private let changed: @LoopActor ([Route]) -> Void
  private let reader = BlockingCalls(name: "credentials")
  private var stamps: FileStamps
  private var isReading = false
  private var isAskedAgain = false
  private var timer: Timer?

  /// - Parameter reading: what the senders were made of.
  init(
    _ environment: [String: String], _ reading: CredentialReading, _ senders: Senders, _ log: Log,
    changed: @escaping @LoopActor ([Route]) -> Void
  ) {
    self.environment = environment
    files = reading.configuration.files
    self.senders = senders
    self.log = log
    self.changed = changed
    stamps = FileStamps(files)
  }

  /// Watches the files from now on.
  func start() {
    guard !files.isEmpty else { return }
    timer = EventLoop.shared.after(milliseconds: Self.interval) { [self] in look(isAsked: false) }
  }

  /// Reads again, whether anything seems to have changed or not.
  func reload() { look(isAsked: true) }

  func stop() { EventLoop.shared.cancel(timer) }

  private func look(isAsked: Bool) {
    guard !isReading else { return isAskedAgain = isAskedAgain || isAsked }
    isReading = true
    EventLoop.shared.cancel(timer)
    EventLoop.shared.start { [self] in
      await read(isAsked: isAsked)
      isReading = false
      if isAskedAgain {
        isAskedAgain = false
        look(isAsked: true)
      } else {
        start()
      }
    }
  }

  private func read(isAsked: Bool) async {
    let (files, environment, before) = (files, environment, stamps)
    // The stamps are taken before the files are read: what is written meanwhile is read the next time.
    let stamps = await reader.run { FileStamps(files) }
    guard isAsked || stamps != before else { return }
    self.stamps = stamps
    do {
      let reading = try await reader.run { try CredentialReading(environment: environment) }
      let routes = await senders.take(reading)
      if isAsked || !routes.isEmpty {
        log.notice("credentials read again", ["changed": .text(routes.map { "\($0)" }.joined(separator: " "))])
      }
      if !routes.isEmpty { changed(routes) }
    } catch {
      let why = ProgramFailure(error).description.split(separator: "\n").joined(separator: "; ")
      log.error("a new credential cannot be used, the old ones stay", ["reason": .text(why)])
    }
  }
}
