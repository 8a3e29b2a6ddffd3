internal import Contract
internal import Http
internal import Loop
internal import Operations
internal import Providers
internal import Tls

/// The ways to the providers that this worker has a credential for.
@LoopActor
struct Senders {
  let byRoute: [(route: Route, sender: any ProviderSender)]

  /// Nothing is connected yet. Throws when the providers' certificates could not be checked.
  init(_ configuration: WorkerConfiguration, _ log: Log) throws(ProgramFailure) {
    let tls: TlsClientContext
    do { tls = try TlsClientContext(additionalRoots: configuration.authorities?.pem) } catch {
      throw ProgramFailure(.configuration, "ORCA_PUSH_PROVIDER_CA_FILE: \(error)")
    }
    var senders: [(Route, any ProviderSender)] = []
    if let apns = configuration.apns {
      for (route, key, origin) in [
        (Route.apnsProduction, apns.production, apns.productionOrigin),
        (Route.apnsSandbox, apns.sandbox, apns.sandboxOrigin),
      ] {
        senders.append(
          (
            route,
            ApnsSender(
              route: route, origin: origin, topic: apns.topic,
              credential: ApnsCredential(keyId: key.id, teamId: apns.teamId, key: key.key), tls: tls,
              events: ConnectionLog(route, log).note)
          ))
      }
    }
    let fcm = configuration.fcm
    let tokens: any AccessTokenSource =
      switch fcm.credential {
      case .serviceAccount(let account): ServiceAccountTokens(account, tls: tls)
      case .metadataServer(let origin): MetadataServerTokens(origin: origin)
      }
    senders.append(
      (
        .fcm,
        FcmSender(
          origin: fcm.origin, project: fcm.projectId, alerts: fcm.alerts, tokens: tokens, tls: tls,
          events: ConnectionLog(.fcm, log).note)
      ))
    byRoute = senders
  }

  func close() async {
    for entry in byRoute { await entry.sender.close() }
  }
}
