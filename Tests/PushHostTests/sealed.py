"""A phone's side of sealed pushes, by PyNaCl, from the description of the format alone.

Reads lines {"secret" (base64), "id", "epoch", "paneKey"} and writes lines {"content", "id", "epoch"}: what is in the box,
and the stand-ins for id and epoch that a phone works out by itself.
"""

import base64
import hashlib
import hmac
import json
import sys

from nacl.secret import SecretBox

for line in sys.stdin:
    wish = json.loads(line)
    key = hmac.new(base64.b64decode(wish["secret"]), b"orca-push-e2e-v1", hashlib.sha256).digest()

    def stand_in(use, value):
        digest = hmac.new(key, (use + value).encode(), hashlib.sha256).digest()
        return "e2e1." + base64.urlsafe_b64encode(digest).decode()[:32]

    pane = wish["paneKey"]
    assert pane.startswith("e2e1:") and len(pane) <= 2048
    box = base64.b64decode(pane[len("e2e1:"):], validate=True)
    content = json.loads(SecretBox(key).decrypt(box[24:], box[:24]))
    print(json.dumps({
        "content": content, "epoch": stand_in("epoch:", wish["epoch"]),
        "id": stand_in("id:", wish["id"]) if wish["id"] is not None else None}))
