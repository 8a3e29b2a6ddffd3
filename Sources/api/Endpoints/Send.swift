internal import Contract
internal import Http
internal import Json
internal import Loop
internal import Operations
internal import Stores

/// `POST /v1/send`: a notification for some of the host's phones (contract, "Send").
@LoopActor
struct SendEndpoint {
  let callers: Callers
  let admissions: Admissions
  let sends: CounterFamily

  func post(_ request: HttpRequest) async throws(Problem) -> HttpResponse {
    let host = try await callers.host(of: request)
    let body = try request.read(SendRequest.init)
    let results = try await admissions.admit(Admission(body, from: host))
    for result in results { sends.increment(body.notification.kind.rawValue, result.rawValue) }
    return .json {
      $0.array("results") { list in
        for (registrationId, result) in zip(body.registrationIds, results) {
          list.object {
            $0.member("registrationId", registrationId)
            $0.member("status", result.rawValue)
          }
        }
      }
    }
  }
}
