extension PostgresSteps {
  /// The claim and the settlement of before, in words that leave the planner no choice: a session's plans are made while
  /// the queue is short, and kept when it is deep. Builds before call them by the same names and get the same answers.
  static let pagesStep = """
    -- Rows are found by their place in the primary key, one by one, or by their host: sums (`+ 0`) and `offset 0` keep the
    -- planner from walking a route's whole queue instead, which is cheap only as long as that is short. Plain index scans
    -- also mark what is dead, so that the next need not look at it.
    create or replace function push_claim_v2(p_route smallint, p_owner bigint, p_limit int, p_lease bigint, p_after bigint)
    returns table (turn bigint, fence int, host_no bigint, fingerprint text, device_no bigint, registration_id text,
      token text, registered_at bigint, is_proven boolean, attempts smallint, is_silent boolean, admitted_at bigint,
      expires_at bigint, claimed_at bigint, event_key uuid, payload bytea, is_fenced boolean)
    language plpgsql
    set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off
    set enable_mergejoin = off set enable_material = off set enable_bitmapscan = off as $$
    #variable_conflict use_column
    declare
      t bigint := push_now_ms();
      candidates bigint[];
      places tid[];
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
          select distinct b.host_no h from unnest(candidates) c(n) cross join lateral (
            select q.host_no from push_delivery_batches q where q.route = p_route and q.turn = c.n offset 0) b) x
         where pg_try_advisory_xact_lock(7000 + p_route, (x.h & 2147483647)::int);
        -- A host's order is kept: what comes after older rows of it that are not among the candidates waits for them. Another
        -- claim may have locked those and then not got the host; or they lie below the mark, as what a dead worker held does
        -- once its lease has lapsed.
        select array_agg(x.h), array_agg(x.gap), coalesce(bool_or(x.gap < p_after), false) into free, gaps, is_below from (
          select f.h, (select min(o.turn + 0) from push_delivery_batches o
             where o.host_no = f.h and o.route + 0 = p_route and o.visible_at <= t
               and o.turn + 0 < candidates[cardinality(candidates)] and o.turn <> all(candidates)) gap
            from unnest(free) f(h)
           where not exists (select 1 from push_delivery_batches o
             where o.host_no = f.h and o.route + 0 = p_route and o.visible_at > t and o.owner is not null
               and o.owner <> p_owner)
          offset 0) x;
        -- Locked above, so they stay where they are.
        select array_agg(b.ctid) into places from unnest(candidates) c(n) cross join lateral (
          select q.ctid, q.host_no, q.turn from push_delivery_batches q
           where q.route = p_route and q.turn = c.n offset 0) b
         where b.host_no = any(free)
           and b.turn < coalesce(gaps[array_position(free, b.host_no)], 9223372036854775807);
        with c as (
          update push_delivery_batches b set owner = p_owner, fence = b.fence + 1, visible_at = t + p_lease
           where b.ctid = any(places)
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
          from unnest(taken) k(n)
          cross join lateral (
            select q.* from push_delivery_batches q where q.route = p_route and q.turn = k.n offset 0) b
          join push_hosts hs on hs.host_no = b.host_no
          join push_events e on e.host_no = b.host_no and e.kind = b.kind and e.number = b.number
          cross join lateral unnest(b.devices) with ordinality u(d, o)
          left join push_devices d on d.device_no = u.d and d.route = b.route and d.dead_at is null
         order by b.turn, u.o;
      return query select 0::bigint, 0, 0::bigint, ''::text, 0::bigint, null::text, null::text, null::bigint, false,
        0::smallint, false, cardinality(candidates)::bigint, low, t, null::uuid, null::bytea, false;
    end $$;

    create or replace function push_settle_v2(
      p_owner bigint, p_route smallint[], p_turn bigint[], p_fence int[], p_device bigint[], p_outcome smallint[],
      p_detail text[], p_after bigint[], p_attempts smallint[], p_tried smallint[], p_proved text[],
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
        select u.*, b.host_no, b.kind, b.number, b.admitted_at, b.expires_at, b.is_silent, b.attempts made,
               b.last_reason, case when u.tried > 0 then t else b.tried_at end tried_at,
               case when u.tried = 2 then coalesce(b.unknowns, 0::smallint) + 1::smallint else b.unknowns end unknowns,
               (case when b.turn is null then 0 when u.outcome > 0 then 1 when t + u.wait >= b.expires_at then 3
                     else 2 end)::smallint answer
          from unnest(p_route, p_turn, p_fence, p_device, p_outcome, p_detail, p_after, p_attempts, p_tried)
                 with ordinality u(route, turn, fence, device, outcome, detail, wait, attempts, tried, o)
          left join lateral (
            select q.* from push_delivery_batches q where q.route = u.route and q.turn = u.turn offset 0) b
            on b.fence = u.fence and b.owner = p_owner and u.device = any(b.devices)),
      ended as (
        update push_event_recipients r set done_at = t, queued_at = s.admitted_at, tried_at = s.tried_at,
            unknowns = s.unknowns, route = s.route,
            attempts = case when s.answer = 3 then s.attempts when s.tried > 0 then s.made + 1::smallint else s.made end,
            outcome = case when s.answer = 3 then 4::smallint else s.outcome end,
            detail = case
              when s.answer = 3 then null
              when s.outcome = 5 and s.detail is null then
                push_cancel_cause_v1(s.host_no, s.kind, s.number, s.device, s.route)
              else s.detail end,
            last_reason = case when s.answer = 3 then coalesce(s.detail, s.last_reason) else s.last_reason end
          from s where s.answer in (1, 3) and r.host_no = s.host_no and r.kind = s.kind and r.number = s.number
            and r.device_no = s.device and r.outcome is null),
      again as (
        insert into push_delivery_batches (turn, host_no, number, visible_at, admitted_at, expires_at, route, kind,
            attempts, is_silent, devices, tried_at, unknowns, last_reason)
          select push_turn(t + s.wait), s.host_no, s.number, t + s.wait, s.admitted_at, s.expires_at, s.route, s.kind,
                 s.attempts, s.is_silent, array[s.device], s.tried_at, s.unknowns, coalesce(s.detail, s.last_reason)
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
}
