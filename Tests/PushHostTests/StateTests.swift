import Foundation
import Testing

@testable import PushHost

@Suite struct StateTests {
  private let scratch = ScratchFolder()

  @Test func `A key is made once, kept, and read by its owner alone`() async throws {
    let state = try scratch.open()
    #expect(try await state.keys() == nil)
    let keys = try await state.keysOrNew()
    #expect(try await state.keysOrNew().publicKeyBase64 == keys.publicKeyBase64)
    #expect(try await scratch.open().keys()?.secretKey == keys.secretKey)
    #expect(try scratch.mode() == 0o700)
    for file in try FileManager.default.contentsOfDirectory(atPath: scratch.path) {
      #expect(try scratch.mode(file) == 0o600, "\(file)")
    }
  }

  @Test func `Of many that make a key at once all get the same`() async throws {
    let scratch = scratch
    let keys = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<16 { group.addTask { try await scratch.open().keysOrNew().publicKeyBase64 } }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(keys.count == 1)
  }

  @Test(arguments: FileStep.allCases)
  func `A key that was being made when the process was killed is whole or not there`(step: FileStep)
    async throws
  {
    let killed = try scratch.open(stoppingAt: step, of: "host.key")
    await #expect(throws: StateFault.self) { try await killed.keysOrNew() }
    let found = try await scratch.open().keys()
    #expect((found != nil) == [.renamed, .folderSynced].contains(step))
    let kept = try await scratch.open().keysOrNew()
    #expect(found == nil || found?.fingerprint == kept.fingerprint)
  }

