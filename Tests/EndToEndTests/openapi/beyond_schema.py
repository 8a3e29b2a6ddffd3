"""What a JSON Schema cannot say, and a client address of its own for each request."""

import itertools
import json

import schemathesis

addresses = itertools.count()


@schemathesis.hook
def before_call(context, case, kwargs):
    # The budgets of client addresses are tested elsewhere; here they would hide everything else.
    n = next(addresses)
    case.headers["x-forwarded-for"] = f"10.{n >> 16 & 255}.{n >> 8 & 255}.{n & 255}"
    # Of what may be asked about deliveries, every other question is about an event that OpenApiTests has sent.
    if case.operation.path == "/v1/deliveries" and case.method == "GET" and n % 2 and is_valid(case):
        case.query = {"notificationEpoch": "sent & known", "notificationSeq": 1}


def is_valid(case):
    return case.meta is not None and case.meta.generation.mode.is_positive


def fits(value, path=()):
    """Whether the contract's rules beyond the schema hold: no fractions, UTF-16 lengths, 3,000 bytes a notification."""
    limits = {"title": 80, "body": 180, "deviceId": 128, "challengeId": 128, "notificationEpoch": 128,
              "registrationIds": 128}
    if isinstance(value, float):
        return False
    if isinstance(value, str):
        try:
            units = len(value.encode("utf-16-le")) // 2
        except UnicodeEncodeError:
            return False
        return units <= limits.get(path[-1] if path else "", 2048)
    if isinstance(value, list):
        return all(fits(item, path) for item in value)
    if isinstance(value, dict):
        if path == ("notification",):
            try:
                compact = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
            except UnicodeEncodeError:
                return False
            if len(compact) > 3000:
                return False
        return all(fits(item, path + (name,)) for name, item in value.items())
    return True


@schemathesis.hook
def filter_case(context, case):
    # Bodies that the schema allows and the contract does not.
    return fits(case.body)
