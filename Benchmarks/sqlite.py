"""SQLite: api, worker and janitor on one file, against one process that makes the same transactions alone."""

import contextlib
import hashlib
import json
import shutil
import sqlite3
import time

import gateway
from admission import Wrk
from database import token
from machine import output, running
from pairs import Measure, paired


class Home:
    """A data folder with hosts in it, to be copied for each run."""

    def __init__(self, folder, hosts):
        self.folder, self.hosts = f"{folder}/sqlite", hosts
        with running([f"{gateway.BIN}/janitor", "sweep"], {"ORCA_PUSH_DATA_DIR": self.folder}, f"{folder}/janitor.log") as janitor:
            janitor.process.wait(30)
        now = int(time.time() * 1000)
        with contextlib.closing(self._open(self.folder)) as file, file:
            for host in range(1, hosts + 1):
                file.execute("insert into push_hosts (host_no, fingerprint) values (?, ?)", (host, f"B{host:015d}"))
                file.execute("insert into push_sessions (host_no, token_digest, expires_at, created_at) values (?, ?, ?, ?)",
                             (host, hashlib.sha256(token(host).encode()).digest(), now + 86_400_000, now))
                for phone in "ab":
                    file.execute(
                        "insert into push_devices (host_no, registration_id, device_id, route, token, is_proven, registered_at,"
                        " created_at) values (?, ?, ?, 1, ?, 1, ?, ?)",
                        (host, f"r{host}{phone}", phone, self.phone(host, phone), now, now))

    @staticmethod
    def phone(host, phone):
        return hashlib.sha256(f"{host}{phone}".encode()).hexdigest()

    @property
    def phones(self):
        return [self.phone(host, phone) for host in range(1, self.hosts + 1) for phone in "ab"]

    @staticmethod
    def _open(folder):
        return sqlite3.connect(f"{folder}/push.sqlite3", timeout=10)

    @contextlib.contextmanager
    def copy(self, folder):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.folder, folder)
        yield folder

    def waiting(self, folder):
        with contextlib.closing(self._open(folder)) as file:
            return file.execute("select count(*) from push_delivery_batches").fetchone()[0]


class Folder:
    """Stands in for a Database where the programs are started."""

    def __init__(self, folder):
        self.environment = {"ORCA_PUSH_DATA_DIR": folder}


def measure(folder, hosts, seconds, pairs):
    home = Home(folder, hosts)
    counts = []
    with gateway.Receiver(f"{folder}/sqlite-apple") as apple:
        apple.phones(home.phones)

        def ours():
            with home.copy(f"{folder}/sqlite-run") as data, \
                    gateway.api(Folder(data), f"{folder}/sqlite-api.log") as api, \
                    gateway.worker(Folder(data), apple, f"{folder}/sqlite-worker.log"), \
                    running([f"{gateway.BIN}/janitor", "watch"], {"ORCA_PUSH_DATA_DIR": data}, f"{folder}/sqlite-janitor.log"):
                began = time.monotonic()
                sends = Wrk(api.port, hosts).run(64, seconds)["all"]
                while home.waiting(data):
                    time.sleep(0.05)
                spent = time.monotonic() - began
            counts.append(sends)
            return sends / spent

        def straight():
            with home.copy(f"{folder}/sqlite-straight") as data:
                sends = counts[-1] if counts else 2_000 * seconds
                # To as many hosts as wrk's: the more events a host has, the fewer hosts share a page.
                found = json.loads(output([f"{gateway.BIN}/bench", "straight", data, str(Wrk.BLOCK), str(sends), "32"]))
                return sends / found["seconds"]

        line = paired("SQLite, three programs: sends delivered to two phones a second, against one process alone", "1/s", ours,
                      straight, pairs, (">=", 0.6))
    return [line, Measure("SQLite, three programs: deliveries a second", "1/s", line.ours * 2, None, [], None)]
