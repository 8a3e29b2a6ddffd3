"""A Postgres of the run's own, and what is put into it."""

import contextlib
import os
import subprocess

from machine import family_cpu, output, tool

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIFE = 10_000_000  # ms; so that nothing expires while it is measured


class Database:
    def __init__(self, folder):
        self.folder = folder
        self.admin = output([f"{ROOT}/scripts/test-postgres", "start", folder]).strip()
        self.pid = int(open(f"{folder}/cluster/postmaster.pid").readline())
        # As a server for this load is set: rare checkpoints, so that full-page writes do not hide what is measured.
        for setting in ["max_wal_size='4GB'", "checkpoint_timeout='30min'", "shared_buffers='1GB'", "jit=off"]:
            self.sql(f"alter system set {setting}", self.admin)
        output([f"{ROOT}/scripts/test-postgres", "stop", folder])
        output([f"{ROOT}/scripts/test-postgres", "start", folder])
        self.pid = int(open(f"{folder}/cluster/postmaster.pid").readline())
        self.sql("create database bench", self.admin)
        self.url = self.admin.rsplit("/", 1)[0] + "/bench"
        #: What a program needs to use it.
        self.environment = {"ORCA_PUSH_DATABASE_URL": self.url}

    def stop(self):
        subprocess.run([f"{ROOT}/scripts/test-postgres", "stop", self.folder], capture_output=True)

    def sql(self, text, url=None):
        return output([tool("psql"), "-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", url or self.url, "-c", text]).strip()

    def number(self, text):
        return float(self.sql(text) or 0)

    @property
    def cpu(self):
        """Seconds of CPU of the server and its sessions."""
        return family_cpu(self.pid)

    def pgbench(self, script, clients, seconds, *options):
        """Transactions per second of a script, after its first second."""
        path = f"{self.folder}/script.sql"
        with open(path, "w") as file:
            file.write(script)
        os.chmod(path, 0o644)
        text = output([
            tool("pgbench"), "-n", "-M", "prepared", "-f", path, "-c", str(clients), "-j", "1", "-T", str(seconds), *options,
            self.url])
        return float(next(line for line in text.splitlines() if line.startswith("tps")).split()[2])

    def hosts(self, count):
        """Hosts with a session and two iPhones each; host n's token is `token(n)`."""
        self.sql(f"""
            insert into push_hosts (fingerprint) select 'B' || lpad(n::text, 15, '0') from generate_series(1, {count}) n;
            insert into push_sessions (host_no, expires_at, created_at, token_digest)
              select h.host_no, push_now_ms() + 86400000, push_now_ms(),
                     sha256(convert_to(lpad(h.host_no::text, 42, 'A') || 'A', 'UTF8')) from push_hosts h;
            insert into push_devices (host_no, registered_at, created_at, route, is_proven, registration_id, device_id, token)
              select h.host_no, push_now_ms() - 1000, push_now_ms() - 1000, 1, true, 'r' || h.host_no || p, p,
                     md5(h.host_no || p) || md5(p || h.host_no)
                from push_hosts h, unnest(array['a', 'b']) p;
            analyze push_hosts, push_sessions, push_devices;""")

    def empty(self):
        """Takes away all events, and the traces of earlier runs with them."""
        self.sql("truncate push_events, push_event_recipients, push_delivery_batches, push_dismissed_events")
        self.sql("checkpoint")

    def backlog(self, events):
        """Each host sends `events` events to its two phones, all waiting now, the hosts by turns. Their numbers go on where
        those of earlier ones end."""
        first = int(self.number("select coalesce(max(number), 0) from push_events"))
        self.sql(f"""
            insert into push_events (host_no, number, seq, admitted_at, expires_at, next_turn_ms, event_key, content_digest,
                kind, payload)
              select h.host_no, n, n, push_now_ms(), push_now_ms() + {LIFE}, push_now_ms(), gen_random_uuid(),
                     gen_random_uuid(), 1, {PAYLOAD}
                from generate_series({first} + 1, {first} + {events}) n, push_hosts h;
            insert into push_event_recipients (host_no, number, device_no, kind)
              select e.host_no, e.number, d.device_no, 1 from push_events e join push_devices d using (host_no)
               where e.number > {first};
            insert into push_delivery_batches (turn, host_no, number, visible_at, admitted_at, expires_at, route, kind,
                is_silent, devices)
              select push_turn(push_now_ms() - 600000 + (e.number - {first}) * 1000), e.host_no, e.number, push_now_ms(), push_now_ms(),
                     e.expires_at, d.route, 1, false, array_agg(d.device_no order by d.device_no)
                from push_events e join push_devices d using (host_no)
               where e.number > {first}
               group by e.host_no, e.number, e.expires_at, d.route;
            """)
        self.sql("checkpoint")

    def events(self, host, first, count):
        """What says that one host sends `count` events, numbered from `first` on, to all its phones; in the fair order, as
        admission would place them."""
        return f"""
            with c as (select push_now_ms() t),
            p as (select array_agg(device_no order by device_no) devices, (count(*) + 3) / 4 * 20 cost
                    from push_devices where host_no = {host}),
            l as (select coalesce(max(next_turn_ms), 0) turn from push_events where host_no = {host}),
            e as (
              insert into push_events (host_no, number, seq, admitted_at, expires_at, next_turn_ms, event_key, content_digest,
                  kind, payload)
                select {host}, {first} + n, {first} + n, c.t, c.t + {LIFE}, greatest(c.t, l.turn) + n * p.cost, gen_random_uuid(),
                       gen_random_uuid(), 1, {PAYLOAD}
                  from c, p, l, generate_series(1, {count}) n returning number, next_turn_ms),
            r as (
              insert into push_event_recipients (host_no, number, device_no, kind)
                select {host}, e.number, d.device_no, 1 from e, push_devices d where d.host_no = {host})
            insert into push_delivery_batches (turn, host_no, number, visible_at, admitted_at, expires_at, route, kind, is_silent,
                devices)
              select push_turn(e.next_turn_ms - p.cost), {host}, e.number, c.t, c.t, c.t + {LIFE}, 1, 1, false, p.devices
                from c, p, e"""

    @property
    def waiting(self):
        """Deliveries in the queue."""
        return int(self.number("select coalesce(sum(cardinality(devices)), 0) from push_delivery_batches"))


def token(host):
    """The session token of host `host`, which Lua and SQL make the same way."""
    return str(host).rjust(42, "A") + "A"


# What the api stores of the notification that admission.lua sends.
PAYLOAD = "convert_to('%s', 'UTF8')" % (
    '{"notificationId":"n-1","notificationSeq":1,"notificationEpoch":"epoch","source":"agent-task-complete",'
    '"agentState":"finished","title":"The build is green again","body":"' + "x" * 120 + '"}')


@contextlib.contextmanager
def database(folder):
    made = Database(folder)
    try:
        yield made
    finally:
        made.stop()
