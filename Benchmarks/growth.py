"""What finished rows, a held snapshot, housekeeping and idle workers cost."""

import contextlib
import subprocess
import time

import gateway
from delivery import Run
from machine import tool
from pairs import Measure

CLAIM = """
begin;
select count(*) from push_claim_v2(1::smallint, 7, 64, 30000, 0);
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


@contextlib.contextmanager
def snapshot(database):
    """A transaction that sees everything as it was, for as long as this lasts."""
    holder = subprocess.Popen([tool("psql"), "-X", "-q", "-d", database.url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    holder.stdin.write("begin isolation level repeatable read;\nselect 'held' from push_hosts limit 1;\n")
    holder.stdin.flush()
    while "held" not in holder.stdout.readline():
        pass
    try:
        yield
    finally:
        holder.communicate("rollback;\n", timeout=10)


def held(database, folder, apple, events, rounds):
    """The last round's deliveries a second of `rounds` backlogs under one held snapshot, against the first."""
    run = Run(database, apple, folder)
    rates = []
    # What `empty` would take away is what the snapshot keeps: the rounds follow one another without it.
    database.empty()
    with snapshot(database):
        empty, database.empty = database.empty, lambda: database.sql("delete from push_event_recipients; delete from push_events")
        try:
            rates = [run.rate(events) for _ in range(rounds)]
        finally:
            database.empty = empty
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


def measure(database, folder, events, finished, rounds, seconds, pairs):
    lines = [claims(database, finished, seconds, pairs)]
    with gateway.Receiver(f"{folder}/growth") as apple:
        apple.phones(database.sql("select token from push_devices").split())
        line, rates = held(database, folder, apple, events, rounds)
        lines += [line, idle(database, folder, apple, 10, seconds * 4)]
    return lines, rates
