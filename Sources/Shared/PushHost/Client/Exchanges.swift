internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// What is under way in a URLSession. `@unchecked Sendable`: everything that changes is guarded by `lock`.
final class Exchanges: NSObject, URLSessionDataDelegate, @unchecked Sendable {
  private struct Exchange {
    var response: HTTPURLResponse?
    var body: [UInt8] = []
    let finish: @Sendable (Result<HttpReply, Unreachable>) -> Void
  }

  private let lock = NSLock()
  private var open: [Int: Exchange] = [:]
  private static let timers = DispatchQueue(label: "push-host.deadlines")

  /// Starts the task. `finish` is called once, at the latest after `deadline` ms.
  func begin(
    _ task: URLSessionTask, deadline: Int64, finish: @escaping @Sendable (Result<HttpReply, Unreachable>) -> Void
  ) {
    lock.withLock { open[task.taskIdentifier] = Exchange(finish: finish) }
    Self.timers.asyncAfter(deadline: .now() + .milliseconds(Int(deadline))) { [weak self, weak task] in
      if let task { self?.end(task, with: .failure(.deadline)) }
    }
    // Cancelled before it began: the caller's cancellation came first and found nothing to end.
    if Task.isCancelled { return end(task, with: .failure(.deadline)) }
    task.resume()
  }

  /// Ends an exchange in this way, unless it has ended already.
  func end(_ task: URLSessionTask, with result: Result<HttpReply, Unreachable>) {
    guard let exchange = lock.withLock({ open.removeValue(forKey: task.taskIdentifier) }) else { return }
    if task.state != .completed { task.cancel() }
    exchange.finish(result)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    // Whoever redirects a host would get its session to read.
    completionHandler(nil)
    end(task, with: .success(HttpReply(status: response.statusCode)))
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    // Of certificates the system decides. Whoever wants a password gets none; left alone, Foundation on Linux never ends.
    guard let response = challenge.failureResponse as? HTTPURLResponse else {
      return completionHandler(.performDefaultHandling, nil)
    }
    end(task, with: .success(HttpReply(status: response.statusCode)))
    completionHandler(.cancelAuthenticationChallenge, nil)
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    lock.withLock { open[dataTask.taskIdentifier]?.response = response as? HTTPURLResponse }
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    let isTooLong = lock.withLock {
      let id = dataTask.taskIdentifier
      open[id]?.body += data
      return open[id].map { $0.body.count > HttpReply.limit } ?? false
    }
    if isTooLong { end(dataTask, with: .failure(.garbled)) }
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    if let error { return end(task, with: .failure(Unreachable(error))) }
    let (response, body) = lock.withLock {
      (open[task.taskIdentifier]?.response, open[task.taskIdentifier]?.body ?? [])
    }
    guard let response else { return end(task, with: .failure(.garbled)) }
    let retryAfter = response.value(forHTTPHeaderField: "Retry-After")
    end(task, with: .success(HttpReply(status: response.statusCode, retryAfter: retryAfter, body: body)))
  }
}
