/// The steps for SQLite, numbered as `Schema` counts; a step that was released is never edited.
enum SQLiteSteps {
  static let all: [(number: Int, sql: String)] = [
    (1, tables), (2, record),
    // Steps 3 to 8 are Postgres's own.
    (3, ""), (4, ""), (5, ""), (6, ""), (7, ""), (8, ""), (9, ""),
  ]

  /// The same tables as on Postgres. `devices` is a list of device numbers with commas between.
  private static let tables = """
    create table push_hosts (
      host_no integer primary key autoincrement,
      fingerprint text not null unique);

    create table push_challenges (
      challenge_id text primary key,
      host_fingerprint text not null,
      proof_digest blob not null,
      expires_at integer not null,
      consumed_at integer) without rowid;
    create index push_challenges_expiry on push_challenges (expires_at);

    create table push_sessions (
      host_no integer primary key,
      token_digest blob not null unique,
      expires_at integer not null,
      created_at integer not null);
    create index push_sessions_expiry on push_sessions (expires_at);

    create table push_devices (
      device_no integer primary key autoincrement,
      host_no integer not null,
      registration_id text not null unique,
      device_id text not null,
      route integer not null,
      token text not null,
      is_proven integer not null default 0,
      registered_at integer not null,
      created_at integer not null,
      dead_at integer,
      unique (host_no, device_id));

    create table push_events (
      host_no integer not null,
      kind integer not null,
      number integer not null,
      seq integer not null,
      event_key blob not null,
      content_digest blob not null,
      fence_key blob,
      admitted_at integer not null,
      expires_at integer not null,
      next_turn_ms integer not null,
      payload blob,
      primary key (host_no, kind, number));
    create unique index push_events_identity on push_events (host_no, event_key);
    create index push_events_age on push_events (admitted_at);
    create index push_events_payload on push_events (admitted_at) where payload is not null;

    create table push_event_recipients (
      host_no integer not null,
      kind integer not null,
      number integer not null,
      device_no integer not null,
      outcome integer,
      done_at integer,
      detail text,
      primary key (host_no, kind, number, device_no)) without rowid;

    create table push_delivery_batches (
      route integer not null,
      turn integer not null,
      host_no integer not null,
      kind integer not null,
      number integer not null,
      is_silent integer not null,
      attempts integer not null default 0,
      visible_at integer not null,
      admitted_at integer not null,
      expires_at integer not null,
      owner integer,
      fence integer not null default 0,
      devices text not null,
      primary key (route, turn)) without rowid;
    create index push_delivery_batches_event on push_delivery_batches (host_no, kind, number);

    -- The last place given out in the fair order, so that each is given once.
    create table push_turn_tie (only_row integer primary key check (only_row = 1), last integer not null);
    insert into push_turn_tie values (1, 0);

    create table push_dismissed_events (
      host_no integer not null,
      fence_key blob not null,
      seq integer not null,
      dismissed_at integer not null,
      primary key (host_no, fence_key)) without rowid;
    create index push_dismissed_events_age on push_dismissed_events (dismissed_at);
    """

  /// What is kept of each delivery for whoever asks what became of it, as on Postgres.
  private static let record = """
    alter table push_event_recipients add column queued_at integer;
    alter table push_event_recipients add column tried_at integer;
    alter table push_event_recipients add column attempts integer;
    alter table push_event_recipients add column unknowns integer;
    alter table push_event_recipients add column route integer;
    alter table push_event_recipients add column last_reason text;

    alter table push_delivery_batches add column tried_at integer;
    alter table push_delivery_batches add column unknowns integer;
    alter table push_delivery_batches add column last_reason text;

    create table push_forgotten_devices (
      device_no integer primary key,
      registration_id text not null,
      route integer not null,
      forgotten_at integer not null);
    create index push_forgotten_devices_age on push_forgotten_devices (forgotten_at);
    """
}
