extension PostgresSteps {
  /// What is kept of each delivery for whoever asks what became of it. Adds alone: the functions of step 1 stay, and what
  /// they leave empty is told as far as it is known.
  ///
  /// The queue's row carries the trace of the attempts so far, and the recipient's row takes it over at the end, so an
  /// attempt that succeeds at once is written as before and one that is repeated costs no write of its own.
  static let recordStep =
    """
    alter table push_event_recipients
      add column queued_at bigint,
      add column tried_at bigint,
      add column attempts smallint,
      add column unknowns smallint,
      add column route smallint,
      add column last_reason text;

    alter table push_delivery_batches
      add column tried_at bigint,
      add column unknowns smallint,
      add column last_reason text;

    -- Which registration a recipient was, once its row is gone. No token.
    create table push_forgotten_devices (
      device_no bigint primary key,
      forgotten_at bigint not null,
      route smallint not null,
      registration_id text collate "C" not null);
    create index push_forgotten_devices_age on push_forgotten_devices (forgotten_at);

    -- Why a delivery is not to be sent any more.
    create function push_cancel_cause_v1(p_host bigint, p_kind smallint, p_number bigint, p_device bigint, p_route smallint)
    returns text language sql as $$
      select case
               when e.kind = 1 and exists (select 1 from push_dismissed_events f
                 where f.host_no = e.host_no and f.fence_key = e.fence_key and f.seq >= e.seq) then 'dismissed'
               when d.device_no is null then 'deleted'
               when d.dead_at is not null then 'token_dead'
               when d.route <> p_route then 'moved'
             end
        from push_events e left join push_devices d on d.device_no = p_device
       where e.host_no = p_host and e.kind = p_kind and e.number = p_number
    $$;

    create function push_release_v2(
      p_owner bigint, p_route smallint[], p_turn bigint[], p_fence int[], p_reason text[])
    returns void language sql as $$
      update push_delivery_batches b
         set owner = null, visible_at = push_now_ms(), last_reason = coalesce(u.w, b.last_reason)
        from unnest(p_route, p_turn, p_fence, p_reason) u(r, n, f, w)
       where b.route = u.r and b.turn = u.n and b.fence = u.f and b.owner = p_owner
    $$;

    -- As push_settle_v1, with the trace of the attempts. `p_detail` of an outcome 0 is why another attempt is due;
    -- `p_tried` says whether the provider was asked (1), and whether what it made of that is unknown (2).
    create function push_settle_v2(
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
          left join push_delivery_batches b
            on b.route = u.route and b.turn = u.turn and b.fence = u.fence and b.owner = p_owner
               and u.device = any(b.devices)),
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

    -- As push_expire_v1, with the trace of the attempts.
    create function push_expire_v2(p_limit int) returns table (batches bigint, deliveries bigint)
    language plpgsql as $$
    declare
      t bigint := push_now_ms();
    begin
      return query
        with late as (
          delete from push_delivery_batches b where (b.route, b.turn) in (
            select x.route, x.turn from push_delivery_batches x where x.expires_at <= t and x.visible_at <= t
             limit p_limit for update skip locked)
          returning b.host_no, b.kind, b.number, b.devices, b.admitted_at, b.route, b.attempts, b.tried_at, b.unknowns,
            b.last_reason),
        ended as (
          update push_event_recipients r set outcome = 4, done_at = t, queued_at = late.admitted_at,
              tried_at = late.tried_at, attempts = late.attempts, unknowns = late.unknowns, route = late.route,
              last_reason = late.last_reason
            from late, unnest(late.devices) d
           where r.host_no = late.host_no and r.kind = late.kind and r.number = late.number and r.device_no = d
             and r.outcome is null
          returning 1)
        select (select count(*) from late), (select count(*) from ended);
    end $$;

    """
}
