/// What the worker reads from its environment and the files that it names, at start and whenever those files change.
package struct WorkerConfiguration: Sendable {
  package let mode: GatewayMode
  package let database: DatabaseSettings
  /// Lanes of this process, 1 to 64.
  package let lanes: Int
  /// The most rows that a lane claims at once, 1 to 1000.
  package let batch: Int
  /// Nil leaves the deliveries of iOS devices pending.
  package let apns: ApnsSettings?
  package let fcm: FcmSettings
  /// What the providers' certificates are checked against beside the system's roots; nil for those alone.
  package let authorities: CertificateAuthorities?
  /// Where `/metrics` is served, 0 to 65535; nil for nowhere.
  package let metricsPort: Int?
  /// The files that the environment names: keys and certificates.
  package let files: [String]

  /// Reads everything, then throws all that is wrong at once.
  package init(environment: [String: String]) throws(ConfigurationFaults) {
    var settings = Settings(environment)
    mode = GatewayMode(&settings)
    database = DatabaseSettings(&settings)
    lanes = settings.integer("ORCA_PUSH_WORKER_LANES", in: 1...64) ?? 4
    batch = settings.integer("ORCA_PUSH_WORKER_BATCH", in: 1...1000) ?? 64
    apns = ApnsSettings(&settings)
    fcm = FcmSettings(&settings)
    authorities = CertificateAuthorities(&settings)
    metricsPort = settings.integer("ORCA_PUSH_METRICS_PORT", in: 0...65535)
    files = Self.fileVariables.compactMap { settings.text($0) }
    try settings.finish()
  }

  private static let fileVariables = [
    "ORCA_PUSH_APNS_KEY_FILE", "ORCA_PUSH_APNS_SANDBOX_KEY_FILE", "GOOGLE_APPLICATION_CREDENTIALS",
    "ORCA_PUSH_PROVIDER_CA_FILE",
  ]
}
