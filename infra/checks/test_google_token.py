import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from stand_ins import Server

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / ".github/actions/google-token/google_token.py"
PROVIDER = "projects/1/locations/global/workloadIdentityPools/p/providers/github"
ACCOUNT = "deploy@p.iam.gserviceaccount.com"


class GoogleTokenTests(unittest.TestCase):
    def setUp(self):
        self.asked = []
        self.refused = None
        self.server = Server(self.answer)
        self.addCleanup(self.server.close)
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def answer(self, method, path, query, headers, body):
        self.asked.append(path)
        if self.refused == path:
            return 403, {}, b'{"error":"no"}'
        if path == "/identity":
            good = headers["Authorization"] == "Bearer request" and query["audience"] == f"https://iam.googleapis.com/{PROVIDER}"
            reply = {"value": "jwt"} if good else None
        elif path == "/v1/token":
            content = json.loads(body)
            good = content["subjectToken"] == "jwt" and content["audience"] == f"//iam.googleapis.com/{PROVIDER}"
            reply = {"access_token": "federated"} if good else None
        elif path == f"/v1/projects/-/serviceAccounts/{ACCOUNT}:generateAccessToken":
            good = headers["Authorization"] == "Bearer federated" and json.loads(body)["lifetime"] == "3600s"
            reply = {"accessToken": "ya29.secret"} if good else None
        else:
            reply = None
        return (200, {}, json.dumps(reply).encode()) if reply else (400, {}, b"")

    def run_script(self):
        self.output = pathlib.Path(self.folder.name, "output")
        self.file = pathlib.Path(self.folder.name, "token")
        return subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, timeout=60, env={
            **os.environ, "TOKEN_PROVIDER": PROVIDER, "TOKEN_ACCOUNT": ACCOUNT, "TOKEN_FILE": str(self.file),
            "ACTIONS_ID_TOKEN_REQUEST_URL": f"{self.server.url}/identity?x=1", "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "request",
            "TOKEN_STS_URL": self.server.url, "TOKEN_IAM_URL": self.server.url, "GITHUB_OUTPUT": str(self.output)})

    def test_three_steps_to_a_token_that_no_log_shows(self):
        result = self.run_script()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.file.read_text(), "ya29.secret")
        self.assertEqual(self.file.stat().st_mode & 0o777, 0o600)
        self.assertEqual(self.output.read_text(), "token=ya29.secret\n")
        self.assertEqual(result.stdout, "::add-mask::ya29.secret\n")

    def test_a_refusal_ends_it_at_once(self):
        self.refused = "/v1/token"
        result = self.run_script()
        self.assertNotEqual(result.returncode, 0)
        self.assertEqual(self.asked, ["/identity", "/v1/token"])
        self.assertFalse(self.file.exists())


if __name__ == "__main__":
    unittest.main()
