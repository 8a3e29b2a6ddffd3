import Loop
import Postgres
import Support
import Testing

@Suite("Values", .timeLimit(.minutes(1)))
struct ValueTests {
  @Test("Scalars come back as they went")
  func scalars() async throws {
    let statement = PostgresStatement("select $1, $2, $3, $4, $5, $6, $7, $8")
    let uuid = [UInt8](0..<16)
    try await withPool { pool, _ in
      for (small, medium, large) in [(Int16.min, Int32.min, Int64.min), (0, 0, 0), (.max, .max, .max), (-1, -1, -1)] {
        let rows = try await pool.run(
          statement,
          [
            .bool(small < 0), .int2(small), .int4(medium), .int8(large), .text("a\u{0}".dropLast() + "é\u{301}𝄞\n'"),
            .bytes([0, 1, 255]), .uuid(uuid), .text(""),
          ])
        #expect(rows.count == 1)
        #expect(try rows.bool(0, 0) == (small < 0))
        #expect(try rows.int2(0, 1) == small)
        #expect(try rows.int4(0, 2) == medium)
        #expect(try rows.int8(0, 3) == large)
        #expect(try Array(rows.text(0, 4).utf8) == Array("aé\u{301}𝄞\n'".utf8))
        #expect(try rows.bytes(0, 5) == [0, 1, 255])
        #expect(try rows.uuid(0, 6) == uuid)
        #expect(try rows.text(0, 7) == "")
      }
    }
  }

  @Test("Arrays come back as they went, empty ones and those with nulls too")
  func arrays() async throws {
    let statement = PostgresStatement("select $1, $2, $3, $4, $5, $6, $7, $8")
    let uuid = [UInt8](1...16)
    try await withPool { pool, _ in
      for size in [0, 1, 3, 1_000] {
        let numbers = (0..<size).map { $0 * 7 - 3 }
        let texts: [String?] = (0..<size).map { $0 % 3 == 1 ? nil : $0 % 3 == 2 ? "" : "{\"\($0),é}" }
        let blobs: [[UInt8]?] = (0..<size).map { $0 % 2 == 1 ? nil : [UInt8](repeating: 9, count: $0 % 5) }
        let uuids: [[UInt8]?] = (0..<size).map { $0 % 2 == 1 ? nil : uuid }
        let sparse: [Int64?] = numbers.map { $0 % 2 == 0 ? nil : Int64($0) }
        let rows = try await pool.run(
          statement,
          [
            .bools(numbers.map { $0 % 2 == 0 }), .int2s(numbers.map(Int16.init)), .int4s(numbers.map(Int32.init)),
            .int8s(numbers.map(Int64.init)), .texts(texts), .bytesArray(blobs), .uuids(uuids), .optionalInt8s(sparse),
          ])
        #expect(try rows.boolArray(0, 0) == numbers.map { $0 % 2 == 0 })
        #expect(try rows.int2Array(0, 1) == numbers.map(Int16.init))
        #expect(try rows.int4Array(0, 2) == numbers.map(Int32.init))
        #expect(try rows.int8Array(0, 3) == numbers.map(Int64.init))
        #expect(try rows.textArray(0, 4) == texts)
        #expect(try rows.bytesArray(0, 5) == blobs)
        #expect(try rows.uuidArray(0, 6) == uuids)
        #expect(try rows.optionalInt8Array(0, 7) == sparse)
      }
    }
  }

  @Test("unnest sees the same elements as were sent")
  func unnest() async throws {
    try await withPool { pool, _ in
      let rows = try await pool.run(
        PostgresStatement("select n, t from unnest($1, $2) with ordinality as x(n, t, place) order by place"),
        [.int8s([3, 1, 2]), .texts(["c", nil, "b"])])
      let numbers = try (0..<rows.count).map { try rows.int8($0, 0) }
      #expect(numbers == [3, 1, 2])
      let texts = try (0..<rows.count).map { try rows.optionalText($0, 1) }
      #expect(texts == ["c", nil, "b"])
    }
  }

