import Contract
import Json
import Testing

/// Rulings 1.1: one spelling of each request, and nothing beside it.
@Suite struct StrictnessTests {
  @Test(arguments: Door.allCases)
  func `The sample is taken`(door: Door) throws {
    try door.read(door.sample.bytes)
  }

  @Test(arguments: Door.allCases)
  func `A body that is no object is refused`(door: Door) {
    for body in ["null", "true", "7", "\"v\"", "[]", "[{}]", "", " ", "{", "{}", "{}{}"] {
      #expect(isRefused { try door.read(body) }, "\(body)")
    }
  }

  @Test(arguments: Door.allCases)
  func `A body that is not UTF-8 is refused`(door: Door) {
    var bytes = door.sample.with("x", "y").bytes
    bytes[bytes.count - 3] = 0xff
    #expect(throws: JsonFault.self) { try door.read(bytes) }
    for encoding in [[0xff, 0xfe], [0xfe, 0xff], [0xef, 0xbb, 0xbf]] as [[UInt8]] {
      #expect(throws: JsonFault.self) { try door.read(encoding + door.sample.bytes) }
    }
  }

  @Test(arguments: Door.allCases)
  func `The version is the integer 1`(door: Door) {
    for version in [
      "0", "2", "-1", "1.0", "1e0", "1.5", "true", "\"1\"", "null", "[1]", "{}", "10000000000000000000000",
    ] {
      let text = String(decoding: door.sample.bytes, as: UTF8.self)
        .replacing(#""v":1"#, with: #""v":\#(version)"#, maxReplacements: 1)
      #expect(isRefused { try door.read(text) }, "\(version)")
    }
  }

  /// Each door with each of its members.
  static let members = Door.allCases.flatMap { door in door.sample.members.map { (door, $0.key) } }

  @Test(arguments: members)
  func `A missing member is refused`(door: Door, name: String) {
    #expect(throws: InvalidRequest.self) { try door.read(door.sample.with(name, nil).bytes) }
  }

  @Test(arguments: members)
  func `A member that is null or of another type is refused`(door: Door, name: String) {
    let own = door.sample.object[name]
    for other in ["text", 1, 0, [], .null, .bool(true), .number(1), .object(["v": 1])] as [JsonValue] where other != own
    {
      // Any text is a good challenge or device id.
      if case .string = other, ["challengeId", "deviceId"].contains(name) { continue }
      #expect(throws: InvalidRequest.self, "\(other)") { try door.read(door.sample.with(name, other).value) }
    }
  }

  @Test(arguments: members)
  func `A member that appears twice is refused, even with one value`(door: Door, name: String) throws {
    let value = try #require(door.sample.object[name])
    let twice = JsonText.render(.object(JsonObject(door.sample.members + [(name, value)])))
    #expect(throws: JsonFault.self) { try door.read(twice) }
  }

  @Test(arguments: members)
  func `A name in another case or spelling is another member`(door: Door, name: String) throws {
    let value = try #require(door.sample.object[name])
    for other in [name.uppercased() == name ? name.lowercased() : name.uppercased(), name + " ", name + "\u{0}"] {
      #expect(throws: InvalidRequest.self) { try door.read(door.sample.with(other, value).bytes) }
      #expect(throws: InvalidRequest.self) { try door.read(door.sample.with(name, nil).with(other, value).bytes) }
    }
  }

  @Test(arguments: Door.allCases)
  func `An unknown member is refused, whatever it holds`(door: Door) {
    for value in [.null, 1, "x", [], .object([:])] as [JsonValue] {
      #expect(throws: InvalidRequest.self) { try door.read(door.sample.with("extra", value).bytes) }
    }
  }

  @Test func `An unknown member of the notification is refused`() {
    for name in ["extra", "kind ", "hostFingerprint", "filter", "category", "v", "coalescedCount", ""] {
      let bent = Bent.notification.with(name, 1)
      #expect(throws: InvalidRequest.self) { try Door.send.read(bent.send.bytes) }
    }
  }

  @Test func `A member that the notification has twice is refused`() {
    for name in Bent.notification.members.map(\.key) {
      let text = String(decoding: Door.send.sample.bytes, as: UTF8.self)
      let twice = text.replacing(#""notification":{"#, with: #""notification":{"\#(name)":1,"#)
      #expect(throws: JsonFault.self) { try Door.send.read(twice) }
    }
  }

  @Test func `A name written with escapes is the same member`() throws {
    let text = String(decoding: Door.send.sample.bytes, as: UTF8.self)
    try Door.send.read(text.replacing(#""title""#, with: #""\u0074itle""#))
    #expect(throws: JsonFault.self) {
      try Door.send.read(text.replacing(#""title""#, with: #""\u0074itle":"a","title""#))
    }
  }

  @Test(arguments: Door.allCases)
  func `White space between the parts and the order of members mean nothing`(door: Door) throws {
    try door.read(JsonText.render(.object(JsonObject(door.sample.members.reversed()))))
    let spaced = String(decoding: door.sample.bytes, as: UTF8.self)
      .replacing(",", with: " ,\r\n\t").replacing(":", with: " : ")
    try door.read(" \(spaced)\n")
  }

  @Test func `Every refusal says one line of printable ASCII`() {
    for (door, name) in Self.members {
      for bent in [door.sample.with(name, nil), door.sample.with(name, .null), door.sample.with("extra", 1)] {
        let fault = #expect(throws: InvalidRequest.self) { try door.read(bent.bytes) }
        let detail = fault?.detail ?? ""
        #expect((1...200).contains(detail.utf8.count))
        #expect(detail.utf8.allSatisfy { (0x20...0x7e).contains($0) })
      }
    }
  }

  @Test(arguments: Door.allCases)
  func `A refusal names the member that the contract does not define, wherever it stands`(door: Door) {
    for name in ["extra", "V", "notificationld", "a\"b\\", String(repeating: "n", count: 40)] {
      for members in [door.sample.members + [(name, 1)], [(name, 1)] + door.sample.members] {
        let fault = #expect(throws: InvalidRequest.self) { try door.read(Bent(JsonObject(members)).bytes) }
        #expect(fault?.detail == "\(name) is no member that the contract defines")
      }
    }
    let unnamed = #expect(throws: InvalidRequest.self) { try door.read(door.sample.with("ex tra", 1).bytes) }
    #expect(
      unnamed?.detail == "the body has a member that the contract does not define (its name is long or not printable)")
  }

  @Test func `One that the notification should not have is named with where it is`() {
    let titel = Bent.notification.with("titel", "Build").send
    let fault = #expect(throws: InvalidRequest.self) { try Door.send.read(titel.bytes) }
    #expect(fault?.detail == "notification.titel is no member that the contract defines")
    let unnamed = Bent.notification.with("", 1).send
    let other = #expect(throws: InvalidRequest.self) { try Door.send.read(unnamed.bytes) }
    #expect(
      other?.detail == "notification has a member that the contract does not define (its name is long or not printable)"
    )
  }

  @Test func `However many members there are, one that is unknown is found`() {
    // Beside more of them than places that are marked, before and behind those that are known.
    let many = (0..<80).map { (key: "x\($0)", value: JsonValue.null) }
    for members in [many + Bent.dismissal.members, Bent.dismissal.members + many] {
      let fault = #expect(throws: InvalidRequest.self) {
        try Door.send.read(Bent(JsonObject(members)).send.bytes)
      }
      #expect(fault?.detail == "notification.x0 is no member that the contract defines")
    }
  }

  @Test func `A refusal tells all that the member may be`() {
    let state = Bent.notification.with("agentState", "working").send
    let other = #expect(throws: InvalidRequest.self) { try Door.send.read(state.bytes) }
    #expect(other?.detail == "notification.agentState must be one of needs-input, finished, null")
    let device = Door.devices.sample.with("platform", "android").with("apnsEnvironment", nil)
    let token = #expect(throws: InvalidRequest.self) { try Door.devices.read(device.with("token", "short").bytes) }
    #expect(token?.detail == "token must be 32 to 4096 of A-Z a-z 0-9 _ : . -, or 22 of A-Z a-z 0-9 _ -")
  }

  @Test func `A refusal names the member that broke the rule`() {
    for (door, name) in Self.members {
      let fault = #expect(throws: InvalidRequest.self) { try door.read(door.sample.with(name, .null).bytes) }
      #expect(fault?.detail.contains(name) == true)
    }
    for name in Bent.notification.members.map(\.key) where name != "agentState" {
      let bent = Bent.notification.with(name, .null).send
      let fault = #expect(throws: InvalidRequest.self) { try Door.send.read(bent.bytes) }
      #expect(fault?.detail.contains("notification.\(name)") == true)
    }
  }
}
