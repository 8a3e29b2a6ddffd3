internal import Glibc
internal import Loop

/// Turns host names into addresses on a thread of its own, since libpq would block the loop with it.
@LoopActor
enum HostResolver {
  struct Answer: Sendable {
    /// In the resolver's order of preference.
    var addresses: [String] = []
    /// Why there is none.
    var fault = ""
  }

  private static let thread = BlockingCalls(name: "pg-dns")
  private static var running: [String: Task<Answer, Never>] = [:]

  /// All addresses of `host`. Whoever asks for a name that is being looked up waits for that look-up.
  static func addresses(of host: String) async -> Answer {
    if isNumeric(host) { return Answer(addresses: [host]) }
    if let lookUp = running[host] { return await lookUp.value }
    let lookUp = Task { @LoopActor in await thread.run { Self.lookUp(host) } }
    running[host] = lookUp
    defer { running[host] = nil }
    return await lookUp.value
  }

  private nonisolated static func isNumeric(_ host: String) -> Bool {
    var address = in6_addr()
    return inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1
  }

  private nonisolated static func lookUp(_ host: String) -> Answer {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    let status = getaddrinfo(host, nil, &hints, &list)
    guard status == 0 else {
      return Answer(fault: "could not find host \(host): \(String(cString: gai_strerror(status)))")
    }
    defer { freeaddrinfo(list) }
    var answer = Answer(fault: "host \(host) has no address")
    var entry = list
    while let one = entry {
      var name = [CChar](repeating: 0, count: Int(NI_MAXHOST))
      let length = socklen_t(name.count)
      if getnameinfo(one.pointee.ai_addr, one.pointee.ai_addrlen, &name, length, nil, 0, NI_NUMERICHOST) == 0 {
        let text = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        if !answer.addresses.contains(text) { answer.addresses.append(text) }
      }
      entry = one.pointee.ai_next
    }
    return answer
  }
}
