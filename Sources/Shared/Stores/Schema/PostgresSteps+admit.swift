extension PostgresSteps {
  /// Admits many sends in one transaction, each by itself, in the order given.
  ///
  /// Every statement in the loop sees what earlier turns and other, committed transactions wrote: the hosts' locks are
  /// taken first, in order, so that two calls never wait for each other in a ring.
  /// Results, one a registration: 0 queued, 1 dead, 2 rate limited, 3 error.
  static let admitFunction = """
    create function push_admit_v1(
      p_host bigint[], p_kind smallint[], p_seq bigint[], p_key uuid[], p_fence uuid[], p_digest uuid[],
      p_payload bytea[], p_silent boolean[], p_expires bigint[], p_count int[], p_ids text[],
      p_quota int, p_window bigint, p_life bigint)
    returns smallint[] language plpgsql
    set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off
    set enable_mergejoin = off as $$
    declare
      results smallint[] := '{}';
      states smallint[];
      devs bigint[];
      routes smallint[];
      fresh bigint[];
      t bigint;
      first int := 1;
      ev record;
      known boolean;
      h bigint;
      k smallint;
      num bigint;
      deadline bigint;
      last record;
      turn_ms bigint;
      fenced boolean;
    begin
      perform pg_advisory_xact_lock(x) from (select distinct unnest(p_host) x order by 1) s;
      t := push_now_ms();
      for i in 1 .. cardinality(p_host) loop
        h := p_host[i];
        k := p_kind[i];
        select array_agg(coalesce(d.device_no, 0) order by u.o),
               array_agg(coalesce(d.route, 0::smallint) order by u.o),
               array_agg((case when d.device_no is null then 3 when d.dead_at is not null then 1 else 0 end)::smallint
                         order by u.o)
          into devs, routes, states
          from unnest(p_ids[first : first + p_count[i] - 1]) with ordinality u(id, o)
          left join push_devices d on d.registration_id = u.id and d.host_no = h;
        first := first + p_count[i];

        -- Locked, so that the janitor cannot empty the payload between this look and the new delivery.
        select e.number, e.expires_at, e.content_digest = p_digest[i] as same into ev
          from push_events e where e.host_no = h and e.event_key = p_key[i] for update;
        known := found;

        if known and not ev.same then
          states := array_fill(3::smallint, array[p_count[i]]);
        elsif known and ev.expires_at <= t then
          -- Too late for phones that it was not for before; a repeat for the others.
          select array_agg((case when u.s = 0 and not exists (
                     select 1 from push_event_recipients r
                      where r.host_no = h and r.kind = k and r.number = ev.number and r.device_no = u.d)
                   then 3 else u.s end)::smallint order by u.o)
            into states from unnest(devs, states) with ordinality u(d, s, o);
        elsif 0 = any(states) then
          deadline := least(coalesce(p_expires[i], t + p_life), t + p_life);
          select e.number, e.admitted_at, e.next_turn_ms into last
            from push_events e where e.host_no = h and e.kind = k order by e.number desc limit 1;
          turn_ms := greatest(t, coalesce(last.next_turn_ms, 0), coalesce((
            select e.next_turn_ms from push_events e where e.host_no = h and e.kind = 3 - k
             order by e.number desc limit 1), 0));
          if known then
            num := ev.number;
            deadline := ev.expires_at;
          elsif deadline <= t then
            states := array_replace(states, 0::smallint, 3::smallint);
          elsif exists (select 1 from push_events e
                 where e.host_no = h and e.kind = k and e.number = last.number + 1 - p_quota
                   and e.admitted_at > t - p_window) then
            states := array_replace(states, 0::smallint, 2::smallint);
          else
            num := coalesce(last.number, 0) + 1;
          end if;

          if 0 = any(states) then
            fenced := k = 1 and exists (select 1 from push_dismissed_events f
              where f.host_no = h and f.fence_key = p_fence[i] and f.seq >= p_seq[i]);
            if not known then
              insert into push_events (host_no, number, seq, admitted_at, expires_at, next_turn_ms, event_key,
                  content_digest, fence_key, kind, payload)
                values (h, num, p_seq[i], greatest(t, coalesce(last.admitted_at, 0)), deadline,
                  turn_ms + 20 * ((p_count[i] + 3) / 4), p_key[i], p_digest[i], p_fence[i], k,
                  case when fenced then null else p_payload[i] end);
            end if;
            if k = 2 then
              insert into push_dismissed_events (host_no, seq, dismissed_at, fence_key)
                values (h, p_seq[i], t, p_fence[i])
                on conflict (host_no, fence_key) do update
                  set seq = greatest(push_dismissed_events.seq, excluded.seq), dismissed_at = excluded.dismissed_at;
            end if;
            with new as (
              insert into push_event_recipients (host_no, number, device_no, done_at, kind, outcome)
                select h, num, u.d, case when fenced then t end, k, case when fenced then 5::smallint end
                  from unnest(devs, states) u(d, s) where u.s = 0
                on conflict do nothing returning device_no)
            select array_agg(device_no) into fresh from new;
            if fresh is not null and not fenced then
              if known then
                update push_events e set payload = p_payload[i]
                  where e.host_no = h and e.kind = k and e.number = num and e.payload is null;
                -- More phones are more of the host's turn, as if the event were new.
                update push_events e set next_turn_ms = turn_ms + 20 * ((cardinality(fresh) + 3) / 4)
                  where e.host_no = h and e.kind = k and e.number = last.number;
              end if;
              insert into push_delivery_batches (turn, host_no, number, visible_at, admitted_at, expires_at, route, kind,
                  is_silent, devices)
                select push_turn(turn_ms), h, num, t, t, deadline, g.r, k, p_silent[i], g.ds
                  from (select u.r, array_agg(u.d order by u.d) ds from unnest(devs, routes) u(d, r)
                         where u.d = any(fresh) group by u.r) g;
            end if;
          end if;
        end if;
        results := results || states;
      end loop;
      return results;
    end $$;

    """
}
