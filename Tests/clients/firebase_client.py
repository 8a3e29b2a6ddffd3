"""Sends through firebase-admin, Google's own client, to the sandbox.

Usage: firebase_client.py SANDBOX_JSON
Reads one message as JSON from each line of standard input: {"token", "title", "body", "data", "tag", "dryRun"}.
Writes one result per message, in order: {"name"} or {"error": the exception's class, "code", "cause": HTTP status}.
With "together": true on the first line, all go out by send_each_async, over HTTP/2.

REQUESTS_CA_BUNDLE and SSL_CERT_FILE must name the sandbox's ca.pem.
"""
import asyncio
import json
import sys
import warnings

import firebase_admin
from firebase_admin import credentials, messaging

warnings.simplefilter("ignore")


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)["workerEnvironment"]
    messaging._MessagingService.FCM_URL = settings["ORCA_PUSH_FCM_URL"] + "/v1/projects/{0}/messages:send"
    firebase_admin.initialize_app(
        credentials.Certificate(settings["GOOGLE_APPLICATION_CREDENTIALS"]), {"httpTimeout": 20})
    pushes = [json.loads(line) for line in sys.stdin if line.strip()]
    if pushes and pushes[0].get("together"):
        batch = asyncio.run(messaging.send_each_async([message(push) for push in pushes]))
        for response in batch.responses:
            print(json.dumps({"name": response.message_id} if response.success else failure(response.exception)))
        return
    for push in pushes:
        try:
            print(json.dumps({"name": messaging.send(message(push), dry_run=push.get("dryRun", False))}))
        except firebase_admin.exceptions.FirebaseError as error:
            print(json.dumps(failure(error)))


def failure(error: firebase_admin.exceptions.FirebaseError) -> dict:
    response = error.http_response
    return {
        "error": type(error).__name__, "code": error.code, "cause": None if response is None else response.status_code}


def message(push: dict) -> messaging.Message:
    return messaging.Message(
        token=push["token"],
        data=push.get("data"),
        notification=messaging.Notification(title=push.get("title"), body=push.get("body")),
        android=messaging.AndroidConfig(
            priority="high", ttl=300, collapse_key="key",
            notification=messaging.AndroidNotification(channel_id="orca-desktop", tag=push.get("tag"))),
    )


main()
