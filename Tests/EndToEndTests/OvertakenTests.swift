import Foundation
import Json
import Testing

/// A phone that registers anew while a push to it is on its way, and whose old registration the provider then calls dead.
@Suite(.timeLimit(.minutes(2))) struct OvertakenTests {
  /// The host's name of a phone is the beginning of its token, so a token with another end is the same phone's.
  private let again = Phone(.production, 1)
  private let renewed = Phone(.production, 2)
  private let gone = Phone(.production, 3)
  private let android = Phone(.android, 4)

  private func successor(of phone: Phone) -> Phone {
    Phone(phone.kind, token: phone.token.dropLast(8) + "abcdabcd")
  }

  @Test("Its delivery goes out once more, to the token that is registered now", arguments: Gateway.StoreKind.allCases)
  func overtaken(kind: Gateway.StoreKind) async throws {
    try await Gateway.run(kind) { gateway in
      try await PythonHost.run(on: gateway) { host in
        let phones = [again, renewed, gone, android]
        let registrations = try await host.register(phones)
        let time = Gateway.now + 1
        let hour: Int64 = 3_600_000
        // Apple's first answers take long enough for a phone to register anew, and nothing is refused at once.
        try await gateway.script(
          """
          {"apns": {"firstStreamLimit": 100},
           "rules": [\(apple(again, time)), \(apple(renewed, time)), \(apple(gone, time + hour)),
             {"token": "\(android.token)", "provider": "fcm",
              "steps": [{"status": 404, "reason": "UNREGISTERED", "delayMs": 4000}]}]}
          """)
        #expect(try await host.alert(1, to: registrations) == Array(repeating: "queued", count: 4))
        for phone in phones { try await gateway.arrived(phone.provider, phone.token) }
        let anew = [again, successor(of: renewed), gone, successor(of: android)]
        #expect(try await host.register(anew) == registrations)

        try await gateway.drained()
        let states = try await gateway.outcomes().reduce(into: [:]) { $0[$1.registration] = $1.state }
        #expect(registrations.map { states[$0] } == ["sent", "sent", "dead", "sent"])
        #expect(try await host.dead() == [registrations[2]])
        let seen: [(Phone, [Int64?])] = [(again, [410, 200]), (renewed, [410]), (gone, [410]), (android, [404])]
        for (phone, seen) in seen {
          #expect(try await statuses(gateway, phone) == seen)
        }
        for phone in [successor(of: renewed), successor(of: android)] {
          #expect(try await statuses(gateway, phone) == [200])
        }
      }
    }
  }

  private func apple(_ phone: Phone, _ time: Int64) -> String {
    #"{"token": "\#(phone.token)", "provider": "apns", "steps": [{"status": 410, "reason": "Unregistered", "#
      + #""timestamp": \#(time), "delayMs": 4000}]}"#
  }

  private func statuses(_ gateway: Gateway, _ phone: Phone) async throws -> [Int64?] {
    try await gateway.log(phone.provider, token: phone.token).map { $0["answer"]?["status"]?.integer }
  }
}
