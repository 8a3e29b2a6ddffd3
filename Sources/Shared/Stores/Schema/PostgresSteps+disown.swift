extension PostgresSteps {
  /// What becomes of a claim whose answer was lost on the way.
  static let disownStep = """
    -- Rare, and rows are looked at by route alone: no index holds the owner, which every claim changes.
    create function push_disown_v1(p_route smallint, p_owner bigint[], p_turn bigint[], p_fence int[])
    returns bigint language sql as $$
      with freed as (
        update push_delivery_batches b set owner = null, visible_at = c.t from (select push_now_ms() t) c
         where b.route = p_route and b.owner = any(p_owner) and b.visible_at > c.t
           and not exists (select 1 from unnest(p_turn, p_fence) u(n, f) where u.n = b.turn and u.f = b.fence)
        returning 1)
      select count(*) from freed
    $$;

    """
}
