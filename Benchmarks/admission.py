"""Sends admitted through HTTP, against pgbench on the same tables."""

import glob
import itertools
import json
import os
import statistics

import gateway
from database import PAYLOAD
from machine import cpu, output, tool
from pairs import Measure, against, paired

HERE = os.path.dirname(os.path.abspath(__file__))

# The same admission as a program makes it that says one statement at a time: ten round trips and a commit.
SEPARATE = rf"""
\set h random(1, :hosts)
\set key random(1, 1000000000000)
begin;
select pg_advisory_xact_lock(:h);
select device_no, route, dead_at from push_devices
 where host_no = :h and registration_id in ('r' || :h || 'a', 'r' || :h || 'b');
select number, expires_at, content_digest from push_events where host_no = :h and event_key = md5(:key::text)::uuid for update;
select coalesce(max(number), 0) as last, coalesce(max(next_turn_ms), 0) as turn from (
  select number, next_turn_ms from push_events where host_no = :h and kind = 1 order by number desc limit 1) l \gset
select coalesce(max(next_turn_ms), 0) as other from (
  select next_turn_ms from push_events where host_no = :h and kind = 2 order by number desc limit 1) l \gset
select 1 from push_events where host_no = :h and kind = 1 and number = :last - 299 and admitted_at > push_now_ms() - 900000;
select 1 from push_dismissed_events where host_no = :h and fence_key = md5(:key::text)::uuid and seq >= 1;
insert into push_events (host_no, number, seq, admitted_at, expires_at, next_turn_ms, event_key, content_digest, fence_key, kind,
    payload)
  values (:h, :last + 1, :last + 1, push_now_ms(), push_now_ms() + 300000, greatest(push_now_ms(), :turn, :other) + 20,
    md5(:key::text)::uuid, gen_random_uuid(), md5(:key::text)::uuid, 1, {PAYLOAD});
insert into push_event_recipients (host_no, number, device_no, kind)
  select :h, :last + 1, device_no, 1 from push_devices where host_no = :h;
insert into push_delivery_batches (turn, host_no, number, visible_at, admitted_at, expires_at, route, kind, is_silent, devices)
  select push_turn(greatest(push_now_ms(), :turn, :other)), :h, :last + 1, push_now_ms(), push_now_ms(), push_now_ms() + 300000, 1,
    1, false, array_agg(device_no) from push_devices where host_no = :h;
commit;
"""

# The gateway's own statement, its arguments made by the server.
GROUP = rf"""
\set h random(1, :hosts)
select push_admit_v3(array_agg(x.h order by n), array_agg(1::smallint), array_agg(1::bigint), array_agg(gen_random_uuid()),
  array_agg(gen_random_uuid()), array_agg(gen_random_uuid()), array_agg({PAYLOAD}), array_agg(false), array_agg(null::bigint),
  array_agg(2),
  (select array_agg('r' || (:h + m * 7) % :hosts + 1 || phone order by m, phone)
     from generate_series(1, :size) m, (values ('a'), ('b')) p (phone)),
  (select array_agg(m order by m) from generate_series(1, :size) m, generate_series(1, 2)),
  1000000, 900000, 300000)
from (select n, (:h + n * 7) % :hosts + 1 as h from generate_series(1, :size) n) x;
"""


