extension PostgresSteps {
  /// Admission writes a group's rows together. `push_admit_v1` stays: older builds call it, and repeats are left to it.
  static let groupStep = """
    -- As push_admit_v1: each send is decided by itself, in the order given. What new events write waits until the end, or
    -- until a host comes up again, since a send must see what the host's earlier ones wrote; four statements then write for
    -- all. On the way of a send there are two, which only look.
    create function push_admit_v2(
      p_host bigint[], p_kind smallint[], p_seq bigint[], p_key uuid[], p_fence uuid[], p_digest uuid[],
      p_payload bytea[], p_silent boolean[], p_expires bigint[], p_count int[], p_ids text[],
      p_quota int, p_window bigint, p_life bigint)
    returns smallint[] language plpgsql
    set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off
    set enable_mergejoin = off set jit = off as $$
    declare
      results smallint[] := '{}';
      states smallint[];
      devs bigint[];
      routes smallint[];
      t bigint;
      first int := 1;
      sends int := coalesce(cardinality(p_host), 0);
      h bigint;
      k smallint;
      seen record;
      deadline bigint;
      -- New events that wait to be written, by their places among the arguments, and their recipients, by their events'
      -- places among these.
      hosts bigint[] := '{}';
      places int[] := '{}';
      numbers bigint[] := '{}';
      times bigint[] := '{}';
      deadlines bigint[] := '{}';
      turns bigint[] := '{}';
      fenced boolean[] := '{}';
      dismisses boolean := false;
      recipients bigint[] := '{}';
      recipient_routes smallint[] := '{}';
      recipient_events int[] := '{}';
    begin
      perform pg_advisory_xact_lock(x) from (select distinct unnest(p_host) x order by 1) s;
      t := push_now_ms();
      for i in 1 .. sends + 1 loop
        if hosts <> '{}' and (i > sends or p_host[i] = any(hosts)) then
          insert into push_events (host_no, number, seq, admitted_at, expires_at, next_turn_ms, event_key,
              content_digest, fence_key, kind, payload)
            select u.h, u.n, p_seq[u.i], u.a, u.d, u.t + 20 * ((p_count[u.i] + 3) / 4), p_key[u.i], p_digest[u.i],
                   p_fence[u.i], p_kind[u.i], case when u.f then null else p_payload[u.i] end
              from unnest(hosts, places, numbers, times, deadlines, turns, fenced) u(h, i, n, a, d, t, f);
          if dismisses then
            insert into push_dismissed_events (host_no, seq, dismissed_at, fence_key)
              select u.h, p_seq[u.i], t, p_fence[u.i] from unnest(hosts, places) u(h, i) where p_kind[u.i] = 2
              on conflict (host_no, fence_key) do update
                set seq = greatest(push_dismissed_events.seq, excluded.seq), dismissed_at = excluded.dismissed_at;
          end if;
          -- A phone may be named twice.
          insert into push_event_recipients (host_no, number, device_no, done_at, kind, outcome)
            select hosts[u.e], numbers[u.e], u.d, case when fenced[u.e] then t end, p_kind[places[u.e]],
                   case when fenced[u.e] then 5::smallint end
              from unnest(recipients, recipient_events) u(d, e)
              on conflict do nothing;
          insert into push_delivery_batches (turn, host_no, number, visible_at, admitted_at, expires_at, route, kind,
              is_silent, devices)
            select push_turn(turns[g.e]), hosts[g.e], numbers[g.e], t, t, deadlines[g.e], g.r, p_kind[places[g.e]],
                   p_silent[places[g.e]], g.ds
              from (select u.e, u.r, array_agg(distinct u.d order by u.d) ds
                      from unnest(recipients, recipient_routes, recipient_events) u(d, r, e)
                     where not fenced[u.e] group by u.e, u.r order by u.e, u.r) g;
          hosts := '{}';
          places := '{}';
          numbers := '{}';
          times := '{}';
          deadlines := '{}';
          turns := '{}';
          fenced := '{}';
          dismisses := false;
          recipients := '{}';
          recipient_routes := '{}';
          recipient_events := '{}';
        end if;
        exit when i > sends;

        h := p_host[i];
        k := p_kind[i];
        select exists (select 1 from push_events e where e.host_no = h and e.event_key = p_key[i]) known,
               l.number, l.admitted_at,
               greatest(t, coalesce(l.next_turn_ms, 0), coalesce((
                 select e.next_turn_ms from push_events e where e.host_no = h and e.kind = 3 - k
                  order by e.number desc limit 1), 0)) turn_ms,
               coalesce((select e.admitted_at from push_events e
                  where e.host_no = h and e.kind = k and e.number = l.number + 1 - p_quota) > t - p_window, false) is_over,
               k = 1 and exists (select 1 from push_dismissed_events f
                 where f.host_no = h and f.fence_key = p_fence[i] and f.seq >= p_seq[i]) is_fenced
          into seen
          from (select 1) one left join lateral (
            select e.number, e.admitted_at, e.next_turn_ms from push_events e
             where e.host_no = h and e.kind = k order by e.number desc limit 1) l on true;

        if seen.known then
          states := push_admit_v1(
            array[h], array[k], p_seq[i : i], p_key[i : i], p_fence[i : i], p_digest[i : i], p_payload[i : i],
            p_silent[i : i], p_expires[i : i], p_count[i : i], p_ids[first : first + p_count[i] - 1],
            p_quota, p_window, p_life);
        else
          select array_agg(x.d), array_agg(x.r), array_agg(x.s) into devs, routes, states from (
            select d.device_no d, d.route r,
                   (case when d.device_no is null then 3 when d.dead_at is not null then 1 else 0 end)::smallint s
              from unnest(p_ids[first : first + p_count[i] - 1]) with ordinality u(id, o)
              left join push_devices d on d.registration_id = u.id and d.host_no = h order by u.o) x;
          deadline := least(coalesce(p_expires[i], t + p_life), t + p_life);
          if not 0 = any(states) then
            null;
          elsif deadline <= t then
            states := array_replace(states, 0::smallint, 3::smallint);
          elsif seen.is_over then
            states := array_replace(states, 0::smallint, 2::smallint);
          else
            hosts := hosts || h;
            places := places || i;
            numbers := numbers || coalesce(seen.number + 1, 1);
            times := times || greatest(t, coalesce(seen.admitted_at, 0));
            deadlines := deadlines || deadline;
            turns := turns || seen.turn_ms;
            fenced := fenced || seen.is_fenced;
            dismisses := dismisses or k = 2;
            for j in 1 .. p_count[i] loop
              if states[j] = 0 then
                recipients := recipients || devs[j];
                recipient_routes := recipient_routes || routes[j];
                recipient_events := recipient_events || cardinality(hosts);
              end if;
            end loop;
          end if;
        end if;
        first := first + p_count[i];
        results := results || states;
      end loop;
      return results;
    end $$;

    """
}
