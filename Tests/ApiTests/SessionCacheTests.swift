import Contract
import Keys
import Loop
import Stores
import Support
import Testing

@testable import api

/// Rulings 2.4, against a database that the test plays.
@Suite struct SessionCacheTests {
  /// Answers look-ups; its clock stands until it is moved.
  @LoopActor
  final class Desk {
    var now = Monotonic(nanoseconds: 1_000_000_000)
    let lookUps = Occurrences()
    var asked: Int { lookUps.count }
    var answer: Result<SessionStanding, Problem>
    /// Look-ups wait here while the desk is closed.
    var isClosed = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    init(_ answer: SessionStanding) { self.answer = .success(answer) }

    lazy var cache = SessionCache(clock: { self.now }) { digests throws(Problem) in
      let standing = try await self.lookUp()
      return digests.map { _ in standing }
    }

    /// One statement, however many it asks about.
    private func lookUp() async throws(Problem) -> SessionStanding {
      lookUps.add()
      let answer = answer
      // Looked at inside: a task may let others run on its way into a continuation.
      await withCheckedContinuation { waiter in if isClosed { waiters.append(waiter) } else { waiter.resume() } }
      return try answer.get()
    }

    func open() {
      isClosed = false
      for waiter in waiters { waiter.resume() }
      waiters = []
    }

    /// Asks on the loop, in the order of the calls; what comes of it, as text.
    func ask(_ token: String) -> Task<String, Never> { EventLoop.shared.start { await self.standing(of: token) } }

    private func standing(of token: String) async -> String {
      do throws(Problem) {
        switch try await cache.standing(of: token) {
        case .active: return "active"
        case .expired: return "expired"
        case .unknown: return "unknown"
        }
      } catch {
        return error.code.rawValue
      }
    }

    func move(_ milliseconds: Int) { now = now.advanced(milliseconds: milliseconds) }
  }