class Wrk:
    """Load over HTTP. Each run has hosts of its own, few enough that the api knows their sessions after a short warm-up
    (it looks up no more than 36 at once) and enough that none comes to its quota of 300 events."""

    BLOCK = 960
    first = itertools.count(0, 10_000_019)
    block = itertools.count()

    def __init__(self, port, hosts, own=BLOCK):
        """`hosts` there are; a run is of `own` of them."""
        self.port, self.hosts, self.own = port, hosts, own

    def run(self, connections, seconds, pause=0):
        """What wrk saw after the warm-up (requests, microseconds, p50 and p99 in microseconds); `all` counts that too."""
        base = next(Wrk.block) * Wrk.BLOCK % (self.hosts - Wrk.BLOCK + 1)
        warm = 0
        while warm < 2 * self.own:
            warm += self._run(base, min(connections, 16), 1, 0)["requests"]
        found = self._run(base, connections, seconds, pause)
        found["all"] = warm + found["requests"]
        return found

    def _run(self, base, connections, seconds, pause):
        text = output(
            [tool("wrk"), "-t", "1", "-c", str(connections), "-d", f"{seconds}s", "--timeout", "10s", "-s", f"{HERE}/admission.lua",
             f"http://127.0.0.1:{self.port}"],
            env={**os.environ, "BENCH_BASE": str(base), "BENCH_HOSTS": str(self.own), "BENCH_FIRST": str(next(Wrk.first)),
                 "BENCH_DELAY": str(pause)})
        found = json.loads(next(line for line in text.splitlines() if line.startswith("BENCH ")).removeprefix("BENCH "))
        if found["failed"]:
            raise SystemExit(f"{found['failed']} of {found['requests']} sends were not answered with 200")
        return found


def measure(database, folder, hosts, seconds, pairs):
    """The admission lines of the table."""
    measures, batch, costs, server = [], [], [], []
    with gateway.api(database, f"{folder}/api.log") as api:
        wrk = Wrk(api.port, hosts)

        def ours():
            database.empty()
            spent, sum0, count0 = cpu(api.pid), *sizes(api)
            busy = database.cpu
            found = wrk.run(64, seconds)
            costs.append((cpu(api.pid) - spent) * 1e6 / found["all"])
            server.append((database.cpu - busy) * 1e6 / found["all"])
            sum1, count1 = sizes(api)
            batch.append((sum1 - sum0) / (count1 - count0))
            stored = database.number("select count(*) from push_events")
            # wrk stops with requests in flight: they are stored and not counted.
            if not found["all"] <= stored <= found["all"] + 80:
                raise SystemExit(f"{found['all']} sends were answered, {stored:.0f} are stored")
            return found["requests"] * 1e6 / found["microseconds"]

        def separate():
            database.empty()
            return database.pgbench(SEPARATE, 8, seconds, "-D", f"hosts={hosts}")

        def group(clients):
            database.empty()
            size = round(statistics.median(batch))
            calls = database.pgbench(GROUP, clients, seconds, "-D", f"hosts={hosts}", "-D", f"size={size}")
            # A group that is refused in part would be cheap.
            if (stored := database.number("select count(*) from push_events")) < 0.95 * size * calls * seconds:
                raise SystemExit(f"the yardstick stored {stored:.0f} of {size * calls * seconds:.0f} events")
            return size * calls

        measures.append(paired(
            "admission, 64 connections: sends a second against separate statements", "1/s", ours, separate, pairs, (">=", 4)))
        # As many calls at once as the api has; and one, as pgbench has it unless it is told otherwise.
        for clients, words in ((2, "the same group statement, two calls at a time"), (1, "the same, one call at a time")):
            measures.append(paired(
                f"admission, 64 connections: sends a second against {words}", "1/s", ours, lambda: group(clients), pairs,
                (">=", 0.8), note=f"mean group {statistics.median(batch):.0f} sends"))
        measures.append(against("api's CPU a send", "µs", costs, 120))
        measures.append(Measure("server's CPU a send", "µs", statistics.median(server), None, [], None))
        measures.append(paired("admission, 1 connection: median latency", "µs", lambda: wrk.run(1, seconds)["p50"],
                               lambda: lonely(database, hosts, seconds, folder), pairs, ("<=", 1.5)))
    return measures


def lonely(database, hosts, seconds, folder):
    """The median latency of one caller of the same function, in µs."""
    for old in glob.glob(f"{folder}/lonely*"):
        os.remove(old)
    database.pgbench(GROUP, 1, seconds, "-D", f"hosts={hosts}", "-D", "size=1", "-l", f"--log-prefix={folder}/lonely")
    return statistics.median(
        int(line.split()[2]) for log in glob.glob(f"{folder}/lonely*") for line in open(log))


def sizes(api):
    return [gateway.metric(api.metrics, f"orca_push_admission_batch_size_{part}") for part in ("sum", "count")]
