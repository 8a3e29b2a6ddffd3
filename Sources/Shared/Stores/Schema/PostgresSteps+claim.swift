extension PostgresSteps {
  /// A claim keeps a host's order below the low-water mark too. Workers of the build before go on with theirs.
  static let claimStep = """
    -- The candidates' hosts are locked, if nobody else is claiming them, and then looked at in a new snapshot: no host is
    -- ever worked on by two owners on one route, so each registration has one delivery in flight.
    -- `p_after` is the low-water mark: the index is not walked from its start over the dead entries of what was delivered.
    -- Rows: one a delivery, the payload with the first of its batch; one more with turn 0 carries in admitted_at how many
    -- rows were looked at and in expires_at the next low-water mark.
    create function push_claim_v2(p_route smallint, p_owner bigint, p_limit int, p_lease bigint, p_after bigint)
    returns table (turn bigint, fence int, host_no bigint, fingerprint text, device_no bigint, registration_id text,
      token text, registered_at bigint, is_proven boolean, attempts smallint, is_silent boolean, admitted_at bigint,
      expires_at bigint, claimed_at bigint, event_key uuid, payload bytea, is_fenced boolean)
    language plpgsql
    set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off
    set enable_mergejoin = off set enable_material = off as $$
    #variable_conflict use_column
    declare
      t bigint := push_now_ms();
      candidates bigint[];
      taken bigint[];
      free bigint[];
      gaps bigint[];
      low bigint;
      is_below boolean := false;
    begin
      candidates := array(
        select b.turn from push_delivery_batches b
         where b.route = p_route and b.turn >= p_after and b.visible_at <= t
         order by b.turn limit p_limit for update skip locked);
      if candidates <> '{}' then
        select array_agg(x.h) into free from (
          select distinct b.host_no h from push_delivery_batches b
           where b.route = p_route and b.turn = any(candidates)) x
         where pg_try_advisory_xact_lock(7000 + p_route, (x.h & 2147483647)::int);
        -- A host's order is kept: what comes after older rows of it that are not among the candidates waits for them. Another
        -- claim may have locked those and then not got the host; or they lie below the mark, as what a dead worker held does
        -- once its lease has lapsed. (Adding 0 keeps the planner from walking the primary key for the smallest.)
        select array_agg(x.h), array_agg(x.gap), coalesce(bool_or(x.gap < p_after), false) into free, gaps, is_below from (
          select f.h, (select min(o.turn + 0) from push_delivery_batches o
             where o.host_no = f.h and o.route = p_route and o.visible_at <= t
               and o.turn < candidates[cardinality(candidates)] and o.turn <> all(candidates)) gap
            from unnest(free) f(h)
           where not exists (select 1 from push_delivery_batches o
             where o.host_no = f.h and o.route = p_route and o.visible_at > t and o.owner is not null
               and o.owner <> p_owner)) x;
        with c as (
          update push_delivery_batches b set owner = p_owner, fence = b.fence + 1, visible_at = t + p_lease
           where b.route = p_route and b.turn = any(candidates) and b.host_no = any(free)
             and b.turn < coalesce(gaps[array_position(free, b.host_no)], 9223372036854775807)
           returning b.turn)
        select array_agg(c.turn) into taken from c;
      end if;
      -- Not above what may still be committing: its turns are at most a few seconds old.
      low := (t - 5000) << 20;
      if is_below then
        low := 0;
      elsif cardinality(candidates) = p_limit and taken is null then
        low := candidates[p_limit] + 1;
      elsif candidates <> '{}' then
        low := least(candidates[1], low);
      end if;
      return query
        select b.turn, b.fence, b.host_no, hs.fingerprint, u.d, d.registration_id, d.token, d.registered_at, d.is_proven,
               b.attempts, b.is_silent, b.admitted_at, b.expires_at, t, e.event_key,
               case when u.o = 1 then e.payload end,
               e.kind = 1 and exists (select 1 from push_dismissed_events f
                 where f.host_no = e.host_no and f.fence_key = e.fence_key and f.seq >= e.seq)
          from push_delivery_batches b
          join push_hosts hs on hs.host_no = b.host_no
          join push_events e on e.host_no = b.host_no and e.kind = b.kind and e.number = b.number
          cross join lateral unnest(b.devices) with ordinality u(d, o)
          left join push_devices d on d.device_no = u.d and d.route = b.route and d.dead_at is null
         where b.route = p_route and b.turn = any(taken)
         order by b.turn, u.o;
      return query select 0::bigint, 0, 0::bigint, ''::text, 0::bigint, null::text, null::text, null::bigint, false,
        0::smallint, false, cardinality(candidates)::bigint, low, t, null::uuid, null::bytea, false;
    end $$;

    """
}
