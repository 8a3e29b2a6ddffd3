internal import Contract
internal import Postgres

/// Settlements as the columns that `push_settle_v2` takes.
struct PostgresSettlements {
  private var routes: [Int16] = []
  private var turns: [Int64] = []
  private var fences: [Int32] = []
  private var devices: [Int64] = []
  private var outcomes: [Int16] = []
  private var details: [String?] = []
  private var waits: [Int64] = []
  private var attempts: [Int16] = []
  private var tried: [Int16] = []
  private var proved: [String?] = []
  private var killed: (devices: [Int64], routes: [Int16], tokens: [String], before: [Int64?], by: [Int32]) =
    ([], [], [], [], [])

  init(_ settlements: [Settlement]) {
    for (place, settlement) in settlements.enumerated() {
      routes.append(settlement.batch.route.rawValue)
      turns.append(settlement.batch.turn)
      fences.append(settlement.batch.fence)
      devices.append(settlement.device)
      switch settlement.verdict {
      case .ended(let outcome, let detail):
        outcomes.append(outcome.rawValue)
        details.append(detail)
        waits.append(0)
        attempts.append(0)
      case .again(let after, let made, let reason):
        outcomes.append(0)
        details.append(reason)
        waits.append(after)
        attempts.append(Int16(clamping: made))
      }
      tried.append(settlement.attempt.rawValue)
      proved.append(settlement.proves)
      if let kill = settlement.kills {
        killed.devices.append(settlement.device)
        killed.routes.append(settlement.batch.route.rawValue)
        killed.tokens.append(kill.token)
        killed.before.append(kill.registeredBefore)
        killed.by.append(Int32(place + 1))
      }
    }
  }

  var values: [PostgresValue] {
    [
      .int2s(routes), .int8s(turns), .int4s(fences), .int8s(devices), .int2s(outcomes), .texts(details), .int8s(waits),
      .int2s(attempts), .int2s(tried), .texts(proved), .int8s(killed.devices), .int2s(killed.routes),
      .texts(killed.tokens), .optionalInt8s(killed.before), .int4s(killed.by),
    ]
  }
}
