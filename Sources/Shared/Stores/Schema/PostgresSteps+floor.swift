extension PostgresSteps {
  /// Claims look no further back than what still lives. As long as somebody looks at the database as it was, every delivery
  /// that ended leaves an entry in the indexes that nothing may clear, and a claim must not read them all.
  static let floorStep = """
    -- By a sum, so that no look-up by route and turn is ever planned with it.
    create index push_delivery_batches_host on push_delivery_batches (host_no, (turn + 0));

    -- As push_claim_v2, with bounds and two marks. `p_room` and `p_share` bound the deliveries, all together and of one host: a
    -- claim that has as many takes no further row. Hosts in `p_without` are passed over. Nothing of the route lives below
    -- `p_floor`, so a host's rows are looked for from there on; `p_next`, at or above it, is where the look for candidates
    -- begins.
    -- Rows: one a delivery, the payload with the first of its batch; one more with turn 0 carries in admitted_at how many
    -- rows were looked at, in registered_at and expires_at the next two marks, and in is_silent whether something due was seen
    -- below p_next.
    create function push_claim_v3(
      p_route smallint, p_owner bigint, p_limit int, p_room int, p_share int, p_without bigint[], p_lease bigint,
      p_floor bigint, p_next bigint)
    returns table (turn bigint, fence int, host_no bigint, fingerprint text, device_no bigint, registration_id text,
      token text, registered_at bigint, is_proven boolean, attempts smallint, is_silent boolean, admitted_at bigint,
      expires_at bigint, claimed_at bigint, event_key uuid, payload bytea, is_fenced boolean)
    language plpgsql
    set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off
    set enable_mergejoin = off set enable_material = off set enable_bitmapscan = off set enable_memoize = off as $$
    #variable_conflict use_column
    declare
      t bigint := push_now_ms();
      turns bigint[];
      hosts bigint[];
      sizes int[];
      places tid[];
      free bigint[];
      gaps bigint[];
      is_below boolean := false;
      new_floor bigint := p_floor;
      new_next bigint;
    begin
      select array_agg(x.turn), array_agg(x.host_no), array_agg(x.size), array_agg(x.ctid)
        into turns, hosts, sizes, places from (
        select b.turn, b.host_no, cardinality(b.devices) size, b.ctid from push_delivery_batches b
         where b.route = p_route and b.turn >= p_next and b.visible_at <= t and b.host_no <> all(p_without)
         order by b.turn limit p_limit for update skip locked) x;
      if turns is not null then
        -- A host that another claim is looking at is left to it.
        free := array(select x.h from (select distinct unnest(hosts) h) x
          where pg_try_advisory_xact_lock(7000 + p_route, (x.h & 2147483647)::int));
        -- In a new snapshot, now that nobody else claims for these hosts: those of which another owner holds something are left
        -- out. A host's order is kept: what comes after due rows of it that are not among the candidates waits for them.
        -- Another claim may have locked those and then not got the host; or they lie below the mark, as what a dead worker
        -- held does once its lease has lapsed. What is found in an index is asked for in that index's order: on a short queue
        -- the planner might as well take any that begins with the host.
        select array_agg(f.h), array_agg(o.gap), coalesce(bool_or(o.gap < p_next), false) into free, gaps, is_below
          from unnest(free) f(h) cross join lateral (
            select min(q.turn) filter (
                     where q.visible_at <= t and q.turn < turns[cardinality(turns)] and q.turn <> all(turns)) gap,
                   bool_or(q.visible_at > t and q.owner <> p_owner) is_held
              from (
                select r.turn, r.visible_at, r.owner from push_delivery_batches r
                 where r.host_no = f.h and r.turn + 0 >= p_floor and r.route + 0 = p_route order by r.turn + 0 offset 0) q) o
         where o.is_held is not true;
        -- Of each host the first rows, as many as it may have. Locked above, so they stay where they are.
        places := array(
          select places[y.o] from (
            select x.o, sum(x.size) over (order by x.o) - x.size before from (
              select u.o, u.size, sum(u.size) over (partition by u.h order by u.o) - u.size before
                from unnest(turns, hosts, sizes) with ordinality u(n, h, size, o)
               where u.h = any(free) and u.n < coalesce(gaps[array_position(free, u.h)], 9223372036854775807)) x
             where x.before < p_share) y
           where y.before < p_room);
        return query
          with b as (
            update push_delivery_batches q set owner = p_owner, fence = q.fence + 1, visible_at = t + p_lease
             where q.ctid = any(places) and q.turn + 0 = any(turns)
             returning q.turn, q.fence, q.host_no, q.kind, q.number, q.attempts, q.is_silent, q.admitted_at, q.expires_at,
               q.route, q.devices)
          select b.turn, b.fence, b.host_no, hs.fingerprint, u.d, d.registration_id, d.token, d.registered_at, d.is_proven,
                 b.attempts, b.is_silent, b.admitted_at, b.expires_at, t, e.event_key,
                 case when u.o = 1 then e.payload end,
                 e.kind = 1 and coalesce((
                   select f.seq >= e.seq from push_dismissed_events f
                    where f.host_no = e.host_no and f.fence_key = e.fence_key), false)
            from b
            join push_hosts hs on hs.host_no = b.host_no
            join lateral (
              select x.* from push_events x where x.host_no = b.host_no and x.kind = b.kind and x.number >= b.number
               order by x.number limit 1) e on e.number = b.number
            cross join lateral unnest(b.devices) with ordinality u(d, o)
            left join push_devices d on d.device_no = u.d and d.route = b.route and d.dead_at is null
           order by b.turn, u.o;
      end if;
      -- Neither mark goes above what may still be committing: a turn is as old as its transaction at most. What takes longer
      -- than a second is found by the next look from the floor, which alone moves that.
      if p_next = p_floor then
        new_floor := least((t - 10000) << 20, (
          select q.turn from push_delivery_batches q where q.route = p_route and q.turn >= p_floor order by q.turn limit 1));
      end if;
      new_next := case
        when is_below then new_floor
        when cardinality(turns) = p_limit and cardinality(places) = 0 then turns[p_limit] + 1
        else greatest(new_floor, least((t - 1000) << 20, turns[1]))
      end;
      return query select 0::bigint, 0, 0::bigint, ''::text, 0::bigint, null::text, null::text, new_floor, false,
        0::smallint, is_below, coalesce(cardinality(turns), 0)::bigint, new_next, t, null::uuid, null::bytea, false;
    end $$;

    """
}
