internal import Contract
internal import Postgres

/// Reads the rows of `push_claim_v3`.
enum PostgresClaim {
  /// The claim, and the settlements of those of its deliveries that must not be sent.
  static func read(_ rows: PostgresRows, route: Route) throws(PostgresFailure) -> (Claim, [Settlement]) {
    var claim = Claim(deliveries: [], ended: [:], looked: 0, lowWater: .bottom)
    var dead: [Settlement] = []
    var payload: [UInt8]?
    var last: Int64 = 0
    claim.deliveries.reserveCapacity(rows.count)
    for row in 0..<rows.count {
      let turn = try rows.int8(row, 0)
      if turn == 0 {
        claim.looked = Int(try rows.int8(row, 11))
        claim.lowWater = LowWater(floor: try rows.int8(row, 7), next: try rows.int8(row, 12))
        claim.hasOlder = try rows.bool(row, 10)
        continue
      }
      // With the first delivery of each batch, and for that batch alone.
      if turn != last { payload = try rows.optionalBytes(row, 15) }
      last = turn
      let batch = BatchKey(route: route, turn: turn, fence: try rows.int4(row, 1))
      let device = try rows.int8(row, 4)
      let expiresAt = try rows.int8(row, 12)
      let claimedAt = try rows.int8(row, 13)
      guard expiresAt > claimedAt, !(try rows.bool(row, 16)), let payload,
        let registrationId = try rows.optionalText(row, 5),
        let fingerprint = HostFingerprint(try rows.text(row, 3))
      else {
        let outcome: Outcome = expiresAt <= claimedAt ? .expired : .cancelled
        dead.append(Settlement(batch: batch, device: device, verdict: .ended(outcome, detail: nil)))
        continue
      }
      let host = Host(number: try rows.int8(row, 2), fingerprint: fingerprint)
      claim.deliveries.append(
        ClaimedDelivery(
          batch: batch, host: host, device: device, registrationId: registrationId, route: route,
          token: try rows.text(row, 6), registeredAt: try rows.int8(row, 7), isProven: try rows.bool(row, 8),
          attempts: Int(try rows.int2(row, 9)), isSilent: try rows.bool(row, 10), admittedAt: try rows.int8(row, 11),
          expiresAt: expiresAt, claimedAt: claimedAt,
          identity: DeliveryIdentity.make(
            host: host, eventKey: try rows.uuid(row, 14), registrationId: registrationId),
          payload: payload))
    }
    return (claim, dead)
  }
}
