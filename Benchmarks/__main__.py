"""The gateway's figures, each beside a yardstick in one run.

    scripts/bench [--quick] [--only NAME,…] [--out FOLDER]

`--quick` runs every part once, briefly: it shows that all of it works, not how fast. Parts: admission, sender, delivery,
whole, latency, growth, small, sqlite.
"""

import argparse
import os
import sys
import tempfile
import time

import admission
import delivery
import gateway
import growth
import latency
import report
import sender
import small
import sqlite
import whole
from database import database
from machine import running


class Size:
    """How much is measured."""

    def __init__(self, quick):
        self.hosts = 1_000 if quick else 10_000
        self.seconds = 1 if quick else 5
        self.pairs = 1 if quick else 5
        self.requests = 2_000 if quick else 200_000
        self.backlog = 1 if quick else 10  # events a host, each to two phones
        self.finished = 10_000 if quick else 5_000_000
        self.kept = 2_000 if quick else 400_000  # events of a day that goes by in under three minutes
        self.rounds = 2 if quick else 10  # backlogs under one snapshot
        self.starts = 2 if quick else 10
        self.flying = 1_000 if quick else 10_000


PARTS = ["admission", "sender", "delivery", "whole", "latency", "growth", "small", "sqlite"]


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--quick", action="store_true")
    words.add_argument("--only", default=",".join(PARTS))
    words.add_argument("--out", default="run/bench")
    words = words.parse_args()
    chosen = words.only.split(",")
    if unknown := set(chosen) - set(PARTS):
        raise SystemExit(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    size, measures, pictures = Size(words.quick), [], []
    with tempfile.TemporaryDirectory(prefix="push-bench.") as folder:
        os.chmod(folder, 0o755)  # the server runs as a user of its own
        with database(f"{folder}/postgres") as base:
            measure(base, folder, size, chosen, measures, pictures)
    report.write(measures, words.out, "quick" if words.quick else "full")
    for draw in pictures:
        draw(words.out)
    print(report.table(measures))
    missed = [measure.name for measure in measures if measure.is_met is False]
    print(f"\n{len(measures)} measures, {len(missed)} below their target; figures.json and pictures are in {words.out}")


def measure(base, folder, size, chosen, measures, pictures):
    """Runs the parts one after another, telling each as it ends."""
    schema(base, folder)
    base.hosts(size.hosts)
    for part in PARTS:
        if part not in chosen:
            continue
        began = time.monotonic()
        found = run(part, base, folder, size, measures, pictures)
        measures += found
        print(report.table(found), f"\n{part}: {time.monotonic() - began:.0f} s\n", flush=True)


def run(part, base, folder, size, measures, pictures):
    """The lines of one part."""
    if part == "admission":
        return admission.measure(base, folder, size.hosts, size.seconds, size.pairs)
    if part == "sender":
        return sender.measure(folder, size.requests, size.pairs)
    if part == "delivery":
        lines, progress = delivery.measure(base, folder, size.backlog, size.pairs)
        pictures.append(lambda out: report.throughput(f"{out}/delivery.svg", progress, "A backlog delivered by one worker"))
        return lines
    if part == "whole":
        return whole.measure(base, folder, size.hosts, size.seconds, size.pairs)
    if part == "latency":
        most = next((m.ours for m in measures if m.name.startswith("sends, each to two")), 1_000)
        lines, found = latency.measure(base, folder, size.hosts, size.seconds * 2, most)
        pictures.append(lambda out: report.latency(
            f"{out}/latency.svg", found, "From a send's start to the provider's receipt, at 200 sends a second"))
        return lines
    if part == "growth":
        lines, rates = growth.measure(
            base, folder, size.hosts, size.backlog, size.finished, size.kept, size.rounds, size.seconds, min(size.pairs, 3))
        pictures.append(lambda out: report.picture(
            f"{out}/snapshot.svg", "Delivery under a held snapshot, round by round", "rounds", "deliveries a second",
            list(enumerate(rates)), [(place, str(place + 1)) for place in range(len(rates))]))
        return lines
    if part == "small":
        return small.measure(base, folder, size.starts, size.flying)
    return sqlite.measure(folder, size.hosts, size.seconds, size.pairs)


def schema(base, folder):
    """Brings the schema up to date with the gateway's own janitor."""
    with running([f"{gateway.BIN}/janitor", "migrate"], base.environment, f"{folder}/janitor.log") as janitor:
        janitor.logged("brought up to date")


if __name__ == "__main__":
    sys.exit(main())
