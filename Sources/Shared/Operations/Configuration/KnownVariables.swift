/// The variables that begin with `ORCA_PUSH_` and mean something to one of the programs, so that a misspelt one, which
/// would silently leave a default in force, can be pointed out.
package enum KnownVariables {
  static let prefix = "ORCA_PUSH_"
  /// Names told at most: an environment may hold any number.
  static let mostTold = 20

  /// What of `environment` begins like a setting and is none, in alphabetical order. Names alone: a value may be secret.
  package static func strangers(in environment: [String: String]) -> [String] {
    Array(environment.keys.filter { $0.hasPrefix(prefix) && !names.contains($0) }.sorted().prefix(mostTold))
  }

  /// Of all programs together, since one environment often serves them all.
  static let names: Set<String> = [
    "ORCA_PUSH_APNS_KEY", "ORCA_PUSH_APNS_KEY_FILE", "ORCA_PUSH_APNS_KEY_ID", "ORCA_PUSH_APNS_PRODUCTION_URL",
    "ORCA_PUSH_APNS_SANDBOX_KEY", "ORCA_PUSH_APNS_SANDBOX_KEY_FILE", "ORCA_PUSH_APNS_SANDBOX_KEY_ID",
    "ORCA_PUSH_APNS_SANDBOX_URL", "ORCA_PUSH_APNS_TOPIC", "ORCA_PUSH_APPLE_TEAM_ID", "ORCA_PUSH_CLOUD_RUN_URL",
    "ORCA_PUSH_DATABASE_POOL_MAX", "ORCA_PUSH_DATABASE_URL", "ORCA_PUSH_DATA_DIR", "ORCA_PUSH_FCM_ALERTS",
    "ORCA_PUSH_FCM_PROJECT_ID", "ORCA_PUSH_FCM_URL", "ORCA_PUSH_GATEWAY_URL", "ORCA_PUSH_METRICS_PORT",
    "ORCA_PUSH_MODE", "ORCA_PUSH_PROVIDER_CA_FILE", "ORCA_PUSH_PUBLIC_URL", "ORCA_PUSH_REVISION",
    "ORCA_PUSH_SCALE_DEPTH_EACH", "ORCA_PUSH_SCALE_MAX", "ORCA_PUSH_SCALE_MIN", "ORCA_PUSH_SCALE_POOL",
    "ORCA_PUSH_TRUSTED_PROXY_HOPS", "ORCA_PUSH_WORKER_BATCH", "ORCA_PUSH_WORKER_LANES",
  ]
}
