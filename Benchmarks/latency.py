"""From a send's commit to the provider's acceptance, at a quiet rate and near the limit; and what an idle gateway costs."""

import contextlib
import time

import gateway
from admission import Wrk
from pairs import Measure


def measure(database, folder, hosts, seconds, most):
    """`most` is how many sends a second the whole gateway takes; returns the lines and the buckets at the quiet rate."""
    measures = []
    with contextlib.ExitStack() as stack:
        apple = stack.enter_context(gateway.Receiver(f"{folder}/latency"))
        apple.phones(database.sql("select token from push_devices").split())
        database.empty()
        api = stack.enter_context(gateway.api(database, f"{folder}/latency-api.log"))
        worker = stack.enter_context(gateway.worker(database, apple, f"{folder}/latency-worker.log"))
        wrk = Wrk(api.port, hosts)
        wrk.run(64, 2)
        name, drawn = "orca_push_delivery_seconds", None
        for label, connections, pause, bounds in [
                # 16 connections that each wait 80 ms: about 200 a second.
                ("at 200 sends a second", 16, 79, {0.5: 5, 0.99: 25}),
                ("at 70 % of the most", 64, round(64 / (0.7 * most) * 1000), {0.99: 150})]:
            settle(database)
            before = gateway.buckets(worker.metrics, name)
            found = wrk.run(connections, seconds, pause)
            settle(database)
            rate = found["requests"] * 1e6 / found["microseconds"]
            for q, bound in bounds.items():
                value = gateway.quantile(worker.metrics, name, q, before) * 1000
                measures.append(Measure(
                    f"latency {label}, commit to acceptance: p{q * 100:g}", "ms", value, bound, [value / bound], ("<=", 1),
                    note=f"{rate:.0f} sends a second seen"))
            if drawn is None:
                after = gateway.buckets(worker.metrics, name)
                drawn = {bound: after[bound] - before.get(bound, 0) for bound in after}
        time.sleep(5)  # the server counts what has ended only after a while
        count = "select xact_commit + xact_rollback from pg_stat_database where datname = 'bench'"
        before = database.number(count)
        time.sleep(seconds * 2)
        idle = (database.number(count) - before - 1) / (seconds * 2)
        measures.append(Measure("idle: statements a second of one worker and one api", "1/s", idle, 2, [idle / 2], ("<=", 1)))
    return measures, drawn


def settle(database):
    """Waits until the queue is empty."""
    end = time.monotonic() + 120
    while database.waiting and time.monotonic() < end:
        time.sleep(0.2)
