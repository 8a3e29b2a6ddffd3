import Contract
import Stores

/// The rules of admission (rulings 4 and 5) in plain Swift, to hold the stores against.
struct AdmissionModel {
  struct Delivery: Equatable {
    var host: Int64
    var registrationId: String
    var text: String
    var isSilent: Bool
    var expiresAt: Int64
  }

  private struct Known {
    var content: [UInt8]
    var admittedAt: Int64
    var expiresAt: Int64
    var recipients: Set<String> = []
  }
  private struct Key: Hashable {
    var host: Int64
    var bytes: [UInt8]
  }
  private struct Pending {
    var delivery: Delivery
    var fence: Key?
    var seq: Int64
  }

  /// Registrations of each host that live, and those that are dead.
  var living: [Int64: Set<String>] = [:]
  var dead: [Int64: Set<String>] = [:]
  private var known: [Key: Known] = [:]
  /// When each event of a host and kind came.
  private var accepted: [String: [Int64]] = [:]
  private var fences: [Key: Int64] = [:]
  private var pending: [Pending] = []

  /// Each host spent one alert when its dead phone was killed.
  mutating func countKill(of hosts: [Host], at now: Int64) {
    for host in hosts { accepted["\(host.number) \(Notification.Kind.alert)", default: []].append(now) }
  }

  mutating func admit(_ send: Admission, now: Int64) -> [SendResult] {
    let host = send.host.number
    let key = Key(host: host, bytes: send.eventKey)
    let states = send.registrationIds.map { id -> SendResult in
      living[host, default: []].contains(id) ? .queued : dead[host, default: []].contains(id) ? .dead : .error
    }
    func refuse(_ result: SendResult) -> [SendResult] { states.map { $0 == .queued ? result : $0 } }

    if let event = known[key], event.content != send.contentDigest { return states.map { _ in .error } }
    guard states.contains(.queued) else { return states }
    var event: Known
    let counter = "\(host) \(send.kind)"
    if let before = known[key] {
      event = before
    } else {
      event = Known(
        content: send.contentDigest, admittedAt: now,
        expiresAt: min(send.expiresAt ?? .max, now + Limits.eventLife))
      if event.expiresAt <= now { return refuse(.error) }
      let recent = accepted[counter, default: []].filter { $0 > now - Limits.quotaWindow }
      if recent.count >= Limits.eventsPerWindow { return refuse(.rateLimited) }
      accepted[counter] = recent + [now]
    }
    let fence = send.fenceKey.map { Key(host: host, bytes: $0) }
    if send.kind == .dismiss, let fence { fences[fence] = max(fences[fence] ?? -1, send.seq) }
    var results = states
    for (place, id) in send.registrationIds.enumerated() where states[place] == .queued {
      if event.recipients.contains(id) { continue }
      if event.expiresAt <= now {
        results[place] = .error
        continue
      }
      event.recipients.insert(id)
      pending.append(
        Pending(
          delivery: Delivery(
            host: host, registrationId: id, text: String(decoding: send.payload, as: UTF8.self),
            isSilent: send.isSilent,
            expiresAt: event.expiresAt),
          fence: send.kind == .alert ? fence : nil, seq: send.seq))
    }
    known[key] = event
    return results
  }

  /// What goes out now, in the order of admission; the rest of what was due is over.
  mutating func deliver(now: Int64) -> [Delivery] {
    defer { pending = [] }
    return pending.filter { pending in
      if let fence = pending.fence, let seq = fences[fence], pending.seq <= seq { return false }
      return pending.delivery.expiresAt > now
    }.map(\.delivery)
  }
}
