import Foundation
import PushHost

/// Pushes what a program prints to a phone:  make | bridge GATEWAY DEVICE TOKEN-FILE
@main
enum Bridge {
  static func main() async {
    let words = CommandLine.arguments
    guard words.count == 4 else { end("usage: bridge GATEWAY DEVICE TOKEN-FILE", code: 64) }
    do { try await push(gateway: words[1], device: words[2], tokenFile: words[3]) } catch { end("\(error)", code: 1) }
  }

  static func push(gateway: String, device: String, tokenFile: String) async throws {
    let state = try StateFolder(path: "bridge-state")  // who this host is, and what it remembers, across runs
    let keys = try await state.keysOrNew()
    let phones = Registrations(gateway: try GatewayClient(gateway: gateway, keys: keys, state: state), state: state)
    await phones.start()

    // A real host does this whenever the phone connects.
    let text = try? String(contentsOfFile: tokenFile, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
    guard let token = text else { end("cannot read \(tokenFile)", code: 1) }
    let outcome = await phones.register(deviceId: device, RegistrationParameters(token: .android(token)))
    if case .refused(let why, let fault) = outcome { end("\(why.rawValue): \(fault?.description ?? "")", code: 1) }

    // Each line is an event; what is too much for a phone is left out.
    let dispatcher = Dispatcher(phones: phones) { print($0) }
    while let line = readLine() {
      let number = try await state.nextEvent()
      dispatcher.enqueue(HostEvent(source: "plugin", seq: number.seq, epoch: number.epoch, title: line))
    }
    await dispatcher.close()
    await phones.close()
  }

  static func end(_ why: String, code: Int32) -> Never {
    FileHandle.standardError.write(Data("bridge: \(why)\n".utf8))
    exit(code)
  }
}
