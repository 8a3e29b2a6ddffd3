"""The gateway's programs, and receivers that stand in for Apple."""

import contextlib
import os
import pathlib
import re
import sys
import urllib.request

from database import ROOT
from machine import Program, free_port, listening, output, running, tool

sys.path.append(f"{ROOT}/Tests/chaos")
from programs import Sandbox  # noqa: E402

#: Where the programs are: scripts/bench says.
BIN = os.environ.get("BENCH_PROGRAMS", f"{ROOT}/.build/release")


@contextlib.contextmanager
def api(database, log, **environment):
    """An api that accepts; its `port` and `metrics` port beside the process."""
    port, metrics = free_port(), free_port()
    with running([f"{BIN}/api"], {
            **database.environment, "ORCA_PUSH_PUBLIC_URL": "https://push.example", "PORT": str(port),
            "ORCA_PUSH_METRICS_PORT": str(metrics), **environment}, log) as program:
        program.logged('"serving"')
        program.port, program.metrics = port, metrics
        yield program


@contextlib.contextmanager
def worker(database, apple, log, **environment):
    """A worker that sends to `apple` (a Receiver)."""
    metrics = free_port()
    with running([f"{BIN}/worker"], {
            **database.environment, "ORCA_PUSH_METRICS_PORT": str(metrics),
            "ORCA_PUSH_APNS_PRODUCTION_URL": apple.origin, "ORCA_PUSH_PROVIDER_CA_FILE": apple.authority,
            "ORCA_PUSH_APNS_KEY": apple.key, "ORCA_PUSH_APNS_KEY_ID": "ABCDE12345", "ORCA_PUSH_APPLE_TEAM_ID": "TEAM123456",
            **environment}, log) as program:
        program.logged('"ready"')
        program.metrics = metrics
        yield program


@contextlib.contextmanager
def sandbox(folder):
    """The project's own Apple and Google, which keep a log and can be slow; a `Sandbox`."""
    os.makedirs(folder)
    made = Sandbox(pathlib.Path(BIN), pathlib.Path(folder))
    try:
        yield made
    finally:
        made.program.stop()


@contextlib.contextmanager
def sandbox_worker(database, sandbox, log, **environment):
    """A worker that sends to a sandbox, by all routes."""
    metrics = free_port()
    with running([f"{BIN}/worker"], {
            **database.environment, **sandbox.worker_environment, "ORCA_PUSH_METRICS_PORT": str(metrics), **environment},
            log) as program:
        program.logged('"ready"')
        program.metrics = metrics
        yield program


class Receiver:
    """nghttpd, which answers every push with 200 as cheaply as a server can, over TLS."""

    def __init__(self, folder, streams=1_000):
        os.makedirs(f"{folder}/3/device", exist_ok=True)
        self.folder, self.authority, self.streams = folder, f"{folder}/authority.pem", streams
        quiet = {"cwd": folder}
        output(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "7",
                "-keyout", "key.pem", "-out", "authority.pem", "-subj", "/CN=127.0.0.1", "-addext",
                "subjectAltName=IP:127.0.0.1"], **quiet)
        self.key = output(["openssl", "genpkey", "-algorithm", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"], **quiet)
        self.port = free_port()
        self.origin = f"https://127.0.0.1:{self.port}"

    def phones(self, tokens):
        """A file a token: nghttpd answers 200 to what exists. All are the same empty file."""
        target = f"{self.folder}/3/device/0"
        open(target, "w").close()
        for token in tokens:
            with contextlib.suppress(FileExistsError):
                os.link(target, f"{self.folder}/3/device/{token}")

    def __enter__(self):
        self.program = Program(
            [tool("nghttpd"), "-d", self.folder, "-m", str(self.streams), "-n", "1", str(self.port), f"{self.folder}/key.pem",
             self.authority], {}, f"{self.folder}/nghttpd.log")
        listening(self.port)
        return self

    def __exit__(self, *_):
        self.program.stop()


def metric(port, pattern):
    """The sum of the samples whose line begins with `pattern` (a regular expression)."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as reply:
        text = reply.read().decode()
    return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if re.match(pattern, line))


def quantile(port, name, q, before=None):
    """A quantile of a histogram in seconds, interpolated within its bucket; what `buckets` said earlier is taken off."""
    counts = buckets(port, name)
    if before:
        counts = {bound: count - before.get(bound, 0) for bound, count in counts.items()}
    rank, low, below = q * counts[float("inf")], 0.0, 0.0
    for bound in sorted(counts):
        if counts[bound] >= rank:
            if bound == float("inf"):
                return low
            return low + (bound - low) * (rank - below) / max(counts[bound] - below, 1)
        low, below = bound, counts[bound]
    return low


def buckets(port, name):
    """Cumulative counts of a histogram by upper bound, summed over its labels."""
    counts = {}
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as reply:
        for line in reply.read().decode().splitlines():
            match = re.match(rf'{name}_bucket{{.*le="([^"]+)".*}} (\S+)', line)
            if match:
                bound = float(match[1].replace("+Inf", "inf"))
                counts[bound] = counts.get(bound, 0) + float(match[2])
    return counts
