"""Processes, their CPU and memory, free ports, and the tools that the yardsticks need."""

import contextlib
import glob
import os
import re
import shutil
import signal
import socket
import subprocess
import time

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


def tool(name):
    """The path of a program, Postgres's own folder included; ends the run with what to install."""
    found = shutil.which(name) or next(iter(sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"), reverse=True)), None)
    if found is None:
        raise SystemExit(f"{name} is missing: scripts/bench installs what it needs")
    return found


def free_port():
    """A port that was free a moment ago."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def listening(port):
    """Returns once something listens there."""
    end = time.monotonic() + 10
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            if time.monotonic() > end:
                raise SystemExit(f"nothing listens on port {port}") from None
            time.sleep(0.01)


def cpu(pid):
    """Seconds of CPU that a process has used, 0 when it is gone."""
    try:
        fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    except FileNotFoundError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS


def resident(pid):
    """Bytes of memory that a process has in use."""
    return int(open(f"/proc/{pid}/statm").read().split()[1]) * PAGE


def family_cpu(pid):
    """Seconds of CPU of a process and its children, those that have ended included."""
    total = 0.0
    for stat in glob.glob("/proc/[0-9]*/stat"):
        try:
            text = open(stat).read()
        except (FileNotFoundError, ProcessLookupError):
            continue
        fields = text.rsplit(")", 1)[1].split()
        if int(text.split()[0]) == pid:
            total += sum(map(int, fields[11:15]))
        elif int(fields[1]) == pid:
            total += int(fields[11]) + int(fields[12])
    return total / TICKS


class Program:
    """A running program; what it prints goes to a file."""

    def __init__(self, words, environment, log):
        self.log = log
        with open(log, "wb") as output:
            self.process = subprocess.Popen(
                words, env={"PATH": os.environ["PATH"], **environment}, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                start_new_session=True)
        self.pid = self.process.pid

    def logged(self, pattern, seconds=30):
        """The first match of `pattern` in what the program printed, once it has printed it."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            match = re.search(pattern, open(self.log).read())
            if match:
                return match
            if self.process.poll() is not None:
                break
            time.sleep(0.002)
        raise SystemExit(f"{self.process.args[0]} did not say {pattern!r}:\n{open(self.log).read()[-800:]}")

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        return self.process.returncode


@contextlib.contextmanager
def running(words, environment, log):
    program = Program(words, environment, log)
    try:
        yield program
    finally:
        program.stop()


def output(words, **options):
    """What a command prints; the run ends when it fails."""
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, words[:4]))} … failed ({done.returncode}):\n{(done.stdout + done.stderr)[-2000:]}")
    return done.stdout
