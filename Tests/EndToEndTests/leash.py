"""Runs a program that must not outlive whoever holds the other end of standard input: a line there asks it to end as an
operator would (or, with "hangup", to read its files again; "kill" kills it), and the end of input kills it."""

import os
import signal
import subprocess
import sys
import threading

SIGNALS = {"hangup": signal.SIGHUP, "kill": signal.SIGKILL}
program = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)


def watch():
    for line in sys.stdin:
        program.send_signal(SIGNALS.get(line.strip(), signal.SIGTERM))
    program.kill()


threading.Thread(target=watch, daemon=True).start()
code = program.wait()
os._exit(code if code >= 0 else 128 - code)
