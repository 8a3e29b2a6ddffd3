/// The steps for Postgres, in order; a step that was released is never edited.
enum PostgresSteps {
  static let all: [(number: Int, sql: String)] = [
    (
      1,
      tables + clock + sessionFunctions + deviceFunctions + admitFunction + claimFunctions + settleFunctions
        + sweepFunctions
    ),
    (2, recordStep),
    (3, disownStep),
    (4, claimStep),
    (5, groupStep),
    (6, pagesStep),
    (7, vacuumStep),
    (8, looksStep + floorStep),
    (9, routesStep + spaceStep),
  ]

  /// Times are Unix ms by the database's clock. Wide columns first, so that rows have no padding.
  private static let tables = """
    create table push_hosts (
      host_no bigint generated always as identity primary key,
      fingerprint text collate "C" not null unique);

    create table push_challenges (
      expires_at bigint not null,
      consumed_at bigint,
      challenge_id text collate "C" primary key,
      host_fingerprint text collate "C" not null,
      proof_digest bytea not null);
    create index push_challenges_expiry on push_challenges (expires_at);

    -- One session a host: the primary key says so.
    create table push_sessions (
      host_no bigint primary key,
      expires_at bigint not null,
      created_at bigint not null,
      token_digest bytea not null unique);
    create index push_sessions_expiry on push_sessions (expires_at);

    create table push_devices (
      device_no bigint generated always as identity primary key,
      host_no bigint not null,
      registered_at bigint not null,
      created_at bigint not null,
      dead_at bigint,
      route smallint not null,
      is_proven boolean not null default false,
      registration_id text collate "C" not null unique,
      device_id text collate "C" not null,
      token text collate "C" not null,
      unique (host_no, device_id)) with (fillfactor = 80);

    -- Numbers run without gaps within (host, kind): the quota looks 300 back instead of counting.
    create table push_events (
      host_no bigint not null,
      number bigint not null,
      seq bigint not null,
      admitted_at bigint not null,
      expires_at bigint not null,
      -- Where the host stands in the fair order once this event has had its turn.
      next_turn_ms bigint not null,
      event_key uuid not null,
      content_digest uuid not null,
      fence_key uuid,
      kind smallint not null,
      payload bytea,
      primary key (host_no, kind, number)) with (fillfactor = 85);
    create unique index push_events_identity on push_events (host_no, event_key);
    create index push_events_age on push_events (admitted_at);
    create index push_events_payload on push_events (admitted_at) where payload is not null;

    create table push_event_recipients (
      host_no bigint not null,
      number bigint not null,
      device_no bigint not null,
      done_at bigint,
      kind smallint not null,
      outcome smallint,
      detail text,
      primary key (host_no, kind, number, device_no)) with (fillfactor = 85);

    -- The queue: an event's deliveries of one route. visible_at alone says ready (past), leased or waiting (future).
    -- No index holds a column that a claim changes, so that claims stay heap-only.
    create table push_delivery_batches (
      turn bigint not null,
      host_no bigint not null,
      number bigint not null,
      visible_at bigint not null,
      admitted_at bigint not null,
      expires_at bigint not null,
      owner bigint,
      fence integer not null default 0,
      route smallint not null,
      kind smallint not null,
      attempts smallint not null default 0,
      is_silent boolean not null,
      devices bigint[] not null,
      primary key (route, turn))
      with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
        autovacuum_vacuum_cost_delay = 0);
    create index push_delivery_batches_event on push_delivery_batches (host_no, kind, number);
    create sequence push_turn_tie;

    create table push_dismissed_events (
      host_no bigint not null,
      seq bigint not null,
      dismissed_at bigint not null,
      fence_key uuid not null,
      primary key (host_no, fence_key));
    create index push_dismissed_events_age on push_dismissed_events (dismissed_at);

    """

  /// The one clock of everything stored. Tests put their own in its place.
  private static let clock = """
    create function push_now_ms() returns bigint language sql volatile as $$
      select (date_part('epoch', clock_timestamp()) * 1000)::bigint
    $$;

    -- A place in the fair order: a time in ms, made unique.
    create function push_turn(at_ms bigint) returns bigint language sql volatile as $$
      select (at_ms << 20) | (nextval('push_turn_tie') & 1048575)
    $$;

    """

  private static let sessionFunctions = """
    create function push_open_session_v1(p_challenge text, p_token bytea, p_life bigint) returns bigint
    language plpgsql as $$
    declare
      t bigint := push_now_ms();
      f text;
      h bigint;
    begin
      update push_challenges set consumed_at = t
        where challenge_id = p_challenge and consumed_at is null and expires_at >= t
        returning host_fingerprint into f;
      if not found then return null; end if;
      select host_no into h from push_hosts where fingerprint = f;
      if not found then
        insert into push_hosts (fingerprint) values (f) on conflict (fingerprint) do nothing;
        select host_no into h from push_hosts where fingerprint = f;
      end if;
      insert into push_sessions (host_no, expires_at, created_at, token_digest) values (h, t + p_life, t, p_token)
        on conflict (host_no) do update
          set expires_at = excluded.expires_at, created_at = excluded.created_at, token_digest = excluded.token_digest;
      return t + p_life;
    end $$;

    """

  private static let deviceFunctions = """
    create function push_register_v1(p_host bigint, p_device text, p_route smallint, p_token text, p_id text, p_cap int)
    returns text language plpgsql as $$
    declare
      t bigint := push_now_ms();
      r text;
    begin
      perform pg_advisory_xact_lock(p_host);
      update push_devices set
          is_proven = is_proven and token = p_token and route = p_route,
          token = p_token, route = p_route, dead_at = null, registered_at = greatest(t, registered_at + 1)
        where host_no = p_host and device_id = p_device
        returning registration_id into r;
      if found then return r; end if;
      if (select count(*) from push_devices where host_no = p_host) >= p_cap then return null; end if;
      insert into push_devices (host_no, registered_at, created_at, route, registration_id, device_id, token)
        values (p_host, t, t, p_route, p_id, p_device, p_token);
      return p_id;
    end $$;

    """
}
