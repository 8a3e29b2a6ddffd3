import Testing

@testable import PushHost

@Suite struct SendPlanTests {
  private static let alert = PushNotification(
    id: "n", seq: 1, epoch: "e", source: .plugin, title: "Title", body: "Body")

  private func phone(_ id: String, sound: Bool = true, secret: DeviceSecret? = nil) -> Registration {
    Registration(
      deviceId: "d-" + id, registrationId: id, platform: "ios",
      preferences: PhonePreferences(sound: sound),
      registeredAt: 0, expiresAt: 1, secret: secret)
  }

  @Test func `Audible phones come first, in requests of at most 20`() {
    let phones = (0..<45).map { phone("r\($0)", sound: $0 % 2 == 0) }
    let parts = SendPlan(Self.alert, to: phones).parts
    #expect(parts.map(\.recipients.count) == [20, 3, 20, 2])
    #expect(parts.map(\.notification.sound) == [nil, nil, false, false])
    let order = parts.flatMap(\.recipients).map(\.registrationId)
    #expect(
      order == phones.filter(\.preferences.sound).map(\.registrationId)
        + phones.filter { !$0.preferences.sound }.map(\.registrationId))
    #expect(parts.allSatisfy { $0.notification.title == "Title" })
  }

  @Test func `A sealed phone has a request of its own, in its group`() throws {
    let secret = try #require(DeviceSecret([1]))
    let other = try #require(DeviceSecret([2]))
    let phones = [
      phone("a", secret: secret), phone("b"), phone("c", sound: false, secret: other),
      phone("d", sound: false), phone("e"),
    ]
    let parts = SendPlan(Self.alert, to: phones).parts
    #expect(
      parts.map { $0.recipients.map(\.registrationId) } == [["b", "e"], ["a"], ["d"], ["c"]])
    #expect(parts.map(\.notification.sound) == [nil, nil, false, false])
    #expect(parts.map { $0.notification.title == "Title" } == [true, false, true, false])
    #expect(parts[1].notification.epoch != parts[3].notification.epoch)
  }

  @Test func `A dismissal goes to all alike`() {
    let parts = SendPlan(Self.alert.dismissal(seq: 2), to: [phone("a"), phone("b", sound: false)])
      .parts
    #expect(parts.map { $0.recipients.map(\.registrationId) } == [["a", "b"]])
    #expect(parts[0].notification.sound == nil)
  }

  @Test func `Nobody is sent nothing`() {
    #expect(SendPlan(Self.alert, to: []).parts.isEmpty)
  }
}
