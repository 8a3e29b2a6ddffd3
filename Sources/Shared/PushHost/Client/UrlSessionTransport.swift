internal import Contract
internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// The gateway by way of Foundation's URLSession.
///
/// The choice: it brings TLS with the system's roots, proxies and HTTP/2 on Linux and macOS alike, and needs none of the
/// gateway's C libraries; an HTTP client of our own would have needed a TLS of our own. What it lacks is added here: a
/// deadline over the whole exchange, a bound on the body, and no redirects.
final class UrlSessionTransport: Transport {
  private let address: String
  private let session: URLSession
  private let exchanges = Exchanges()

  /// - Parameter address: scheme, host and port to connect to, without a slash at the end.
  init(address: String) {
    self.address = address
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    configuration.httpCookieStorage = nil
    configuration.httpShouldSetCookies = false
    configuration.urlCredentialStorage = nil
    // Ours come first, always.
    configuration.timeoutIntervalForRequest = 120
    if let origin = try? Origin(address), origin.isLoopback {
      // What is sent in the clear since it stays on this machine must not go by way of another.
      configuration.connectionProxyDictionary = [:]
      DirectWay.keep(to: origin.host)
    }
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: queue)
  }

  // The session holds its delegate until it is told to let go.
  deinit { session.finishTasksAndInvalidate() }

  func exchange(_ call: HttpCall, deadline: Int64) async -> Result<HttpReply, Unreachable> {
    guard let url = URL(string: address + call.path) else { return .failure(.noConnection) }
    var request = URLRequest(url: url)
    request.httpMethod = call.method
    request.httpShouldHandleCookies = false
    request.setValue("application/json", forHTTPHeaderField: "Accept")
    if let bearer = call.bearer { request.setValue("Bearer \(bearer)", forHTTPHeaderField: "Authorization") }
    if let body = call.body {
      request.httpBody = Data(body)
      request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    }
    let task = session.dataTask(with: request)
    return await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        exchanges.begin(task, deadline: deadline) { waiter.resume(returning: $0) }
      }
    } onCancel: {
      exchanges.end(task, with: .failure(.deadline))
    }
  }
}
