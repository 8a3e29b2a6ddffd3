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

gateway, origin = sys.argv[1:]
key = PrivateKey.generate()
public = bytes(key.public_key)
fingerprint = base64.urlsafe_b64encode(hashlib.sha256(public).digest())[:16]
session = None


def ask(method, path, body=None):
    request = urllib.request.Request(gateway + path, method=method)
    if body is not None:
        request.data = json.dumps(body).encode()
        request.add_header("Content-Type", "application/json")
    if session:
        request.add_header("Authorization", "Bearer " + session)
    try:
        with urllib.request.urlopen(request, timeout=20) as reply:
            status, text = reply.status, reply.read()
    except urllib.error.HTTPError as error:
        status, text = error.code, error.read()
    return {"status": status, "body": json.loads(text) if text else None}


def field(name, value):
    name = name.encode()
    return len(name).to_bytes(4, "big") + name + len(value).to_bytes(4, "big") + value


def prove():
    offer = ask("POST", "/v1/host/challenge", {"v": 1, "hostPublicKeyB64": base64.b64encode(public).decode()})["body"]
    ephemeral = base64.b64decode(offer["gatewayEphemeralPublicKeyB64"], validate=True)
    nonce = base64.b64decode(offer["nonceB64"], validate=True)
    plain = Box(key, PublicKey(ephemeral)).decrypt(base64.b64decode(offer["ciphertextB64"], validate=True), nonce)
    prefix = b"orca-push-host-challenge/v1\0"
    assert plain.startswith(prefix)
    rest = plain[len(prefix):]
    length = int.from_bytes(rest[:4], "big")
    transcript, secret = rest[4:4 + length], rest[4 + length:]
    assert len(secret) == 32

    def expected(issued):
        return b"".join([
            field("protocol", b"orca-push-host-proof/v1"), field("version", b"\x01"),
            field("gatewayOrigin", origin.encode()), field("gatewayEphemeralPublicKey", ephemeral),
            field("challengeNonce", nonce), field("challengeId", offer["challengeId"].encode()),
            field("issuedAt", issued.to_bytes(8, "big")), field("expiresAt", offer["expiresAt"].to_bytes(8, "big")),
            field("hostFingerprint", fingerprint), field("hostPublicKey", public)])

    # A challenge lives for 10 s to the millisecond.
    issued = offer["expiresAt"] - 10_000
    assert transcript == expected(issued), "the transcript does not say what it must"
    assert abs(issued - time.time() * 1000) < 30_000
    proof = hmac.new(secret, b"orca-push-host-proof/v1\0ack\0" + transcript, hashlib.sha256).digest()
    reply = ask("POST", "/v1/host/session", {
        "v": 1, "challengeId": offer["challengeId"], "proofB64": base64.b64encode(proof).decode()})
    assert reply["status"] == 200, reply
    assert set(reply["body"]) == {"sessionToken", "expiresAt", "hostFingerprint"}
    assert reply["body"]["hostFingerprint"] == fingerprint.decode()
    return reply["body"]["sessionToken"]


session = prove()
print(json.dumps({"fingerprint": fingerprint.decode(), "session": session}), flush=True)
for line in sys.stdin:
    wish = json.loads(line)
    print(json.dumps(ask(wish["method"], wish["path"], wish.get("body"))), flush=True)
