internal import Loop
internal import Operations
internal import Providers
internal import Tls

/// `worker probe-fcm`: whether this build, with this account and from this place, can send through Google. Needs no
/// database and touches no queue.
@LoopActor
struct ProbeFcm {
  private let configuration: WorkerConfiguration
  private let log: Log

  init(_ configuration: WorkerConfiguration, _ log: Log) {
    self.configuration = configuration
    self.log = log
  }

  func run() async throws(ProgramFailure) {
    let tls: TlsClientContext
    do { tls = try TlsClientContext(additionalRoots: configuration.authorities?.pem) } catch {
      throw ProgramFailure(.configuration, "ORCA_PUSH_PROVIDER_CA_FILE: \(error)")
    }
    let fcm = configuration.fcm
    let probe = FcmProbe(
      origin: fcm.origin, project: fcm.projectId, tokens: fcm.credential.tokens(.messaging, tls: tls), tls: tls)
    switch await probe.run() {
    case .passed(let answer):
      log.notice("fcm can be sent through", ["project": .text(fcm.projectId), "answer": .text(answer)])
    case .failed(let reason):
      throw ProgramFailure(.unavailable, "a push to project \(fcm.projectId) would fail: \(reason)")
    }
  }
}
