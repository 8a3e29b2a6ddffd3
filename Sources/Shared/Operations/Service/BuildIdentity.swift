/// Which build of the gateway runs.
package struct BuildIdentity: Sendable {
  package let version = "0.1.0"
  /// The deployed revision, at most 128 characters; `unknown` when nobody says.
  package let revision: String

  /// The revision is what the deployment says, else what the platform calls it.
  package init(environment: [String: String]) {
    let names = ["ORCA_PUSH_REVISION", "K_REVISION", "CLOUD_RUN_WORKER_POOL_REVISION"]
    let revision = names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? "unknown"
    self.revision = String(revision.unicodeScalars.prefix(128))
  }
}
