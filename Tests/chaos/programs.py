"""The gateway's programs as processes that can be killed and started again, with a sandbox and a store of their own."""

import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import threading
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
ORIGIN = "https://push.example"


class Life:
    """One process of a program: when it began, and when it was stopped or killed."""

    def __init__(self):
        self.began = time.time()
        self.cuts = []


class Program:
    """A program that is started, killed and started again. Its output goes to a file, and is read for `ready`."""

    def __init__(self, name, command, ready, folder, environment=None):
        self.name, self.command, self.ready = name, command, ready
        self.log = folder / f"{name}.log"
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("ORCA_PUSH_")}
        self.environment.update(environment or {})
        self.process, self.lives = None, []

    def start(self, patience=300):
        """Starts it, again where it ends by itself, and waits until it says that it is ready; what the line says."""
        end = time.time() + patience
        while time.time() < end:
            if said := self._start(end):
                return said
            time.sleep(0.2)
        raise RuntimeError(f"{self.name} did not get ready; see {self.log}")

    def _start(self, end):
        began, said = threading.Event(), {}
        self.lives.append(Life())
        # It must not outlive whoever holds it.
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "--", *self.command], env=self.environment, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

        def read(output):
            with self.log.open("a") as log:
                for line in output:
                    log.write(line)
                    log.flush()
                    if not began.is_set() and f'"message":"{self.ready}' in line:
                        said.update(json.loads(line))
                        began.set()
            began.set()

        threading.Thread(target=read, args=[self.process.stdout], daemon=True).start()
        began.wait(end - time.time())
        return said

    def kill(self):
        """kill -9, and waits until it is gone."""
        self.lives[-1].cuts.append(time.time())
        self.process.kill()
        self.process.wait()

    def freeze(self):
        """SIGSTOP."""
        self.lives[-1].cuts.append(time.time())
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)

    def stop(self):
        """Asks it to end as an operator does; its exit code."""
        if self.process is None:
            return 0
        self.process.terminate()
        try:
            return self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


class Sandbox:
    """The local Apple and Google, and what it has seen."""

    def __init__(self, bin, folder, arguments=()):
        ports = [x for name in ("control", "fcm", "metadata", "apns-production", "apns-sandbox") for x in (f"--{name}-port", "0")]
        self.program = Program("sandbox", [bin / "sandbox", "--dir", folder / "sandbox", *ports, *arguments], "ready", folder)
        self.program.start()
        places = json.loads((folder / "sandbox/sandbox.json").read_text())
        self.control, self.worker_environment = places["control"], places["workerEnvironment"]

    def call(self, path, body=None, method=None):
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(self.control + path, data, method=method), timeout=60) as reply:
            return json.load(reply)

    def script(self, script):
        self.call("/script", script)

    def forget(self):
        """Away with whatever was scripted."""
        self.call("/script", method="DELETE")

    def requests(self, since):
        """Pushes after number `since` that have ended, up to the first that has not."""
        while True:
            page = self.call(f"/requests?since={since}&limit=1000")
            if page["dropped"] > since:
                raise RuntimeError("the sandbox's log runs over: it must be read more often")
            for request in page["requests"]:
                if request["answer"] is None:
                    return
                since = request["number"]
                yield request
            if not page["requests"]:
                return


class SQLite:
    """The store of one machine."""

    name = "sqlite"

    def __init__(self, folder):
        self.folder = folder / "data"
        self.environment = {"ORCA_PUSH_DATA_DIR": str(self.folder)}

    def prepare(self):
        pass

    def rows(self, sql):
        connection = sqlite3.connect(f"file:{self.folder}/push.sqlite3?mode=ro", uri=True, timeout=30)
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()

    def end(self):
        pass


class Postgres:
    """A server of our own, which can be made to crash."""

    name = "postgres"

    def __init__(self, folder):
        folder.chmod(0o755)
        self.folder = folder / "postgres"
        self.outages = []

    def _do(self, what):
        return subprocess.run(
            [ROOT / "scripts/test-postgres", what, self.folder], check=True, capture_output=True, text=True).stdout.strip()

    def prepare(self):
        self.url = self._do("start")
        self.environment = {"ORCA_PUSH_DATABASE_URL": self.url}

    def crash(self):
        """Ends it at once, without a checkpoint, and starts it again."""
        began = time.time()
        self.outages.append((began, None))
        self._do("crash")
        self._do("start")
        self.outages[-1] = (began, time.time())

    def rows(self, sql):
        text = subprocess.run(
            ["psql", "-XAtq", "-F", "\t", self.url, "-c", sql], check=True, capture_output=True, text=True).stdout
        return [[None if cell == "" else cell for cell in line.split("\t")] for line in text.splitlines()]

    def end(self):
        self._do("stop")


class Gateway:
    """Two apis, two workers and a janitor on one store, and a sandbox."""

    def __init__(self, store, bin, folder, sandbox_bin=None):
        self.store, self.folder, self.sandbox_bin = store, folder, sandbox_bin or bin
        store.prepare()
        self.programs = []
        try:
            self._start(bin)
        except BaseException:
            self.end()
            raise

    def _start(self, bin):
        self.sandbox = Sandbox(self.sandbox_bin, self.folder)
        if self.store.name == "postgres":
            environment = {**os.environ, **self.store.environment}
            subprocess.run([bin / "janitor", "migrate"], env=environment, check=True, stdout=subprocess.DEVNULL)
        door = {**self.store.environment, "PORT": "0", "ORCA_PUSH_PUBLIC_URL": ORIGIN}
        self.apis = [Program(f"api-{n}", [bin / "api"], "serving", self.folder, door) for n in (1, 2)]
        # Each worker knows the sandbox by another name, so that its log tells who sent what.
        self.workers = {}
        for n, name in ((1, "127.0.0.1"), (2, "localhost")):
            environment = {
                variable: value.replace("https://127.0.0.1:", f"https://{name}:")
                for variable, value in self.sandbox.worker_environment.items()}
            self.workers[name] = Program(
                f"worker-{n}", [bin / "worker"], "ready", self.folder, {**self.store.environment, **environment})
        self.janitor = Program("janitor", [bin / "janitor", "watch"], "ready", self.folder, self.store.environment)
        self.doors = {}
        for program in self.apis + list(self.workers.values()) + [self.janitor]:
            self.programs.append(program)
            self.start(program)

    def start(self, program):
        said = program.start()
        if program in self.apis:
            self.doors[program] = f"http://127.0.0.1:{said['port']}"

    def waiting(self):
        """Rows in the queue, those under a lease, and recipients without an outcome."""
        queue = self.store.rows("select count(*), count(owner) from push_delivery_batches")[0]
        open = self.store.rows("select count(*) from push_event_recipients where outcome is null")[0]
        return [int(x) for x in (*queue, *open)]

    def end(self):
        """Stops everything; the programs that did not end with 0."""
        codes = {program.name: program.stop() for program in self.programs}
        if hasattr(self, "sandbox"):
            codes["sandbox"] = self.sandbox.program.stop()
        self.store.end()
        return {name: code for name, code in codes.items() if code != 0}
