extension PostgresSteps {
  /// Claims, renewals, releases, and a second look before sending.
  static let claimFunctions = """
    -- The candidates' hosts are locked, if nobody else is claiming them, and then looked at in a new snapshot: no host is
    -- ever worked on by two owners on one route, so each registration has one delivery in flight.
    -- `p_after` is the low-water mark: the index is not walked from its start over the dead entries of what was delivered.
    -- Rows: one a delivery, the payload with the first of its batch; one more with turn 0 carries in admitted_at how many
    -- rows were looked at and in expires_at the next low-water mark.
    create function push_claim_v1(p_route smallint, p_owner bigint, p_limit int, p_lease bigint, p_after bigint)
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
        -- Another claim may have locked older rows of a host and then not got the host: what comes after them waits, since
        -- a host's order is kept. (Adding 0 keeps the planner from walking the primary key for the smallest.)
        select array_agg(x.h), array_agg(x.gap) into free, gaps from (
          select f.h, (select min(o.turn + 0) from push_delivery_batches o
             where o.host_no = f.h and o.route = p_route and o.visible_at <= t and o.turn >= p_after
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
      if cardinality(candidates) = p_limit and taken is null then
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

    create function push_recheck_v1(p_route smallint[], p_turn bigint[], p_device bigint[])
    returns table (may_send boolean, token text, registered_at bigint, is_proven boolean)
    language sql as $$
      select d.device_no is not null and e.host_no is not null and not (e.kind = 1 and exists (
               select 1 from push_dismissed_events f
                where f.host_no = e.host_no and f.fence_key = e.fence_key and f.seq >= e.seq)),
             d.token, d.registered_at, d.is_proven
        from unnest(p_route, p_turn, p_device) with ordinality u(r, t, d, o)
        left join push_delivery_batches b on b.route = u.r and b.turn = u.t
        left join push_events e on e.host_no = b.host_no and e.kind = b.kind and e.number = b.number
        left join push_devices d on d.device_no = u.d and d.route = u.r and d.dead_at is null
       order by u.o
    $$;

    create function push_renew_v1(p_owner bigint, p_route smallint[], p_turn bigint[], p_fence int[], p_lease bigint)
    returns table (route smallint, turn bigint, fence int) language sql as $$
      update push_delivery_batches b set visible_at = c.t + p_lease
        from unnest(p_route, p_turn, p_fence) u(r, n, f), (select push_now_ms() t) c
       where b.route = u.r and b.turn = u.n and b.fence = u.f and b.owner = p_owner and b.visible_at > c.t
       returning b.route, b.turn, b.fence
    $$;

    create function push_release_v1(p_owner bigint, p_route smallint[], p_turn bigint[], p_fence int[])
    returns void language sql as $$
      update push_delivery_batches b set owner = null, visible_at = push_now_ms()
        from unnest(p_route, p_turn, p_fence) u(r, n, f)
       where b.route = u.r and b.turn = u.n and b.fence = u.f and b.owner = p_owner
    $$;

    """

