internal import Contract
internal import Http
internal import Loop
internal import Operations
internal import Providers

/// The ways to the providers that this worker has a credential for.
@LoopActor
final class Senders {
  let byRoute: [(route: Route, sender: RenewableSender)]
  private var reading: CredentialReading
  private let log: Log

  /// Nothing is connected yet.
  init(_ reading: CredentialReading, _ log: Log) {
    self.reading = reading
    self.log = log
    byRoute = Route.allCases.compactMap { route in
      guard let sender = Self.sender(route, reading, log) else { return nil }
      return (route, RenewableSender(sender) { CredentialLog(route, log).note($0) })
    }
  }

  /// Hands on what has changed since the last reading; the routes whose credential, or trust, is another now.
  func take(_ new: CredentialReading) async -> [Route] {
    let old = reading
    reading = new
    var changed: [Route] = []
    for (route, sender) in byRoute where !Self.isSame(route, old.configuration, new.configuration) {
      guard let next = Self.sender(route, new, log) else { continue }
      await sender.replace(with: next)
      changed.append(route)
    }
    return changed
  }

  func close() async {
    for entry in byRoute { await entry.sender.close() }
  }

  private static func key(_ route: Route, _ apns: ApnsSettings) -> ApnsSettings.SigningKey {
    route == .apnsSandbox ? apns.sandbox : apns.production
  }

  private static func isSame(_ route: Route, _ old: WorkerConfiguration, _ new: WorkerConfiguration) -> Bool {
    guard old.authorities?.pem == new.authorities?.pem else { return false }
    if route != .fcm { return old.apns.map { key(route, $0) } == new.apns.map { key(route, $0) } }
    switch (old.fcm.credential, new.fcm.credential) {
    case (.serviceAccount(let old), .serviceAccount(let new)): return old.isSame(as: new)
    case (.metadataServer, .metadataServer): return true
    default: return false
    }
  }

  /// Nil without a credential for the route.
  private static func sender(_ route: Route, _ reading: CredentialReading, _ log: Log) -> (any CredentialSender)? {
    let (configuration, tls) = (reading.configuration, reading.tls)
    let events = ConnectionLog(route, log).note
    if route == .fcm {
      let fcm = configuration.fcm
      let tokens = fcm.credential.tokens(.messaging, tls: tls)
      return FcmSender(
        origin: fcm.origin, project: fcm.projectId, alerts: fcm.alerts, tokens: tokens, tls: tls, events: events)
    }
    guard let apns = configuration.apns else { return nil }
    let key = key(route, apns)
    return ApnsSender(
      route: route, origin: route == .apnsSandbox ? apns.sandboxOrigin : apns.productionOrigin, topic: apns.topic,
      credential: ApnsCredential(keyId: key.id, teamId: apns.teamId, key: key.key), tls: tls, events: events)
  }
}
