import Http
import Loop

typealias Answer = Result<Http2ClientResponse, Http2Failure>

extension Http2Pool {
  /// Sends one request, with the outcome as a value.
  func answer(_ request: Http2ClientRequest) async -> Answer {
    do throws(Http2Failure) { return .success(try await send(request)) } catch { return .failure(error) }
  }

  /// Sends all at once; the outcomes in their order.
  func blast(_ requests: [Http2ClientRequest]) async -> [Answer] {
    let tasks = requests.map { request in Task(executorPreference: EventLoop.shared) { await self.answer(request) } }
    var answers: [Answer] = []
    for task in tasks { answers.append(await task.value) }
    return answers
  }
}

extension Answer {
  var status: Int? { try? get().status }
  var failure: Http2Failure? {
    guard case .failure(let failure) = self else { return nil }
    return failure
  }
}

/// A request as a push is: about 4 KB of body.
func push(_ origin: Origin, _ path: String = "/ok", deadline: Int = 60_000) -> Http2ClientRequest {
  var head = HeaderBlock(method: "POST", origin: origin, path: path)
  head.add("apns-topic", "com.example.app")
  head.add("authorization", "bearer abc", indexed: false)
  return Http2ClientRequest(head: head, body: Array(repeating: 0x61, count: 4_000), deadline: deadline)
}
