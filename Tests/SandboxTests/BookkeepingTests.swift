import Http
import Json
import Loop
import Testing

@testable import sandbox

@LoopActor
struct ConnectionTests {
  @Test func `A rate makes requests wait their turn`() {
    let connection = Connection(lane: .fcm, id: 1, streamLimit: 1)
    let waits = (0..<10).map { _ in connection.turn(rate: 100) }
    #expect(waits[0] == 0)
    #expect((80...90).contains(waits[9]), "\(waits)")
    #expect(waits == waits.sorted())
  }

  @Test func `Without a rate nobody waits`() {
    let connection = Connection(lane: .fcm, id: 1, streamLimit: 1)
    #expect((0..<10).allSatisfy { _ in connection.turn(rate: 0) == 0 })
  }

  @Test func `Requests in flight are counted at their most`() {
    let connection = Connection(lane: .fcm, id: 1, streamLimit: 1)
    connection.enter()
    connection.enter()
    connection.leave()
    connection.enter()
    #expect(connection.requests == 3 && connection.inFlight == 2 && connection.mostInFlight == 2)
  }
}

struct TallyTests {
  private func tally() -> Tally {
    var tally = Tally()
    let gone = Reply(status: 410, reason: "Unregistered")
    tally.settle(.apnsSandbox, token: "a", Outcome(ending: .answered(Reply(status: 200)), isDelivered: true))
    tally.settle(.apnsSandbox, token: "a", Outcome(ending: .answered(Reply(status: 200)), isDelivered: true))
    tally.settle(.apnsProduction, token: "b", Outcome(ending: .answered(gone), isDelivered: false))
    tally.settle(.fcm, token: "c", Outcome(ending: .cut(.hang), isDelivered: false))
    return tally
  }

  @Test func `A filter counts what it fits`() {
    let tally = tally()
    #expect(tally.count(Tally.Filter()) == 4)
    #expect(tally.count(Tally.Filter(provider: .apns)) == 3)
    #expect(tally.count(Tally.Filter(provider: .apns, status: 200)) == 2)
    #expect(tally.count(Tally.Filter(environment: .production)) == 1)
    #expect(tally.count(Tally.Filter(status: 0)) == 1)
    #expect(tally.count(Tally.Filter(reason: "Unregistered")) == 1)
    #expect(tally.count(Tally.Filter(reason: "hang")) == 1)
  }

  @Test func `A summary tells repeats from tokens`() throws {
    var text = JsonText()
    text.object(tally().write)
    let json = try JsonReader.read(text.bytes)
    #expect(json["delivered"] == .integer(2) && json["deliveredTokens"] == .integer(1))
    #expect(json["answers"]?.array?.count == 3)
  }
}
