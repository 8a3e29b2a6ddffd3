internal import Foundation

/// Keeps requests to this machine away from a proxy.
enum DirectWay {
  private static let lock = NSLock()

  /// Foundation on Linux takes its proxies from the environment alone, by its libcurl; elsewhere the session is told.
  static func keep(to host: String) {
    #if canImport(FoundationNetworking)
      lock.withLock {
        let environment = ProcessInfo.processInfo.environment
        guard let exceptions = with(host, environment["no_proxy"] ?? environment["NO_PROXY"]) else { return }
        setenv("no_proxy", exceptions, 1)
      }
    #endif
  }

  /// The exceptions with this host among them; nil when it is there already.
  static func with(_ host: String, _ exceptions: String?) -> String? {
    guard let exceptions, !exceptions.isEmpty else { return host }
    let hosts = exceptions.split { $0 == "," || $0 == " " }
    return hosts.contains("*") || hosts.contains(Substring(host)) ? nil : exceptions + "," + host
  }
}