  /// Outcomes and retries.
  static let settleFunctions = """
    -- All arrays but the kill ones run alongside: one entry a settlement. Outcome 0 asks for another attempt.
    -- Answers: 0 the lease was lost, 1 ended, 2 due again, 3 expired instead.
    create function push_settle_v1(
      p_owner bigint, p_route smallint[], p_turn bigint[], p_fence int[], p_device bigint[], p_outcome smallint[],
      p_detail text[], p_after bigint[], p_attempts smallint[], p_proved text[],
      p_killed_device bigint[], p_killed_route smallint[], p_killed_token text[], p_killed_before bigint[],
      p_killed_by int[])
    returns smallint[] language plpgsql
    set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off
    set enable_mergejoin = off as $$
    declare
      t bigint := push_now_ms();
      answers smallint[];
    begin
      perform 1 from (select distinct unnest(p_route) r, unnest(p_turn) n) u
        join push_delivery_batches b on b.route = u.r and b.turn = u.n
        order by b.route, b.turn for update of b;
      with s as materialized (
        select u.*, b.host_no, b.kind, b.number, b.admitted_at, b.expires_at, b.is_silent,
               (case when b.turn is null then 0 when u.outcome > 0 then 1 when t + u.wait >= b.expires_at then 3
                     else 2 end)::smallint answer
          from unnest(p_route, p_turn, p_fence, p_device, p_outcome, p_detail, p_after, p_attempts) with ordinality
                 u(route, turn, fence, device, outcome, detail, wait, attempts, o)
          left join push_delivery_batches b
            on b.route = u.route and b.turn = u.turn and b.fence = u.fence and b.owner = p_owner
               and u.device = any(b.devices)),
      ended as (
        update push_event_recipients r set done_at = t, detail = s.detail,
            outcome = case when s.answer = 3 then 4::smallint else s.outcome end
          from s where s.answer in (1, 3) and r.host_no = s.host_no and r.kind = s.kind and r.number = s.number
            and r.device_no = s.device and r.outcome is null),
      again as (
        insert into push_delivery_batches (turn, host_no, number, visible_at, admitted_at, expires_at, route, kind,
            attempts, is_silent, devices)
          select push_turn(t + s.wait), s.host_no, s.number, t + s.wait, s.admitted_at, s.expires_at, s.route, s.kind,
                 s.attempts, s.is_silent, array[s.device]
            from s where s.answer = 2),
      g as materialized (
        select s.route, s.turn, array_agg(s.device) ds from s where s.answer > 0 group by s.route, s.turn),
      gone as (
        delete from push_delivery_batches b using g
         where b.route = g.route and b.turn = g.turn and b.devices <@ g.ds),
      fewer as (
        update push_delivery_batches b
           set devices = array(select d from unnest(b.devices) with ordinality x(d, o) where d <> all(g.ds) order by o)
          from g where b.route = g.route and b.turn = g.turn and not b.devices <@ g.ds)
      select array_agg(s.answer order by s.o) into answers from s;
      if array_remove(p_proved, null) <> '{}' then
        update push_devices d set is_proven = true from unnest(p_device, p_route, p_proved, answers) u(d, r, k, a)
         where d.device_no = u.d and d.route = u.r and d.token = u.k and u.a > 0 and not d.is_proven;
      end if;
      if p_killed_device <> '{}' then
        update push_devices d set dead_at = t
          from unnest(p_killed_device, p_killed_route, p_killed_token, p_killed_before, p_killed_by) u(d, r, k, b, i)
         where d.device_no = u.d and d.route = u.r and d.token = u.k and d.dead_at is null
           and (u.b is null or d.registered_at < u.b) and answers[u.i] > 0;
      end if;
      return answers;
    end $$;

    """

  /// Housekeeping, in chunks.
  static let sweepFunctions = """
    create function push_expire_v1(p_limit int) returns table (batches bigint, deliveries bigint)
    language plpgsql as $$
    declare
      t bigint := push_now_ms();
    begin
      return query
        with late as (
          delete from push_delivery_batches b where (b.route, b.turn) in (
            select x.route, x.turn from push_delivery_batches x where x.expires_at <= t and x.visible_at <= t
             limit p_limit for update skip locked)
          returning b.host_no, b.kind, b.number, b.devices),
        ended as (
          update push_event_recipients r set outcome = 4, done_at = t
            from late, unnest(late.devices) d
           where r.host_no = late.host_no and r.kind = late.kind and r.number = late.number and r.device_no = d
             and r.outcome is null
          returning 1)
        select (select count(*) from late), (select count(*) from ended);
    end $$;

    -- Locked first, looked at in a second statement: a delivery admitted in between is seen, or waits for the lock.
    create function push_sweep_payloads_v1(p_limit int) returns table (looked bigint, emptied bigint)
    language plpgsql as $$
    declare
      found_hosts bigint[];
      found_kinds smallint[];
      found_numbers bigint[];
    begin
      select array_agg(x.host_no), array_agg(x.kind), array_agg(x.number)
        into found_hosts, found_kinds, found_numbers from (
        select e.host_no, e.kind, e.number from push_events e
         where e.payload is not null and not exists (select 1 from push_delivery_batches b
           where b.host_no = e.host_no and b.kind = e.kind and b.number = e.number)
         order by e.admitted_at limit p_limit for update skip locked) x;
      return query
        with emptied as (
          update push_events e set payload = null
            from unnest(found_hosts, found_kinds, found_numbers) u(h, k, n)
           where e.host_no = u.h and e.kind = u.k and e.number = u.n and not exists (
             select 1 from push_delivery_batches b
              where b.host_no = e.host_no and b.kind = e.kind and b.number = e.number)
          returning 1)
        select coalesce(cardinality(found_hosts), 0)::bigint, (select count(*) from emptied);
    end $$;

    create function push_sweep_events_v1(p_limit int, p_age bigint) returns table (events bigint, recipients bigint)
    language sql as $$
      with old as (
        delete from push_events e where (e.host_no, e.kind, e.number) in (
          select x.host_no, x.kind, x.number from push_events x where x.admitted_at < push_now_ms() - p_age
           order by x.admitted_at limit p_limit for update skip locked)
        returning e.host_no, e.kind, e.number),
      gone as (
        delete from push_event_recipients r using old
         where r.host_no = old.host_no and r.kind = old.kind and r.number = old.number
        returning 1)
      select (select count(*) from old), (select count(*) from gone)
    $$;

    """
}
