"""Reads documents, one in hex a line, with Python's json module and tells what it made of each.

The answer is `refused`, or the value in a notation that leaves nothing open followed by its compact JSON text in hex
(`-` where it holds a float). Rules that json.loads leaves out are added here:
UTF-8 only and no byte order mark, no repeated key, no NaN or Infinity, no number that is infinite as a double, no lone
surrogate, at most 16 levels and 1000 members or elements. Integers beyond 64 bits are taken as doubles.
"""

import json
import math
import struct
import sys


def finite(text):
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("out of range")
    return number


def integer(text):
    if len(text) <= 20 and -(2**63) <= int(text) < 2**63:
        return int(text)
    return finite(text)


def constant(name):
    raise ValueError(name)


def members(pairs):
    if len(dict(pairs)) != len(pairs):
        raise ValueError("repeated key")
    return dict(pairs)


def notation(value, levels):
    if value is None:
        return "n"
    if value is True:
        return "t"
    if value is False:
        return "f"
    if isinstance(value, int):
        return "i%d" % value
    if isinstance(value, float):
        return "d" + struct.pack(">d", value).hex()
    if isinstance(value, str):
        return "s" + value.encode("utf-8").hex()
    if levels == 0 or len(value) > 1000:
        raise ValueError("beyond the bounds")
    if isinstance(value, list):
        return "[" + "".join(notation(element, levels - 1) + "," for element in value) + "]"
    return "{" + "".join(
        notation(key, 0) + ":" + notation(element, levels - 1) + "," for key, element in value.items()
    ) + "}"


def has_float(value):
    if isinstance(value, dict):
        value = list(value.values())
    return isinstance(value, float) or isinstance(value, list) and any(map(has_float, value))


def answer(line):
    try:
        value = json.loads(
            bytes.fromhex(line).decode("utf-8"),
            parse_int=integer,
            parse_float=finite,
            parse_constant=constant,
            object_pairs_hook=members,
        )
        said = notation(value, 16)
    except (ValueError, RecursionError):
        return "refused"
    if has_float(value):
        return said + " -"
    return said + " " + json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8").hex()


# Not split(): the empty document is an empty line.
for line in sys.stdin.read().split("\n")[:-1]:
    print(answer(line))
