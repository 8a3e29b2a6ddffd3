package import Contract

/// What the api reads from its environment, once, at start.
package struct ApiConfiguration: Sendable {
  /// Where to listen, 0 to 65535; 0 takes any free port.
  package let port: Int
  /// How hosts reach the gateway; part of what they prove. https, or http on loopback.
  package let publicOrigin: Origin
  package let mode: GatewayMode
  package let database: DatabaseSettings
  /// Proxies that append to `x-forwarded-for` after the client, 0 to 16.
  package let trustedProxyHops: Int
  /// Where `/metrics` is served, 0 to 65535; nil for nowhere.
  package let metricsPort: Int?

  /// Reads everything, then throws all that is wrong at once.
  package init(environment: [String: String]) throws(ConfigurationFaults) {
    var settings = Settings(environment)
    port = settings.integer("PORT", in: 0...65535) ?? 8080
    let origin = settings.origin("ORCA_PUSH_PUBLIC_URL")
    if settings.text("ORCA_PUSH_PUBLIC_URL") == nil {
      settings.refuse("ORCA_PUSH_PUBLIC_URL", "is not set: give the https origin that hosts connect to")
    }
    mode = GatewayMode(&settings)
    database = DatabaseSettings(&settings)
    trustedProxyHops = settings.integer("ORCA_PUSH_TRUSTED_PROXY_HOPS", in: 0...16) ?? 0
    metricsPort = settings.integer("ORCA_PUSH_METRICS_PORT", in: 0...65535)
    if port != 0, metricsPort == port {
      settings.refuse("ORCA_PUSH_METRICS_PORT", "must differ from PORT: the public port serves no metrics")
    }
    try settings.finish()
    // Without an origin there was a fault, so this is never reached.
    guard let origin else { throw ConfigurationFaults(faults: []) }
    publicOrigin = origin
  }
}
