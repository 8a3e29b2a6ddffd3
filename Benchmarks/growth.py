"""What finished rows, a held snapshot, housekeeping and idle workers cost."""

import contextlib
import subprocess
import threading
import time

import gateway
from admission import Wrk
from delivery import Run
from latency import settle
from machine import output, tool
from pairs import Measure, paired

CLAIM = """
begin;
select count(*) from push_claim_v3(1::smallint, 7, 64, 256, 256, '{}', 30000, 0, 0);
rollback;
"""


def claims(database, finished, seconds, pairs):
    """A claim's time beside `finished` finished rows, against an empty table."""
    def claim():
        return 1e6 / database.pgbench(CLAIM, 1, seconds)

    def fill(rows):
        database.empty()
        database.sql(f"""
            insert into push_events (host_no, number, seq, admitted_at, expires_at, next_turn_ms, event_key, content_digest, kind)
              select h.host_no, n, n, push_now_ms() - 3600000, push_now_ms() - 3300000, push_now_ms() - 3600000,
                     gen_random_uuid(), gen_random_uuid(), 1
                from push_hosts h, generate_series(1, ceil({rows} / 2.0 / (select count(*) from push_hosts))::int) n;
            insert into push_event_recipients (host_no, number, device_no, done_at, kind, outcome)
              select e.host_no, e.number, d.device_no, push_now_ms() - 3500000, 1, 1
                from push_events e join push_devices d using (host_no)""")
        # New work behind it, with numbers of its own.
        database.sql("""
            insert into push_events (host_no, number, seq, admitted_at, expires_at, next_turn_ms, event_key, content_digest, kind,
                payload)
              select host_no, 1000000, 1, push_now_ms(), push_now_ms() + 3600000, push_now_ms(), gen_random_uuid(),
                     gen_random_uuid(), 1, convert_to('{}', 'UTF8') from push_hosts;
            insert into push_delivery_batches (turn, host_no, number, visible_at, admitted_at, expires_at, route, kind, is_silent,
                devices)
              select push_turn(push_now_ms()), e.host_no, e.number, push_now_ms(), push_now_ms(), e.expires_at, 1, 1, false,
                     array_agg(d.device_no) from push_events e join push_devices d using (host_no) where e.number = 1000000
               group by e.host_no, e.number, e.expires_at""")
        database.sql("vacuum analyze push_events, push_event_recipients")
        database.sql("checkpoint")

    full, empty = [], []
    for _ in range(pairs):
        fill(0)
        empty.append(claim())
        fill(finished)
        full.append(claim())
    ratios = [a / b for a, b in zip(full, empty)]
    return Measure(f"claim beside {finished:,} finished rows, against none", "µs", sorted(full)[len(full) // 2],
                   sorted(empty)[len(empty) // 2], ratios, ("<=", 1.3))


class Session:
    """A session that is said one thing after another."""

    def __init__(self, database):
        self.psql = subprocess.Popen(
            [tool("psql"), "-X", "-q", "-A", "-t", "-d", database.url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def say(self, text):
        """Returns once that is done."""
        self.psql.stdin.write(f"{text};\n\\echo done\n")
        self.psql.stdin.flush()
        while (line := self.psql.stdout.readline()) != "done\n":
            if not line:
                raise SystemExit("a session of psql has ended early")

    def close(self):
        self.psql.communicate(timeout=10)


@contextlib.contextmanager
def snapshot(database):
    """A transaction that sees everything as it was, for as long as this lasts."""
    holder = Session(database)
    holder.say("begin isolation level repeatable read; select from push_hosts limit 1")
    try:
        yield
    finally:
        holder.say("rollback")
        holder.close()


def held(database, folder, apple, events, rounds):
    """The last round's deliveries a second of `rounds` backlogs under one held snapshot, against the first."""
    run = Run(database, apple, folder)
    database.empty()
    with snapshot(database):
        rates = [run.rate(events, fresh=False) for _ in range(rounds)]
    total = rounds * events * int(database.number("select count(*) from push_devices"))
    return Measure(f"delivery under a held snapshot, after {total:,} deliveries, against the first round", "1/s", rates[-1], rates[0],
                   [rates[-1] / rates[0]], (">=", 0.5)), rates


def idle(database, folder, apple, workers, seconds):
    """The share of a core that idle workers cost the server."""
    database.empty()
    with contextlib.ExitStack() as stack:
        for number in range(workers):
            stack.enter_context(gateway.worker(database, apple, f"{folder}/idle{number}.log"))
        time.sleep(3)
        before = database.cpu
        time.sleep(seconds)
        share = (database.cpu - before) / seconds * 100
    return Measure(f"{workers} idle workers: the server's share of a core", "%", share, 1, [share], ("<=", 1))


class BusyHost:
    """One host that spends its quota, 300 alerts in fifteen minutes, within five seconds, on 20 phones: 1,200 deliveries a
    second."""

    # Evenly: what one statement of thousands of rows costs whoever else has work is not the gateway's doing.
    EVERY, EVENTS = 0.05, 3

    def __init__(self, database, apple):
        self.database, self.over, self.number = database, threading.Event(), 0
        database.sql("""
            with h as (insert into push_hosts (fingerprint) values ('busy') on conflict do nothing returning host_no)
            insert into push_devices (host_no, registered_at, created_at, route, is_proven, registration_id, device_id, token)
              select h.host_no, push_now_ms() - 1000, push_now_ms() - 1000, 1, true, 'busy' || n, n, md5('busy' || n) || md5(n || 'y')
                from h, generate_series(1, 20) n""")
        self.host = int(database.number("select host_no from push_hosts where fingerprint = 'busy'"))
        apple.phones(database.sql(f"select token from push_devices where host_no = {self.host}").split())

    def __enter__(self):
        self.over.clear()
        self.session = Session(self.database)
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self):
        due = time.monotonic()
        while not self.over.wait(max(0, due - time.monotonic())):
            self.session.say(self.database.events(self.host, self.number, self.EVENTS))
            self.number += self.EVENTS
            due += self.EVERY

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()
        self.session.close()

    def forget(self):
        self.database.sql(f"delete from push_devices where host_no = {self.host}; delete from push_hosts where host_no = {self.host}")


def beside(database, folder, apple, hosts, seconds, pairs):
    """How long others' deliveries take from admission to the record of their end, beside one busy host and without it."""
    host = BusyHost(database, apple)

    def others():
        return database.number(f"""
            select percentile_cont(0.99) within group (order by r.done_at - e.admitted_at)
              from push_event_recipients r join push_events e using (host_no, kind, number) where host_no <> {host.host}""")

    def run(busy):
        database.empty()
        with contextlib.ExitStack() as stack:
            api = stack.enter_context(gateway.api(database, f"{folder}/beside-api.log"))
            stack.enter_context(gateway.worker(database, apple, f"{folder}/beside-worker.log"))
            wrk = Wrk(api.port, hosts)
            with host if busy else contextlib.nullcontext():
                wrk.run(16, seconds, 79)
                settle_others(database, host.host)
            settle(database)
            return others()

    line = paired("beside a host that spends its quota in 5 s on 20 phones: p99 of the others, admission to record, against without it", "ms",
                  lambda: run(True), lambda: run(False), pairs, ("<=", 2))
    host.forget()
    return line


def settle_others(database, host):
    """Waits until no other host has anything queued."""
    end = time.monotonic() + 60
    while database.number(f"select count(*) from push_delivery_batches where host_no <> {host}") and time.monotonic() < end:
        time.sleep(0.05)


def retention(database, folder, apple, hosts, rows, seconds):
    """The largest share of dead rows of each table that keeps events, in a table that holds a day of them, while as many are
    swept away as come in and autovacuum goes its way. The day is shorter than it will be at 300 sends a second (26 million
    events), and goes by faster."""
    day = 86_400_000
    database.empty()
    # The oldest reach their day's end while this runs, at about the rate at which new ones come.
    database.sql(f"""
        insert into push_events (host_no, number, seq, admitted_at, expires_at, next_turn_ms, event_key, content_digest, kind)
          select h.host_no, n, n, a.at, a.at + 300000, a.at, gen_random_uuid(), gen_random_uuid(), 1
            from push_hosts h, generate_series(1, {rows} / {hosts}) n,
                 lateral (select push_now_ms() - {day}
                            + ((n - 1) * {hosts} + h.host_no) * ({seconds} * 4 * 1000.0 / {rows})::numeric) a(at);
        insert into push_event_recipients (host_no, number, device_no, done_at, kind, outcome)
          select e.host_no, e.number, d.device_no, e.admitted_at, 1, 1
            from push_events e join push_devices d using (host_no)""")
    database.sql("vacuum analyze push_events, push_event_recipients")
    for setting in ["autovacuum_naptime = 1"]:  # as the day is shorter
        database.sql(f"alter system set {setting}")
    database.sql("select pg_reload_conf()")
    tables = ["push_events", "push_event_recipients"]
    worst = dict.fromkeys(tables, 0.0)
    before = database.number("select count(*) from push_events")
    with contextlib.ExitStack() as stack:
        api = stack.enter_context(gateway.api(database, f"{folder}/retention-api.log"))
        stack.enter_context(gateway.worker(database, apple, f"{folder}/retention-worker.log"))
        wrk = Wrk(api.port, hosts)
        end = time.monotonic() + seconds
        sends = 0
        while time.monotonic() < end:
            sends += wrk.run(64, 1)["all"]
            output([f"{gateway.BIN}/janitor", "sweep"], env=database.environment)
            for table in tables:
                live, dead = (int(x) for x in database.sql(
                    f"select n_live_tup || ' ' || n_dead_tup from pg_stat_user_tables where relname = '{table}'").split())
                worst[table] = max(worst[table], dead / max(live + dead, 1) * 100)
        settle(database)
    swept = before + sends - database.number("select count(*) from push_events")
    database.sql("alter system reset autovacuum_naptime")
    database.sql("select pg_reload_conf()")
    note = f"{before:,.0f} events at first, {sends:,} came, {swept:,.0f} went"
    return [Measure(f"a day's retention: the most dead rows in {table}", "%", share, 20, [share / 20], ("<=", 1), note=note)
            for table, share in worst.items()]


def measure(database, folder, hosts, events, finished, kept, rounds, seconds, pairs):
    lines = [claims(database, finished, seconds, pairs)]
    with gateway.Receiver(f"{folder}/growth") as apple:
        apple.phones(database.sql("select token from push_devices").split())
        line, rates = held(database, folder, apple, events, rounds)
        lines += [line, idle(database, folder, apple, 10, seconds * 4), beside(database, folder, apple, hosts, seconds, pairs)]
        lines += retention(database, folder, apple, hosts, kept, seconds * 8)
    return lines, rates
