/// The addresses that a connection tries, one after another. libpq takes hosts, addresses and ports as lists of equal length.
struct ServerAddresses: Equatable {
  private(set) var hosts: [String] = []
  private(set) var addresses: [String] = []
  private(set) var ports: [String] = []

  mutating func add(host: String, address: String, port: String) {
    hosts.append(host)
    addresses.append(address)
    ports.append(port)
  }

  var isEmpty: Bool { hosts.isEmpty }

  /// The list begun at another place, so that an address that swallows a whole attempt's time comes last in the next.
  func turned(by places: Int) -> ServerAddresses {
    func turn(_ list: [String]) -> [String] {
      list.isEmpty ? list : Array(list[(places % list.count)...] + list[..<(places % list.count)])
    }
    return ServerAddresses(hosts: turn(hosts), addresses: turn(addresses), ports: turn(ports))
  }

  /// libpq's settings for the list.
  var settings: [String: String] {
    if isEmpty { return [:] }
    return [
      "host": hosts.joined(separator: ","), "hostaddr": addresses.joined(separator: ","),
      "port": ports.joined(separator: ","),
    ]
  }
}
