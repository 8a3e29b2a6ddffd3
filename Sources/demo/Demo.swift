internal import Contract
internal import Glibc
internal import Keys
internal import Loop
internal import Proof

/// Plays one host and its two phones against a running gateway and a sandbox, and tells what happens in plain words.
///
///     demo http://127.0.0.1:8080 http://127.0.0.1:8440
///
/// The first address is the gateway's, the second the sandbox's page. Ends with 0 when everything was seen to happen.
@main
enum Demo {
  static func main() {
    signal(SIGPIPE, SIG_IGN)
    let addresses = Array(CommandLine.arguments.dropFirst())
    Task(executorPreference: EventLoop.shared) { await run(addresses) }
    while true { pause() }
  }

  @LoopActor
  private static func run(_ addresses: [String]) async -> Never {
    do {
      guard addresses.count == 2 else { throw DemoFailure("usage: demo GATEWAY-URL SANDBOX-URL") }
      try await play(Gateway(addresses[0]), Screens(addresses[1]))
      exit(0)
    } catch {
      tell("The demo stopped: \(error)")
      exit(1)
    }
  }

  @LoopActor
  private static func play(_ gateway: Gateway, _ screens: Screens) async throws {
    let keys = HostKeyPair.generate()
    try await gateway.prove(keys)
    tell("A host proved that it holds its key: it is \(keys.publicKey.fingerprint), with a session for a day.")

    let iphone = Phone(
      name: "the iPhone", platform: .ios, token: Hex.encode(SecureRandom.bytes(32)))
    let android = Phone(
      name: "the Android phone", platform: .android,
      token: Base64Url.encode(SecureRandom.bytes(16)) + ":APA91b" + Base64Url.encode(SecureRandom.bytes(99)))
    let phones = [iphone, android]
    var registrations: [String] = []
    for phone in phones { registrations.append(try await gateway.register(phone)) }
    tell("It registered two phones, an iPhone and an Android phone.")

    let epoch = Base64Url.encode(SecureRandom.bytes(16))
    let question = Event(
      id: "demo-question", seq: 1, epoch: epoch, title: "Claude needs your input",
      body: "May I run the tests?", state: .needsInput)
    try await show(question, phones, registrations, gateway, screens)
    let news = Event(
      id: "demo-news", seq: 2, epoch: epoch, title: "Claude finished", body: "All tests pass.", state: .finished)
    try await show(news, phones, registrations, gateway, screens)

    // The question was answered at the desktop.
    let began = WallClock.milliseconds
    try await gateway.send(question.dismissal(seq: 3), to: registrations)
    try await screens.wait("the dismissal") { tray in
      phones.allSatisfy { tray.shows(question, on: $0) == nil && tray.shows(news, on: $0) != nil }
    }
    tell(
      "The host dismissed the first: within \(WallClock.milliseconds - began) ms it was gone from both, and the second stayed."
    )
  }

  /// Sends an alert and waits until both phones show it.
  @LoopActor
  private static func show(
    _ event: Event, _ phones: [Phone], _ registrations: [String], _ gateway: Gateway, _ screens: Screens
  ) async throws {
    let began = WallClock.milliseconds
    try await gateway.send(event, to: registrations)
    let queued = WallClock.milliseconds - began
    let tray = try await screens.wait("\"\(event.title)\"") { tray in
      phones.allSatisfy { tray.shows(event, on: $0) != nil }
    }
    tell("The host sent \"\(event.title)\": safely queued for both phones after \(queued) ms.")
    for phone in phones {
      if let time = tray.shows(event, on: phone) {
        tell("  \(phone.name) showed it \(time - began) ms after the send.")
      }
    }
  }
}

/// Prints a line at once, whatever stands at the other end.
private func tell(_ line: String) {
  print(line)
  fflush(nil)
}

/// Why the demo cannot go on, for people.
struct DemoFailure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// A phone that was paired with the host.
struct Phone: Sendable {
  let name: String
  let platform: Platform
  let token: String
}

/// What the host tells its phones.
struct Event: Sendable {
  let id: String
  var seq: Int64
  let epoch: String
  var kind = Notification.Kind.alert
  let title: String
  let body: String
  let state: Notification.AgentState

  /// What takes it away again.
  func dismissal(seq: Int64) -> Event {
    var event = self
    event.kind = .dismiss
    event.seq = seq
    return event
  }
}
