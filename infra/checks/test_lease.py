import contextlib
import importlib.util
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from stand_ins import CloudStorage

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / ".github/actions/cloud-sql-rollout-lease/lease.py"
spec = importlib.util.spec_from_file_location("lease", SCRIPT)
lease = importlib.util.module_from_spec(spec)
spec.loader.exec_module(lease)
NAME = "terraform/state/push-rollout/production.lock"


class LeaseTests(unittest.TestCase):
    def setUp(self):
        self.storage = CloudStorage()
        self.addCleanup(self.storage.close)
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        quiet = contextlib.redirect_stdout(io.StringIO())
        quiet.__enter__()
        self.addCleanup(quiet.__exit__, None, None, None)

    def environment(self, owner, **changes):
        return {
            "LEASE_BUCKET": "state", "LEASE_OBJECT": NAME, "LEASE_OWNER": owner, "LEASE_TOKEN": "good",
            "LEASE_STATE": f"{self.folder.name}/{owner}", "LEASE_ENDPOINT": self.storage.url, "LEASE_SECONDS": "60",
            "LEASE_WAIT": "0", "LEASE_PAUSE": "0.01", **changes,
        }

    def holder(self, owner, **changes):
        return lease.Lease(lease.Settings(self.environment(owner, **changes)))

    def owner(self):
        return json.loads(self.storage.objects[NAME][1])["owner"] if NAME in self.storage.objects else None

    def test_one_takes_it_and_another_waits_its_turn(self):
        a, b = self.holder("a"), self.holder("b", LEASE_WAIT="20")
        a.acquire()
        taken = threading.Event()
        thread = threading.Thread(target=lambda: (b.acquire(), taken.set()))
        thread.start()
        self.assertFalse(taken.wait(0.1))
        a.release()
        thread.join(20)
        self.assertEqual(self.owner(), "b")

    def test_of_many_at_once_exactly_one_gets_it(self):
        for _ in range(10):
            winners = []
            barrier = threading.Barrier(8)

            def race(name):
                barrier.wait()
                with contextlib.suppress(lease.Lost):
                    self.holder(name).acquire()
                    winners.append(name)

            threads = [threading.Thread(target=race, args=(f"r{number}",)) for number in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(30)
            self.assertEqual(len(winners), 1)
            self.assertEqual(self.owner(), winners[0])
            self.holder(winners[0]).release()

    def test_of_many_that_find_it_expired_exactly_one_takes_it_over(self):
        self.holder("dead").acquire()
        self.storage.skew += 61
        winners = []
        # All have read the expired lease before the first writes.
        reads = threading.Barrier(6)
        read = lease.Bucket.read

        def read_together(bucket):
            found = read(bucket)
            with contextlib.suppress(threading.BrokenBarrierError):
                reads.wait(5)
            return found

        def race(name):
            with contextlib.suppress(lease.Lost):
                self.holder(name).acquire()
                winners.append(name)

        lease.Bucket.read = read_together
        self.addCleanup(setattr, lease.Bucket, "read", read)
        threads = [threading.Thread(target=race, args=(f"r{number}",)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        self.assertEqual(len(winners), 1)
        self.assertEqual(self.owner(), winners[0])

    def test_what_is_renewed_between_look_and_takeover_is_not_taken(self):
        a, b = self.holder("a"), self.holder("b")
        generation = a.acquire()
        self.storage.skew += 61

        def renewed_first(method, precondition):
            if method == "POST" and self.owner() == "a" and precondition == str(generation):
                self.storage.generation += 1
                self.storage.objects[NAME] = (self.storage.generation, json.dumps({"owner": "a", "expires": 9e9}).encode())

        self.storage.before = renewed_first
        with self.assertRaises(lease.Lost):
            b.acquire()
        self.assertEqual(self.owner(), "a")

    def test_unexpired_is_not_taken_over_whatever_the_own_clock_says(self):
        self.storage.skew = -10_000
        self.holder("a").acquire()
        with self.assertRaises(lease.Lost):
            self.holder("b").acquire()

    def test_a_create_whose_answer_was_lost_counts(self):
        lost = iter(["lose"])
        self.storage.after = lambda method, _: next(lost, None) if method == "POST" else None
        self.holder("a", LEASE_WAIT="20").acquire()
        self.assertEqual(self.owner(), "a")

    def test_a_renewal_whose_answer_was_lost_counts(self):
        a = self.holder("a")
        generation = a.acquire()
        lost = iter(["lose"])
        self.storage.after = lambda method, _: next(lost, None) if method == "POST" else None
        with self.assertRaises(lease.Unavailable):
            a.renew(generation)
        self.assertGreater(a.renew(generation), generation)

    def test_whoever_lost_it_knows_and_leaves_the_new_one_alone(self):
        a, b = self.holder("a"), self.holder("b")
        generation = a.acquire()
        self.storage.skew += 61
        b.acquire()
        with self.assertRaises(lease.Lost):
            a.renew(generation)
        with self.assertRaises(lease.Lost):
            a.remaining()
        a.release()
        self.assertEqual(self.owner(), "b")

    def test_a_renewal_never_brings_back_what_is_gone(self):
        a = self.holder("a")
        generation = a.acquire()
        del self.storage.objects[NAME]
        with self.assertRaises(lease.Lost):
            a.renew(generation)
        self.assertIsNone(self.owner())

    def test_a_server_that_is_away_for_a_while_is_asked_again(self):
        faults = iter([503, 503, 429])
        self.storage.before = lambda *_: next(faults, None)
        self.holder("a", LEASE_WAIT="20").acquire()
        self.assertEqual(self.owner(), "a")

    def test_what_is_no_lease_is_left_for_people(self):
        self.storage.objects[NAME] = (7, b"terraform's own lock")
        with self.assertRaises(SystemExit):
            self.holder("a").acquire()
        self.assertEqual(self.storage.objects[NAME][0], 7)

    def command(self, word, environment):
        return subprocess.run([sys.executable, SCRIPT, word], env={**os.environ, **environment}, capture_output=True, text=True, timeout=60)

    def test_as_the_workflow_runs_it(self):
        environment = self.environment("run 1 attempt 1", LEASE_SECONDS="3", LEASE_STATE=f"{self.folder.name}/state")
        self.assertEqual(self.command("acquire", environment).returncode, 0)
        first = self.storage.objects[NAME][0]
        pid = int(pathlib.Path(environment["LEASE_STATE"]).read_text())
        end = time.monotonic() + 30
        while self.storage.objects[NAME][0] < first + 2 and time.monotonic() < end:
            time.sleep(0.05)
        self.assertGreaterEqual(self.storage.objects[NAME][0], first + 2, "renewed by itself, twice")
        self.assertEqual(self.command("check", environment).returncode, 0)
        other = self.command("acquire", self.environment("run 2 attempt 1"))
        self.assertNotEqual(other.returncode, 0)
        self.assertIn("run 1 attempt 1", other.stdout)
        self.assertEqual(self.command("release", environment).returncode, 0)
        self.assertIsNone(self.owner())
        self.assertNotEqual(self.command("check", environment).returncode, 0)
        end = time.monotonic() + 10
        with contextlib.suppress(ProcessLookupError):
            while time.monotonic() < end:
                os.kill(pid, 0)
                time.sleep(0.02)
            self.fail("the renewals go on")

    def test_a_token_that_is_refused_ends_it_at_once(self):
        result = self.command("acquire", self.environment("a", LEASE_TOKEN="bad", LEASE_WAIT="600"))
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("401", result.stderr)
        self.assertNotIn("bad", result.stdout + result.stderr)


if __name__ == "__main__":
    unittest.main()
