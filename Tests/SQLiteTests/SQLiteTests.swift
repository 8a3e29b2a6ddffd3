import Foundation
import Glibc
import Loop
import SQLite
import Testing

@Suite("SQLite", .timeLimit(.minutes(1)))
struct SQLiteTests {
  @Test("Values come back as they went")
  func roundTrip() throws {
    try withFolder { folder in
      let file = try SQLiteFile(path: folder + "/a.db")
      let values: [SQLiteValue] = [
        .null, .integer(.min), .integer(.max), .text(""), .text("é\u{301}𝄞'"), .blob([]), .blob([0, 1, 255]),
      ]
      let row = try #require(try file.run("select ?, ?, ?, ?, ?, ?, ?", values).first)
      #expect(row.isNull(0))
      #expect(try row.optionalText(0) == nil)
      #expect(try row.optionalInteger(0) == nil)
      #expect(try row.optionalBlob(0) == nil)
      #expect(try row.integer(1) == .min)
      #expect(try row.integer(2) == .max)
      #expect(try row.text(3) == "")
      #expect(try Array(row.text(4).utf8) == Array("é\u{301}𝄞'".utf8))
      #expect(try row.blob(5) == [])
      #expect(try row.blob(6) == [0, 1, 255])
      var seen = 0
      try file.run("select ?, ?, ?, ?, ?, ?, ?", values) { step in
        seen += 1
        let isNull = step.isNull(0)
        #expect(isNull)
        let (large, text, blob) = (try step.integer(2), try step.text(4), try step.blob(6))
        #expect(large == .max && Array(text.utf8) == Array("é\u{301}𝄞'".utf8) && blob == [0, 1, 255])
        let (none, empty) = (try step.optionalBlob(0), try step.optionalBlob(5))
        #expect(none == nil && empty == [])
      }
      #expect(seen == 1)
    }
  }

  @Test("A wrong type, column, null or number of values is a fault, not a crash")
  func mismatch() throws {
    try withFolder { folder in
      let file = try SQLiteFile(path: folder + "/a.db")
      let row = try #require(try file.run("select 1, 'x', null").first)
      for read in [
        { _ = try row.text(0) }, { _ = try row.blob(1) }, { _ = try row.integer(1) }, { _ = try row.integer(2) },
        { _ = try row.optionalText(3) }, { _ = try row.text(-1) },
        { try file.run("select 1, 'x', null") { _ = try $0.text(0) } },
        { try file.run("select 1, 'x', null") { _ = try $0.integer(2) } },
        { try file.run("select 1, 'x', null") { _ = try $0.optionalInteger(7) } },
      ] as [() throws -> Void] {
        #expect { try read() } throws: { if case .other(20, _)? = $0 as? SQLiteFailure { true } else { false } }
      }
      #expect(throws: SQLiteFailure.self) { try file.run("select ?", []) }
      #expect(throws: SQLiteFailure.self) { try file.run("select nonsense from nowhere") }
      #expect(throws: SQLiteFailure.self) { try file.run("") }
      // What failed before can be run again.
      #expect(try file.run("select ?", [.integer(3)]).first?.integer(0) == 3)
    }
  }

