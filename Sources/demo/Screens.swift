internal import Json
internal import Loop
internal import PushHost

/// The phones' screens, as the sandbox shows them.
@LoopActor
struct Screens {
  /// How long anything may take to show, in ms.
  private static let patience = 15_000

  private let address: String

  init(_ address: String) { self.address = address }

  /// Waits until the screens are as `isSeen` asks; `what` names it where it never comes.
  @discardableResult
  func wait(_ what: String, _ isSeen: (Tray) -> Bool) async throws -> Tray {
    let end = Monotonic.now.advanced(milliseconds: Self.patience)
    while true {
      // Counted before looking: whatever comes after the look ends the wait below.
      let count = try await Web.ask(address + "/requests/wait?count=0")["count"]?.integer ?? 0
      let tray = Tray(json: try await Web.ask(address + "/tray"))
      if isSeen(tray) { return tray }
      let left = end.milliseconds(since: .now)
      if left == 0 {
        throw DemoFailure(
          "the phones did not come to show \(what) within \(Self.patience / 1000) s")
      }
      _ = try await Web.ask(
        address + "/requests/wait?count=\(count + 1)&timeoutMs=\(min(left, 5_000))")
    }
  }
}

/// What all phones show at one moment.
struct Tray: Sendable {
  let json: JsonValue

  /// When the phone came to show the alert, in ms since 1970; nil when it does not show it.
  func shows(_ alert: PushNotification, on phone: Phone) -> Int64? {
    let screen = json["phones"]?.array?.first { $0["token"]?.string == phone.tokenText }
    let shown = screen?["notifications"]?.array?.first {
      $0["title"]?.string == alert.title && $0["body"]?.string == alert.body
        && $0["orca"]?["notificationId"]?.string == alert.id
    }
    return shown?["time"]?.integer
  }
}
