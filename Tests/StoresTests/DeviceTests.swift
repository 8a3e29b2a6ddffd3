import Contract
import Testing

@testable import Stores

/// Rulings 3 and the contract's "Device registration".
@Suite struct DeviceTests {
  @Test(arguments: StoreKind.allCases)
  func `A registration keeps its id while token and platform change`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let store = under.store
      #expect(try await store.register(host, deviceId: "d", route: .apnsSandbox, token: "t1", newId: "r1") == "r1")
      #expect(
        try await under.second.register(host, deviceId: "d", route: .apnsSandbox, token: "t2", newId: "r2") == "r1")
      #expect(
        try await store.devices(of: host) == [
          DeviceListing(registrationId: "r1", deviceId: "d", platform: .ios, isDead: false)
        ])
      try await under.send(.alert(1), host, ["r1"])
      #expect(try await under.claimOne(.apnsSandbox).token == "t2")
      #expect(try await store.register(host, deviceId: "d", route: .fcm, token: "t3", newId: "r3") == "r1")
      #expect(
        try await under.second.devices(of: host) == [
          DeviceListing(registrationId: "r1", deviceId: "d", platform: .android, isDead: false)
        ])
      try await under.send(.alert(2), host, ["r1"])
      #expect(try await under.claimOne(.fcm).token == "t3")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Registering again revives a dead registration, even with the same token`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let id = try await under.phone(host, token: "t")
      for (seq, token) in [(1, "t"), (2, "t2")] as [(Int64, String)] {
        try await under.kill(host, id)
        #expect(try await under.send(.alert(seq), host, [id]) == [.dead])
        try await under.advance(1)
        #expect(try await under.phone(host, token: token) == id)
        #expect(try await under.store.devices(of: host).map(\.isDead) == [false])
        #expect(try await under.send(.alert(seq), host, [id]) == [.queued])
        #expect(try await under.deliver().map(\.token) == [token])
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Every registration moves the registration time forward`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let id = try await under.phone(host, token: "t")
      var times: [Int64] = []
      for (seq, wait) in [(1, 5), (2, 1), (3, 0), (4, -10_000), (5, 20_000)] as [(Int64, Int64)] {
        try await under.advance(wait)
        try await under.phone(host, token: "t")
        try await under.send(.alert(seq), host, [id])
        let delivery = try await under.claimOne()
        try await under.settle([delivery.ends(.sent)])
        times.append(delivery.registeredAt)
      }
      #expect(times == Array(Set(times)).sorted())
      #expect(times.last == under.now)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A host holds 64 registrations, even when many come at once`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let other = try await under.host("other")
      let ids = try await withThrowingTaskGroup(of: String?.self) { group in
        for number in 0..<100 {
          group.addTask {
            try await under[number].register(
              host, deviceId: "d\(number)", route: .fcm, token: "t\(number)", newId: "r\(number)")
          }
        }
        return try await group.reduce(into: [String]()) { if let id = $1 { $0.append(id) } }
      }
      #expect(ids.count == 64)
      let listed = try await under.store.devices(of: host)
      #expect(listed.count == 64)
      #expect(Set(listed.map(\.registrationId)) == Set(ids))
      // What is held may be registered again, another host is not concerned, and a new phone waits for a free place.
      let device = try #require(listed.first)
      #expect(
        try await under.store.register(host, deviceId: device.deviceId, route: .fcm, token: "x", newId: "x")
          == device.registrationId)
      #expect(try await under.store.register(other, deviceId: "d", route: .fcm, token: "t", newId: "o") == "o")
      #expect(try await under.store.register(host, deviceId: "new", route: .fcm, token: "t", newId: "n") == nil)
      #expect(try await under.store.unregister(host, registrationId: device.registrationId))
      #expect(try await under.second.register(host, deviceId: "new", route: .fcm, token: "t", newId: "n") == "n")
      #expect(try await under.store.register(host, deviceId: "newer", route: .fcm, token: "t", newId: "m") == nil)
      #expect(try await under.store.devices(of: host).count == 64)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A dead registration keeps its place among the 64`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let ids = try await under.phones(host, 64)
      try await under.kill(host, ids[5])
      #expect(try await under.store.register(host, deviceId: "new", route: .fcm, token: "t", newId: "n") == nil)
      #expect(try await under.phone(host, "5") == ids[5])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `One phone that registers many times at once gets one id`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let ids = try await withThrowingTaskGroup(of: String?.self) { group in
        for number in 0..<20 {
          group.addTask {
            try await under[number].register(host, deviceId: "d", route: .fcm, token: "t\(number)", newId: "r\(number)")
          }
        }
        return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
      }
      #expect(ids.count == 1)
      #expect(Set(try await under.store.devices(of: host).map(\.registrationId)) == ids)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Only its own host can delete a registration, and once`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let other = try await under.host("other")
      let id = try await under.phone(host)
      #expect(try await !under.store.unregister(other, registrationId: id))
      #expect(try await !under.store.unregister(host, registrationId: "unknown"))
      #expect(try await under.store.devices(of: host).map(\.registrationId) == [id])
      #expect(try await under.second.unregister(host, registrationId: id))
      #expect(try await !under.store.unregister(host, registrationId: id))
      #expect(try await under.store.devices(of: host).isEmpty)
      #expect(try await under.send(.alert(1), host, [id]) == [.error])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `A deleted phone that comes back is a new registration`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      #expect(try await under.store.register(host, deviceId: "d", route: .fcm, token: "t", newId: "r1") == "r1")
      try await under.send(.alert(1), host, ["r1"])
      #expect(try await under.store.unregister(host, registrationId: "r1"))
      #expect(try await under.store.register(host, deviceId: "d", route: .fcm, token: "t", newId: "r2") == "r2")
      #expect(try await under.send(.alert(2), host, ["r1", "r2"]) == [.error, .queued])
      // What waited for the old registration is not for the new one.
      let delivered = try await under.deliver()
      #expect(delivered.map(\.registrationId) == ["r2"])
      #expect(delivered.map(\.text) == [Event.alert(2).payload])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Phones are listed oldest first, each host's own`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      let other = try await under.host("other")
      for device in ["z", "a", "m"] {
        try await under.phone(host, device)
        try await under.phone(other, device)
      }
      try await under.advance(.second)
      for device in ["b", "y"] { try await under.phone(host, device) }
      try await under.advance(.second)
      try await under.phone(host, "a", token: "new")
      #expect(try await under.store.devices(of: host).map(\.deviceId) == ["z", "a", "m", "b", "y"])
      #expect(try await under.second.devices(of: other).map(\.deviceId) == ["z", "a", "m"])
      _ = try await under.store.unregister(host, registrationId: "\(host.number).z")
      try await under.phone(host, "z")
      #expect(try await under.store.devices(of: host).map(\.deviceId) == ["a", "m", "b", "y", "z"])
    }
  }

  /// Device ids that something between us and the disk might take for one another, or for syntax.
  static let spellings = [
    "é", "e\u{301}", "E\u{301}", "a", "A", " a", "a ", "ａ", "'; drop table push_devices; --", "\\", "\\\\", "\"", "%",
    "_",
    "{}", "NULL", "😀", "👩‍👩‍👧‍👦", "ß", "ss", String(repeating: "d", count: 128), String(repeating: "中", count: 128),
  ]

  @Test(arguments: StoreKind.allCases)
  func `Device ids are told apart byte for byte and given back as they came`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      for round in 0..<2 {
        for (number, device) in Self.spellings.enumerated() {
          let id = try await under.store.register(
            host, deviceId: device, route: .fcm, token: "t\(round)", newId: "r\(round).\(number)")
          #expect(id == "r0.\(number)", "\(device)")
        }
      }
      let listed = try await under.store.devices(of: host)
      try #require(listed.count == Self.spellings.count)
      for (device, sent) in zip(listed, Self.spellings) { #expect(device.deviceId.utf8.elementsEqual(sent.utf8)) }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `Tokens and registration ids are told apart by case`(on kind: StoreKind) async throws {
    try await kind.use { under in
      let host = try await under.host()
      _ = try await under.store.register(host, deviceId: "d1", route: .fcm, token: "t", newId: "r")
      _ = try await under.store.register(host, deviceId: "d2", route: .fcm, token: "T", newId: "R")
      #expect(try await under.send(.alert(1), host, ["R"]) == [.queued])
      #expect(try await under.deliver().map(\.token) == ["T"])
      #expect(try await under.store.unregister(host, registrationId: "R"))
      #expect(try await under.store.devices(of: host).map(\.registrationId) == ["r"])
    }
  }
}