  @LoopActor
  private static func host(_ number: Int64 = 1) throws -> Host {
    let text = String(Base64Url.encode(Sha256.digest("\(number)")).prefix(16))
    return Host(number: number, fingerprint: try #require(HostFingerprint(text)))
  }

  @Test @LoopActor func `A good answer is believed for 5 s from when it was asked for`() async throws {
    let desk = Desk(.active(try Self.host(), remaining: 1_000_000))
    for (wait, asked) in [(0, 1), (2_999, 1), (2_001, 2), (2_999, 2), (2_001, 3)] {
      desk.move(wait)
      guard case .active = try await desk.cache.standing(of: "t") else { throw Unexpected("not active") }
      #expect(desk.asked == asked)
    }
  }

  @Test @LoopActor func `An end within the 5 s is honoured`() async throws {
    let desk = Desk(.active(try Self.host(), remaining: 700))
    _ = try await desk.cache.standing(of: "t")
    desk.answer = .success(.expired)
    desk.move(699)
    #expect(try await desk.cache.standing(of: "t") != .expired)
    desk.move(1)
    #expect(try await desk.cache.standing(of: "t") == .expired)
  }

  @Test @LoopActor func `Only good answers are kept`() async throws {
    let desk = Desk(.unknown)
    for answer: Result<SessionStanding, Problem> in [
      .success(.unknown), .success(.expired), .failure(.busy("database unavailable")),
    ] {
      desk.answer = answer
      let before = desk.asked
      for _ in 0..<3 { _ = try? await desk.cache.standing(of: "t") }
      #expect(desk.asked == before + 3)
      #expect(desk.cache.count == 0)
    }
  }

  @Test @LoopActor func `Those who ask for one token at once share one look-up`() async throws {
    let desk = Desk(.active(try Self.host(), remaining: 1_000_000))
    desk.isClosed = true
    let tasks = (0..<50).map { _ in desk.ask("t") }
    let other = desk.ask("u")
    await desk.lookUps.reached(2)
    desk.open()
    for task in tasks + [other] { #expect(await task.value == "active") }
    #expect(desk.asked == 2)
  }

  @Test @LoopActor func `A session made here ends the host's earlier one at once, and no other's`() async throws {
    let desk = Desk(.active(try Self.host(1), remaining: 1_000_000))
    _ = try await desk.cache.standing(of: "first")
    desk.answer = .success(.active(try Self.host(2), remaining: 1_000_000))
    _ = try await desk.cache.standing(of: "other")
    desk.cache.forget(try Self.host(1).fingerprint)
    desk.answer = .success(.unknown)
    #expect(try await desk.cache.standing(of: "first") == .unknown)
    #expect(try await desk.cache.standing(of: "other") != .unknown)
  }

  @Test @LoopActor func `An answer that was on its way when a session was made is not kept`() async throws {
    let desk = Desk(.active(try Self.host(), remaining: 1_000_000))
    desk.isClosed = true
    let early = desk.ask("first")
    await desk.lookUps.reached(1)
    desk.cache.forget(try Self.host().fingerprint)
    desk.answer = .success(.unknown)
    let late = desk.ask("first")
    await desk.lookUps.reached(2)
    desk.open()
    #expect(await early.value == "active")
    #expect(await late.value == "unknown")
    #expect(try await desk.cache.standing(of: "first") == .unknown)
  }

  @Test @LoopActor func `No more than 10,000 answers are kept`() async throws {
    let desk = Desk(.active(try Self.host(), remaining: 1_000_000))
    for number in 0..<10_100 { _ = try await desk.cache.standing(of: "\(number)") }
    #expect(desk.cache.count == 10_000)
    #expect(desk.asked == 10_100)
    _ = try await desk.cache.standing(of: "10099")
    #expect(desk.asked == 10_100)
    _ = try await desk.cache.standing(of: "0")
    #expect(desk.asked == 10_101)
    // What has lapsed makes room as others come.
    desk.move(6_000)
    for number in 0..<6_000 { _ = try await desk.cache.standing(of: "new \(number)") }
    #expect(desk.cache.count <= 6_001)
  }

  @Test @LoopActor func `Look-ups beyond 4 and 32 are busy, and those who waited are asked together`() async throws {
    let desk = Desk(.active(try Self.host(), remaining: 1_000_000))
    desk.isClosed = true
    let tasks = (0..<40).map { desk.ask("\($0)") }
    for task in tasks.suffix(4) { #expect(await task.value == "busy") }
    #expect(desk.asked == 4)
    desk.open()
    for task in tasks.prefix(36) { #expect(await task.value == "active") }
    #expect(desk.asked == 5)
    // All are through: there is room again.
    #expect(await desk.ask("late").value == "active")
  }

  @Test @LoopActor func `What is used all the time is asked for anew while it still holds`() async throws {
    let desk = Desk(.active(try Self.host(), remaining: 1_000_000))
    _ = try await desk.cache.standing(of: "t")
    desk.move(SessionCache.life - SessionCache.renewal)
    desk.isClosed = true
    // Answered from what is kept, though the database does not answer.
    for _ in 0..<3 { #expect(try await desk.cache.standing(of: "t") != .unknown) }
    await desk.lookUps.reached(2)
    desk.open()
    while desk.cache.underWay > 0 { await Task.yield() }
    desk.move(SessionCache.renewal)
    desk.isClosed = true
    // Beyond the first answer's 5 s.
    #expect(try await desk.cache.standing(of: "t") != .unknown)
    #expect(desk.asked == 2)
    desk.open()
  }

  @Test @LoopActor func `A session that turns out to have ended is no longer believed at once`() async throws {
    let desk = Desk(.active(try Self.host(), remaining: 1_000_000))
    _ = try await desk.cache.standing(of: "t")
    desk.move(SessionCache.life - 1)
    desk.answer = .success(.unknown)
    #expect(try await desk.cache.standing(of: "t") != .unknown)
    await desk.lookUps.reached(2)
    while desk.cache.underWay > 0 { await Task.yield() }
    #expect(desk.cache.count == 0)
    #expect(try await desk.cache.standing(of: "t") == .unknown)
  }
}
