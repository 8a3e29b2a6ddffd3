internal import Contract
internal import Http
internal import Loop
internal import Operations

/// Says what happens to the connections to one provider: faults summed up once a minute, a provider's word at its GOAWAY.
@LoopActor
struct ConnectionLog {
  private let names: [String: LogField]
  private let log: Log
  private let faults: LogTally

  init(_ route: Route, _ log: Log) {
    names = ["provider": .text(route.provider), "environment": .text(route.environment)]
    self.log = log
    faults = LogTally(log, "connections to \(route.provider) (\(route.environment)) failed")
  }

  var note: @LoopActor (Http2PoolEvent) -> Void {
    { [self] event in
      switch event {
      case .connected(_, let milliseconds):
        log.info("connected", names.merging(["ms": .integer(Int64(milliseconds))]) { $1 })
      case .connectFailed(let failure): faults.count("\(failure)")
      case .goneAway(let goAway):

        let words: [String: LogField] = ["code": .integer(Int64(goAway.code)), "reason": .text(goAway.reason)]
        log.info("the provider closes a connection", names.merging(words) { $1 })
      case .lost(let why): faults.count(why)
      case .drained: break
      }
    }
  }
}
