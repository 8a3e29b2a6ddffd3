"""A backlog delivered by one worker, against the pattern that claims one, sends one and finishes one."""

import json
import os
import statistics
import time

import gateway
from machine import cpu, output, resident
from pairs import Measure, paired


def one_by_one(database, apple, events):
    """Deliveries a second of 12 lanes that each claim one, send it and finish it, over the same backlog as the worker's."""
    database.empty()
    database.backlog(events)
    database.sql("""
        drop table if exists bench_deliveries;
        create table bench_deliveries (id bigserial primary key, host_no bigint not null, number bigint not null,
          device_no bigint not null, due bigint not null, lease bigint, owner int, fence int not null default 0,
          state smallint not null default 0);
        insert into bench_deliveries (host_no, number, device_no, due)
          select b.host_no, b.number, d.device_no, b.visible_at
            from push_delivery_batches b, unnest(b.devices) d (device_no) order by b.turn;
        create index on bench_deliveries (due, id) where state = 0;
        create index on bench_deliveries (device_no, id) where state < 2;
        analyze bench_deliveries, push_events, push_event_recipients""")
    total = database.number("select count(*) from bench_deliveries")
    database.sql("checkpoint")
    found = json.loads(output(
        [f"{gateway.BIN}/bench", "one-by-one", database.url, apple.origin, "12"],
        env={**os.environ, "SSL_CERT_FILE": apple.authority}))
    finished = database.number("select count(*) from push_event_recipients where outcome = 1")
    if not total == finished == found["deliveries"]:
        raise SystemExit(f"{found['deliveries']} of {total:.0f} were sent one by one, {finished:.0f} have an outcome")
    database.sql("drop table bench_deliveries")
    return found["deliveries"] / found["seconds"]


class Run:
    """A backlog of `events` × hosts × 2 delivered by `workers` workers, set by `environment`."""

    def __init__(self, database, apple, folder, workers=1, **environment):
        self.database, self.apple, self.folder, self.workers = database, apple, folder, workers
        self.environment = environment
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
        with gateway.worker(self.database, self.apple, f"{self.folder}/worker.log", **self.environment) as worker:
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


def measure(database, folder, events, pairs):
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
                   lambda: one_by_one(database, apple, events), pairs, (">=", 20))]
        rate = measures[0].ours
        measures.append(Measure("delivery, one worker: deliveries a second", "1/s", rate, 10_000, [rate / 10_000], (">=", 1)))
        measures.append(Measure("worker's CPU a delivery", "µs", statistics.median(costs), None, [], None))
        measures.append(Measure("server's CPU a delivery", "µs", statistics.median(server), None, [], None))
        memory = run.memory / 2**20
        measures.append(Measure("worker's memory at full load", "MB", memory, 64, [memory / 64], ("<=", 1)))

        two = Run(database, apple, folder, workers=2)
        measures.append(paired("delivery, two workers against one", "1/s", lambda: two.rate(events), lambda: run.rate(events), pairs,
                               (">=", 1)))
        wide = Run(database, apple, folder, ORCA_PUSH_WORKER_BATCH="256")
        measures.append(paired("delivery, one worker that claims 256 rows at most, and holds four times as much, against 64", "1/s",
                               lambda: wide.rate(events), lambda: run.rate(events), pairs))
        return measures, run.progress
