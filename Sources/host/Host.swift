import Foundation
import PushHost

/// One host: its state and its gateway, as the command line and the environment name them.
struct Host {
  private let named: String?
  let state: StateFolder
  let output: Output

  init(_ invocation: Invocation, _ environment: [String: String], _ output: Output) throws(Failure) {
    func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    named = invocation["gateway"] ?? variable("ORCA_PUSH_GATEWAY_URL")
    var folder = invocation["dir"] ?? variable("PUSHHOST_DIR")
    if folder == nil {
      let base = variable("XDG_STATE_HOME") ?? variable("HOME").map { $0 + "/.local/state" }
      guard let base else {
        throw Failure(.configuration, "configuration", "--dir or PUSHHOST_DIR is needed: there is no HOME")
      }
      folder = base + "/pushhost"
    }
    do throws(StateFault) {
      state = try StateFolder(path: folder ?? "")
    } catch {
      throw Failure(.configuration, "configuration", error.description)
    }
    self.output = output
  }

  /// This host's key; it must have been made.
  func keys() async throws(Failure) -> HostKeys {
    let keys: HostKeys?
    do throws(StateFault) { keys = try await state.keys() } catch { throw Failure(error) }
    guard let keys else { throw Failure(.state, "no_key", "\(state.path) holds no key yet: run pushhost keygen") }
    return keys
  }

  /// The gateway's address. There is no default: whoever forgets to name their own would give their phones' tokens to a
  /// stranger.
  func address() throws(Failure) -> String {
    guard let named else {
      throw Failure(
        .configuration, "no_gateway", "no gateway is named: give --gateway URL, or set ORCA_PUSH_GATEWAY_URL")
    }
    return named
  }

  /// The gateway, by way of a session that is shared with other runs.
  func gateway() async throws(Failure) -> GatewayClient {
    let address = try address()
    let keys = try await keys()
    do throws(GatewayAddressFault) {
      return try GatewayClient(gateway: address, keys: keys, state: state)
    } catch {
      throw Failure(.configuration, "configuration", error.description)
    }
  }

  /// The phones.
  func phones() async throws(Failure) -> Registrations {
    Registrations(gateway: try await gateway(), state: state)
  }

  /// Ends a command's work with the phones: deletes that are still due are tried with each.
  func finish(_ phones: Registrations) async {
    await output.during("Telling the gateway of phones that went") { _ = await phones.drain() }
    await phones.close()
  }

  /// The phones that are asked for, or all.
  func chosen(_ names: [String], of phones: Registrations) async throws(Failure) -> [Registration] {
    let all: [Registration]
    switch await phones.all() {
    case .success(let found): all = found
    case .failure(let fault): throw Failure(fault)
    }
    for name in names where !all.contains(where: { $0.deviceId == name }) {
      throw Failure(.input, "unknown_device", "no phone \(name.plain) is registered here")
    }
    if all.isEmpty { throw Failure(.partly, "no_phones", "no phone is registered here: see pushhost register --help") }
    let now = Int64(Date().timeIntervalSince1970 * 1000)
    let chosen = (names.isEmpty ? all : all.filter { names.contains($0.deviceId) }).filter { $0.isLive(at: now) }
    if chosen.isEmpty {
      throw Failure(.partly, "no_phones", "the lease has run out, seven days after pushhost register: renew it")
    }
    return chosen
  }
}
