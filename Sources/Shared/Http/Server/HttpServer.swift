internal import Glibc
package import Loop
package import Tls

/// An HTTP server on the loop. Speaks HTTP/1.1 and, when a connection begins with its preface, HTTP/2.
///
///     let server = HttpServer(limits: HttpServerLimits()) { request, exchange in
///       HttpResponse(status: 200, body: Array("{}".utf8))
///     }
///     let port = try server.listen(address: "*", port: 8080)
///     ...
///     server.drain()
///     await server.waitUntilIdle(milliseconds: 8_000)
@LoopActor
package final class HttpServer {
  /// Answers a request. Nil says that it was dealt with through the exchange.
  package typealias Handler = @LoopActor (HttpRequest, HttpExchange) async -> HttpResponse?

  /// What connections are held to; a change counts for those that begin after it.
  package var limits: HttpServerLimits
  private let handler: Handler
  private var listeners: [Listener] = []
  private var connections: [Int: ServerConnection] = [:]
  private var lastId = 0
  private var idleWaiters: [CheckedContinuation<Void, Never>] = []

  package private(set) var isDraining = false
  /// Requests that a handler has.
  package private(set) var runningHandlers = 0
  /// Connections taken in since the start.
  package private(set) var acceptedConnections = 0

  package init(limits: HttpServerLimits = HttpServerLimits(), handler: @escaping Handler) {
    self.limits = limits
    self.handler = handler
  }

  package var openConnections: Int { connections.count }

  /// Takes connections from now on; the port that was bound, which matters when `port` is 0.
  /// `address` is numeric, `localhost`, or `*` for all of IPv6 and IPv4. With `tls`, ALPN settles on the protocol.
  @discardableResult
  package func listen(address: String, port: Int, tls: TlsServerContext? = nil) throws(ListenFailure) -> Int {
    let listener = try Listener(address: address, port: port, makeRoom: { [weak self] in self?.makeRoom() ?? false }) {
      [weak self] descriptor, peer in self?.accept(descriptor, peer, tls)
    }
    listeners.append(listener)
    return listener.port
  }

  /// Takes no new connections, closes idle ones, and the others once their requests are answered.
  package func drain() {
    isDraining = true
    for listener in listeners { listener.close() }
    listeners = []
    for connection in Array(connections.values) { connection.drain() }
  }

  /// Waits until no connection is open and no handler runs, `milliseconds` at most; whether that came about.
  @discardableResult
  package func waitUntilIdle(milliseconds: Int) async -> Bool {
    let end = Monotonic.now.advanced(milliseconds: milliseconds)
    let timer = EventLoop.shared.after(milliseconds: milliseconds) { [weak self] in self?.releaseIdleWaiters() }
    // Until this task runs again, another connection may have been accepted.
    while !isIdle, Monotonic.now < end {
      await withCheckedContinuation { idleWaiters.append($0) }
    }
    EventLoop.shared.cancel(timer)
    return isIdle
  }

  /// Closes everything at once.
  package func stop() {
    drain()
    for connection in Array(connections.values) { connection.close() }
  }

  // MARK: For connections

  func start(_ request: HttpRequest, _ exchange: HttpExchange) {
    runningHandlers += 1
    // The preference keeps on the loop whatever a handler starts.
    Task(executorPreference: EventLoop.shared) { await self.run(request, exchange) }
  }

  private func run(_ request: HttpRequest, _ exchange: HttpExchange) async {
    exchange.answer(await handler(request, exchange))
  }

  func handlerEnded() {
    runningHandlers -= 1
    if isIdle { releaseIdleWaiters() }
  }

  func connectionEnded(_ connection: ServerConnection) {
    connections[connection.id] = nil
    for listener in listeners { listener.resume() }
    if isIdle { releaseIdleWaiters() }
  }

  var isFull: Bool { connections.count >= limits.connections }

  /// A new connection could take the place of an idle one.
  func hasIdleConnection() {
    for listener in listeners { listener.resume() }
  }

  /// Whether there is room for another connection, be it in the place of the one that has been idle longest. Whoever keeps
  /// connections open for nothing must not keep others out.
  private func makeRoom() -> Bool {
    guard isFull else { return true }
    let idle = connections.values.compactMap { connection in connection.idleUntil.map { (connection, until: $0) } }
    guard let (longest, _) = idle.min(by: { $0.until < $1.until }) else { return false }
    longest.dismiss()
    return true
  }

  private var isIdle: Bool { connections.isEmpty && runningHandlers == 0 }

  private func releaseIdleWaiters() {
    for waiter in idleWaiters { waiter.resume() }
    idleWaiters = []
  }

  /// Takes a connected socket in, which is the server's from now on.
  func accept(_ descriptor: Int32, _ peer: SocketAddress, _ tls: TlsServerContext?) {
    let stream: TlsStream?
    do throws(TlsFailure) {
      stream = try tls.map { (context) throws(TlsFailure) in
        try TlsStream(server: context, descriptor: descriptor)
      }
    } catch {
      Glibc.close(descriptor)
      return
    }
    acceptedConnections += 1
    lastId += 1
    connections[lastId] = ServerConnection(
      id: lastId, transport: Transport(descriptor, stream), peer: peer.text, server: self)
  }
}
