internal import Glibc
internal import Loop

/// Turns host names into addresses on a thread of its own, since libpq would block the loop with it.
@LoopActor
enum HostResolver {
  private static let thread = BlockingCalls(name: "pg-dns")
  private static var pending = 0

  /// All addresses of `host` in the resolver's order of preference; empty, with the reason, when there is none.
  static func addresses(of host: String) async -> (found: [String], fault: String) {
    // One stuck look-up holds the thread for many seconds: do not queue without end behind it.
    guard pending < 8 else { return ([], "name resolution is stuck") }
    pending += 1
    defer { pending -= 1 }
    return await thread.run { lookUp(host) }
  }

  private nonisolated static func lookUp(_ host: String) -> (found: [String], fault: String) {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    let status = getaddrinfo(host, nil, &hints, &list)
    guard status == 0 else { return ([], "could not find host \(host): \(String(cString: gai_strerror(status)))") }
    defer { freeaddrinfo(list) }
    var found: [String] = []
    var entry = list
    while let one = entry {
      var name = [CChar](repeating: 0, count: Int(NI_MAXHOST))
      let length = socklen_t(name.count)
      if getnameinfo(one.pointee.ai_addr, one.pointee.ai_addrlen, &name, length, nil, 0, NI_NUMERICHOST) == 0 {
        let text = name.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
        if !found.contains(text) { found.append(text) }
      }
      entry = one.pointee.ai_next
    }
    return (found, "host \(host) has no address")
  }
}
