"""Watches a worker's memory over very many deliveries, or before a very deep queue.

`flow` keeps the queue filled from below until so many deliveries are made; `deep` puts all of them in at once, before a
provider that takes its time, and watches for a while. What is resident is sampled once a second; after the warm-up it may
not grow. Rows are put into the queue by SQL, as admission would write them. Ends with 1 when it grew.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from programs import ROOT, Postgres, Program, Sandbox

HOSTS, PHONES = 50, 20
# A worker's deliveries live for five minutes at most; these must outlive the watching.
LIFE = 86_400_000

SETTING = f"""
    insert into push_hosts (fingerprint) select 'soak-' || lpad(n::text, 11, '0') from generate_series(1, {HOSTS}) n;
    insert into push_devices (host_no, registered_at, created_at, route, is_proven, registration_id, device_id, token)
      select h.host_no, 1, 1, 3, true, h.host_no || '-' || n, 'phone-' || n,
             'phone' || lpad(h.host_no::text, 5, '0') || lpad(n::text, 12, '0') || ':APA91b' || repeat('x-_7', 30)
        from push_hosts h, generate_series(1, {PHONES}) n;"""

# Events {first} to {last}, each for the first {phones} phones of its host.
EVENTS = """
    with c as (select push_now_ms() t),
    e as (
      insert into push_events (host_no, number, seq, admitted_at, expires_at, next_turn_ms, event_key, content_digest,
          fence_key, kind, payload)
        select h.host_no, {first} + n, {first} + n, c.t, c.t + %d, c.t, gen_random_uuid(), gen_random_uuid(),
               gen_random_uuid(), 1, convert_to('{{"notificationId":"run-' || n || '","notificationSeq":' || {first} + n ||
                 ',"notificationEpoch":"soak","source":"plugin","title":"A title","body":"' || repeat('words ', 20) || '"}}',
               'utf8')
          from c, push_hosts h, generate_series(1, {count}) n returning host_no, number),
    r as (
      insert into push_event_recipients (host_no, number, device_no, kind)
        select e.host_no, e.number, d.device_no, 1 from e join push_devices d on d.host_no = e.host_no
         where d.device_id in ({phones}))
    insert into push_delivery_batches (turn, host_no, number, visible_at, admitted_at, expires_at, route, kind, is_silent,
        devices)
      select push_turn(c.t), e.host_no, e.number, c.t, c.t, c.t + %d, 3, 1, false,
             array(select d.device_no from push_devices d where d.host_no = e.host_no and d.device_id in ({phones}))
        from c, e;""" % (LIFE, LIFE)


class Soak:
    """One worker, its sandbox and its database."""

    def __init__(self, options, bin, folder):
        self.options, self.number = options, 0
        self.store = Postgres(folder)
        self.store.prepare()
        try:
            environment = {"PATH": "/usr/bin:/bin", **self.store.environment}
            subprocess.run([bin / "janitor", "migrate"], env=environment, check=True, stdout=subprocess.DEVNULL)
            self.sandbox = Sandbox(bin, folder)
            self.worker = Program(
                "worker", [bin / "worker"], "ready", folder, {**self.store.environment, **self.sandbox.worker_environment})
            self.worker.start()
            self.store.rows(SETTING)
        except BaseException:
            self.store.end()
            raise

    def add(self, events, phones):
        """That many events for each host, each to so many phones."""
        names = ", ".join(f"'phone-{n + 1}'" for n in range(phones))
        self.store.rows(EVENTS.format(first=self.number, count=events, phones=names))
        self.number += events

    def waiting(self):
        return int(self.store.rows("select count(*) from push_delivery_batches")[0][0])

    def sent(self):
        return self.sandbox.call("/summary")["delivered"]

    def resident(self):
        """MB."""
        for line in pathlib.Path(f"/proc/{self.worker.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024

    def flow(self):
        """Samples, each with how many deliveries were made."""
        samples, began = [], time.time()
        while (sent := self.sent()) < self.options.deliveries and time.time() - began < self.options.seconds:
            # 20 phones an event: rows enough for some seconds.
            if self.waiting() < 2_000:
                self.add(60, PHONES)
            samples.append((sent, self.resident()))
            time.sleep(1)
        return samples, time.time() - began

    def deep(self):
        """Samples over the time asked for, before a provider that answers after 200 ms."""
        self.sandbox.script({"fcm": {"latencyMs": 200}})
        self.worker.freeze()
        for _ in range(self.options.deliveries // (HOSTS * 200)):
            self.add(200, 1)
        self.worker.thaw()
        samples, began = [], time.time()
        while time.time() - began < self.options.seconds:
            samples.append((self.sent(), self.resident()))
            time.sleep(1)
        return samples, time.time() - began

    def end(self):
        self.worker.stop()
        self.sandbox.program.stop()
        self.store.end()


def main():
    parser = argparse.ArgumentParser(prog="scripts/soak", description=__doc__)
    parser.add_argument("kind", choices=["flow", "deep"])
    parser.add_argument("--deliveries", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=int, default=3_600, help="the longest that is watched")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / ".build/release", help="folder of the programs")
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="push-soak."))
    soak = Soak(options, options.bin, folder)
    try:
        samples, took = soak.flow() if options.kind == "flow" else soak.deep()
        left = soak.waiting()
    finally:
        soak.end()
    shutil.rmtree(folder)
    # A fifth warms up; what follows is compared with what it ends with.
    resident = [mb for _, mb in samples]
    warm = len(resident) // 5
    before, after = max(resident[warm:2 * warm + 1]), max(resident[-warm - 1:])
    print(f"{samples[-1][0]} deliveries in {took:.0f} s, {left} rows left in the queue")
    print(f"resident in MB, ten samples: {', '.join(f'{resident[i * (len(resident) - 1) // 9]:.1f}' for i in range(10))}")
    print(f"after the warm-up at most {before:.1f} MB, at the end {after:.1f} MB")
    if after > before * 1.1 + 2:
        sys.exit("soak: it grew")
    print("soak: it is flat")


main()
