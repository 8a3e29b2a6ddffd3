internal import Glibc

/// What libpq looks at only when it connects, and then complains of with each attempt for ever.
enum ConnectionValues {
  private static let words: [String: [String]] = [
    "channel_binding": ["disable", "prefer", "require"],
    "gssencmode": ["disable", "prefer", "require"],
    "load_balance_hosts": ["disable", "random"],
    "sslcertmode": ["disable", "allow", "require"],
    "sslmode": ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"],
    "sslnegotiation": ["postgres", "direct"],
    "target_session_attrs": ["any", "read-write", "read-only", "primary", "standby", "prefer-standby"],
  ]
  private static let numbers = [
    "connect_timeout", "keepalives", "keepalives_count", "keepalives_idle", "keepalives_interval", "tcp_user_timeout",
  ]
  private static let versions = ["tlsv1", "tlsv1.1", "tlsv1.2", "tlsv1.3"]
  private static let bounds = ["ssl_min_protocol_version", "ssl_max_protocol_version"]

  /// What is wrong with them, each naming its parameter and no value; sorted.
  static func faults(_ settings: [String: String]) -> [String] {
    // What is empty, libpq takes for not given.
    let given = settings.filter { !$0.value.isEmpty }
    var faults: [String] = []
    for (name, allowed) in words {
      guard let value = given[name], !allowed.contains(value) else { continue }
      faults.append("\(name) must be one of \(allowed.joined(separator: ", "))")
    }
    for name in numbers where given[name].map({ !isNumber($0) }) ?? false {
      faults.append("\(name) must be a whole number")
    }
    let places = bounds.map { given[$0].map { versions.firstIndex(of: $0.lowercased()) } }
    for (name, place) in zip(bounds, places) where place == .some(nil) {
      faults.append("\(name) must be one of TLSv1, TLSv1.1, TLSv1.2, TLSv1.3")
    }
    if case (let least??, let most??) = (places[0], places[1]), least > most {
      faults.append("ssl_min_protocol_version must not be above ssl_max_protocol_version")
    }
    return (faults + hostFaults(given)).sorted()
  }

  private static func isNumber(_ text: String) -> Bool {
    let parts = text.split(separator: " ")
    return parts.count == 1 && Int32(parts[0]) != nil
  }

  private static func hostFaults(_ given: [String: String]) -> [String] {
    func list(_ name: String) -> [Substring] {
      given[name].map { $0.split(separator: ",", omittingEmptySubsequences: false) } ?? []
    }
    let (hosts, addresses, ports) = (list("host"), list("hostaddr"), list("port"))
    var faults: [String] = []
    if !hosts.allSatisfy(isHost) {
      faults.append("host holds a character that no host has; @ in a password is written %40")
    }
    if !addresses.allSatisfy({ $0.isEmpty || isAddress(String($0)) }) {
      faults.append("hostaddr must hold IP addresses")
    }
    if !hosts.isEmpty, !addresses.isEmpty, hosts.count != addresses.count {
      faults.append("host and hostaddr must be equally many")
    }
    if ports.count > 1, ports.count != max(1, hosts.count, addresses.count) {
      faults.append("port must be one, or as many as the hosts")
    }
    return faults
  }

  /// A name, an address, a socket's folder, or an abstract socket.
  private static func isHost(_ host: Substring) -> Bool {
    if host.hasPrefix("/") { return true }
    let name = host.hasPrefix("@") ? host.dropFirst() : host
    return name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"),
        UInt8(ascii: ":"), UInt8(ascii: "%"):
        true
      default: false
      }
    }
  }

  private static func isAddress(_ text: String) -> Bool {
    // An IPv6 address may name its interface.
    let plain = text.split(separator: "%", maxSplits: 1).first.map(String.init) ?? ""
    var address = in6_addr()
    return inet_pton(AF_INET, plain, &address) == 1 || inet_pton(AF_INET6, plain, &address) == 1
  }
}
