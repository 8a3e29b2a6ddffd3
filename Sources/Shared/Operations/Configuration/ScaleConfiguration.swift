package import Contract

/// What `janitor scale` reads from its environment beside ``JanitorConfiguration``, once, at start.
package struct ScaleConfiguration: Sendable {
  /// `projects/P/locations/R/workerPools/W`.
  package let pool: String
  /// Bounds of the pool's count, 1 to 1000 each.
  package let instances: ClosedRange<Int>
  /// Deliveries in the queue that one worker is to hold, 1 to 1,000,000.
  package let depthEach: Int
  /// The origin of Cloud Run's Admin API.
  package let origin: Origin
  package let credential: GoogleCredential
  package let authorities: CertificateAuthorities?

  /// Reads everything, then throws all that is wrong at once.
  package init(environment: [String: String]) throws(ConfigurationFaults) {
    var settings = Settings(environment)
    pool = Self.pool(&settings)
    let least = settings.integer("ORCA_PUSH_SCALE_MIN", in: 1...1_000) ?? 1
    let most = settings.integer("ORCA_PUSH_SCALE_MAX", in: 1...1_000) ?? max(4, least)
    if most < least { settings.refuse("ORCA_PUSH_SCALE_MAX", "must be at least ORCA_PUSH_SCALE_MIN") }
    instances = least...max(least, most)
    depthEach = settings.integer("ORCA_PUSH_SCALE_DEPTH_EACH", in: 1...1_000_000) ?? 2_000
    origin =
      settings.origin("ORCA_PUSH_CLOUD_RUN_URL") ?? Origin(scheme: .https, host: "run.googleapis.com", port: 443)
    credential = GoogleCredential(&settings)
    authorities = CertificateAuthorities(&settings)
    try settings.finish()
  }

  private static func pool(_ settings: inout Settings) -> String {
    let variable = "ORCA_PUSH_SCALE_POOL"
    guard let text = settings.text(variable) else {
      settings.refuse(variable, "is required: projects/PROJECT/locations/REGION/workerPools/POOL")
      return ""
    }
    let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    let names = [1, 3, 5]
    if parts.count == 6, parts[0] == "projects", parts[2] == "locations", parts[4] == "workerPools",
      names.allSatisfy({ parts[$0].isMade(of: "abcdefghijklmnopqrstuvwxyz0123456789.:-", count: 1...63) })
    {
      return text
    }
    settings.refuse(variable, "must read projects/PROJECT/locations/REGION/workerPools/POOL")
    return ""
  }
}
