import Http
import Loop

@testable import Providers

/// Connections of which the test says what comes back.
@LoopActor
final class ScriptedConnections: PushConnections {
  /// An answer's status and body, or why there is none.
  enum Step {
    case answer(Int, String)
    case failure(Http2Failure)

    static func reason(_ status: Int, _ reason: String) -> Step { .answer(status, #"{"reason":"\#(reason)"}"#) }
  }

  /// What requests carried as `authorization`, in their order.
  private(set) var bearers: [String] = []
  private(set) var replacements = 0
  /// How many replacements there had been before each request.
  private(set) var connections: [Int] = []
  private(set) var isDrained = false
  /// Called for each request with its number from 0.
  var respond: @LoopActor (_ number: Int, _ bearer: String) async -> Step

  nonisolated init(_ steps: Step...) {
    respond = { number, _ in number < steps.count ? steps[number] : .answer(200, "") }
  }

  func send(_ request: Http2ClientRequest, _ done: @escaping Http2Pool.Done) {
    EventLoop.shared.start { [self] in
      do throws(Http2Failure) { done(.success(try await send(request))) } catch { done(.failure(error)) }
    }
  }

  func send(_ request: Http2ClientRequest) async throws(Http2Failure) -> Http2ClientResponse {
    let bearer = request.head["authorization"] ?? ""
    bearers.append(bearer)
    connections.append(replacements)
    switch await respond(bearers.count - 1, bearer) {
    case .failure(let failure): throw failure
    case .answer(let status, let body):
      var response = Http2ClientResponse()
      response.status = status
      response.headers.add("apns-id", "ID")
      response.headers.add("date", "Mon, 30 Nov 2026 10:00:00 GMT")
      response.body = Array(body.utf8)
      return response
    }
  }

  var freeCapacity = 5
  var inFlight = 0
  var connectionCount = 1
  func replaceConnections() { replacements += 1 }
  func drain() { isDrained = true }
}

extension ProviderSender {
  func send(_ push: Push) async -> SendReport {
    await withCheckedContinuation { waiter in send(push) { waiter.resume(returning: $0) } }
  }
}

/// Clocks that stand where the test puts them.
final class StandingClock: Sendable {
  private let seconds: Locked<Double>

  init(_ seconds: Double = 0) { self.seconds = Locked(seconds) }

  func pass(_ more: Double) { seconds.withLock { $0 += more } }

  /// The wall clock begins at 2026-11-30 10:00:00 UTC.
  var clock: PushClock {
    PushClock(
      now: { Monotonic(nanoseconds: UInt64(self.seconds.withLock { $0 } * 1e9)) },
      wall: { 1_796_032_800_000 + Int64(self.seconds.withLock { $0 } * 1_000) })
  }
}
