/// What became of a notification for one phone.
public struct Delivery: Sendable {
  /// The phone.
  public let phone: Registration
  /// The gateway's word, or why there is none.
  public let outcome: Result<SendResult.Status, GatewayFault>
}

extension Registrations {
  /// How long after a failure to reach the gateway a request is repeated, ms.
  static let retryPause: Int64 = 2_000

  /// Sends a notification to phones: audible ones first, in requests of at most 20, sealed ones one by one. What did not
  /// reach the gateway is repeated once, after 2 s, word for word, for the phones that are still registered then.
  ///
  /// Phones whose lease has run out get nothing and are not among the results. A phone that the gateway calls dead is
  /// dropped here, unless it has registered anew meanwhile. Nothing is sent that is too late by then, behind requests that
  /// take their time: its result is `error`, as the gateway would say.
  public nonisolated func send(_ notification: PushNotification, to phones: [Registration]) async -> [Delivery] {
    let now = clock.wall()
    var deliveries: [Delivery] = []
    for part in SendPlan(notification, to: phones.filter { $0.isLive(at: now) }).parts {
      deliveries += await send(part)
    }
    return deliveries
  }

  private nonisolated func send(_ part: SendPlan.Part) async -> [Delivery] {
    var part = part
    if isLate(part.notification) {
      return part.recipients.map { Delivery(phone: $0, outcome: .success(.error)) }
    }
    var answer = await gateway.send(part.notification, to: part.recipients.map(\.registrationId))
    if case .failure(.unreachable) = answer, (try? await clock.sleep(Self.retryPause)) != nil,
      !isLate(part.notification)
    {
      part.recipients = await stillThere(part.recipients)
      if part.recipients.isEmpty { return [] }
      answer = await gateway.send(part.notification, to: part.recipients.map(\.registrationId))
    }
    var deliveries: [Delivery] = []
    for phone in part.recipients {
      let outcome = answer.flatMap { results in
        results.first { $0.registrationId == phone.registrationId }.map { .success($0.status) }
          ?? .failure(.unreachable(.garbled))
      }
      if case .success(.dead) = outcome { await drop(phone) }
      deliveries.append(Delivery(phone: phone, outcome: outcome))
    }
    return deliveries
  }

  /// Whether its deadline has passed.
  private nonisolated func isLate(_ notification: PushNotification) -> Bool {
    notification.expiresAt.map { $0 <= clock.wall() } ?? false
  }

  /// Those that are registered under the same id and may still be sent to, as they are now.
  private nonisolated func stillThere(_ phones: [Registration]) async -> [Registration] {
    guard let book = try? await state.phones() else { return phones }
    let now = clock.wall()
    return phones.compactMap { phone in
      book.registrations.first { $0.registrationId == phone.registrationId && $0.isLive(at: now) }
    }
  }
}
