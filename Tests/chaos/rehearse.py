"""Plays a rollout and its way back on this machine, under load, and counts what was lost, came twice or was refused.

Two apis and two workers of the old build serve. Then, in the order of infra/rollout: the new build's janitor migrates, its
apis start beside the old ones and must be ready, FCM checks a push of its worker, its workers replace the old ones, requests
turn to the new apis, and the old ones end by SIGTERM. After a while everything goes back, on the new schema. Ends with 1
unless nothing was lost, nothing came twice and no request failed.
"""

import argparse
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

from judge import Judge, Push
from load import Load
from programs import ORIGIN, Gateway, Postgres, Program

# Requests that were on their way to an api when others took over end first, as the platform sees to: seconds.
UNDER_WAY = 2
# For what is under way at the end.
QUIET = 60


def say(words):
    print(words, flush=True)


class Strict(Judge):
    """Nothing is killed here, so nothing may come twice."""

    def _may_repeat(self, before, push):
        return False


class Rehearsal(Gateway):
    """A gateway of which two builds can run side by side."""

    def __init__(self, store, builds, folder):
        self.builds, self.turns, self.codes, self.took = builds, 0, {}, {}
        super().__init__(store, builds["old"], folder, builds["new"])
        self.serving = self.apis, list(self.workers.values())

    def run(self, build, program, *arguments):
        """One of the build's programs to its end."""
        environment = {**self.store.environment, **self.sandbox.worker_environment}
        subprocess.run(
            [self.builds[build] / program, *arguments], check=True, env={**os.environ, **environment}, stdout=subprocess.DEVNULL)

    def begin(self, build, program, ready, environment):
        """Two of the build's programs; what each said when it was ready."""
        said = {}
        for number in (1, 2):
            name = f"{program}-{build}-{self.turns}-{number}"
            one = Program(name, [self.builds[build] / program], ready, self.folder, {**self.store.environment, **environment})
            self.programs.append(one)
            said[one] = one.start()
        return said

    def finish(self, programs):
        """SIGTERM to each; they drain."""
        for program in programs:
            began = time.time()
            self.codes[program.name] = program.stop()
            self.programs.remove(program)
            say(f"   {program.name} ended with {self.codes[program.name]} after {time.time() - began:.1f} s")

    def migrate(self):
        began = time.time()
        self.run("new", "janitor", "migrate")
        self.took["migration"] = time.time() - began

    def turn(self, build):
        """From what serves to `build`."""
        began = time.time()
        self.turns += 1
        old_apis, old_workers = self.serving
        door = {"PORT": "0", "ORCA_PUSH_PUBLIC_URL": ORIGIN}
        apis = {
            api: f"http://127.0.0.1:{said['port']}" for api, said in self.begin(build, "api", "serving", door).items()}
        for address in apis.values():
            with urllib.request.urlopen(address + "/ready", timeout=10) as answer:
                assert answer.status == 200
        self.run(build, "worker", "probe-fcm")
        say(f"   apis of the {build} build are ready, and FCM takes its pushes")
        workers = list(self.begin(build, "worker", "ready", self.sandbox.worker_environment))
        # The judge reads the logs of all that ever ran.
        self.workers.update((worker.name, worker) for worker in workers)
        self.finish(old_workers)
        # Rebound, not changed: hosts choose from it at any time.
        self.doors = apis
        time.sleep(UNDER_WAY)
        self.finish(old_apis)
        self.serving = list(apis), workers
        self.took[f"to the {build} build"] = time.time() - began


def rehearse(options, gateway):
    """The judge, when all is played and what was queued has ended."""
    pushes, seen = [], 0

    def collect():
        # The sandbox's log keeps only so many, so it is read on and on.
        nonlocal seen
        for request in gateway.sandbox.requests(seen):
            seen = request["number"]
            if request["provider"] in ("apns", "fcm") and not request["body"].get("validateOnly"):
                pushes.append(Push(request))

    def serve(words):
        say(f"── {words}")
        end = time.time() + options.seconds
        while time.time() < end:
            time.sleep(0.5)
            collect()

    gateway.sandbox.script({"apns": {"latencyMs": 40}, "fcm": {"latencyMs": 60}})
    load = Load(gateway, options.hosts, options.seed)
    load.start()
    try:
        serve("the old build serves")
        say("── the new build migrates, under load")
        gateway.migrate()
        for build, words in [("new", "to the new build"), ("old", "back to the old build, on the new schema")]:
            say(f"── {words}")
            gateway.turn(build)
            serve(f"the {build} build serves")
    finally:
        load.stop()
    end = time.time() + QUIET
    while gateway.waiting() != [0, 0, 0] and time.time() < end:
        time.sleep(0.5)
    collect()
    judge = Strict(gateway, load, pushes)
    judge.run()
    if load.unanswered or load.busy:
        judge.fault("failed requests", f"{load.unanswered} without an answer, {load.busy} put off")
    return judge


def main():
    parser = argparse.ArgumentParser(prog="make rehearse", description=__doc__)
    parser.add_argument("--old", type=pathlib.Path, required=True, help="folder of the old build's programs")
    parser.add_argument("--new", type=pathlib.Path, required=True, help="folder of the new build's programs")
    parser.add_argument("--hosts", type=int, default=6, help="that send at the same time")
    parser.add_argument("--seconds", type=float, default=15, help="under load between two changes")
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000), help="of the load")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    say(f"seed {options.seed}")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="push-rehearsal."))
    gateway = Rehearsal(Postgres(folder), {"old": options.old.resolve(), "new": options.new.resolve()}, folder)
    try:
        judge = rehearse(options, gateway)
        lines = judge.report() + [(name, f"{seconds:.1f} s") for name, seconds in gateway.took.items()]
    finally:
        codes = {**gateway.codes, **gateway.end()}
    for name, code in codes.items():
        if code:
            judge.fault("ends", f"{name} ended with {code}")
    for name, figure in lines:
        print(f"{name:>24}: {figure}")
    for fault in judge.faults[:30]:
        print(fault)
    if judge.faults:
        print(f"rehearsal: {len(judge.faults)} faults with seed {options.seed}; the logs are in {folder}")
        sys.exit(1)
    shutil.rmtree(folder)
    print("rehearsal: nothing was lost, nothing came twice, no request failed")


main()
