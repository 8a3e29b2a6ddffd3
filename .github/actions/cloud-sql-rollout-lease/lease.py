#!/usr/bin/env python3
"""A lease on rollouts: one object in Cloud Storage, which whoever created it holds.

    lease.py acquire    takes it, waiting its turn, and starts what renews it
    lease.py check      fails unless it is still held for long enough
    lease.py release    stops the renewals and gives it back
    lease.py renew      renews it until ended; started by acquire

Every change names the generation that it replaces, so of two at once one is refused (412): creating wants generation 0,
which is "no such object". A holder that died is found by its expiry; its lease is taken over only if it is still the very
generation that was seen to be expired. Times are the server's (its Date header), so no two clocks are compared.

Environment: LEASE_BUCKET, LEASE_OBJECT, LEASE_OWNER (unique to a run and attempt), LEASE_STATE (a file), LEASE_TOKEN (an
access token). For tests: LEASE_ENDPOINT, LEASE_SECONDS, LEASE_WAIT, LEASE_PAUSE.
"""

import contextlib
import email.utils
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

REFUSED = 412


class Unavailable(Exception):
    """No answer that decides anything; the request may or may not have been carried out."""


class Lost(Exception):
    """Somebody else holds the lease, or nobody."""


class Settings:
    def __init__(self, environment):
        self.bucket = environment["LEASE_BUCKET"]
        self.object = environment["LEASE_OBJECT"]
        self.owner = environment["LEASE_OWNER"]
        self.state = pathlib.Path(environment["LEASE_STATE"])
        self.token = environment["LEASE_TOKEN"]
        self.endpoint = environment.get("LEASE_ENDPOINT", "https://storage.googleapis.com")
        # How long it holds without a renewal; a third of that lies between two.
        self.seconds = float(environment.get("LEASE_SECONDS", "300"))
        # How long acquire waits for its turn, and between two looks.
        self.wait = float(environment.get("LEASE_WAIT", "1200"))
        self.pause = float(environment.get("LEASE_PAUSE", "10"))


class Bucket:
    """The one object, by its JSON API."""

    def __init__(self, settings):
        self.settings = settings
        name = urllib.parse.quote(settings.object, safe="")
        bucket = urllib.parse.quote(settings.bucket, safe="")
        self.resource = f"{settings.endpoint}/storage/v1/b/{bucket}/o/{name}"
        self.upload = f"{settings.endpoint}/upload/storage/v1/b/{bucket}/o?uploadType=media&name={name}"

    def request(self, method, url, body=None):
        """Status, headers and body of an answer that decides; 412 and 404 do, a fault of the server's does not."""
        request = urllib.request.Request(url, data=body, method=method)
        request.add_header("Authorization", f"Bearer {self.settings.token}")
        if body is not None:
            request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            if error.code in (404, REFUSED):
                return error.code, error.headers, b""
            if error.code in (401, 403):
                sys.exit(f"lease: Cloud Storage answers {error.code}: this account may not manage {self.settings.object}")
            raise Unavailable(f"Cloud Storage answers {error.code}") from None
        except OSError as error:
            raise Unavailable(f"Cloud Storage gives no answer: {error}") from None

    def read(self):
        """What the object says, its generation, and the server's time; None where there is none."""
        status, headers, body = self.request("GET", f"{self.resource}?alt=media")
        if status == 404:
            return None, 0, server_time(headers)
        try:
            content = json.loads(body)
            return {"owner": str(content["owner"]), "expires": float(content["expires"])}, generation_of(headers), server_time(headers)
        except (ValueError, KeyError, TypeError):
            sys.exit(f"lease: {self.settings.object} does not read as a lease: look at it, and delete it by hand")

    def write(self, generation, now):
        """Writes the lease in place of this generation. The new one's number, or None where it was refused."""
        content = json.dumps({"owner": self.settings.owner, "expires": now + self.settings.seconds}).encode()
        status, _, body = self.request("POST", f"{self.upload}&ifGenerationMatch={generation}", content)
        return int(json.loads(body)["generation"]) if status == 200 else None

    def delete(self, generation):
        """Whether it is gone."""
        status, _, _ = self.request("DELETE", f"{self.resource}?ifGenerationMatch={generation}")
        return status in (200, 204, 404)


def generation_of(headers):
    return int(headers["x-goog-generation"])


def server_time(headers):
    try:
        return email.utils.parsedate_to_datetime(headers["Date"]).timestamp()
    except (TypeError, ValueError):
        raise Unavailable("Cloud Storage's answer has no Date") from None


