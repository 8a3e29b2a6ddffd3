import Foundation
import Json
import PushHost

extension Host {
  /// Sends an alert.
  func send(_ invocation: Invocation) async throws(Failure) {
    var (title, body) = (invocation["title"], invocation["body"])
    if let file = invocation["text-file"] {
      guard title == nil && body == nil else { throw Failure.usage("--text-file stands for --title and --body") }
      let lines = try Input.text(file).split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
      title = String(lines[0])
      body = lines.count > 1 ? lines[1].trimmingCharacters(in: .whitespacesAndNewlines) : nil
    }
    guard let title else { throw Failure.usage("send needs --title or --text-file", of: invocation.command) }
    guard !title.isEmpty else { throw Failure.usage("the title is empty", of: invocation.command) }
    var life: Int64 = 300
    if let text = invocation["expires-in"] {
      guard let seconds = Int64(text), (1...300).contains(seconds) else {
        throw Failure.usage("--expires-in must be 1 to 300 seconds")
      }
      life = seconds
    }
    let phones = try await phones()
    let chosen = try await chosen(invocation.all("to"), of: phones)
    let number = try await number()
    let source = invocation["source"].flatMap(PushNotification.Source.init(rawValue:)) ?? .plugin
    var alert = PushNotification(
      id: invocation["id"], seq: number.seq, epoch: number.epoch, source: source, title: title, body: body ?? "")
    alert.agentState = invocation["state"].flatMap(PushNotification.AgentState.init(rawValue:))
    alert.worktreeId = invocation["worktree"]
    alert.expiresAt = Int64(Date().timeIntervalSince1970 * 1000) + life * 1000
    try await deliver(alert, phones, chosen)
  }

  /// Takes alerts away again.
  func dismiss(_ invocation: Invocation) async throws(Failure) {
    let phones = try await phones()
    let chosen = try await chosen(invocation.all("to"), of: phones)
    let number = try await number()
    let alert = PushNotification(
      id: invocation.arguments[0], seq: number.seq, epoch: number.epoch, source: .plugin, title: "Dismissed")
    try await deliver(alert.dismissal(seq: number.seq), phones, chosen)
  }

  private func number() async throws(Failure) -> EventNumber {
    do throws(StateFault) { return try await state.nextEvent() } catch { throw Failure(error) }
  }

  private func deliver(
    _ notification: PushNotification, _ phones: Registrations, _ chosen: [Registration]
  ) async throws(Failure) {
    let address = try address()
    let deliveries = await output.during("Sending") { await phones.send(notification, to: chosen) }
    await finish(phones)
    let faults = deliveries.compactMap(\.fault)
    let isQueued = deliveries.allSatisfy { $0.isQueued } && deliveries.count == chosen.count
    // What went wrong for all alike is told by its own code.
    if let fault = faults.first, faults.count == deliveries.count, faults.allSatisfy({ $0 == fault }) {
      throw Failure(fault, at: address)
    }
    let listed = try await deliveries.contains(where: \.isError) ? listed() : nil
    let rows = deliveries.map { ($0, $0.detail(seq: notification.seq, at: address, listed: listed)) }
    let lines = rows.map { delivery, detail in
      "\(delivery.phone.deviceId.plain)  \(delivery.word)" + (delivery.isQueued ? " as \(notification.seq)" : "")
        + (detail.map { ": \($0)" } ?? "")
    }
    output.tell(lines + ["event \(notification.seq) of epoch \(notification.epoch) at \(address.plain)"]) {
      $0.member("gateway", address)
      $0.member("notificationEpoch", notification.epoch)
      $0.member("notificationSeq", notification.seq)
      $0.array("results") { text in
        for (delivery, detail) in rows {
          text.object {
            $0.member("deviceId", delivery.phone.deviceId)
            $0.member("registrationId", delivery.phone.registrationId)
            $0.member("status", delivery.word)
            $0.member("detail", ifPresent: detail)
          }
        }
      }
    }
    if !isQueued { exit(Failure.Code.partly.rawValue) }
  }

  /// The registrations that the gateway has of this host, by their ids; nil where it cannot be asked.
  private func listed() async throws(Failure) -> Set<String>? {
    let gateway = try await gateway()
    return switch await gateway.devices() {
    case .success(let phones): Set(phones.map(\.registrationId))
    case .failure: nil
    }
  }
}

extension Delivery {
  /// The gateway's word, or the kind of failure.
  fileprivate var word: String {
    switch outcome {
    case .success(let status): status.rawValue
    case .failure(let fault): fault.category
    }
  }

  /// What the word means for this phone; nil where it says it all.
  fileprivate func detail(seq: Int64, at address: String, listed: Set<String>?) -> String? {
    switch outcome {
    case .success(.queued): nil
    case .success(.dead): "its token works no more: it must be registered anew"
    case .success(.rateLimited): "300 alerts and 300 dismissals in 15 minutes are the most"
    case .success(.error):
      // The gateway does not say which of its three causes it was.
      listed.map {
        $0.contains(phone.registrationId)
          ? "this machine's clock is behind, or \(seq) was used before for something else; see pushhost doctor"
          : "it is not registered at \(address.plain): register it again"
      }
    case .failure(let fault): fault.description(at: address.plain)
    }
  }

  fileprivate var fault: GatewayFault? { if case .failure(let fault) = outcome { fault } else { nil } }

  fileprivate var isQueued: Bool { if case .success(.queued) = outcome { true } else { false } }

  fileprivate var isError: Bool { if case .success(.error) = outcome { true } else { false } }
}
