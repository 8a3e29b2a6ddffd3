internal import Contract
internal import Http
internal import Json
internal import Loop
internal import Providers
internal import Tls

/// A pool of workers on Cloud Run, through the Admin API (version 2). Changing its count makes no new revision.
@LoopActor
struct WorkerPool {
  /// How the pool stands.
  struct Standing: Equatable {
    var instances: Int
    /// Unix seconds.
    var changedAt: Int64
    /// Names this state of the pool: a change that names another is refused.
    var etag: String
  }

  struct Failure: Error, Equatable {
    /// One line, without anything secret.
    let reason: String
  }

  /// For each request, in ms.
  static let deadline = 15_000

  private let origin: Contract.Origin
  private let name: String
  private let tls: TlsClientContext?
  private let bearer: String

  /// - Parameters:
  ///   - name: `projects/P/locations/R/workerPools/W`.
  ///   - bearer: an access token of an account that may change the pool.
  init(origin: Contract.Origin, name: String, bearer: String, tls: TlsClientContext?) {
    self.origin = origin
    self.name = name
    self.bearer = bearer
    self.tls = tls
  }

  func standing() async throws(Failure) -> Standing {
    let pool = try await ask("GET", "")
    guard let changed = pool["updateTime"]?.string.flatMap(Timestamp.seconds), let etag = pool["etag"]?.string else {
      throw Failure(reason: "Cloud Run's answer holds no updateTime and etag that can be read")
    }
    let stated = pool["scaling"]?["manualInstanceCount"]
    guard let instances = stated == nil ? 1 : stated?.integer, (0...100_000).contains(instances) else {
      throw Failure(reason: "Cloud Run's answer holds no count that can be read")
    }
    return Standing(instances: Int(instances), changedAt: changed, etag: etag)
  }

  /// Sets the count, unless the pool has changed since it `stood` so. Returns once that is accepted; the platform starts and
  /// stops instances by itself.
  func setInstances(_ count: Int, since stood: Standing) async throws(Failure) {
    var body = JsonText(reserving: 128)
    body.object { body in
      body.member("name", name)
      body.member("etag", stood.etag)
      body.object("scaling") { body in body.member("manualInstanceCount", count) }
    }
    _ = try await ask("PATCH", "?updateMask=scaling.manualInstanceCount", body.bytes)
  }

  private func ask(_ method: String, _ query: String, _ body: [UInt8] = []) async throws(Failure) -> JsonValue {
    guard let url = Url(origin.text + "/v2/" + name + query) else {
      throw Failure(reason: "the pool's address is no URL")
    }
    let headers: HttpHeaders = ["authorization": "Bearer \(bearer)", "content-type": "application/json"]
    let response: HttpResponse
    do throws(Http1Failure) {
      response = try await Http1Client.send(
        method, url, headers: headers, body: body, tls: tls, deadline: Self.deadline)
    } catch {
      throw Failure(reason: "Cloud Run's Admin API gave no answer: \(error)")
    }
    let answer = try? JsonReader.read(response.body)
    guard response.status == 200, let answer else {
      // Google's word alone: a message may hold names.
      let status = answer?["error"]?["status"]?.string.map { " " + $0.filter { $0.isLetter || $0 == "_" }.prefix(40) }
      throw Failure(reason: "Cloud Run's Admin API answers \(response.status)\(status ?? "")")
    }
    return answer
  }
}
