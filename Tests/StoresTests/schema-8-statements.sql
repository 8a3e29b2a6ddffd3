select * from push_claim_v3($1, $2, $3, $4, $5, $6, $7, $8, $9)
;
select * from push_recheck_v1($1, $2, $3)
;
select * from push_renew_v1($1, $2, $3, $4, $5)
;
select push_release_v2($1, $2, $3, $4, $5)
;
select push_settle_v2($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
;
select push_disown_v1($1, $2, $3, $4)
;
select * from push_expire_v2($1)
;
with told as (update push_delivery_batches set last_reason = $2 where (route, turn) in (
  select route, turn from push_delivery_batches
   where route = any($1) and fence = 0 and last_reason is null and visible_at <= push_now_ms() - $3
   limit $4 for update skip locked)
  returning 1)
select count(*) from told
;
select coalesce(sum(cardinality(devices)), 0)::int8,
       coalesce(max(c.t - visible_at) filter (where visible_at <= c.t), 0)::int8
  from push_delivery_batches, (select push_now_ms() t) c
;
select push_register_v1($1, $2, $3, $4, $5, $6)
;
with gone as (
  delete from push_devices where registration_id = $1 and host_no = $2 returning device_no, route, registration_id)
insert into push_forgotten_devices (device_no, forgotten_at, route, registration_id)
  select device_no, push_now_ms(), route, registration_id from gone returning device_no
;
select registration_id, device_id, route, dead_at is not null from push_devices
 where host_no = $1 order by created_at, device_no limit 1024
;
select push_admit_v3($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
;
select e.kind, coalesce(d.registration_id, f.registration_id), coalesce(r.route, b.route, d.route, f.route), r.outcome,
       coalesce(r.detail, case when r.outcome = 5 and exists (select 1 from push_dismissed_events x
         where x.host_no = e.host_no and x.fence_key = e.fence_key and x.seq >= e.seq) then 'dismissed' end),
       r.done_at, coalesce(r.queued_at, b.admitted_at, e.admitted_at), coalesce(r.tried_at, b.tried_at),
       coalesce(r.attempts, b.attempts), coalesce(r.unknowns, b.unknowns), coalesce(r.last_reason, b.last_reason),
       e.expires_at, b.visible_at, b.owner is not null,
       exists (select 1 from push_delivery_batches o where o.host_no = e.host_no and o.route = b.route
         and o.turn <> b.turn and o.owner is not null and o.visible_at > c.t), c.t, f.forgotten_at
  from (select push_now_ms() t) c, push_events e
  join push_event_recipients r on r.host_no = e.host_no and r.kind = e.kind and r.number = e.number
  left join push_devices d on d.device_no = r.device_no
  left join push_forgotten_devices f on f.device_no = r.device_no
  left join lateral (
    select q.* from push_delivery_batches q
     where q.host_no = e.host_no and q.kind = e.kind and q.number = e.number and r.device_no = any(q.devices)
       and r.outcome is null limit 1) b on true
 where e.host_no = $1 and e.event_key = any($2) order by e.kind, r.device_no limit $3
;
select host_no, fingerprint from push_hosts where fingerprint >= $1 and fingerprint < $1 || '{' limit $2
;
select to_regclass('push_schema') is not null
;
select coalesce(max(number), 0)::int8, coalesce((
  select (to_jsonb(s) ->> 'serves')::int8 from push_schema s order by number desc limit 1), max(number), 0)::int8
from push_schema
;
select 1::int8
;
insert into push_challenges (expires_at, challenge_id, host_fingerprint, proof_digest)
  values (push_now_ms() + $1, $2, $3, $4)
;
select host_fingerprint, proof_digest, consumed_at is null and expires_at >= push_now_ms()
  from push_challenges where challenge_id = $1
;
select push_open_session_v1($1, $2, $3)
;
select s.host_no, h.fingerprint, s.expires_at - push_now_ms(), u.place
  from unnest($1::bytea[]) with ordinality u(digest, place)
  join push_sessions s on s.token_digest = u.digest join push_hosts h on h.host_no = s.host_no
;
with gone as (delete from push_challenges where challenge_id in (
  select challenge_id from push_challenges where expires_at < push_now_ms() - $1 limit $2 for update skip locked)
  returning 1)
select count(*) from gone
;
with gone as (delete from push_sessions where host_no in (
  select host_no from push_sessions where expires_at < push_now_ms() - $1 limit $2 for update skip locked)
  returning 1)
select count(*) from gone
;
with gone as (delete from push_dismissed_events where (host_no, fence_key) in (
  select host_no, fence_key from push_dismissed_events where dismissed_at < push_now_ms() - $1 limit $2
    for update skip locked)
  returning 1)
select count(*) from gone
;
with gone as (delete from push_forgotten_devices where device_no in (
  select device_no from push_forgotten_devices where forgotten_at < push_now_ms() - $1 limit $2
    for update skip locked)
  returning 1)
select count(*) from gone
;
select * from push_expire_v2($1)
;
select * from push_sweep_payloads_v1($1)
;
select * from push_sweep_events_v1($1, $2)
;
with fast as materialized (select set_config('synchronous_commit', 'off', true))
select pg_notify('push_queue', '') from fast
