package import Contract
internal import Http
package import Loop

/// Access tokens of the machine's own identity on Google Cloud, from the metadata server there.
@LoopActor
package final class MetadataServerTokens: AccessTokenSource {
  private let origin: Contract.Origin
  private let deadline: Int

  /// - Parameters:
  ///   - origin: `http://metadata.google.internal`, or what `GCE_METADATA_HOST` names.
  ///   - deadline: for the whole of a fetch, in ms.
  package init(origin: Contract.Origin, deadline: Int = 4_000) {
    self.origin = origin
    self.deadline = deadline
  }

  package func fetch() async throws(AccessTokenFailure) -> AccessToken {
    let path = "/computeMetadata/v1/instance/service-accounts/default/token"
    let response = try await AccessTokenExchange.send(
      "GET", origin.text + path, headers: ["metadata-flavor": "Google"], tls: nil, deadline: deadline,
      who: "the metadata server")
    // Anyone may answer on a network that is not Google's.
    guard response.headers["metadata-flavor"]?.lowercased() == "google" else {
      throw AccessTokenFailure("what answers at \(origin.authority) is no metadata server")
    }
    return try AccessTokenExchange.token(response, who: "the metadata server")
  }
}
