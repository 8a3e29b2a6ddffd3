internal import Contract
internal import Http
internal import Json
internal import Loop
internal import Stores

/// `GET /v1/deliveries`: what became of an event at each of the host's phones (rulings 6.11).
@LoopActor
struct DeliveriesEndpoint {
  let callers: Callers
  let database: Database

  func get(_ request: HttpRequest) async throws(Problem) -> HttpResponse {
    let host = try await callers.host(of: request)
    try request.checkSize()
    let question: DeliveriesRequest
    do { question = try DeliveriesRequest(query: request.query) } catch { throw .invalidRequest(error.detail) }
    let events = question.kinds.map { EventKeys.event(kind: $0, epoch: question.epoch, seq: question.seq) }
    let records = try await database.call { store throws(StoreFailure) in
      try await store.records(of: host, events: events)
    }
    if records.isEmpty { throw .notFound }
    return .json {
      $0.array("deliveries") { list in
        for record in records { record.write(to: &list) }
      }
    }
  }
}