class Lease:
    def __init__(self, settings):
        self.settings = settings
        self.bucket = Bucket(settings)

    def acquire(self):
        """The generation that is held. Raises Lost when the turn did not come in time."""
        end = time.monotonic() + self.settings.wait
        told = None
        while True:
            try:
                holder = self.attempt()
                if isinstance(holder, int):
                    return holder
                if holder != told:
                    print(f"lease: held by {holder}; waiting", flush=True)
                    told = holder
            except Unavailable as fault:
                print(f"lease: {fault}; trying again", flush=True)
            if time.monotonic() + self.settings.pause > end:
                raise Lost(f"the turn did not come within {self.settings.wait:.0f} s")
            time.sleep(self.settings.pause)

    def attempt(self):
        """The generation held from now on, or who holds it instead."""
        content, generation, now = self.bucket.read()
        if content is None:
            written = self.bucket.write(0, now)
        elif content["owner"] == self.settings.owner:
            # A write of ours whose answer was lost.
            written = self.bucket.write(generation, now)
        elif content["expires"] > now:
            return content["owner"]
        else:
            print(f"lease: {content['owner']} let it run out; taking it over", flush=True)
            written = self.bucket.write(generation, now)
        return written if written is not None else "somebody who was quicker"

    def renew(self, generation):
        """The new generation. Raises Lost where the object is no longer ours."""
        content, current, now = self.bucket.read()
        if content is None or content["owner"] != self.settings.owner:
            raise Lost("somebody else holds the lease, or it is gone")
        # `current` may be newer than `generation`: a renewal whose answer was lost.
        written = self.bucket.write(max(current, generation), now)
        if written is None:
            raise Lost("the lease was changed in the middle of a renewal")
        return written

    def remaining(self):
        """Seconds for which it is still held; Lost where it is not."""
        content, _, now = self.bucket.read()
        if content is None or content["owner"] != self.settings.owner:
            raise Lost("somebody else holds the lease, or it is gone")
        return content["expires"] - now

    def release(self):
        """Gives it back if it is ours. What ran out and was taken over is left alone."""
        content, generation, _ = self.bucket.read()
        if content is None or content["owner"] != self.settings.owner:
            print("lease: it was not ours any more", flush=True)
            return
        if not self.bucket.delete(generation):
            raise Unavailable("it changed in the middle of its release")


def stubbornly(action, tries=5, pause=1.0):
    for attempt in range(tries):
        try:
            return action()
        except Unavailable as fault:
            if attempt == tries - 1:
                raise
            print(f"lease: {fault}; trying again", flush=True)
            time.sleep(pause)
    return None


def keep(lease, generation):
    """Renews a third of the way through, for ever. A server that is away is asked again until the lease has run out."""
    settings = lease.settings
    end = time.monotonic() + settings.seconds
    while True:
        time.sleep(settings.seconds / 3 if end - time.monotonic() > settings.seconds / 2 else settings.seconds / 30)
        began = time.monotonic()
        try:
            generation = lease.renew(generation)
            end = began + settings.seconds
        except Unavailable as fault:
            print(f"lease: {fault}", flush=True)
            if time.monotonic() > end:
                raise Lost("the lease ran out while Cloud Storage was away") from None


def start_renewals(settings, generation):
    log = settings.state.with_suffix(".log").open("w")
    child = subprocess.Popen(
        [sys.executable, __file__, "renew", str(generation)], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        start_new_session=True)
    settings.state.write_text(str(child.pid))


def stop_renewals(settings):
    with contextlib.suppress(FileNotFoundError, ProcessLookupError, ValueError):
        os.kill(int(settings.state.read_text()), signal.SIGTERM)
    settings.state.unlink(missing_ok=True)


def main(arguments):
    settings = Settings(os.environ)
    lease = Lease(settings)
    try:
        if arguments == ["acquire"]:
            start_renewals(settings, lease.acquire())
            print(f"lease: {settings.owner} holds {settings.object}")
        elif arguments == ["check"]:
            remaining = stubbornly(lease.remaining)
            if remaining < settings.seconds / 4:
                raise Lost(f"it ends in {remaining:.0f} s and is not renewed")
        elif arguments == ["release"]:
            stop_renewals(settings)
            stubbornly(lease.release)
        elif len(arguments) == 2 and arguments[0] == "renew":
            keep(lease, int(arguments[1]))
        else:
            sys.exit(__doc__)
    except (Lost, Unavailable) as fault:
        sys.exit(f"lease: {fault}")


if __name__ == "__main__":
    main(sys.argv[1:])
