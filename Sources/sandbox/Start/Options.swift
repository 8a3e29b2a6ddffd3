internal import Operations

/// How the sandbox is told to run: by flags or, behind them, by the environment.
struct Options: Sendable {
  /// Where keys, certificates and the worker's settings are kept.
  let directory: String
  /// The one address to listen on.
  let address: String
  /// Ports; 0 takes any that is free.
  let apnsProductionPort: Int
  let apnsSandboxPort: Int
  let fcmPort: Int
  let metadataPort: Int
  let controlPort: Int
  /// Bundle ids that the team may push to, at least one.
  let topics: [String]
  let projectId: String
  /// Whether the end of standard input ends the program: a test's sandbox goes with the test.
  let stopsAtEnd: Bool

  static let usage = """
    usage: sandbox [--dir PATH] [--address ADDRESS] [--topic BUNDLE-ID,…] [--project ID]
                   [--apns-production-port N] [--apns-sandbox-port N] [--fcm-port N] [--metadata-port N]
                   [--control-port N] [--stop-at-eof]
    Each flag has a variable: --fcm-port is SANDBOX_FCM_PORT. Port 0 takes any that is free.
    """

  /// - Parameter arguments: without the program's name.
  init(arguments: [String], environment: [String: String]) throws {
    var settings = Settings(environment.merging(try Self.flags(arguments)) { _, flag in flag })
    directory = settings.text("SANDBOX_DIR") ?? ".sandbox"
    address = settings.text("SANDBOX_ADDRESS") ?? "127.0.0.1"
    let ports = 0...65_535
    apnsProductionPort = settings.integer("SANDBOX_APNS_PRODUCTION_PORT", in: ports) ?? 8_441
    apnsSandboxPort = settings.integer("SANDBOX_APNS_SANDBOX_PORT", in: ports) ?? 8_442
    fcmPort = settings.integer("SANDBOX_FCM_PORT", in: ports) ?? 8_443
    metadataPort = settings.integer("SANDBOX_METADATA_PORT", in: ports) ?? 8_444
    controlPort = settings.integer("SANDBOX_CONTROL_PORT", in: ports) ?? 8_440
    topics = (settings.text("SANDBOX_TOPIC") ?? "com.stably.orca.mobile").split(separator: ",").map(String.init)
    if topics.isEmpty { settings.refuse("SANDBOX_TOPIC", "must name a bundle id") }
    projectId = settings.text("SANDBOX_PROJECT") ?? "orca-sandbox"
    stopsAtEnd = settings.text("SANDBOX_STOP_AT_EOF") != nil
    try settings.finish()
  }

  private static let names = [
    "dir", "address", "topic", "project", "apns-production-port", "apns-sandbox-port", "fcm-port", "metadata-port",
    "control-port",
  ]

  /// `--fcm-port 1` or `--fcm-port=1` as `SANDBOX_FCM_PORT`.
  private static func flags(_ arguments: [String]) throws(ProgramFailure) -> [String: String] {
    var flags: [String: String] = [:]
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      if argument == "--stop-at-eof" {
        flags["SANDBOX_STOP_AT_EOF"] = "1"
        continue
      }
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard argument.hasPrefix("--"), let name = names.first(where: { $0 == parts[0].dropFirst(2) }) else {
        throw ProgramFailure.unknown(String(parts[0]), usage)
      }
      guard let value = parts.count == 2 ? String(parts[1]) : rest.popFirst() else {
        throw ProgramFailure(.usage, "--\(name) needs a value\n\(usage)")
      }
      flags["SANDBOX_" + name.uppercased().split(separator: "-").joined(separator: "_")] = value
    }
    return flags
  }
}