  @Test("A null is nil to who expects one, a fault to who does not")
  func nulls() async throws {
    try await withPool { pool, _ in
      let rows = try await pool.run(
        PostgresStatement("select $1::bigint, $2::text, null::bytea, null::uuid, null::bool, null::bigint[]"),
        [.null, .null])
      #expect((0..<6).allSatisfy { rows.isNull(0, $0) })
      #expect(try rows.optionalInt8(0, 0) == nil)
      #expect(try rows.optionalText(0, 1) == nil)
      #expect(try rows.optionalBytes(0, 2) == nil)
      #expect(try rows.optionalUuid(0, 3) == nil)
      #expect(try rows.optionalBool(0, 4) == nil)
      #expect(throws: PostgresFailure.database(sqlState: "22004", message: "column 0 is null")) { try rows.int8(0, 0) }
      #expect(throws: PostgresFailure.database(sqlState: "22004", message: "column 5 is null")) {
        try rows.int8Array(0, 5)
      }
    }
  }

  @Test(
    "A null and a value for the same parameter of one statement both work, in either order", arguments: [true, false])
  func nullThenValue(nullFirst: Bool) async throws {
    let statement = PostgresStatement("select coalesce($1, 7::bigint)")
    try await withPool(maximum: 1) { pool, _ in
      for isNull in [nullFirst, !nullFirst, nullFirst] {
        let found = try await pool.run(statement, [isNull ? .null : .int8(1)]).int8(0, 0)
        #expect(found == (isNull ? 7 : 1))
      }
    }
  }

  @Test("A wrong type, row or column is a fault, not a crash")
  func mismatch() async throws {
    try await withPool { pool, _ in
      let rows = try await pool.run(PostgresStatement("select 1::int4, 'x'::text, array[[1,2],[3,4]]::bigint[]"))
      for read in [
        { _ = try rows.int8(0, 0) }, { _ = try rows.text(0, 0) }, { _ = try rows.bytes(0, 1) },
        { _ = try rows.int4(1, 0) },
        { _ = try rows.int4(0, 3) }, { _ = try rows.int4(-1, 0) }, { _ = try rows.int8Array(0, 2) },
        { _ = try rows.int4Array(0, 0) },
      ] as [() throws -> Void] {
        #expect { try read() } throws: { ($0 as? PostgresFailure)?.sqlState == "42804" }
      }
      #expect(rows.isNull(5, 5))
    }
  }

  @Test(
    "What the server or the driver cannot take is refused, and spoils nothing",
    arguments: [
      (.text("a\u{0}b"), "22021"), (.uuid([1, 2, 3]), "22P03"), (.uuids([[1]]), "22P03"),
    ] as [(PostgresValue, String)])
  func refused(value: PostgresValue, sqlState: String) async throws {
    try await withPool(maximum: 1) { pool, _ in
      let outcome = await pool.runAll(PostgresStatement("select $1"), [[.int8(1)], [value], [.int8(2)]])
      let first = try outcome[0].rows().int8(0, 0)
      #expect(first == 1)
      #expect { try outcome[1].rows() } throws: { ($0 as? PostgresFailure)?.sqlState == sqlState }
      let third = try outcome[2].rows().int8(0, 0)
      #expect(third == 2)
    }
  }

  @Test("Changed rows are counted")
  func affected() async throws {
    try await withPool { pool, _ in
      try await pool.script("create table t (n bigint)")
      #expect(
        try await pool.run(PostgresStatement("insert into t select unnest($1)"), [.int8s([1, 2, 3])]).affected == 3)
      #expect(try await pool.run(PostgresStatement("delete from t where n > $1"), [.int8(1)]).affected == 2)
      #expect(try await pool.run(PostgresStatement("select n from t")).affected == 1)
    }
  }
}
