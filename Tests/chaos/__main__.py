"""Kills the gateway's programs at random instants under load, and counts what was lost or came twice.

Each cycle kills one program with kill -9 (Postgres as if its machine had lost power) and starts it again at once, while
hosts go on. Now and then a worker is stopped for longer than its leases last. Ends with 1 when a promise was broken.
"""

import argparse
import collections
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from judge import UNRECORDED, Judge, Push
from load import Load
from programs import ROOT, Gateway, Postgres, SQLite

# Every so many cycles a worker is stopped for that long.
FREEZE_EVERY = 25

TROUBLE = {
    "rules": [
        {"token": "*", "provider": "apns", "repeat": True, "steps": [
            {"times": 23}, {"status": 503, "reason": "ServiceUnavailable", "times": 2}, {"times": 11},
            {"delayMs": 900, "times": 3}, {"times": 7}, {"status": 429, "reason": "TooManyRequests"}]},
        {"token": "*", "provider": "fcm", "repeat": True, "steps": [
            {"times": 31}, {"status": 503, "reason": "UNAVAILABLE"}, {"times": 5}, {"delayMs": 900, "times": 2}]}],
    "apns": {"latencyMs": 40}, "fcm": {"latencyMs": 60}}


class Chaos:
    """One run on one store."""

    def __init__(self, options, gateway):
        self.options, self.gateway = options, gateway
        self.rng = random.Random(options.seed)
        self.load = Load(gateway, options.hosts, options.seed)
        self.kills = collections.Counter()
        self.pushes, self.seen = [], 0
        self.frozen = None

    def run(self):
        gateway = self.gateway
        gateway.sandbox.script(TROUBLE)
        self.load.start()
        try:
            for cycle in range(self.options.cycles):
                time.sleep(self.rng.uniform(0.1, 1.5))
                if cycle % FREEZE_EVERY == 0:
                    self._freeze()
                self._kill(cycle)
                self._collect()
            while self.frozen:
                time.sleep(0.2)
            time.sleep(1)
        finally:
            self.load.stop()
        self._wait()
        self._collect()
        judge = Judge(gateway, self.load, self.pushes, self.options.unrecorded)
        judge.run()
        return judge

    def _kill(self, cycle):
        kinds = ["worker", "api", "janitor"] + (["postgres"] if self.gateway.store.name == "postgres" else [])
        kind = self.rng.choice(kinds)
        self.kills[kind] += 1
        began = time.time()
        if kind == "postgres":
            self.gateway.store.crash()
            name = kind
        else:
            group = {"worker": self.gateway.workers.values(), "api": self.gateway.apis, "janitor": [self.gateway.janitor]}
            program = self.rng.choice([p for p in group[kind] if p is not self.frozen])
            program.kill()
            self.gateway.start(program)
            name = program.name
        print(f"cycle {cycle + 1}: killed {name} at {began:.3f}, back after {time.time() - began:.2f} s", flush=True)

    def _freeze(self):
        if self.frozen:
            return
        self.frozen = self.rng.choice(list(self.gateway.workers.values()))
        self.frozen.freeze()
        # On its own, since on SQLite whoever is stopped in the middle of a write holds up everybody.
        threading.Timer(self.options.freeze, self._thaw).start()
        self.kills["stopped worker"] += 1
        print(f"{self.frozen.name} is stopped for {self.options.freeze:g} s", flush=True)

    def _thaw(self):
        self.frozen.thaw()
        print(f"{self.frozen.name} wakes", flush=True)
        self.frozen = None

    def _collect(self):
        """Reads the sandbox's log on, which keeps only so many."""
        for request in self.gateway.sandbox.requests(self.seen):
            self.seen = request["number"]
            if request["provider"] in ("apns", "fcm"):
                self.pushes.append(Push(request))

    def _wait(self):
        """Until nothing waits."""
        end = time.time() + self.options.quiet
        while self.gateway.waiting() != [0, 0, 0] and time.time() < end:
            time.sleep(0.5)


def options():
    parser = argparse.ArgumentParser(prog="scripts/chaos", description=__doc__)
    parser.add_argument("--store", choices=["postgres", "sqlite"], default="postgres")
    parser.add_argument("--cycles", type=int, default=20)
    parser.add_argument("--hosts", type=int, default=6, help="that send at the same time")
    parser.add_argument("--seed", type=int, default=None, help="of the load and of the kills")
    parser.add_argument("--freeze", type=float, default=34, help="seconds for which a worker is stopped; leases last 30")
    parser.add_argument(
        "--quiet", type=float, default=150, help="seconds at most for the last lease to lapse and the last retry to be made")
    parser.add_argument(
        "--unrecorded", type=float, default=UNRECORDED,
        help="seconds within which a worker writes down what it was answered, on a machine as busy as this one")
    parser.add_argument("--bin", type=pathlib.Path, default=None, help="folder of the programs")
    return parser.parse_args()


def main():
    chosen = options()
    chosen.seed = random.randrange(1_000_000) if chosen.seed is None else chosen.seed
    bin = chosen.bin or pathlib.Path(
        subprocess.run(["swift", "build", "--show-bin-path"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip())
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    print(f"{chosen.cycles} cycles on {chosen.store}, seed {chosen.seed}", flush=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="push-chaos."))
    began = time.time()
    gateway = Gateway({"postgres": Postgres, "sqlite": SQLite}[chosen.store](folder), bin, folder)
    try:
        chaos = Chaos(chosen, gateway)
        judge = chaos.run()
        lines = [("cycles", chosen.cycles), *(("killed " + k, n) for k, n in sorted(chaos.kills.items())), *judge.report()]
    finally:
        codes = gateway.end()
    for program, code in codes.items():
        judge.fault("ends", f"{program} ended with {code}")
    for name, figure in [*lines, ("took", f"{time.time() - began:.0f} s")]:
        print(f"{name:>24}: {figure}")
    for fault in judge.faults[:30]:
        print(fault)
    if judge.faults:
        (folder / "faults").write_text("\n".join(judge.faults))
        print(f"chaos: {len(judge.faults)} promises broken with seed {chosen.seed}; the logs are in {folder}")
        sys.exit(1)
    shutil.rmtree(folder)
    print("chaos: every promise was kept")


main()
