import Contract
import Foundation
import Json
import Testing

@testable import PushHost

@Suite struct SealingTests {
  private static let secret = DeviceSecret(Array("a phone's secret".utf8))

  private func alert(
    title: String = "Titel", body: String = "Text", worktree: String? = "wt",
    id: String? = "run-17", epoch: String = "e-1"
  ) -> PushNotification {
    var alert = PushNotification(
      id: id, seq: 7, epoch: epoch, source: .agentTaskComplete, title: title, body: body)
    alert.agentState = .needsInput
    alert.worktreeId = worktree
    alert.executionHost = "runtime:here"
    alert.expiresAt = 5
    alert.sound = false
    return alert
  }

  /// What PyNaCl finds in each, and the stand-ins that it works out.
  private func opened(_ pushes: [(plain: PushNotification, sealed: PushNotification)]) async throws
    -> [JsonValue]
  {
    let secret = try #require(Self.secret)
    let lines = pushes.map { push in
      String(
        decoding: JsonText.render(
          .object([
            "secret": .string(Base64.encode(secret.bytes)),
            "id": push.plain.id.map { .string($0) } ?? .null,
            "epoch": .string(push.plain.epoch),
            "paneKey": push.sealed.paneKey.map { .string($0) } ?? .null,
          ])), as: UTF8.self)
    }
    return try await Python.run("sealed.py", lines).map { try JsonReader.read(Array($0.utf8)) }
  }

