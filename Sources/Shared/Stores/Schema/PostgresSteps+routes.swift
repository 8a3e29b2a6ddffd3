extension PostgresSteps {
  /// Admission says which routes it may have given something to, so that the lanes of the others are not woken.
  static let routesStep = """
    -- As it was, with one entry more at the end: the routes of the living registrations, a bit each (2 to the power of the
    -- route), whether anything was queued for them or not. Whoever knows the older one does not look at it.
    create or replace function push_admit_v3(
      p_host bigint[], p_kind smallint[], p_seq bigint[], p_key uuid[], p_fence uuid[], p_digest uuid[],
      p_payload bytea[], p_silent boolean[], p_expires bigint[], p_count int[], p_ids text[], p_of int[],
      p_quota int, p_window bigint, p_life bigint)
    returns smallint[] language plpgsql
    set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off
    set enable_mergejoin = off set enable_material = off set enable_bitmapscan = off set jit = off as $$
    declare
      t bigint;
      -- One entry a send.
      numbers bigint[];
      times bigint[];
      deadlines bigint[];
      turns bigint[];
      fenced boolean[];
      -- What becomes of a send's living registrations: 0 queued, 2 rate limited, 3 error; 4 is decided by itself.
      verdicts smallint[];
      -- One entry a registration.
      devices bigint[];
      routes smallint[];
      states smallint[];
      ways int;
      first int := 1;
    begin
      perform pg_advisory_xact_lock(x) from (select distinct unnest(p_host) x order by 1) s;
      t := push_now_ms();
      select array_agg(x.number), array_agg(x.admitted_at), array_agg(x.deadline), array_agg(x.turn), array_agg(x.is_fenced),
             array_agg((case when x.is_later then 4 when x.deadline <= t then 3 when x.is_over then 2 else 0 end)::smallint)
        into numbers, times, deadlines, turns, fenced, verdicts
        from (
          select array_position(p_host, u.h) < u.o or coalesce((
                   select e.event_key = u.event_key from push_events e where e.host_no = u.h and e.event_key >= u.event_key
                    order by e.event_key limit 1), false) is_later,
                 coalesce(l.number + 1, 1) number, greatest(t, l.admitted_at) admitted_at,
                 least(u.expires, t + p_life) deadline,
                 greatest(t, l.next_turn_ms, (
                   select e.next_turn_ms from push_events e where e.host_no = u.h and e.kind = 3 - u.k
                    order by e.number desc limit 1)) turn,
                 u.k = 1 and coalesce((
                   select f.seq >= u.seq from push_dismissed_events f
                    where f.host_no = u.h and f.fence_key = u.fence), false) is_fenced,
                 coalesce((
                   select e.number = l.number + 1 - p_quota and e.admitted_at > t - p_window from push_events e
                    where e.host_no = u.h and e.kind = u.k and e.number >= l.number + 1 - p_quota
                    order by e.number limit 1), false) is_over
            from unnest(p_host, p_kind, p_seq, p_key, p_fence, p_expires) with ordinality
                   u(h, k, seq, event_key, fence, expires, o)
            left join lateral (
              select e.number, e.admitted_at, e.next_turn_ms from push_events e
               where e.host_no = u.h and e.kind = u.k order by e.number desc limit 1) l on true
           order by u.o) x;
      select array_agg(d.device_no order by u.o), array_agg(d.route order by u.o),
             array_agg((case when d.device_no is null then 3 when d.dead_at is not null then 1 else verdicts[u.i] end)::smallint
                       order by u.o),
             bit_or(1 << d.route) filter (where d.dead_at is null)
        into devices, routes, states, ways
        from unnest(p_ids, p_of) with ordinality u(id, i, o)
        left join push_devices d on d.registration_id = u.id and d.host_no + 0 = p_host[u.i];

      insert into push_events (host_no, number, seq, admitted_at, expires_at, next_turn_ms, event_key, content_digest,
          fence_key, kind, payload)
        select p_host[u.i], numbers[u.i], p_seq[u.i], times[u.i], deadlines[u.i],
               turns[u.i] + 20 * ((p_count[u.i] + 3) / 4), p_key[u.i], p_digest[u.i], p_fence[u.i], p_kind[u.i],
               case when fenced[u.i] then null else p_payload[u.i] end
          from (select distinct s.i from unnest(p_of, states) s(i, state) where s.state = 0) u;
      if 2 = any(p_kind) then
        insert into push_dismissed_events (host_no, seq, dismissed_at, fence_key)
          select p_host[u.i], p_seq[u.i], t, p_fence[u.i]
            from (select distinct s.i from unnest(p_of, states) s(i, state) where s.state = 0) u where p_kind[u.i] = 2
            on conflict (host_no, fence_key) do update
              set seq = greatest(push_dismissed_events.seq, excluded.seq), dismissed_at = excluded.dismissed_at;
      end if;
      -- A phone may be named twice.
      insert into push_event_recipients (host_no, number, device_no, done_at, kind, outcome)
        select p_host[u.i], numbers[u.i], u.d, case when fenced[u.i] then t end, p_kind[u.i],
               case when fenced[u.i] then 5::smallint end
          from (select distinct s.i, s.d from unnest(p_of, devices, states) s(i, d, state) where s.state = 0) u;
      insert into push_delivery_batches (turn, host_no, number, visible_at, admitted_at, expires_at, route, kind,
          is_silent, devices)
        select push_turn(turns[g.i]), p_host[g.i], numbers[g.i], t, t, deadlines[g.i], g.r, p_kind[g.i], p_silent[g.i], g.ds
          from (select s.i, s.r, array_agg(distinct s.d order by s.d) ds
                  from unnest(p_of, devices, routes, states) s(i, d, r, state)
                 where s.state = 0 and not fenced[s.i] group by s.i, s.r order by s.i, s.r) g;

      if 4 = any(verdicts) then
        for i in 1 .. cardinality(p_host) loop
          if verdicts[i] = 4 then
            states[first : first + p_count[i] - 1] := push_admit_v1(
              p_host[i : i], p_kind[i : i], p_seq[i : i], p_key[i : i], p_fence[i : i], p_digest[i : i], p_payload[i : i],
              p_silent[i : i], p_expires[i : i], p_count[i : i], p_ids[first : first + p_count[i] - 1],
              p_quota, p_window, p_life);
          end if;
          first := first + p_count[i];
        end loop;
      end if;
      return coalesce(states, '{}') || coalesce(ways, 0)::smallint;
    end $$;

    """
}
