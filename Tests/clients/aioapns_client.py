"""Pushes through aioapns, an APNs client written by other people, to the sandbox.

Usage: aioapns_client.py SANDBOX_JSON [--production]
Reads one push as JSON from each line of standard input: {"token", "payload", "priority", "type", "collapseId", "ttl"}.
Writes one result per push, in order: {"status", "reason", "timestamp"}.
"""
import asyncio
import json
import logging
import ssl
import sys

from aioapns import APNs, NotificationRequest, PushType
from aioapns.connection import APNsDevelopmentClientProtocol, APNsProductionClientProtocol, APNsTLSClientProtocol


# Refusals are results here, not news.
logging.getLogger("aioapns").setLevel(logging.CRITICAL)


async def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        sandbox = json.load(file)
    production = "--production" in sys.argv
    settings = sandbox["workerEnvironment"]
    for protocol in (APNsProductionClientProtocol, APNsDevelopmentClientProtocol):
        protocol.APNS_SERVER = "127.0.0.1"
    APNsTLSClientProtocol.APNS_PORT = sandbox["ports"]["apnsProduction" if production else "apnsSandbox"]
    client = APNs(
        key=settings["ORCA_PUSH_APNS_KEY"].replace("\\n", "\n"),
        key_id=settings["ORCA_PUSH_APNS_KEY_ID"],
        team_id=settings["ORCA_PUSH_APPLE_TEAM_ID"],
        topic=settings["ORCA_PUSH_APNS_TOPIC"],
        use_sandbox=not production,
        max_connections=1,
        ssl_context=ssl.create_default_context(cafile=sandbox["caFile"]),
    )
    pushes = [json.loads(line) for line in sys.stdin if line.strip()]
    # The first one goes alone: until it is accepted there is one stream, and aioapns looks again each second only.
    results = [await client.send_notification(request(pushes[0]))]
    results += await asyncio.gather(*(client.send_notification(request(push)) for push in pushes[1:]))
    for result in results:
        print(json.dumps({
            "status": int(result.status), "reason": result.description, "timestamp": result.timestamp}))
    client.pool.close()


def request(push: dict) -> NotificationRequest:
    return NotificationRequest(
        device_token=push["token"],
        message=push["payload"],
        priority=push.get("priority"),
        push_type=PushType(push.get("type", "alert")),
        collapse_key=push.get("collapseId"),
        time_to_live=push.get("ttl"),
    )


asyncio.run(asyncio.wait_for(main(), 60))
