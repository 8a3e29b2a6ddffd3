internal import Loop

/// Turns host names into addresses, afresh each time: providers spread their load by DNS, so nothing is cached here.
package struct NameResolver: Sendable {
  /// The addresses of a host with a port, IPv6 and IPv4 in turn, the system's favourite first.
  package let addresses:
    @LoopActor @Sendable (_ host: String, _ port: UInt16) async -> Result<[PeerAddress], ConnectFailure>

  package init(
    _ addresses:
      @escaping @LoopActor @Sendable (_ host: String, _ port: UInt16) async
      -> Result<[PeerAddress], ConnectFailure>
  ) { self.addresses = addresses }

  /// The system's resolver, on a thread of its own, since it blocks.
  package static let system = NameResolver { host, port in await SystemLookUps.shared.run(host, port) }

  /// Alternates the families, beginning with that of the first address (RFC 8305 4).
  static func interleaved(_ addresses: [PeerAddress]) -> [PeerAddress] {
    let first = addresses.filter { $0.family == addresses[0].family }
    let second = addresses.filter { $0.family != addresses[0].family }
    var mixed: [PeerAddress] = []
    for i in 0..<max(first.count, second.count) {
      if i < first.count { mixed.append(first[i]) }
      if i < second.count { mixed.append(second[i]) }
    }
    return mixed
  }
}

@LoopActor
private final class SystemLookUps {
  static let shared = SystemLookUps()

  private let calls = BlockingCalls(name: "dns")
  private var waiting = 0
  // Look-ups go one after another; behind a dead name server the last of these would wait too long anyway.
  private let limit = 16

  func run(_ host: String, _ port: UInt16) async -> Result<[PeerAddress], ConnectFailure> {
    guard waiting < limit else {
      return .failure(ConnectFailure(step: .dns, text: "\(host): too many look-ups are waiting"))
    }
    waiting += 1
    defer { waiting -= 1 }
    let found = await calls.run { () -> Result<[PeerAddress], ConnectFailure> in
      do throws(ConnectFailure) { return .success(try PeerAddress.lookUp(host, port)) } catch { return .failure(error) }
    }
    return found.map { NameResolver.interleaved($0) }
  }
}
