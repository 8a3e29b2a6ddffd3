package import Contract
internal import Http
package import Loop

/// Access tokens of the machine's own identity on Google Cloud, from the metadata server there.
@LoopActor
package final class MetadataServerTokens: AccessTokenSource {
  private let origin: Contract.Origin

  /// - Parameter origin: `http://metadata.google.internal`, or what `GCE_METADATA_HOST` names.
  package init(origin: Contract.Origin) { self.origin = origin }

  package func fetch() async throws(AccessTokenFailure) -> AccessToken {
    let path = "/computeMetadata/v1/instance/service-accounts/default/token"
    let response = try await AccessTokenExchange.send(
      "GET", origin.text + path, headers: ["metadata-flavor": "Google"], tls: nil, who: "the metadata server")
    // Anyone may answer on a network that is not Google's.
    guard response.headers["metadata-flavor"]?.lowercased() == "google" else {
      throw AccessTokenFailure("what answers at \(origin.authority) is no metadata server")
    }
    return try AccessTokenExchange.token(response, who: "the metadata server")
  }
}
