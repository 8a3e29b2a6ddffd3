"""Starts and sizes."""

import contextlib
import glob
import os
import time
import urllib.request

import gateway
from machine import free_port, output, resident, running, tool
from pairs import against


def starts(database, folder, count):
    """Milliseconds from the start of a program to its first 200 on /ready."""
    times = {"api": [], "worker": []}
    with gateway.Receiver(f"{folder}/small") as apple:
        for kind, figures in times.items():
            for _ in range(count):
                port = free_port()
                environment = dict(database.environment)
                if kind == "api":
                    environment |= {"PORT": str(port), "ORCA_PUSH_PUBLIC_URL": "https://push.example"}
                else:
                    environment |= {
                        "ORCA_PUSH_METRICS_PORT": str(port), "ORCA_PUSH_APNS_PRODUCTION_URL": apple.origin,
                        "ORCA_PUSH_PROVIDER_CA_FILE": apple.authority, "ORCA_PUSH_APNS_KEY": apple.key,
                        "ORCA_PUSH_APNS_KEY_ID": "ABCDE12345", "ORCA_PUSH_APPLE_TEAM_ID": "TEAM123456"}
                began = time.monotonic()
                with running([f"{gateway.BIN}/{kind}"], environment, f"{folder}/start.log"):
                    while not ready(port):
                        if time.monotonic() - began > 20:
                            raise SystemExit(f"{kind} was not ready within 20 s:\n{open(f'{folder}/start.log').read()[-800:]}")
                        time.sleep(0.001)
                    figures.append((time.monotonic() - began) * 1000)
    return times


def ready(port):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/ready", timeout=1) as reply:
            return reply.status == 200
    except OSError:
        return False


def in_flight(database, folder, wanted):
    """The worker's memory with `wanted` deliveries in flight at once, before providers that take 8 s. All its connections
    carry 10,400 at most: on each of the two ways to Apple 4,000 to phones that Apple has taken a push for and 1,000 to
    others, to Google 400."""
    database.sql(
        "update push_devices set route = case when device_no % 20 = 0 then 3 else device_no % 2 + 1 end, "
        "is_proven = device_no % 5 <> 0")
    try:
        with contextlib.ExitStack() as stack:
            sandbox = stack.enter_context(gateway.sandbox(f"{folder}/slow"))
            sandbox.script({"apns": {"latencyMs": 8000}, "fcm": {"latencyMs": 8000}})
            database.empty()
            database.backlog(4)
            worker = stack.enter_context(gateway.sandbox_worker(
                database, sandbox, f"{folder}/slow-worker.log", ORCA_PUSH_WORKER_LANES="64", ORCA_PUSH_WORKER_BATCH="128"))
            most, memory, end = 0, 0, time.monotonic() + 120
            while most < wanted and time.monotonic() < end:
                most = max(most, gateway.metric(worker.metrics, "orca_push_in_flight"))
                memory = max(memory, resident(worker.pid))
                time.sleep(0.05)
    finally:
        database.sql("update push_devices set route = 1, is_proven = true")
    return against(f"worker's memory with {most:,.0f} deliveries in flight", "MB", [memory / 2**20], 64,
                   note="" if most >= wanted else f"{wanted:,} were to be in flight")


def measure(database, folder, count, flying):
    lines = [against(f"{kind}: start to ready", "ms", figures, 100) for kind, figures in starts(database, folder, count).items()]
    for kind in ("api", "worker", "janitor"):
        stripped = f"{folder}/{kind}"
        output([tool("strip"), "-o", stripped, f"{gateway.BIN}/{kind}"])
        lines.append(against(f"{kind}: size, stripped", "MB", [os.path.getsize(stripped) / 2**20], 20))
    for path in glob.glob(f"{folder}/start.log"):
        os.remove(path)
    lines.append(in_flight(database, folder, flying))
    return lines
