internal import CPostgres
internal import Glibc
internal import Loop

/// One attempt to connect: names to addresses, then libpq's handshake, all under one deadline.
@LoopActor
final class Connecting: Readiness {
  private let deadline: Int
  private var link: ServerLink?
  private var watched: Int32 = -1
  private var timer: Timer?
  private var waiter: UnsafeContinuation<Void, Never>?
  private var outcome = Result<ServerLink, PostgresFailure>.failure(.closed)

  private init(deadline: Int) { self.deadline = deadline }

  /// Connects within `milliseconds`. `attempt` counts the failed ones before this one.
  static func connect(
    _ session: SessionSettings, attempt: Int, milliseconds: Int
  ) async throws(PostgresFailure) -> ServerLink {
    let connecting = Connecting(deadline: milliseconds)
    await withUnsafeContinuation { connecting.begin($0, session, attempt) }
    return try connecting.outcome.get()
  }

  private func begin(
    _ waiter: UnsafeContinuation<Void, Never>, _ session: SessionSettings, _ attempt: Int
  ) {
    self.waiter = waiter
    timer = EventLoop.shared.after(milliseconds: deadline) { [deadline] in
      self.finish(.failure(.unreachable("no connection to \(session.url) within \(deadline) ms")))
    }
    Task { @LoopActor in
      do throws(PostgresFailure) {
        let addresses = try await Self.resolve(session.settings)
        if self.waiter == nil { return }
        start(session.settings.merging(addresses.turned(by: attempt).settings) { $1 })
      } catch {
        finish(.failure(error))
      }
    }
  }

  /// Addresses of those hosts that are names; none when libpq has nothing to look up.
  private static func resolve(_ settings: [String: String]) async throws(PostgresFailure) -> ServerAddresses {
    let hosts = (settings["host"] ?? "").split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    let ports = (settings["port"] ?? "5432").split(separator: ",").map(String.init)
    func isPath(_ host: String) -> Bool { host.isEmpty || host.hasPrefix("/") || host.hasPrefix("@") }
    if settings["hostaddr"] != nil || hosts.allSatisfy(isPath) { return ServerAddresses() }
    var result = ServerAddresses()
    var fault = ""
    for (place, host) in hosts.enumerated() {
      let port = ports.count == 1 ? ports[0] : place < ports.count ? ports[place] : "5432"
      if isPath(host) {
        result.add(host: host, address: "", port: port)
        continue
      }
      let answer = await HostResolver.addresses(of: host)
      for address in answer.addresses { result.add(host: host, address: address, port: port) }
      fault = answer.fault
    }
    if result.isEmpty { throw .unreachable(fault) }
    return result
  }

  private func start(_ settings: [String: String]) {
    var keywords: [UnsafePointer<CChar>?] = []
    var values: [UnsafePointer<CChar>?] = []
    for (keyword, value) in settings {
      keywords.append(UnsafePointer(strdup(keyword)))
      values.append(UnsafePointer(strdup(value)))
    }
    defer { for text in keywords + values { free(UnsafeMutablePointer(mutating: text)) } }
    guard let raw = PQconnectStartParams(keywords + [nil], values + [nil], 0) else {
      return finish(.failure(.unreachable("out of memory")))
    }
    let link = ServerLink(raw)
    self.link = link
    if link.isBroken { return finish(.failure(.unreachable(link.complaint))) }
    // By libpq's rules a fresh attempt waits to write.
    watch(.write)
  }

  func ready(_ events: Interest) {
    guard let link else { return }
    // The poll may close the socket and open another, for the next address, under the same number.
    unwatch()
    switch PQconnectPoll(link.raw) {
    case PGRES_POLLING_READING: watch(.read)
    case PGRES_POLLING_WRITING: watch(.write)
    case PGRES_POLLING_OK:
      PQsetnonblocking(link.raw, 1)
      finish(.success(link))
    default: finish(.failure(.unreachable(link.complaint)))
    }
  }

  private func watch(_ interest: Interest) {
    guard let link, link.socket >= 0 else { return finish(.failure(.unreachable("the connection closed"))) }
    watched = link.socket
    EventLoop.shared.watch(watched, interest, self)
  }

  private func unwatch() {
    if watched >= 0 { EventLoop.shared.forget(watched) }
    watched = -1
  }

  private func finish(_ result: Result<ServerLink, PostgresFailure>) {
    unwatch()
    link = nil
    EventLoop.shared.cancel(timer)
    timer = nil
    guard let waiter else { return }
    outcome = result
    self.waiter = nil
    waiter.resume()
  }
}
