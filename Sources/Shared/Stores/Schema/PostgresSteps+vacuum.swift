extension PostgresSteps {
  /// Events and recipients are written once, changed once and kept for a day. By Postgres's defaults a fifth of a table is
  /// dead before anything clears it, which for a day of 26 million events is five million rows read past in vain.
  static let vacuumStep = """
    alter table push_events set (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);
    alter table push_event_recipients set (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);
    alter table push_dismissed_events set (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);
    alter table push_challenges set (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);

    """
}
