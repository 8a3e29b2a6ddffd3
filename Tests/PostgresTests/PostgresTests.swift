import Loop
import Postgres
import Support
import Testing

@Suite("Postgres")
struct PostgresTests {
  @Test("A statement runs")
  func run() async throws {
    try await ScratchDatabase.use { database in
      let pool = await PostgresPool(database.url, maximum: 2, applicationName: "t") { print($0) }
      let rows = try await pool.run(PostgresStatement("select $1 + 1, $2"), [.int8(41), .text("x")])
      #expect(try rows.int8(0, 0) == 42)
      #expect(try rows.text(0, 1) == "x")
      await pool.close()
    }
  }
}
