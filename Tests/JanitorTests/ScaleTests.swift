import Http
import Json
import Loop
import Operations
import Testing

@testable import Stores
@testable import janitor

@Suite("janitor scale against Cloud Run's Admin API")
@LoopActor
struct ScaleTests {
  private func round(
    _ run: CloudRun, depth: Int = 0, oldestDue: Int64 = 0, environment: [String: String] = [:]
  ) async throws {
    let configuration = try ScaleConfiguration(environment: run.environment.merging(environment) { $1 })
    let queue = QueueDepth(deliveries: .init(depth), oldestDue: .init(oldestDue))
    try await Scale(configuration, Log(program: "janitor", minimum: .critical)) { () throws(StoreFailure) in queue }
      .run()
  }

  @Test("A deep queue raises the count, in one request that changes nothing else")
  func raises() async throws {
    let run = try CloudRun(instances: 2)
    defer { run.stop() }
    try await round(run, depth: 401)
    #expect(run.instances == 5)
    let change = try #require(run.changes.first)
    #expect(run.changes.count == 1)
    #expect(Set(change.object?.members.map(\.0) ?? []) == ["name", "etag", "scaling"])
  }

  @Test("What fits is left alone; a pool that states no count has one")
  func leaves() async throws {
    let run = try CloudRun(instances: 2)
    defer { run.stop() }
    try await round(run, depth: 150)
    #expect(run.changes.isEmpty)
    run.instances = nil
    try await round(run, depth: 150)
    #expect(run.instances == 2, "1 is below the bounds")
  }

  @Test("A quiet queue takes one worker away, five minutes after the last change")
  func lowers() async throws {
    let run = try CloudRun(instances: 6)
    defer { run.stop() }
    run.updateTime = "2999-01-01T00:00:00Z"
    try await round(run)
    #expect(run.changes.isEmpty)
    run.updateTime = "2020-01-01T00:00:00Z"
    try await round(run)
    #expect(run.instances == 5)
  }

  @Test("Of two that change it at once, one is refused and nothing is overwritten")
  func contested() async throws {
    let run = try CloudRun(instances: 2)
    defer { run.stop() }
    run.isContested = true
    await #expect(
      throws: ProgramFailure(
        .unavailable, "the pool's count is left as it is: Cloud Run's Admin API answers 409 ABORTED")
    ) {
      try await round(run, depth: 401)
    }
    #expect(run.instances == 2)
  }

  @Test(
    "Refusals are told in Google's word, without its message",
    arguments: [(403, "PERMISSION_DENIED"), (404, "NOT_FOUND"), (503, "UNAVAILABLE")])
  func refused(status: Int, word: String) async throws {
    let run = try CloudRun(instances: 2)
    defer { run.stop() }
    run.refusal = (status, word)
    await #expect(
      throws: ProgramFailure(
        .unavailable, "the pool's count is left as it is: Cloud Run's Admin API answers \(status) \(word)")
    ) {
      try await round(run, depth: 401)
    }
  }

  @Test("Bounds and the pool's name are checked, all at once")
  func configuration() {
    let faults = #expect(throws: ConfigurationFaults.self) {
      try ScaleConfiguration(environment: [
        "ORCA_PUSH_SCALE_POOL": "projects/p/../w", "ORCA_PUSH_SCALE_MIN": "9", "ORCA_PUSH_SCALE_MAX": "3",
        "ORCA_PUSH_SCALE_DEPTH_EACH": "0",
      ])
    }
    let text = faults.map { "\($0)" } ?? ""
    for name in ["ORCA_PUSH_SCALE_POOL", "ORCA_PUSH_SCALE_MAX", "ORCA_PUSH_SCALE_DEPTH_EACH"] {
      #expect(text.contains(name))
    }
  }
}
