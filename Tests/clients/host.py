"""A host in Python, written from the contract alone: proves itself, then does what standard input asks.

    host.py GATEWAY ORIGIN

GATEWAY is where to connect, ORIGIN what the gateway calls itself. Prints {"fingerprint", "session"}; then for each line
{"method", "path", "body"} on standard input a line {"status", "body"}.
"""

import base64
import hashlib
import hmac
import json
import sys
import time
import urllib.error
import urllib.request

from nacl.public import Box, PrivateKey, PublicKey


def field(name, value):
    name = name.encode()
    return len(name).to_bytes(4, "big") + name + len(value).to_bytes(4, "big") + value


class Host:
    """One host: its key, its session, and how it asks. `gateway` may change between two requests."""

    def __init__(self, gateway, origin, headers=()):
        self.gateway, self.origin, self.headers = gateway, origin, dict(headers)
        self.key = PrivateKey.generate()
        self.public = bytes(self.key.public_key)
        self.fingerprint = base64.urlsafe_b64encode(hashlib.sha256(self.public).digest())[:16].decode()
        self.session = None

    def ask(self, method, path, body=None):
        """The answer's status and body."""
        request = urllib.request.Request(self.gateway + path, method=method, headers=self.headers)
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        if self.session:
            request.add_header("Authorization", "Bearer " + self.session)
        try:
            with urllib.request.urlopen(request, timeout=20) as reply:
                status, text = reply.status, reply.read()
        except urllib.error.HTTPError as error:
            status, text = error.code, error.read()
        return {"status": status, "body": json.loads(text) if text else None}

    def prove(self):
        """Asks for a challenge, answers it, and keeps the session; the last answer, where that came about or not."""
        answer = self.ask("POST", "/v1/host/challenge", {"v": 1, "hostPublicKeyB64": base64.b64encode(self.public).decode()})
        if answer["status"] != 200:
            return answer
        offer = answer["body"]
        ephemeral = base64.b64decode(offer["gatewayEphemeralPublicKeyB64"], validate=True)
        nonce = base64.b64decode(offer["nonceB64"], validate=True)
        plain = Box(self.key, PublicKey(ephemeral)).decrypt(
            base64.b64decode(offer["ciphertextB64"], validate=True), nonce)
        prefix = b"orca-push-host-challenge/v1\0"
        assert plain.startswith(prefix)
        rest = plain[len(prefix):]
        length = int.from_bytes(rest[:4], "big")
        transcript, secret = rest[4:4 + length], rest[4 + length:]
        assert len(secret) == 32

        def expected(issued):
            return b"".join([
                field("protocol", b"orca-push-host-proof/v1"), field("version", b"\x01"),
                field("gatewayOrigin", self.origin.encode()), field("gatewayEphemeralPublicKey", ephemeral),
                field("challengeNonce", nonce), field("challengeId", offer["challengeId"].encode()),
                field("issuedAt", issued.to_bytes(8, "big")), field("expiresAt", offer["expiresAt"].to_bytes(8, "big")),
                field("hostFingerprint", self.fingerprint.encode()), field("hostPublicKey", self.public)])

        # A challenge lives for 10 s to the millisecond.
        issued = offer["expiresAt"] - 10_000
        assert transcript == expected(issued), "the transcript does not say what it must"
        assert abs(issued - time.time() * 1000) < 30_000
        proof = hmac.new(secret, b"orca-push-host-proof/v1\0ack\0" + transcript, hashlib.sha256).digest()
        answer = self.ask("POST", "/v1/host/session", {
            "v": 1, "challengeId": offer["challengeId"], "proofB64": base64.b64encode(proof).decode()})
        if answer["status"] == 200:
            assert set(answer["body"]) == {"sessionToken", "expiresAt", "hostFingerprint"}
            assert answer["body"]["hostFingerprint"] == self.fingerprint
            self.session = answer["body"]["sessionToken"]
        return answer


def main():
    host = Host(*sys.argv[1:])
    answer = host.prove()
    assert host.session, answer
    print(json.dumps({"fingerprint": host.fingerprint, "session": host.session}), flush=True)
    for line in sys.stdin:
        wish = json.loads(line)
        print(json.dumps(host.ask(wish["method"], wish["path"], wish.get("body"))), flush=True)


if __name__ == "__main__":
    main()
