/// What the janitor reads from its environment, once, at start.
package struct JanitorConfiguration: Sendable {
  package let mode: GatewayMode
  package let database: DatabaseSettings
  /// Where `janitor watch` serves `/metrics`, 0 to 65535; nil for nowhere.
  package let metricsPort: Int?

  /// Reads everything, then throws all that is wrong at once.
  package init(environment: [String: String]) throws(ConfigurationFaults) {
    var settings = Settings(environment)
    mode = GatewayMode(&settings)
    database = DatabaseSettings(&settings)
    metricsPort = settings.integer("ORCA_PUSH_METRICS_PORT", in: 0...65535)
    try settings.finish()
  }
}
