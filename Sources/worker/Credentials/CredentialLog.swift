internal import Contract
internal import Loop
internal import Operations
internal import Providers

/// Says what becomes of a credential that is to replace another.
@LoopActor
struct CredentialLog {
  private let names: [String: LogField]
  private let log: Log

  init(_ route: Route, _ log: Log) {
    names = ["provider": .text(route.provider), "environment": .text(route.environment)]
    self.log = log
  }

  func note(_ event: RenewableSender.Event) {
    switch event {
    case .waits: log.notice("a new credential waits for its first delivery", names)
    case .tookOver: log.notice("the new credential works and has replaced the old one", names)
    case .refused(let reason):
      let why: [String: LogField] = ["reason": .text(reason)]
      log.error("the new credential is refused, the old one stays in use", names.merging(why) { $1 })
    }
  }
}
