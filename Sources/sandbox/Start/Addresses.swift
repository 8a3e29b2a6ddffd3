internal import Json
internal import Keys

/// Where everything is to be found once the ports are bound, and what a worker needs to get there.
struct Addresses: Sendable {
  let host: String
  let apnsProduction: Int
  let apnsSandbox: Int
  let fcm: Int
  let metadata: Int
  let control: Int

  /// The bound ports by name.
  var ports: [(name: String, port: Int)] {
    [
      ("apnsProduction", apnsProduction), ("apnsSandbox", apnsSandbox), ("fcm", fcm), ("metadata", metadata),
      ("control", control),
    ]
  }

  var tokenUri: String { secure(fcm) + FcmServer.tokenPath }
  var controlUrl: String { "http://\(authority(control))" }

  private func secure(_ port: Int) -> String { "https://\(authority(port))" }
  private func authority(_ port: Int) -> String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

  /// The settings of a worker that is to speak to this sandbox.
  func workerEnvironment(_ identities: Identities, _ options: Options, _ directory: Directory) -> [(String, String)] {
    let key = identities.apnsKey.privateKeyPem().split(separator: "\n").joined(separator: "\\n")
    return [
      ("ORCA_PUSH_APNS_PRODUCTION_URL", secure(apnsProduction)),
      ("ORCA_PUSH_APNS_SANDBOX_URL", secure(apnsSandbox)),
      ("ORCA_PUSH_FCM_URL", secure(fcm)),
      ("ORCA_PUSH_PROVIDER_CA_FILE", directory.path("ca.pem")),
      ("ORCA_PUSH_APNS_KEY", key),
      ("ORCA_PUSH_APNS_KEY_ID", Identities.apnsKeyId),
      ("ORCA_PUSH_APPLE_TEAM_ID", Identities.teamId),
      ("ORCA_PUSH_APNS_TOPIC", options.topics[0]),
      ("ORCA_PUSH_FCM_PROJECT_ID", options.projectId),
      ("GOOGLE_APPLICATION_CREDENTIALS", directory.path(Identities.accountFile)),
      ("GCE_METADATA_HOST", authority(metadata)),
    ]
  }

  /// Lines that a shell can read (`set -a; . worker.env`). What holds more than plain characters is quoted.
  static func lines(_ environment: [(String, String)]) -> String {
    var text = "# Made by sandbox, for development only. In a shell: set -a; . this-file\n"
    for (name, value) in environment {
      let isPlain = value.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "/:.-_[]@,".utf8.contains(byte)
        }
      }
      let inner = value.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
      text += isPlain ? "\(name)=\(value)\n" : "\(name)='\(inner)'\n"
    }
    return text
  }

  /// `sandbox.json`: ports, addresses and files.
  func json(_ environment: [(String, String)], _ options: Options, _ directory: Directory) -> String {
    var text = JsonText(reserving: 2_048)
    text.object { text in
      text.member("developmentOnly", true)
      text.member("control", controlUrl)
      text.object("ports") { text in for (name, port) in ports { text.member(name, port) } }
      text.member("tokenUri", tokenUri)
      text.member("caFile", directory.path("ca.pem"))
      text.member("apnsKeyFile", directory.path(Identities.apnsKeyFile))
      text.member("workerEnvFile", directory.path("worker.env"))
      text.array("topics") { text in for topic in options.topics { text.string(topic) } }
      text.object("workerEnvironment") { text in for (name, value) in environment { text.member(name, value) } }
    }
    return String(decoding: text.bytes, as: UTF8.self) + "\n"
  }
}
