"""Sends through HTTP delivered at the same time: what the whole gateway takes, alone and by two of each."""

import concurrent.futures
import contextlib
import time

import gateway
from admission import Wrk
from latency import settle
from machine import resident
from pairs import Measure, paired


class Whole:
    def __init__(self, database, folder, hosts, apple):
        self.database, self.folder, self.hosts, self.apple = database, folder, hosts, apple
        self.memory = {"api": 0.0, "worker": 0.0}
        self.doubled = 0

    def rate(self, copies, seconds, connections):
        """Sends a second from the first to the last delivery; half of the connections for each of two apis."""
        self.database.empty()
        with contextlib.ExitStack() as stack:
            apis = [stack.enter_context(gateway.api(self.database, f"{self.folder}/whole-api{n}.log")) for n in range(copies)]
            crew = [
                stack.enter_context(gateway.worker(self.database, self.apple, f"{self.folder}/whole-worker{n}.log"))
                for n in range(copies)]
            began = time.monotonic()
            with concurrent.futures.ThreadPoolExecutor() as pool:
                # As many hosts and phones in all, or two of each would also have twice as many pages and tokens in use.
                loads = [
                    pool.submit(Wrk(api.port, self.hosts, Wrk.BLOCK // copies).run, connections // copies, seconds)
                    for api in apis]
            sends = sum(load.result()["all"] for load in loads)
            settle(self.database)
            spent = time.monotonic() - began
            for kind, programs in (("api", apis), ("worker", crew)):
                self.memory[kind] = max([self.memory[kind]] + [resident(program.pid) for program in programs])
            stored = 2 * self.database.number("select count(*) from push_events")
            sent = sum(gateway.metric(worker.metrics, r"orca_push_attempts_total") for worker in crew)
            self.doubled = max(self.doubled, sent - stored)
        return sends / spent


def measure(database, folder, hosts, seconds, pairs):
    with gateway.Receiver(f"{folder}/whole") as apple:
        apple.phones(database.sql("select token from push_devices").split())
        whole = Whole(database, folder, hosts, apple)
        # Few callers at once leave each of two apis half as much to commit together; many keep both busy.
        few, many = (
            paired(f"two apis and two workers against one of each, {count} connections in all: sends delivered a second", "1/s",
                   lambda: whole.rate(2, seconds, count), lambda: whole.rate(1, seconds, count), pairs, (">=", 1))
            for count in (64, 256))
        api, worker = (whole.memory[kind] / 2**20 for kind in ("api", "worker"))
        return [
            few,
            many,
            Measure("sends, each to two phones, delivered a second", "1/s", few.yardstick, None, [], None),
            Measure("deliveries sent twice by two of each", "", whole.doubled, 0, [], None),
            Measure("api's memory at full load", "MB", api, 64, [api / 64], ("<=", 1)),
            Measure("worker's memory at full load", "MB", worker, 64, [worker / 64], ("<=", 1)),
        ]
