import Foundation
import PushHost

/// Pushes what a program prints to a phone:  make | bridge GATEWAY DEVICE TOKEN-FILE
@main
enum Bridge {
  static func main() async throws {
    let words = CommandLine.arguments
    guard words.count == 4 else { fatalError("usage: bridge GATEWAY DEVICE TOKEN-FILE") }

    // Who this host is, and what it remembers, across runs.
    let state = try StateFolder(path: "bridge-state")
    let keys = try await state.keysOrNew()
    let phones = Registrations(gateway: try GatewayClient(gateway: words[1], keys: keys, state: state), state: state)
    await phones.start()

    // A real host does this whenever the phone connects.
    let token = try String(contentsOfFile: words[3], encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
    let outcome = await phones.register(deviceId: words[2], RegistrationParameters(token: .android(token)))
    guard case .registered = outcome else { fatalError("the phone could not be registered: \(outcome)") }

    // Each line is an event; what is too much for a phone is left out.
    let dispatcher = Dispatcher(phones: phones) { print($0) }
    while let line = readLine() {
      let number = try await state.nextEvent()
      dispatcher.enqueue(HostEvent(source: "plugin", seq: number.seq, epoch: number.epoch, title: line))
    }
    await dispatcher.close()
    await phones.close()
  }
}
