internal import Http
internal import Json

extension HttpResponse {
  /// A reply whose body is the JSON object that `members` writes.
  static func json(
    _ status: Int = 200, headers: HttpHeaders = [:], closes: Bool = false, _ members: (inout JsonText) -> Void
  ) -> HttpResponse {
    var text = JsonText()
    text.object(members)
    var headers = headers
    headers.add("content-type", "application/json; charset=utf-8")
    headers.add("cache-control", "no-store")
    return HttpResponse(status: status, headers: headers, body: text.bytes, closes: closes)
  }

  /// 204, for what leaves nothing to say.
  static var noContent: HttpResponse { HttpResponse(status: 204, headers: ["cache-control": "no-store"]) }
}
