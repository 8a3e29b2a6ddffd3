import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

from stand_ins import Server

ROLLOUT = pathlib.Path(__file__).resolve().parents[1] / "rollout"
OLD = "r-docker.pkg.dev/p/orca-push/gateway@sha256:" + "0" * 64
NEW = "r-docker.pkg.dev/p/orca-push/gateway@sha256:" + "1" * 64
SHA = "abcdef0123456789abcdef0123456789abcdef01"
STEPS = ["begin", "migrate", "deploy", "probe", "workers", "shift", "finish"]

# Plays gcloud: keeps the project's state in a file, refuses what it is told to, and writes down what it was asked.
GCLOUD = """
import json, os, sys
folder = os.environ["FAKE"]
words = [word for word in sys.argv[1:] if word != "--quiet"]
options = {}
plain = []
i = 0
while i < len(words):
    # As gcloud has it: what follows a container's name is that container's.
    if "--container" in options and words[i] not in ("--image",):
        sys.exit("ERROR: unrecognized arguments: " + words[i])
    if words[i] in ("--no-traffic", "--wait"):
        options[words[i]] = True
    elif words[i].startswith("--"):
        options[words[i]] = words[i + 1]
        i += 1
    else:
        plain.append(words[i])
    i += 1
assert os.environ["CLOUDSDK_CORE_PROJECT"] == "p" and os.environ["CLOUDSDK_RUN_REGION"] == "us-central1"
assert options["--format"] == "json"
state = json.load(open(f"{folder}/state"))
line = " ".join(plain)
with open(f"{folder}/calls", "a") as calls:
    calls.write(line + "\\n")
if line in state["refused"]:
    sys.exit("ERROR: refused")
service = state["service"]
if line == "run services describe orca-cloud-push":
    print(json.dumps({"status": {"url": state["url"], "traffic": service}}))
elif line == "run worker-pools describe orca-cloud-push-worker":
    containers = [{"name": "metrics", "image": "x/metrics@sha256:2"}, {"name": "worker", "image": state["pool"]}]
    print(json.dumps({"spec": {"template": {"spec": {"containers": containers}}}}))
elif line == "run deploy orca-cloud-push":
    assert options["--no-traffic"] and options["--labels"].startswith("revision=")
    # A name of our own would stay in the template, and Terraform's next change of it would be refused.
    assert "--revision-suffix" not in options
    name = f"orca-cloud-push-{len(state['revisions']):05}-abc"
    state["revisions"][name] = options["--image"]
    service.append({"revisionName": name, "tag": options["--tag"], "url": state["url"]})
elif line == "run services update-traffic orca-cloud-push":
    if "--to-revisions" in options:
        name, percent = options["--to-revisions"].split("=")
        assert percent == "100"
        tags = [entry for entry in service if "tag" in entry]
        state["service"] = [{"revisionName": name, "percent": 100}] + tags
    else:
        state["service"] = [entry for entry in service if entry.get("tag") != options["--remove-tags"]]
elif line == "run worker-pools update orca-cloud-push-worker":
    # The pool has a sidecar: an image must say for which of its containers it is.
    if options.get("--container") != "worker":
        sys.exit("ERROR: (gcloud.run.worker-pools.update) the container is not named")
    state["pool"] = options["--image"]
elif line.startswith("run jobs describe "):
    containers = [{"image": state["jobs"].get(plain[-1], state["old"])}]
    print(json.dumps({"spec": {"template": {"spec": {"template": {"spec": {"containers": containers}}}}}}))
elif line.startswith("run jobs update "):
    state["jobs"][plain[-1]] = options["--image"]
elif line.startswith("run jobs execute "):
    assert options["--wait"]
else:
    sys.exit("unknown: " + line)
json.dump(state, open(f"{folder}/state", "w"))
"""


class RolloutTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "gcloud.py").write_text(textwrap.dedent(GCLOUD).replace("\\\\n", "\\n"))
        launcher = self.folder / "gcloud"
        launcher.write_text(f'#!/bin/sh\nexec python3 -IS "{self.folder}/gcloud.py" "$@"\n')
        launcher.chmod(0o755)
        self.answers = iter([])
        server = Server(lambda method, path, *_: (next(self.answers, 200) if path == "/ready" else 404, {}, b"{}"))
        self.addCleanup(server.close)
        self.write({
            "url": server.url, "service": [{"revisionName": "orca-cloud-push-old", "percent": 100}], "pool": OLD, "old": OLD, "jobs": {},
            "revisions": {"orca-cloud-push-old": OLD}, "refused": [],
        })

    def write(self, state):
        (self.folder / "state").write_text(json.dumps(state))

    def state(self):
        return json.loads((self.folder / "state").read_text())

    def refuse(self, call):
        self.write({**self.state(), "refused": [call]})

    def step(self, name):
        environment = {
            **os.environ, "PATH": f"{self.folder}:{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}", "FAKE": str(self.folder), "PROJECT": "p",
            "REGION": "us-central1", "IMAGE": NEW, "REVISION": SHA, "STATE": f"{self.folder}/rollout",
            "ROLLOUT_PAUSE": "0", "ROLLOUT_TRIES": "3",
        }
        return subprocess.run([ROLLOUT, name], env=environment, capture_output=True, text=True, timeout=120)

    def roll_out(self):
        """As the workflow: the steps until one fails, then back. The step that failed."""
        for name in STEPS:
            result = self.step(name)
            if result.returncode != 0:
                back = self.step("rollback")
                self.assertEqual(back.returncode, 0, back.stdout + back.stderr)
                return name
        return None

    def calls(self):
        return (self.folder / "calls").read_text().splitlines()

    def assert_as_before(self):
        state = self.state()
        self.assertEqual(state["service"], [{"revisionName": "orca-cloud-push-old", "percent": 100}])
        self.assertEqual(state["pool"], OLD)
        for job in ["orca-cloud-push-sweep", "orca-cloud-push-scale"]:
            self.assertEqual(state["jobs"].get(job, OLD), OLD)

    def test_a_rollout(self):
        self.answers = iter([503, 503, 200])
        self.assertIsNone(self.roll_out())
        state = self.state()
        self.assertEqual(state["service"], [{"revisionName": "orca-cloud-push-00001-abc", "percent": 100}])
        self.assertEqual(state["pool"], NEW)
        self.assertEqual(set(state["jobs"]), {f"orca-cloud-push-{job}" for job in ["migrate", "probe", "sweep", "scale"]})
        order = [call for call in self.calls() if "describe" not in call]
        self.assertLess(order.index("run jobs execute orca-cloud-push-migrate"), order.index("run deploy orca-cloud-push"))
        self.assertLess(order.index("run jobs execute orca-cloud-push-probe"), order.index("run worker-pools update orca-cloud-push-worker"))
        self.assertEqual(self.step("rollback").returncode, 0)
        self.assertEqual(self.state(), state, "what is finished is not taken back")

    def test_whichever_step_is_refused_everything_is_as_before(self):
        for call, step in [
            ("run jobs execute orca-cloud-push-migrate", "migrate"), ("run deploy orca-cloud-push", "deploy"),
            ("run jobs execute orca-cloud-push-probe", "probe"),
            ("run worker-pools describe orca-cloud-push-worker", "begin"), ("run jobs update orca-cloud-push-scale", "finish"),
        ]:
            with self.subTest(call):
                self.tearDown()
                self.doCleanups()
                self.setUp()
                self.refuse(call)
                self.assertEqual(self.roll_out(), step)
                self.assert_as_before()

    def test_a_revision_that_does_not_get_ready_gets_no_traffic(self):
        self.answers = iter([503] * 1_000)
        self.assertEqual(self.roll_out(), "probe")
        self.assert_as_before()
        self.assertNotIn("run worker-pools update orca-cloud-push-worker", self.calls())

    def test_a_service_that_fails_after_the_shift_goes_back(self):
        self.answers = iter([200] + [503] * 1_000)
        self.assertEqual(self.roll_out(), "shift")
        self.assert_as_before()

    def test_none_begins_while_traffic_is_split(self):
        self.write({**self.state(), "service": [{"revisionName": "a", "percent": 50}, {"revisionName": "b", "percent": 50}]})
        self.assertEqual(self.step("begin").returncode, 1)

    def test_a_tag_that_cannot_be_taken_away_takes_nothing_back(self):
        for name in STEPS[:-1]:
            self.assertEqual(self.step(name).returncode, 0)
        self.refuse("run services update-traffic orca-cloud-push")
        finish = self.step("finish")
        self.assertEqual(finish.returncode, 0, finish.stdout + finish.stderr)
        self.assertIn("may be left", finish.stdout)
        self.assertEqual(self.step("rollback").returncode, 0)
        self.assertEqual(self.state()["pool"], NEW)

    def test_a_rollback_that_fails_says_so_and_tries_the_rest(self):
        for name in STEPS[:-1]:
            self.assertEqual(self.step(name).returncode, 0)
        self.refuse("run services update-traffic orca-cloud-push")
        back = self.step("rollback")
        self.assertEqual(back.returncode, 1)
        self.assertIn("NOT everything", back.stdout)
        self.assertEqual(self.state()["pool"], OLD)


if __name__ == "__main__":
    unittest.main()