  @Test(arguments: [
    "", "\n", "AAAA\n", "O7TYprzkRWo8ltvq+3zEx9sLhbhXC5/tNqkfg4oqX6A=", "x",
    "-----BEGIN KEY-----\n",
  ])
  func `A file that is no key is told as such, without its content`(text: String) async throws {
    try scratch.write("host.key", text)
    let state = try scratch.open()
    let fault = await #expect(throws: StateFault.self) { try await state.keysOrNew() }
    #expect(
      fault?.description == "\(scratch.path)/host.key: is no host key: one line, base64 of 32 bytes"
    )
  }

  @Test func `A key that others may read, and a link instead of a key, are refused`() async throws {
    try scratch.write("host.key", "O7TYprzkRWo8ltvq+3zEx9sLhbhXC5/tNqkfg4oqX6A=\n", mode: 0o640)
    let state = try scratch.open()
    let fault = await #expect(throws: StateFault.self) { try await state.keys() }
    #expect(fault?.reason == "may be read by others: chmod 600 it")
    try FileManager.default.moveItem(
      atPath: scratch.path + "/host.key", toPath: scratch.path + "/other")
    try FileManager.default.createSymbolicLink(
      atPath: scratch.path + "/host.key", withDestinationPath: scratch.path + "/other")
    await #expect(throws: StateFault.self) { try await state.keys() }
  }

  @Test func `A folder that others may look into is refused`() throws {
    _ = try scratch.open()
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: scratch.path)
    let fault = #expect(throws: StateFault.self) { try scratch.open() }
    #expect(fault?.reason == "is open to others: chmod 700 it")
    #expect(throws: StateFault.self) { try StateFolder(path: "/proc/no/such/place") }
    #expect(throws: StateFault.self) { try StateFolder(path: "/dev/null") }
  }

  @Test(arguments: FileStep.allCases)
  func `A file that was being replaced when the process was killed is the old one or the new one`(
    step: FileStep
  )
    async throws
  {
    let old = Array("old".utf8)
    let new = [UInt8](repeating: 7, count: 100_000)
    try scratch.open().file("f").replace(with: old)
    let killed = try scratch.open(stoppingAt: step, of: "f")
    #expect(throws: StateFault.self) { try killed.file("f").replace(with: new) }
    let after = try scratch.open().file("f").read()
    #expect(after == ([.renamed, .folderSynced].contains(step) ? new : old))
    try scratch.open().file("f").replace(with: old)
    #expect(try scratch.open().file("f").read() == old)
    // What was left lying is used up by the next write.
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == ["f"])
  }

  @Test func `No two events get the same number, whoever asks and whatever was killed`()
    async throws
  {
    let scratch = scratch
    let numbers = try await withThrowingTaskGroup(of: [EventNumber].self) { group in
      for _ in 0..<8 {
        group.addTask {
          let state = try scratch.open()
          var numbers: [EventNumber] = []
          for _ in 0..<10 { numbers.append(try await state.nextEvent()) }
          return numbers
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    #expect(Set(numbers.map(\.epoch)).count == 1)
    #expect(numbers.map(\.seq).sorted() == Array(1...80))
    for step in FileStep.allCases {
      let killed = try scratch.open(stoppingAt: step, of: "counter.json")
      await #expect(throws: StateFault.self) { try await killed.nextEvent() }
    }
    let next = try await scratch.open().nextEvent()
    #expect(next.epoch == numbers.first?.epoch)
    #expect((81...86).contains(next.seq))
    try scratch.write("counter.json", "{broken")
    let anew = try await scratch.open().nextEvent()
    #expect(anew.seq == 1)
    #expect(anew.epoch != next.epoch)
  }

  @Test func `A lock is given to one at a time, and its holder's end gives it back`() throws {
    _ = try scratch.open()
    let path = scratch.path + "/lock"
    let first = try #require(try FolderLock(trying: path))
    #expect(try FolderLock(trying: path) == nil)
    let fault = #expect(throws: StateFault.self) { try FolderLock.wait(path, patience: 0) }
    #expect(fault?.reason == "is held by another process")
    first.release()
    let second = try #require(try FolderLock(trying: path))
    second.release()
  }

  @Test func `A lock that is given back is free, whoever was being started meanwhile`() throws {
    _ = try scratch.open()
    let path = scratch.path + "/lock"
    let lock = try #require(try FolderLock(trying: path))
    // What a fork copies, before the new program runs.
    let descriptor = try #require(
      (0..<1_024).first { number in
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")) == path
      })
    let copy = dup(Int32(descriptor))
    defer { close(copy) }
    lock.release()
    let next = try #require(try FolderLock(trying: path))
    next.release()
  }

  @Test func `A session is shared through the folder`() async throws {
    let clock = ManualClock()
    let gateway = PlayedGateway(clock: clock.clock)
    let state = try scratch.open()
    #expect(try await gateway.client(state).devices().get().isEmpty)
    #expect(try await gateway.client(scratch.open()).devices().get().isEmpty)
    #expect(gateway.count("POST /v1/host/challenge") == 1)
    try scratch.write("session.json", "{broken")
    #expect(try await gateway.client(state).devices().get().isEmpty)
    #expect(gateway.count("POST /v1/host/challenge") == 2)
  }

  /// Clients of one host that share the folder, each with what a process has of its own.
  private func processes(_ count: Int, of gateway: PlayedGateway) throws -> [GatewayClient] {
    try (0..<count).map { _ in gateway.client(try scratch.open()) }
  }

  @Test func `Processes that need a session at once make one proof, and none loses its call`() async throws {
    let gateway = PlayedGateway(clock: ManualClock().clock)
    for round in 1...10 {
      // The first time there is none; then the one that is kept was ended by somebody else.
      gateway.endSessions()
      gateway.hold()
      let first = gateway.routes.count
      let calls = try processes(8, of: gateway).map { client in Task { await client.devices() } }
      await gateway.calls(first + 1)
      gateway.release()
      for call in calls { #expect(try await call.value.get().isEmpty) }
      #expect(gateway.count("POST /v1/host/session") == round)
    }
  }

  @Test func `Examining ends no session that another process is about to get`() async throws {
    let gateway = PlayedGateway(clock: ManualClock().clock)
    for _ in 1...10 {
      gateway.endSessions()
      let clients = try processes(6, of: gateway)
      async let findings = clients[0].examine()
      let calls = clients.dropFirst().map { client in Task { await client.devices() } }
      for call in calls { #expect(try await call.value.get().isEmpty) }
      #expect(await findings.allSatisfy(\.isWell))
    }
  }

  @Test func `Whoever waits for the turn in vain proves all the same`() async throws {
    let gateway = PlayedGateway(clock: ManualClock().clock)
    let state = try scratch.open()
    let held = try #require(try FolderLock(trying: scratch.path + "/session.lock"))
    #expect(await state.turn(patience: 0) == nil)
    let shelf = Impatient(state: state)
    #expect(try await gateway.client(shelf).devices().get().isEmpty)
    held.release()
    let turn = try #require(await state.turn(patience: 0))
    turn.release()
  }

  @Test func `A list of phones that is damaged is told as such, until a phone registers`() async throws {
    let gateway = PlayedGateway(clock: ManualClock().clock)
    try scratch.write("phones.json", "{broken")
    let state = try scratch.open()
    let phones = Registrations(gateway: gateway.client(), state: state, clock: ManualClock().clock)
    let fault = await phones.all().failure
    #expect(fault?.description == "\(scratch.path)/phones.json: is damaged: register the phones again")
    let token = PhoneToken.android(String(repeating: "a", count: 40))
    _ = await phones.register(deviceId: "d", RegistrationParameters(token: token))
    #expect(try await phones.all().get().map(\.deviceId) == ["d"])
  }
}

/// A folder whose turn is not waited for.
private struct Impatient: SessionShelf {
  let state: StateFolder

  func session() async -> HostSession? { await state.session() }
  func keep(_ session: HostSession) async { await state.keep(session) }
  func turn() async -> FolderLock? { await state.turn(patience: 0) }
}
