#!/usr/bin/env python3
"""Turns the workflow's identity into an access token of a Google service account, without a key.

GitHub says who runs (an identity token for TOKEN_AUDIENCE); Google's Security Token Service takes that for a federated
token; with it the account TOKEN_ACCOUNT is impersonated. GitHub's token lives five minutes and a federated one little
longer; the account's lives TOKEN_SECONDS, which outlasts a rollout.

The token is printed to no log: it goes to the file TOKEN_FILE, which only this user can read, and to GITHUB_OUTPUT, masked.
"""

import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request


def ask(url, headers, body=None):
    request = urllib.request.Request(url, data=body, headers=headers, method="GET" if body is None else "POST")
    for attempt in range(4):
        try:
            with urllib.request.urlopen(request, timeout=15) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            # What was just granted takes minutes to be known everywhere, but a refusal is not worth waiting for here.
            if error.code < 500 and error.code != 429:
                sys.exit(f"token: {urllib.parse.urlsplit(url).hostname} answers {error.code}")
        except OSError:
            pass
        if attempt < 3:
            time.sleep(2**attempt)
    sys.exit(f"token: {urllib.parse.urlsplit(url).hostname} gives no answer")


def access_token(environment):
    provider = environment["TOKEN_PROVIDER"]
    audience = f"//iam.googleapis.com/{provider}"
    identity = ask(
        environment["ACTIONS_ID_TOKEN_REQUEST_URL"] + "&audience=" + urllib.parse.quote("https:" + audience, safe=""),
        {"Authorization": "Bearer " + environment["ACTIONS_ID_TOKEN_REQUEST_TOKEN"]})["value"]
    federated = ask(
        environment.get("TOKEN_STS_URL", "https://sts.googleapis.com") + "/v1/token",
        {"Content-Type": "application/json"},
        json.dumps({
            "grantType": "urn:ietf:params:oauth:grant-type:token-exchange", "audience": audience,
            "scope": "https://www.googleapis.com/auth/cloud-platform",
            "requestedTokenType": "urn:ietf:params:oauth:token-type:access_token",
            "subjectTokenType": "urn:ietf:params:oauth:token-type:jwt", "subjectToken": identity,
        }).encode())["access_token"]
    account = urllib.parse.quote(environment["TOKEN_ACCOUNT"], safe="@")
    return ask(
        environment.get("TOKEN_IAM_URL", "https://iamcredentials.googleapis.com")
        + f"/v1/projects/-/serviceAccounts/{account}:generateAccessToken",
        {"Content-Type": "application/json", "Authorization": f"Bearer {federated}"},
        json.dumps({
            "scope": ["https://www.googleapis.com/auth/cloud-platform"],
            "lifetime": environment.get("TOKEN_SECONDS", "3600") + "s",
        }).encode())["accessToken"]


def main():
    token = access_token(os.environ)
    print(f"::add-mask::{token}")
    with open(os.open(os.environ["TOKEN_FILE"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(token)
    with open(os.environ["GITHUB_OUTPUT"], "a") as file:
        file.write(f"token={token}\n")


if __name__ == "__main__":
    main()