  @Test("A transaction is whole: kept when it returns, undone when it throws")
  func transaction() throws {
    struct Change: Error {}
    try withFolder { folder in
      let file = try SQLiteFile(path: folder + "/a.db")
      try file.script("create table t (n integer primary key, s text not null); create index i on t (s)")
      let kept = try file.transaction {
        try file.run("insert into t values (1, 'a'), (2, 'b')")
        return file.changes
      }
      #expect(kept == 2)
      #expect(throws: Change.self) {
        try file.transaction {
          try file.run("delete from t")
          throw Change()
        }
      }
      #expect {
        try file.transaction {
          try file.run("insert into t values (3, 'c')")
          try file.run("insert into t values (1, 'again')")
        }
      } throws: {
        if case .constraint? = $0 as? SQLiteFailure { true } else { false }
      }
      #expect(try file.run("select count(*) from t").first?.integer(0) == 2)
      try file.transaction { try file.run("insert into t values (4, 'd')") }
      let reader = try SQLiteFile(path: folder + "/a.db", readOnly: true)
      #expect(try reader.run("select count(*) from t").first?.integer(0) == 3)
      #expect(throws: SQLiteFailure.readOnly) { try reader.run("delete from t") }
    }
  }

  @Test("A file that another holds is busy, once the time-out has passed")
  func busy() throws {
    try withFolder { folder in
      let first = try SQLiteFile(path: folder + "/a.db")
      try first.script("create table t (n integer)")
      let second = try SQLiteFile(path: folder + "/a.db", busyMilliseconds: 100)
      try first.transaction {
        try first.run("insert into t values (1)")
        let start = Monotonic.now
        #expect(throws: SQLiteFailure.busy) { try second.transaction { try second.run("insert into t values (2)") } }
        #expect(Monotonic.now.milliseconds(since: start) >= 100)
        // Readers are not held up, and see what was committed.
        #expect(try second.run("select count(*) from t").first?.integer(0) == 0)
      }
      try second.transaction { try second.run("insert into t values (2)") }
      #expect(try first.run("select count(*) from t").first?.integer(0) == 2)
    }
  }

  @Test("Who waits for the lock has it before whoever lets go of it has it again")
  func turns() async throws {
    let folder = try makeFolder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let path = folder + "/a.db"
    try SQLiteFile(path: path).script("create table t (n integer primary key, who text not null)")
    let (begun, first) = AsyncStream.makeStream(of: Void.self)
    let one = Task {
      try await BlockingCalls(name: "first").run {
        let file = try SQLiteFile(path: path, courtesyMilliseconds: 30_000)
        let turn = try #require(TurnFile(path: path + "-turn"))
        try file.transaction {
          try file.run("insert into t (who) values ('first')")
          first.finish()
          // Until the other is next.
          while turn.join(milliseconds: 0) {
            turn.leave()
            sched_yield()
          }
        }
        try file.transaction { try file.run("insert into t (who) values ('first again')") }
      }
    }
    for await _ in begun {}
    try await BlockingCalls(name: "second").run {
      let file = try SQLiteFile(path: path, busyMilliseconds: 30_000, courtesyMilliseconds: 30_000)
      try file.transaction { try file.run("insert into t (who) values ('second')") }
    }
    try await one.value
    let rows = try SQLiteFile(path: path).run("select who from t order by n")
    #expect(try rows.map { try $0.text(0) } == ["first", "second", "first again"])
  }

  @Test("One that is held up while it is next keeps the others for a moment only")
  func heldUp() throws {
    try withFolder { folder in
      let file = try SQLiteFile(path: folder + "/a.db")
      try file.script("create table t (n integer)")
      let turn = try #require(TurnFile(path: folder + "/a.db-turn"))
      #expect(turn.join(milliseconds: 0))
      try file.transaction { try file.run("insert into t values (1)") }
      #expect(try file.run("select count(*) from t").first?.integer(0) == 1)
    }
  }

  @Test("A log grown long is moved into the file, whoever writes")
  func longLog() throws {
    try withFolder { folder in
      let file = try SQLiteFile(path: folder + "/a.db")
      try file.script("create table t (b blob)")
      for _ in 0..<40 {
        try file.transaction { try file.run("insert into t values (zeroblob(200000))") }
      }
      var status = stat()
      #expect(stat(folder + "/a.db-wal", &status) == 0)
      #expect(status.st_size < 6_000_000)
      #expect(stat(folder + "/a.db", &status) == 0)
      #expect(status.st_size > 4_000_000)
    }
  }

  @Test("Several that open and write one file at the same time lose nothing")
  func writers() async throws {
    let folder = try makeFolder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let writers = (0..<4).map { n in
      Task {
        try await BlockingCalls(name: "writer").run {
          let file = try SQLiteFile(path: folder + "/a.db", busyMilliseconds: 30_000)
          try file.script("create table if not exists t (writer integer, n integer)")
          for k in 0..<25 {
            try file.transaction {
              let next = try file.run("select count(*) from t").first?.integer(0) ?? -1
              try file.run("insert into t values (?, ?)", [.integer(Int64(n * 100 + k)), .integer(next)])
            }
          }
        }
      }
    }
    for writer in writers { try await writer.value }
    let rows = try SQLiteFile(path: folder + "/a.db").run("select n from t order by n")
    let numbers = try rows.map { try $0.integer(0) }
    #expect(numbers == Array(0..<100))
  }

  @Test("Processes that open and write one file at the same time lose nothing")
  func processes() async throws {
    let folder = try makeFolder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    async let first: Void = writeInProcess(folder)
    async let second: Void = writeInProcess(folder)
    _ = await (first, second)
    let rows = try SQLiteFile(path: folder + "/a.db").run("select n from t order by n")
    let numbers = try rows.map { try $0.integer(0) }
    #expect(numbers == Array(0..<50))
  }

  private func writeInProcess(_ folder: String) async {
    await #expect(processExitsWith: .success) { [folder = folder as String] in
      let file = try SQLiteFile(path: folder + "/a.db", busyMilliseconds: 30_000)
      try file.script("create table if not exists t (n integer)")
      for _ in 0..<25 {
        try file.transaction {
          let next = try file.run("select count(*) from t").first?.integer(0) ?? -1
          try file.run("insert into t values (?)", [.integer(next)])
        }
      }
    }
  }

  @Test("The file and its log are for their owner alone, and keep what was committed")
  func modes() throws {
    try withFolder { folder in
      let file = try SQLiteFile(path: folder + "/a.db")
      try file.script("create table t (n integer)")
      for name in ["a.db", "a.db-wal", "a.db-shm"] {
        var status = stat()
        #expect(stat(folder + "/" + name, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
      }
      #expect(try file.run("pragma journal_mode").first?.text(0) == "wal")
      #expect(try file.run("pragma synchronous").first?.integer(0) == 2)
    }
  }

  @Test("A file that cannot be opened says why")
  func refusals() throws {
    try withFolder { folder in
      let reason = { (failure: any Error) in
        if case .cannotOpen(let text)? = failure as? SQLiteFailure { text } else { "" }
      }
      #expect { try SQLiteFile(path: folder + "/no/a.db") } throws: { reason($0).contains("No such file") }
      #expect { try SQLiteFile(path: folder + "/no.db", readOnly: true) } throws: { reason($0).contains("no.db") }
      #expect { try SQLiteFile(path: folder) } throws: { !reason($0).isEmpty }
      try String(repeating: "no database ", count: 1_000).write(
        toFile: folder + "/text.db", atomically: false, encoding: .utf8)
      #expect { try SQLiteFile(path: folder + "/text.db") } throws: {
        if case .corrupt(let text)? = $0 as? SQLiteFailure { text.contains("text.db") } else { false }
      }
    }
  }

  @Test("A folder or file that must not be written is said to be read-only")
  func readOnly() async throws {
    let folder = try makeFolder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    chmod(folder, 0o555)
    await BlockingCalls(name: "nobody").run {
      // The superuser may write anywhere, unless this thread looks at files as somebody else.
      let identity = FileIdentity(asNobody: geteuid() == 0)
      defer { identity.restore() }
      #expect(throws: SQLiteFailure.readOnly) { try SQLiteFile(path: folder + "/a.db") }
    }
    chmod(folder, 0o755)
    try SQLiteFile(path: folder + "/b.db").script("create table t (n integer)")
    chmod(folder + "/b.db", 0o444)
    await BlockingCalls(name: "nobody").run {
      let identity = FileIdentity(asNobody: geteuid() == 0)
      defer { identity.restore() }
      #expect(throws: SQLiteFailure.readOnly) { try SQLiteFile(path: folder + "/b.db") }
    }
  }

  @Test("A full disk is said to be full, and the transaction is undone")
  func full() throws {
    try withFolder { folder in
      let file = try SQLiteFile(path: folder + "/a.db")
      try file.script("create table t (b blob); pragma max_page_count = 20")
      let blob = [UInt8](repeating: 1, count: 50_000)
      #expect(throws: SQLiteFailure.full) {
        try file.transaction { for _ in 0..<10 { try file.run("insert into t values (?)", [.blob(blob)]) } }
      }
      #expect(try file.run("select count(*) from t").first?.integer(0) == 0)
      try file.transaction { try file.run("insert into t values (?)", [.blob([1])]) }
    }
  }

  @Test("A row's visitor may stop early, and the statement runs again")
  func stopEarly() throws {
    struct Enough: Error {}
    try withFolder { folder in
      let file = try SQLiteFile(path: folder + "/a.db")
      for _ in 0..<2 {
        var sum: Int64 = 0
        #expect(throws: Enough.self) {
          try file.run("with recursive c(n) as (select 1 union all select n + 1 from c limit 1000) select n from c") {
            sum += try $0.integer(0)
            if sum > 10 { throw Enough() }
          }
        }
        #expect(sum == 15)
      }
    }
  }
}

/// The identity that this thread shows to the file system.
private struct FileIdentity {
  private typealias Set = @convention(c) (UInt32) -> Int32
  private let changes: Set?

  init(asNobody: Bool) {
    changes = asNobody ? dlsym(nil, "setfsuid").map { unsafeBitCast($0, to: Set.self) } : nil
    _ = changes?(65_534)
  }
  func restore() { _ = changes?(0) }
}

private func makeFolder() throws -> String {
  let folder = "/tmp/push-test-sqlite-\(getpid())-\(UInt64.random(in: 0 ... .max))"
  try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
  return folder
}

private func withFolder(_ body: (String) throws -> Void) throws {
  let folder = try makeFolder()
  defer { try? FileManager.default.removeItem(atPath: folder) }
  try body(folder)
}
