internal import Contract
internal import Glibc
internal import Keys
internal import Loop
internal import PushHost

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
      let keys = HostKeys.generate()
      try await play(GatewayClient(gateway: addresses[0], keys: keys), keys, Screens(addresses[1]))
      exit(0)
    } catch {
      tell("The demo stopped: \(error)")
      exit(1)
    }
  }

  @LoopActor
  private static func play(_ gateway: GatewayClient, _ keys: HostKeys, _ screens: Screens)
    async throws
  {
    _ = try await gateway.devices().get()
    tell(
      "A host proved that it holds its key: it is \(keys.fingerprint.prefix(4))…, with a session for a day."
    )

    let phones = [
      Phone(name: "the iPhone", token: .ios(Hex.encode(SecureRandom.bytes(32)), .production)),
      Phone(
        name: "the Android phone",
        token: .android(
          Base64Url.encode(SecureRandom.bytes(16)) + ":APA91b"
            + Base64Url.encode(SecureRandom.bytes(99)))),
    ]
    var registrations: [String] = []
    for phone in phones {
      registrations.append(
        try await gateway.register(deviceId: phone.name, token: phone.token).get())
    }
    tell("It registered two phones, an iPhone and an Android phone.")

    let epoch = Base64Url.encode(SecureRandom.bytes(16))
    var question = PushNotification(
      id: "demo-question", seq: 1, epoch: epoch, source: .agentTaskComplete,
      title: "Claude needs your input",
      body: "May I run the tests?")
    question.agentState = .needsInput
    try await show(question, phones, registrations, gateway, screens)
    var news = PushNotification(
      id: "demo-news", seq: 2, epoch: epoch, source: .agentTaskComplete, title: "Claude finished",
      body: "All tests pass.")
    news.agentState = .finished
    try await show(news, phones, registrations, gateway, screens)

    // The question was answered at the desktop.
    let began = WallClock.milliseconds
    try await gateway.queue(question.dismissal(seq: 3), for: registrations)
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
    _ alert: PushNotification, _ phones: [Phone], _ registrations: [String],
    _ gateway: GatewayClient,
    _ screens: Screens
  ) async throws {
    let began = WallClock.milliseconds
    try await gateway.queue(alert, for: registrations)
    let queued = WallClock.milliseconds - began
    let tray = try await screens.wait("\"\(alert.title)\"") { tray in
      phones.allSatisfy { tray.shows(alert, on: $0) != nil }
    }
    tell("The host sent \"\(alert.title)\": safely queued for both phones after \(queued) ms.")
    for phone in phones {
      if let time = tray.shows(alert, on: phone) {
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
  let token: PhoneToken

  /// The token's text, by which the sandbox knows the phone.
  var tokenText: String {
    switch token {
    case .ios(let text, _), .android(let text): text
    }
  }
}

extension GatewayClient {
  /// Sends an event, which must be queued for every registration.
  nonisolated func queue(_ notification: PushNotification, for registrations: [String]) async throws {
    let statuses = try await send(notification, to: registrations).get().map(\.status)
    guard statuses == registrations.map({ _ in .queued }) else {
      let words = statuses.map(\.rawValue).joined(separator: ", ")
      throw DemoFailure("the gateway said \(words) to \"\(notification.title)\"")
    }
  }
}
