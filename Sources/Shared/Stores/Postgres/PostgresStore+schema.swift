internal import Postgres

extension PostgresStore {
  private static let isThere = PostgresStatement("select to_regclass('push_schema') is not null")
  /// The newest step's number, and the oldest build that it serves. Read as JSON, since the column is younger than the table.
  private static let newest = PostgresStatement(
    """
    select coalesce(max(number), 0)::int8, coalesce((
      select (to_jsonb(s) ->> 'serves')::int8 from push_schema s order by number desc limit 1), max(number), 0)::int8
    from push_schema
    """)
  /// What a step says that another migration took first.
  private static let takenState = "PS001"
  private static let isReadOnly = PostgresStatement("select current_setting('transaction_read_only')::bool")
  /// More than most calls write, and nothing that can be compressed, in a row that a sweep would take should it be left.
  private static let fill = PostgresStatement(
    """
    insert into push_challenges (challenge_id, host_fingerprint, proof_digest, expires_at)
      select '', '', decode(string_agg(md5(random()::text), ''), 'hex'), 0 from generate_series(1, 16384)
      on conflict (challenge_id) do update set proof_digest = excluded.proof_digest
    """)
  private static let clear = PostgresStatement("delete from push_challenges where challenge_id = ''")

  package func schemaVersion() async throws(StoreFailure) -> Int {
    let isThere = try await run(Self.isThere) { rows throws(PostgresFailure) in try rows.bool(0, 0) }
    if !isThere { return 0 }
    return try await run(Self.newest) { rows throws(PostgresFailure) in
      let (newest, serves) = (Int(try rows.int8(0, 0)), Int(try rows.int8(0, 1)))
      // A newer schema that serves this build is as good as its own.
      return newest > Schema.version && serves <= Schema.version ? Schema.version : newest
    }
  }

  package func migrate() async throws(StoreFailure) -> [Int] {
    let before = try await schemaVersion()
    if let mismatch = Schema.mismatch(found: before), before > Schema.version { throw .refused(mismatch) }
    var taken: [Int] = []
    for step in PostgresSteps.all where step.number > before {
      // One transaction a step, under a lock that a second migration waits for; what that one then finds done, it leaves.
      let body = """
        begin;
        select pg_advisory_xact_lock(7707);
        create table if not exists push_schema (
          number int primary key, applied_at timestamptz not null default clock_timestamp());
        alter table push_schema add column if not exists serves int;
        do $step$ begin
          if exists (select 1 from push_schema where number = \(step.number)) then
            raise exception 'taken' using errcode = '\(Self.takenState)';
          end if;
          execute $sql$ \(step.sql) $sql$;
          insert into push_schema (number, serves) values (\(step.number), \(min(step.number, Schema.serves)));
        end $step$;
        commit;
        """
      do {
        try await pool.script(body)
        taken.append(step.number)
      } catch .database(sqlState: Self.takenState, message: _) {
        continue
      } catch {
        throw StoreFailure(error)
      }
    }
    return taken
  }

  package func ping() async throws(StoreFailure) {
    if try await run(Self.isReadOnly, [], { rows throws(PostgresFailure) in try rows.bool(0, 0) }) {
      throw .unavailable(StoreFailure.readOnly)
    }
    guard isFull else { return }
    for statement in [Self.fill, Self.clear] { try await run(statement) { _ throws(PostgresFailure) in } }
    isFull = false
  }
}
