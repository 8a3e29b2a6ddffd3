"""Draws the dashboard from a run: the gateway under load, a real Prometheus that scrapes it, and some trouble on the way.

    picture.py PICTURE.svg [MINUTES]     needs the programs built, `prometheus`, and the packages of scripts/python
"""

import json
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

from load import Load
from programs import ROOT, Gateway, Postgres

sys.path.insert(0, str(ROOT / "infra/grafana"))
import render  # noqa: E402

CALM = {"apns": {"latencyMs": 40}, "fcm": {"latencyMs": 60}}


def apple(*steps):
    return {**CALM, "rules": [{"token": "*", "provider": "apns", "repeat": True, "steps": list(steps)}]}


BUSY = apple({"times": 4}, {"status": 503, "reason": "ServiceUnavailable"})
REFUSES = apple({"status": 403, "reason": "InvalidProviderToken", "times": "always"})


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


class Watched(Gateway):
    """A gateway whose programs show their metrics."""

    def start(self, program):
        port = free_port()
        # By job, as `api` of `api-1`: its instances' addresses.
        self.jobs = getattr(self, "jobs", {})
        self.jobs.setdefault(program.name.split("-")[0], []).append(f"127.0.0.1:{port}")
        program.environment["ORCA_PUSH_METRICS_PORT"] = str(port)
        super().start(program)


def watch(gateway, folder, port):
    """A Prometheus that scrapes the gateway."""
    jobs = [{"job_name": job, "static_configs": [{"targets": places}]} for job, places in gateway.jobs.items()]
    settings = folder / "prometheus.json"
    settings.write_text(json.dumps({
        "global": {"scrape_interval": "2s", "evaluation_interval": "5s"}, "scrape_configs": jobs,
        "rule_files": [str(ROOT / "infra/prometheus/alerts.yml")]}))
    return subprocess.Popen([
        "prometheus", f"--config.file={settings}", f"--storage.tsdb.path={folder}/prometheus",
        f"--web.listen-address=127.0.0.1:{port}", "--log.level=error"])


def main(target, minutes="5"):
    bin = pathlib.Path(subprocess.run(
        ["swift", "build", "--show-bin-path"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip())
    folder = pathlib.Path(tempfile.mkdtemp(prefix="push-picture."))
    gateway = Watched(Postgres(folder), bin, folder)
    port = free_port()
    prometheus = watch(gateway, folder, port)
    try:
        load = Load(gateway, 8, 1)
        began = time.time()
        load.start()
        try:
            # The last is long enough for a lane to find that it is not refused any more.
            for script in [CALM, BUSY, CALM, REFUSES, CALM, CALM]:
                gateway.sandbox.forget()
                gateway.sandbox.script(script)
                time.sleep(60 * float(minutes) / 6)
        finally:
            load.stop()
        render.main(f"http://127.0.0.1:{port}", began, time.time(), target)
        print(f"{load.sends} sends, {len(load.complaints)} complaints")
    finally:
        prometheus.terminate()
        prometheus.wait()
        gateway.end()
    shutil.rmtree(folder)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
