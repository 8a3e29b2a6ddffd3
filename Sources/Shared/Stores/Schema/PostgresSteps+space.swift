extension PostgresSteps {
  /// Rows that change once find room beside themselves.
  static let spaceStep = """
    -- A recipient grows to more than twice its width when its delivery ends, and a batch is written anew when it is claimed. A
    -- second version on the page of the first needs no new entry in any index. With 85 and 60 more than half of the
    -- recipients and a seventh of the batches went elsewhere, and the tables and their indexes were no smaller for it.
    alter table push_event_recipients set (fillfactor = 35);
    alter table push_delivery_batches set (fillfactor = 45);

    """
}
