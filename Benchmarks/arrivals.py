"""Sends at an even pace, and when each of their pushes came to the provider."""

import http.client
import json
import threading
import time

from database import token


class Arrivals:
    """`rate` sends a second for `seconds`, by hosts in turn, whether or not earlier ones have been answered."""

    CALLERS = 16
    #: Hosts that send; all of the 300 events that a host may send would be far more than this takes.
    HOSTS = 320

    def __init__(self, port, sandbox, rate, seconds):
        self.port, self.sandbox, self.rate = port, sandbox, rate
        self.count = int(rate * seconds)
        self.begun = {}
        self.failures = []
        self.next, self.lock = 0, threading.Lock()

    def run(self):
        """Milliseconds from the start of each send to each of its two pushes' arrival, in no order."""
        first = max((request["number"] for request in self.sandbox.requests(0)), default=0)
        self.start = time.monotonic() + 0.1
        callers = [threading.Thread(target=self._call) for _ in range(self.CALLERS)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
        if self.failures:
            raise SystemExit(f"{len(self.failures)} of {self.count} sends failed: {self.failures[0]}")
        found, end = [], time.monotonic() + 30
        while len(found) < 2 * self.count and time.monotonic() < end:
            time.sleep(0.2)
            for request in self.sandbox.requests(first):
                first = request["number"]
                found.append(request["time"] - self.begun[int(request["body"]["orca"]["notificationSeq"])])
        if len(found) != 2 * self.count:
            raise SystemExit(f"{len(found)} of {2 * self.count} pushes came")
        return found

    def _call(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            while (number := self._turn()) < self.count:
                wait = self.start + number / self.rate - time.monotonic()
                if wait > 0:
                    time.sleep(wait)
                self.begun[number] = time.time() * 1000
                self._send(connection, number)
        except (OSError, http.client.HTTPException) as error:
            self.failures.append(repr(error))
        finally:
            connection.close()

    def _turn(self):
        with self.lock:
            self.next += 1
            return self.next - 1

    def _send(self, connection, number):
        host = number % self.HOSTS + 1
        connection.request("POST", "/v1/send", json.dumps({
            "v": 1, "registrationIds": [f"r{host}a", f"r{host}b"],
            "notification": {
                "notificationId": f"n-{number}", "notificationSeq": number, "notificationEpoch": "arrivals",
                "source": "agent-task-complete", "agentState": "finished", "title": "The build is green again",
                "body": "x" * 120}}),
            {"Authorization": f"Bearer {token(host)}", "Content-Type": "application/json"})
        reply = connection.getresponse()
        text = reply.read()
        if reply.status != 200 or text.count(b'"queued"') != 2:
            self.failures.append(f"{reply.status} {text[:200]}")
