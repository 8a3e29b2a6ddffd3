import Foundation
import Json
import PushHost

extension Host {
  /// Tells what became of an event, the last one unless another is named.
  func status(_ invocation: Invocation) async throws(Failure) {
    let number = try await number(invocation)
    let address = try address()
    let phones = try await phones()
    let records: [DeliveryRecord]
    switch await output.during("Asking the gateway", { await phones.deliveries(of: number) }) {
    case .success(let found): records = found
    case .failure(let fault): throw Failure(fault, at: address)
    }
    await finish(phones)
    if records.isEmpty {
      let what = "\(address.plain) has no event \(number.seq)"
      throw Failure(.partly, "unknown_event", "\(what): it was not queued there, or is over a day old")
    }
    let names = try await names(phones)
    let lines = records.map { record in
      let name = record.registrationId.map { names[$0] ?? $0 } ?? "a phone that is gone"
      let words = [name.plain, record.isDismissal ? "dismissal" : "alert", record.state.plain]
      let more = [record.waitsFor.map { "waits for \($0.plain)" }, record.reason?.plain, record.detail?.plain]
      return (words + more.compactMap { $0 }).joined(separator: "  ")
    }
    output.tell(lines) {
      $0.member("notificationEpoch", number.epoch)
      $0.member("notificationSeq", number.seq)
      $0.array("deliveries") { text in
        for record in records { text.object { write(record, names, &$0) } }
      }
    }
    let isWell = records.allSatisfy { !$0.hasEnded || $0.state == "sent" || $0.reason == "dismissed" }
    if !isWell { exit(Failure.Code.partly.rawValue) }
  }

  private func number(_ invocation: Invocation) async throws(Failure) -> EventNumber {
    let last: EventNumber?
    do throws(StateFault) { last = try await state.lastEvent() } catch { throw Failure(error) }
    guard let word = invocation.arguments.first else {
      guard let last else { throw Failure(.partly, "unknown_event", "nothing has been sent from \(state.path) yet") }
      return last
    }
    guard let seq = Int64(word), seq >= 0 else { throw Failure.usage("SEQ must be a number, as send tells it") }
    guard let epoch = invocation["epoch"] ?? last?.epoch else { throw Failure.usage("status needs --epoch here") }
    return EventNumber(epoch: epoch, seq: seq)
  }

  private func names(_ phones: Registrations) async throws(Failure) -> [String: String] {
    switch await phones.all() {
    case .success(let all):
      Dictionary(all.map { ($0.registrationId, $0.deviceId) }, uniquingKeysWith: { first, _ in first })
    case .failure(let fault): throw Failure(fault)
    }
  }

  private func write(_ record: DeliveryRecord, _ names: [String: String], _ text: inout JsonText) {
    text.member("deviceId", ifPresent: record.registrationId.flatMap { names[$0] })
    text.member("registrationId", ifPresent: record.registrationId)
    text.member("kind", record.isDismissal ? "dismiss" : "alert")
    text.member("state", record.state)
    text.member("reason", ifPresent: record.reason)
    text.member("detail", ifPresent: record.detail)
    text.member("waitsFor", ifPresent: record.waitsFor)
    text.member("attempts", record.attempts)
    text.member("providerId", ifPresent: record.providerId)
    text.member("queuedAt", record.queuedAt)
    if let finishedAt = record.finishedAt { text.member("finishedAt", finishedAt) }
  }
}
