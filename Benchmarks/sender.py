"""The worker's HTTP/2 client alone, against h2load, to the same nghttpd."""

import json
import os
import re
import resource
import statistics

import gateway
from machine import output, tool
from pairs import Measure, paired


def measure(folder, requests, pairs):
    """Requests a second and CPU a request at a few shapes."""
    measures = []
    with gateway.Receiver(f"{folder}/sender") as receiver:
        receiver.phones([])
        with open(f"{folder}/push.body", "w") as file:
            file.write("x" * 400)
        for streams, connections in [(1, 1), (10, 1), (100, 1), (100, 4)]:
            count = requests // 10 if streams == 1 else requests
            ours_cpu, theirs_cpu = [], []

            def ours():
                found = json.loads(output(
                    [f"{gateway.BIN}/bench", "sender", receiver.origin, str(streams), str(connections), str(count)],
                    env={**os.environ, "SSL_CERT_FILE": receiver.authority}))
                if found["failed"]:
                    raise SystemExit(f"{found['failed']} of {count} requests were not answered with 200")
                ours_cpu.append(found["cpuMicroseconds"])
                return count / found["seconds"]

            def h2load():
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                text = output([
                    tool("h2load"), "-n", str(count), "-c", str(connections), "-m", str(streams), "-t", "1", "-d",
                    f"{folder}/push.body", "-H", "apns-topic: com.example.app", "-H", "apns-push-type: alert", "-H",
                    "apns-priority: 10", "-H", "apns-expiration: 1800000000", "-H",
                    "apns-id: 00000000-0000-0000-0000-000000000000", "-H", "authorization: bearer " + "x" * 180,
                    f"{receiver.origin}/3/device/0"])
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                theirs_cpu.append(
                    (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e6 / count)
                return float(re.search(r", ([0-9.]+) req/s", text)[1])

            shape = f"{connections} connection{'s' if connections > 1 else ''}, {streams} stream{'s' if streams > 1 else ''}"
            measures.append(paired(f"sender, {shape}: requests a second", "1/s", ours, h2load, pairs, (">=", 0.9)))
            measures.append(Measure(
                f"sender, {shape}: CPU a request", "µs", statistics.median(ours_cpu), statistics.median(theirs_cpu),
                [a / b for a, b in zip(ours_cpu, theirs_cpu)], ("<=", 1.2)))
    return measures
