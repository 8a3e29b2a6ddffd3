"""A backlog delivered by one worker, against the pattern that claims one, sends one and finishes one."""

import json
import os
import statistics
import time

import gateway
from database import PAYLOAD
from machine import cpu, output, resident
from pairs import Measure, paired

def one_by_one(database, apple, rows, seconds):
    """Deliveries a second of 12 lanes that each claim one row, send it and finish it."""
    database.sql(f"""
        drop table if exists bench_deliveries;
        create table bench_deliveries (id bigserial primary key, device_no bigint, state int default 0, owner int, due bigint,
          lease bigint, done_at bigint, payload bytea);
        insert into bench_deliveries (device_no, due, payload)
          select d.device_no, push_now_ms() - 1000, {PAYLOAD}
            from push_devices d, generate_series(1, {rows} / (select count(*) from push_devices)::int + 1) n limit {rows};
        create index on bench_deliveries (due, id) where state = 0;
        analyze bench_deliveries""")
    database.sql("checkpoint")
    found = json.loads(output(
        [f"{gateway.BIN}/bench", "one-by-one", database.url, apple.origin, "12", str(seconds)],
        env={**os.environ, "SSL_CERT_FILE": apple.authority}))
    database.sql("drop table bench_deliveries")
    return found["deliveries"] / found["seconds"]


class Run:
    """A backlog of `events` × hosts × 2 delivered by `workers` workers."""

    def __init__(self, database, apple, folder, workers=1):
        self.database, self.apple, self.folder, self.workers = database, apple, folder, workers
        self.memory = self.cpu = self.server = 0.0
        #: (seconds since the start, deliveries so far)
        self.progress = []

    def rate(self, events, fresh=True):
        """Deliveries a second, from the first to the last; what was there before is taken away, if it is to be `fresh`."""
        if fresh:
            self.database.empty()
        self.database.backlog(events)
        total = self.database.waiting
        busy = self.database.cpu
        with gateway.worker(self.database, self.apple, f"{self.folder}/worker.log") as worker:
            others = [gateway.worker(self.database, self.apple, f"{self.folder}/worker{n}.log") for n in range(1, self.workers)]
            crew = [worker] + [other.__enter__() for other in others]
            try:
                self.progress = self._watch(crew, total)
            finally:
                for other in others:
                    other.__exit__(None, None, None)
        self.server = (self.database.cpu - busy) * 1e6 / total
        (begin, first), (end, last) = self.progress[0], self.progress[-1]
        return (last - first) / (end - begin)

    def _watch(self, crew, total):
        began, progress = time.monotonic(), []
        while True:
            sent = sum(gateway.metric(worker.metrics, r"orca_push_deliveries_total\{.*sent") for worker in crew)
            self.memory = max([self.memory] + [resident(worker.pid) for worker in crew])
            self.cpu = sum(cpu(worker.pid) for worker in crew) * 1e6 / total
            if sent:
                progress.append((time.monotonic() - began, sent))
            if sent >= total:
                return progress
            if time.monotonic() - began > 600:
                raise SystemExit(f"{sent:.0f} of {total} deliveries in 600 s")
            time.sleep(0.05)


def measure(database, folder, events, seconds, pairs):
    """The lines of the table, and the run whose progress is drawn."""
    with gateway.Receiver(f"{folder}/apple") as apple:
        apple.phones(database.sql("select token from push_devices").split())
        run = Run(database, apple, folder)
        total = events * int(database.number("select count(*) from push_devices"))
        costs, server = [], []

        def ours():
            rate = run.rate(events)
            costs.append(run.cpu)
            server.append(run.server)
            return rate

        measures = [
            paired(f"delivery of {total:,} waiting, one worker: deliveries a second against one by one with 12 lanes", "1/s", ours,
                   lambda: one_by_one(database, apple, min(total, 200_000), seconds), pairs, (">=", 20))]
        rate = measures[0].ours
        measures.append(Measure("delivery, one worker: deliveries a second", "1/s", rate, 10_000, [rate / 10_000], (">=", 1)))
        measures.append(Measure("worker's CPU a delivery", "µs", statistics.median(costs), None, [], None))
        measures.append(Measure("server's CPU a delivery", "µs", statistics.median(server), None, [], None))
        memory = run.memory / 2**20
        measures.append(Measure("worker's memory at full load", "MB", memory, 64, [memory / 64], ("<=", 1)))

        two = Run(database, apple, folder, workers=2)
        measures.append(paired("delivery, two workers against one", "1/s", lambda: two.rate(events), lambda: run.rate(events), pairs,
                               (">=", 1)))
        return measures, run.progress
