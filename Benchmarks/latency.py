"""From a send's arrival to its pushes' arrival at the provider, at a quiet rate and near the limit; and what an idle
gateway costs."""

import contextlib
import statistics
import time

import gateway
from admission import Wrk
from arrivals import Arrivals
from pairs import Measure


def quiet(database, folder, seconds, rate):
    """The lines at `rate` sends a second, and how many pushes took how many milliseconds."""
    found = []
    with contextlib.ExitStack() as stack:
        sandbox = stack.enter_context(gateway.sandbox(f"{folder}/latency-sandbox"))
        database.empty()
        api = stack.enter_context(gateway.api(database, f"{folder}/latency-api.log"))
        stack.enter_context(gateway.sandbox_worker(database, sandbox, f"{folder}/latency-worker.log"))
        Arrivals(api.port, sandbox, rate, 2).run()
        database.empty()
        sync = sync_time(database, lambda: found.extend(Arrivals(api.port, sandbox, rate, seconds).run()))
    cuts = statistics.quantiles(found, n=100)
    note = f"one commit's fsync took {sync:.1f} ms; a push waits for two"
    return [
        Measure(f"latency at {rate} sends a second, send's start to provider's receipt: p{q}", "ms", cuts[q - 1], bound,
                [cuts[q - 1] / bound], ("<=", 1), note=note) for q, bound in ((50, 5), (99, 25))
    ] + [Measure("the disk under it: an fsync of the write-ahead log", "ms", sync, None, [], None)], found


def sync_time(database, work):
    """What an fsync of the write-ahead log took on average while `work` ran, in ms."""
    database.sql("alter system set track_wal_io_timing = on")
    database.sql("select pg_reload_conf()")
    read = "select wal_sync_time || ' ' || wal_sync from pg_stat_wal"
    before = [float(x) for x in database.sql(read).split()]
    work()
    time.sleep(2)  # a session that went idle tells what it did a little later
    after = [float(x) for x in database.sql(read).split()]
    database.sql("alter system reset track_wal_io_timing")
    database.sql("select pg_reload_conf()")
    return (after[0] - before[0]) / max(after[1] - before[1], 1)


def busy(database, folder, hosts, seconds, most):
    """The line near the limit, of `most` sends a second, and the line of an idle gateway."""
    with contextlib.ExitStack() as stack:
        apple = stack.enter_context(gateway.Receiver(f"{folder}/latency"))
        apple.phones(database.sql("select token from push_devices").split())
        database.empty()
        api = stack.enter_context(gateway.api(database, f"{folder}/latency-api.log"))
        worker = stack.enter_context(gateway.worker(database, apple, f"{folder}/latency-worker.log"))
        wrk = Wrk(api.port, hosts)
        wrk.run(64, 2)
        settle(database)
        name = "orca_push_delivery_seconds"
        before = gateway.buckets(worker.metrics, name)
        found = wrk.run(64, seconds, round(64 / (0.7 * most) * 1000))
        settle(database)
        rate = found["requests"] * 1e6 / found["microseconds"]
        # A send's reply comes after its commit: the sum of both is more than any send took from end to end.
        value = gateway.quantile(worker.metrics, name, 0.99, before) * 1000 + found["p99"] / 1000
        lines = [Measure(
            "latency at 70 % of the most: p99 of the reply and p99 of commit to acceptance, added", "ms", value, 150, [value / 150],
            ("<=", 1), note=f"{rate:.0f} sends a second seen")]
        # Clearing up after the load is the server's own work, and would be counted with what the programs ask.
        database.sql("alter system set autovacuum = off")
        database.sql("select pg_reload_conf()")
        time.sleep(12)  # a session that went idle tells what it did within ten seconds
        count = "select xact_commit + xact_rollback from pg_stat_database where datname = 'bench'"
        before = database.number(count)
        time.sleep(seconds * 2)
        idle = (database.number(count) - before - 1) / (seconds * 2)
        database.sql("alter system reset autovacuum")
        database.sql("select pg_reload_conf()")
        lines.append(Measure("idle: statements a second of one worker and one api", "1/s", idle, 2, [idle / 2], ("<=", 1)))
    return lines


def measure(database, folder, hosts, seconds, most):
    """`most` is how many sends a second the whole gateway takes; returns the lines and the milliseconds at the quiet rate."""
    lines, found = quiet(database, folder, seconds, 200)
    return lines + busy(database, folder, hosts, seconds, most), found


def settle(database):
    """Waits until the queue is empty."""
    end = time.monotonic() + 120
    while database.waiting and time.monotonic() < end:
        time.sleep(0.2)
