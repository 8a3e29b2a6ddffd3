"""The alerts of ../terraform/watching.tf as Prometheus reads them, so that promtool can try their queries.

    cloud_rules.py >RULES    each alert by its key; exits 1 where it cannot be read
"""

import pathlib
import re
import sys

import yaml

WATCHING = pathlib.Path(__file__).resolve().parents[1] / "terraform/watching.tf"
# What the queries take from elsewhere, as in production.
VALUES = {
    "local.name": "orca-cloud-push", "var.project": "onorca-cloud", "local.database_instance": "orca-push",
    "var.hostname": "push.onorca.dev", "floor(0.8 * var.database.max_connections)": "160",
}
ALERT = re.compile(
    r'^    ([a-z-]+) = \{\n\s+title\s+= "(?:[^"\\]|\\.)*"\n\s+query\s+= "((?:[^"\\]|\\.)*)"\n\s+duration\s+= "(\d+s)"\n', re.MULTILINE)


def rules():
    text = WATCHING.read_text()
    found = ALERT.findall(text)
    if not found or len(found) != len(re.findall(r"^\s+query\s+= \"", text, re.MULTILINE)):
        sys.exit(f"{WATCHING.name}: not every alert can be read")
    for name, query, duration in found:
        query = re.sub(r"\$\{([^}]*)\}", lambda value: VALUES[value[1]], query).replace('\\"', '"')
        yield {"alert": name, "expr": query, "for": duration}


if __name__ == "__main__":
    yaml.safe_dump({"groups": [{"name": "cloud", "interval": "30s", "rules": list(rules())}]}, sys.stdout, sort_keys=False, width=1000)
