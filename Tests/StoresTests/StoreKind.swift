import Foundation
import Loop
import Postgres
import Support

@testable import Stores

/// The databases that a store may be kept in; every rule is tested on each.
enum StoreKind: String, CaseIterable, Sendable {
  case postgres, sqlite

  /// Runs `body` on an empty store of its own, which is gone afterwards whatever happens.
  func use<T>(_ body: (StoreUnderTest) async throws -> T) async throws -> T {
    try await Turnstile.shared.pass { try await useAtOnce(body) }
  }

  /// The same for whoever is at a store already: waiting for a place while holding one could go on for ever.
  func useAtOnce<T>(_ body: (StoreUnderTest) async throws -> T) async throws -> T {
    let clock = HandClock()
    switch self {
    case .sqlite: return try await useSQLite(clock, body)
    case .postgres: return try await ScratchDatabase.use { try await usePostgres($0, clock, body) }
    }
  }

  private func useSQLite<T>(_ clock: HandClock, _ body: (StoreUnderTest) async throws -> T) async throws -> T {
    let directory = FileManager.default.temporaryDirectory.appending(path: "stores-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let open: @Sendable () async throws -> any Store = {
      let store = try await SQLiteStore(directory: directory, clock: { clock.now })
      _ = try await store.migrate()
      return store
    }
    return try await body(
      StoreUnderTest(store: try await open(), second: try await open(), clock: clock, open: open, setClock: { _ in }))
  }

  func usePostgres<T>(
    _ database: ScratchDatabase, _ clock: HandClock, _ body: (StoreUnderTest) async throws -> T
  ) async throws -> T {
    let pool = await PostgresPool(database.url, maximum: 1, applicationName: "clock", limits: .patient) { _ in }
    let stores = Locked<[PostgresStore]>([])
    let open: @Sendable () async throws -> any Store = {
      let store = await PostgresStore(url: database.url, maximum: 3, limits: .patient)
      stores.withLock { $0.append(store) }
      return store
    }
    let store = try await open()
    _ = try await store.migrate()
    try await pool.script(
      """
      create table test_clock (ms bigint not null);
      insert into test_clock values (\(clock.now));
      create or replace function push_now_ms() returns bigint language sql volatile as $$ select ms from test_clock $$;
      """)
    let under = StoreUnderTest(
      store: store, second: try await open(), clock: clock, open: open,
      setClock: { now in try await pool.script("update test_clock set ms = \(now)") })
    func close() async {
      for store in stores.withLock({ $0 }) { await store.close() }
      await pool.close()
    }
    do {
      let result = try await body(under)
      await close()
      return result
    } catch {
      await close()
      throw error
    }
  }
}

/// A clock that stands until it is moved, in Unix ms.
final class HandClock: Sendable {
  private let milliseconds = Locked<Int64>(1_750_000_000_000)

  var now: Int64 { milliseconds.withLock { $0 } }

  /// Moves the clock and returns where it stands.
  func move(_ by: Int64) -> Int64 {
    milliseconds.withLock {
      $0 += by
      return $0
    }
  }
}

/// Lets few tests at a database at once: they all start together, and connections and threads are not endless.
private actor Turnstile {
  static let shared = Turnstile()

  private var free = 6
  private var waiters: [CheckedContinuation<Void, Never>] = []

  nonisolated func pass<T>(_ body: () async throws -> T) async throws -> T {
    await enter()
    do {
      let result = try await body()
      await leave()
      return result
    } catch {
      await leave()
      throw error
    }
  }

  private func enter() async {
    // Looked at inside: a task may let others run on its way into a continuation.
    await withCheckedContinuation { waiter in
      if free > 0 {
        free -= 1
        waiter.resume()
      } else {
        waiters.append(waiter)
      }
    }
  }

  private func leave() {
    if waiters.isEmpty { free += 1 } else { waiters.removeFirst().resume() }
  }
}
