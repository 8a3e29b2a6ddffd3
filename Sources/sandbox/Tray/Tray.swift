internal import Json
internal import Loop

/// What the phones show: every push that was accepted, as the app would deal with it.
@LoopActor
final class Tray {
  /// Phones that are remembered; the one that heard nothing for the longest goes first.
  static let phoneLimit = 500
  /// Notifications on one phone; the oldest goes first.
  static let notificationLimit = 50

  private struct Phone {
    let lane: Lane
    let token: String
    var notifications: [TrayNotification] = []
    var received = 0
    var dismissed = 0
    var touched = 0
  }

  private var phones: [String: Phone] = [:]
  /// Counts changes: a page that knows this one is up to date.
  private(set) var version = 0

  /// A push by way of Apple.
  func receive(_ push: ApnsPush, _ environment: ApnsEnvironment) {
    let payload = push.payload
    let orca = payload.json["orca"]
    let lane = Lane(provider: .apns, environment: environment)
    if push.headers.pushType == .background { return receiveSilently(lane, push.token, orca) }
    show(
      TrayNotification(
        title: payload.title ?? "", subtitle: payload.subtitle, body: payload.body ?? "", isSilent: !payload.isAudible,
        collapseId: push.headers.collapseId, time: WallClock.milliseconds, identity: OrcaIdentity(orca), orca: orca),
      lane, push.token)
  }

  /// A message by way of Google, in either of the forms that the gateway writes.
  func receive(_ message: FcmMessage) {
    let json = message.json
    let data = json["android"]?["data"] ?? json["data"]
    let shown = json["notification"]
    let android = json["android"]?["notification"]
    let title = android?["title"]?.string ?? shown?["title"]?.string ?? data?["title"]?.string
    let body = android?["body"]?.string ?? shown?["body"]?.string ?? data?["message"]?.string
    guard data?["kind"]?.string != "dismiss", title != nil || body != nil else {
      return receiveSilently(.fcm, message.target, data)
    }
    let channel = android?["channelId"]?.string ?? data?["channelId"]?.string
    show(
      TrayNotification(
        title: title ?? "", subtitle: nil, body: body ?? "",
        isSilent: channel?.hasSuffix("-silent") == true || data?["sound"]?.string == "",
        collapseId: android?["tag"]?.string ?? data?["tag"]?.string, time: WallClock.milliseconds,
        identity: OrcaIdentity(data), orca: data),
      .fcm, message.target)
  }

  /// Takes everything off all screens.
  func clear() {
    phones = [:]
    version += 1
  }

  /// All phones as JSON, the one that heard something last first.
  var text: [UInt8] {
    var text = JsonText(reserving: 16_384)
    text.object { text in
      text.member("version", version)
      text.array("phones") { text in
        for phone in phones.values.sorted(by: { $0.touched > $1.touched }) { write(phone, &text) }
      }
    }
    return text.bytes
  }

  private func write(_ phone: Phone, _ text: inout JsonText) {
    text.object { text in
      text.member("provider", phone.lane.provider.rawValue)
      text.member("environment", ifPresent: phone.lane.environment?.rawValue)
      text.member("token", phone.token)
      text.member("received", phone.received)
      text.member("dismissed", phone.dismissed)
      text.array("notifications") { text in
        for notification in phone.notifications.reversed() { notification.write(&text) }
      }
    }
  }

  private func show(_ notification: TrayNotification, _ lane: Lane, _ token: String) {
    change(lane, token) { phone in
      var notification = notification
      if let id = notification.collapseId, let old = phone.notifications.firstIndex(where: { $0.collapseId == id }) {
        notification.replaced = phone.notifications[old].replaced + 1
        phone.notifications.remove(at: old)
      }
      phone.notifications.append(notification)
      if phone.notifications.count > Self.notificationLimit { phone.notifications.removeFirst() }
    }
  }

  /// A push that shows nothing. A dismissal takes away what it names.
  private func receiveSilently(_ lane: Lane, _ token: String, _ orca: JsonValue?) {
    change(lane, token) { phone in
      guard orca?["kind"]?.string == "dismiss", let identity = OrcaIdentity(orca) else { return }
      let before = phone.notifications.count
      phone.notifications.removeAll { $0.identity.map(identity.dismisses) ?? false }
      phone.dismissed += before - phone.notifications.count
    }
  }

  private func change(_ lane: Lane, _ token: String, _ body: (inout Phone) -> Void) {
    version += 1
    let key = "\(lane.provider.rawValue)/\(lane.environment?.rawValue ?? "")/\(token)"
    if phones[key] == nil, phones.count >= Self.phoneLimit,
      let oldest = phones.min(by: { $0.value.touched < $1.value.touched })
    {
      phones[oldest.key] = nil
    }
    var phone = phones.removeValue(forKey: key) ?? Phone(lane: lane, token: token)
    phone.received += 1
    phone.touched = version
    body(&phone)
    phones[key] = phone
  }
}
