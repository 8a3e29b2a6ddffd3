import Contract
import Json
import Testing

/// How a record reads.
@Suite struct DeliveryRecordTests {
  private func record(
    _ state: DeliveryRecord.State, _ route: Route? = .apnsProduction,
    _ change: (inout DeliveryRecord) -> Void = { _ in }
  ) -> DeliveryRecord {
    var record = DeliveryRecord(
      kind: .alert, registrationId: "r", route: route, state: state, queuedAt: 1_000, deadline: 301_000)
    change(&record)
    return record
  }

  private func json(_ record: DeliveryRecord) -> String {
    var text = JsonText()
    record.write(to: &text)
    return String(decoding: text.bytes, as: UTF8.self)
  }

  @Test func `All members in their order, and none that has nothing to say`() {
    #expect(
      json(record(.pending, .fcm))
        == #"{"kind":"alert","registrationId":"r","platform":"android","state":"pending","attempts":0,"#
        + #""unknownOutcomes":0,"queuedAt":1000,"deadline":301000}"#)
    let full = record(.sent, .apnsSandbox) {
      $0.kind = .dismiss
      $0.waitsFor = .retry
      $0.reason = "r1"
      $0.retryReason = "r2"
      $0.attempts = 2
      $0.unknownOutcomes = 1
      $0.providerId = "id"
      $0.lastAttemptAt = 2
      $0.nextAttemptAt = 3
      $0.finishedAt = 4
    }
    #expect(
      json(full)
        == #"{"kind":"dismiss","registrationId":"r","platform":"ios","apnsEnvironment":"sandbox","state":"sent","#
        + #""waitsFor":"retry","reason":"r1","#
        + #""detail":"accepted in the end; an attempt before may have been taken too, under the same id","#
        + #""attempts":2,"retryReason":"r2","unknownOutcomes":1,"providerId":"id","queuedAt":1000,"lastAttemptAt":2,"#
        + #""nextAttemptAt":3,"finishedAt":4,"deadline":301000}"#)
    #expect(
      json(record(.cancelled, nil) { $0.registrationId = nil }).hasPrefix(#"{"kind":"alert","state":"cancelled","att"#))
  }

  @Test(arguments: [
    (Route.apnsProduction, "BadDeviceToken", "Apple's production environment", "sandbox?"),
    (.apnsSandbox, "BadDeviceToken", "Apple's sandbox environment", "production?"),
    (.apnsProduction, "DeviceTokenNotForTopic", "Apple's production environment", "topic"),
    (.fcm, "SENDER_ID_MISMATCH", "another Firebase project", "gateway's"),
  ])
  func `A token refused is told with what was tried`(route: Route, reason: String, what: String, hint: String) throws {
    for state in [DeliveryRecord.State.dead, .failed] {
      let detail = try #require(record(state, route) { $0.reason = reason }.detail)
      #expect(detail.contains(what) && detail.contains(hint))
      #expect(detail.contains("the token was kept") == (state == .failed))
    }
  }

  @Test func `A credential that is refused and one that is not there are told apart`() throws {
    func detail(_ reason: String) -> String? {
      record(.pending) {
        $0.waitsFor = .credential
        $0.reason = reason
      }.detail
    }
    #expect(detail("parked: InvalidProviderToken")?.contains("refuses the gateway's credential") == true)
    #expect(detail(DeliveryReason.lacksCredential)?.contains("has no credential") == true)
  }

  @Test func `Each cause of a cancellation has its words, and a plain success none`() {
    let causes = DeliveryReason.allCases.filter { $0 != .deadline }
    let details = causes.map { cause in record(.cancelled) { $0.reason = cause.rawValue }.detail }
    #expect(Set(details.compactMap { $0 }).count == causes.count)
    #expect(record(.sent).detail == nil)
    #expect(record(.expired).detail != record(.expired) { $0.lastAttemptAt = 1 }.detail)
  }
}
