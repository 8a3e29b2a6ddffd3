"""What the contract and the Terraform ask of the rollout's workflow, and what no linter knows of."""

import pathlib
import re
import unittest

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
LEASE = "./.github/actions/cloud-sql-rollout-lease"


class WorkflowTests(unittest.TestCase):
    def setUp(self):
        self.workflow = yaml.safe_load((ROOT / ".github/workflows/cloud-push-deploy.yml").read_text())
        self.job = self.workflow["jobs"]["deploy"]
        self.steps = self.job["steps"]

    def where(self, test):
        return [number for number, step in enumerate(self.steps) if test(step)]

    def lease(self, command):
        return self.where(lambda step: step.get("uses") == LEASE and step["with"]["command"] == command)

    def rollout(self, word):
        return self.where(lambda step: re.search(rf"infra/rollout.*\b{word}\b|\b{word}\b.*infra/rollout", step.get("run", "")))

    def test_it_runs_when_it_is_switched_on_and_one_at_a_time(self):
        self.assertEqual(list(self.workflow["jobs"]), ["deploy"])
        self.assertEqual(self.job["if"], "vars.ORCA_CLOUD_OPERATIONS_ENABLED == 'true'")
        self.assertEqual(self.workflow["concurrency"], {"group": "production-push-rollout", "cancel-in-progress": False})
        # By hand alone, with a commit that somebody named.
        self.assertEqual(list(self.workflow[True]), ["workflow_dispatch"])
        self.assertTrue(self.workflow[True]["workflow_dispatch"]["inputs"]["source_sha"]["required"])

    def test_it_may_read_the_source_and_say_who_it_is(self):
        self.assertEqual(self.workflow["permissions"], {})
        self.assertEqual(self.job["permissions"], {"contents": "read", "id-token": "write"})
        self.assertLess(self.job["timeout-minutes"], 60, "the access token lives an hour")

    def test_terraform_lets_this_environment_and_this_lease_in(self):
        rollout = (ROOT / "infra/terraform/rollout.tf").read_text()
        self.assertIn(f"assertion.environment == '{self.job['environment']}'", rollout)
        variables = (ROOT / "infra/terraform/environments/production.tfvars").read_text()
        self.assertIn(f'object = "{self.job["env"]["LEASE_OBJECT"]}"', variables)
        self.assertIn(f'region          = "{self.job["env"]["REGION"]}"', variables)

    def test_the_commit_is_whole_and_on_main(self):
        checkout = self.steps[0]["run"]
        self.assertIn("^[0-9a-f]{40}$", checkout)
        self.assertIn("merge-base --is-ancestor", checkout)

    def test_the_lease_is_held_throughout_and_given_back_whatever_happens(self):
        (acquire,), checks, (release,) = self.lease("acquire"), self.lease("check"), self.lease("release")
        self.assertEqual(release, len(self.steps) - 1)
        self.assertTrue(self.steps[release]["if"].startswith("always()"))
        for word in ["begin", "migrate", "deploy", "probe", "workers", "shift", "finish", "rollback"]:
            (at,) = self.rollout(word)
            self.assertTrue(acquire < at < release, word)
        self.assertTrue(any(check < self.rollout("migrate")[0] for check in checks), "before anything is touched")
        self.assertTrue(any(self.rollout("probe")[0] < check < self.rollout("shift")[0] for check in checks), "before traffic moves")

    def test_the_steps_come_in_their_order_and_are_taken_back_on_failure(self):
        words = [word for step in self.steps for word in re.findall(r"for step in (.*); do infra/rollout", step.get("run", ""))]
        self.assertEqual(" ".join(words).split(), ["begin", "migrate", "deploy", "probe", "workers", "shift", "finish"])
        (back,) = self.rollout("rollback")
        self.assertEqual(self.steps[back]["if"], "failure() || cancelled()")


if __name__ == "__main__":
    unittest.main()
