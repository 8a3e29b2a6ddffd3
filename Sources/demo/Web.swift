internal import Http
internal import Json
internal import Loop

/// Requests to the sandbox, whose answers are JSON.
@LoopActor
enum Web {
  static func ask(_ address: String) async throws -> JsonValue {
    guard let url = Url(address) else { throw DemoFailure("\(address) is no address") }
    let response: HttpResponse
    do throws(Http1Failure) {
      response = try await Http1Client.send("GET", url, deadline: 15_000)
    } catch {
      throw DemoFailure("GET \(address) got no answer: \(error)")
    }
    guard response.status == 200 else {
      throw DemoFailure(
        "GET \(address) was answered \(response.status): \(String(decoding: response.body, as: UTF8.self))"
      )
    }
    return try JsonReader.read(response.body)
  }
}