  @Test func `A phone opens what was sealed for it, with a library of other people`() async throws {
    let secret = try #require(Self.secret)
    let pushes = [
      alert(), alert(body: ""), alert(worktree: nil), alert(id: nil),
      alert(title: "Ä \"quoted\" 👩‍👩‍👧"),
      alert().dismissal(seq: 8),
    ].map { (plain: $0, sealed: $0.sealed(with: secret)) }
    let found = try await opened(pushes)
    #expect(found.count == pushes.count)
    for (push, found) in zip(pushes, found) {
      #expect(push.sealed.epoch == found["epoch"]?.string)
      #expect(push.sealed.id == found["id"]?.string)
      let content = found["content"]
      #expect(content?["t"]?.string == (push.plain.isDismissal ? nil : push.plain.title))
      #expect(
        content?["b"]?.string
          == (push.plain.isDismissal || push.plain.body.isEmpty ? nil : push.plain.body))
      #expect(content?["w"]?.string == (push.plain.isDismissal ? nil : push.plain.worktreeId))
      #expect(content?["n"]?.string == push.plain.id)
      #expect(content?["e"]?.string == push.plain.epoch)
    }
  }

  @Test func `On the wire there is a generic title and nothing else to read`() throws {
    let sealed = alert().sealed(with: try #require(Self.secret))
    #expect(sealed.title == "Your input is needed")
    #expect(sealed.body.isEmpty && sealed.worktreeId == nil && sealed.executionHost == nil)
    #expect(
      sealed.seq == 7 && sealed.source == .agentTaskComplete && sealed.agentState == .needsInput)
    #expect(sealed.expiresAt == 5 && sealed.sound == false && !sealed.isDismissal)
    #expect(try #require(sealed.id).wholeMatch(of: #/e2e1\.[A-Za-z0-9_-]{32}/#) != nil)
    #expect(sealed.epoch.wholeMatch(of: #/e2e1\.[A-Za-z0-9_-]{32}/#) != nil)
    // The contract takes it.
    #expect(throws: Never.self) { try sealed.request(to: ["r"]) }
  }

  @Test func `An alert and its dismissal have the same stand-ins, and another phone has others`()
    throws
  {
    let secret = try #require(Self.secret)
    let other = try #require(DeviceSecret([9]))
    let sealed = alert().sealed(with: secret)
    let dismissal = alert(title: "other", worktree: nil).dismissal(seq: 8).sealed(with: secret)
    #expect(sealed.id == dismissal.id && sealed.epoch == dismissal.epoch)
    #expect(dismissal.isDismissal && dismissal.body.isEmpty)
    #expect(alert().sealed(with: other).id != sealed.id)
    #expect(alert().sealed(with: other).epoch != sealed.epoch)
    // The same text as id and as epoch does not give the same stand-in.
    let alike = alert(id: "x", epoch: "x").sealed(with: secret)
    #expect(alike.id != alike.epoch)
  }

  @Test func `Two seals of the same differ, one seal does not`() throws {
    let secret = try #require(Self.secret)
    #expect(alert().sealed(with: secret).paneKey != alert().sealed(with: secret).paneKey)
    let nonce = [UInt8](repeating: 1, count: 24)
    #expect(
      alert().sealed(with: secret, nonce: nonce) == alert().sealed(with: secret, nonce: nonce))
  }

  @Test func `What does not fit goes from the body's end, and then the worktree`() async throws {
    let secret = try #require(Self.secret)
    let body = String(repeating: "👩‍👩‍👧", count: 22)
    let families = [0, 400, 700, 900, 1_100, 1_200, 1_300, 1_400, 1_480, 2_000].map { room in
      alert(body: body, worktree: String(repeating: "w", count: room + 1))
    }
    let pushes = families.map { (plain: $0, sealed: $0.sealed(with: secret)) }
    let found = try await opened(pushes).map { $0["content"] }
    var lengths: [Int] = []
    for (push, content) in zip(pushes, found) {
      #expect(try #require(push.sealed.paneKey).utf16.count <= 2_048)
      let sealedBody = content?["b"]?.string ?? ""
      if content?["w"] == nil {
        // With the worktree gone there is room for the text again.
        #expect(sealedBody == body)
      } else {
        #expect(sealedBody == body || sealedBody.isEmpty || sealedBody.hasSuffix("👩‍👩‍👧…"))
        lengths.append(sealedBody.count)
      }
      #expect(content?["t"]?.string == "Titel" && content?["n"]?.string == "run-17")
    }
    #expect(lengths == lengths.sorted(by: >) && Set(lengths).count > 3, "\(lengths)")
    #expect(found.last??["w"] == nil)
  }

  @Test func `Whether the id is carried depends on id and epoch alone`() async throws {
    let secret = try #require(Self.secret)
    for length in [900, 940, 960, 980, 1_000, 1_500, 2_048] {
      let id = String(repeating: "i", count: length)
      let kinds = [
        alert(title: "x", body: "", worktree: nil, id: id),
        alert(title: String(repeating: "\u{1}", count: 80), id: id),
        alert(id: id).dismissal(seq: 9),
      ].map { (plain: $0, sealed: $0.sealed(with: secret)) }
      let carried = Set(try await opened(kinds).map { $0["content"]?["n"] != nil })
      #expect(carried == [length < 990], "\(length)")
    }
  }

  @Test func `The worst text and the longest epoch still fit`() async throws {
    let secret = try #require(Self.secret)
    let worst = alert(
      title: String(repeating: "\u{1}", count: 80), body: String(repeating: "\u{1}", count: 180),
      worktree: String(repeating: "w", count: 2_048), id: String(repeating: "\\", count: 2_048),
      epoch: String(repeating: "\\", count: 128))
    let sealed = worst.sealed(with: secret)
    #expect(try #require(sealed.paneKey).utf16.count <= 2_048)
    let content = try await opened([(worst, sealed)]).first?["content"]
    #expect(content?["t"]?.string == worst.title)
    #expect(content?["n"] == nil)
    #expect(throws: Never.self) { try sealed.request(to: ["r"]) }
  }

  @Test func `A secret has 1 to 1,024 bytes and prints nowhere`() {
    #expect(DeviceSecret([]) == nil)
    #expect(DeviceSecret([UInt8](repeating: 1, count: 1_025)) == nil)
    let secret = DeviceSecret([UInt8](repeating: 77, count: 1_024))
    var dumped = ""
    dump(secret, to: &dumped)
    #expect(!"\(secret as Any)\(String(reflecting: secret))\(dumped)".contains("77"))
  }
}
