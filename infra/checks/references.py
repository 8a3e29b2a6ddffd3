"""Whether what the alerts, the dashboard, the logs' filters and the image's build name is there: metrics, log lines, runbook
sections, folders.

    references.py    prints each name that leads nowhere; exits 1 when there is one
"""

import pathlib
import re
import sys

import yaml

import cloud_rules

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = "\n".join(path.read_text() for path in (ROOT / "Sources").rglob("*.swift"))
RUNBOOK = (ROOT / "docs/operations.md").read_text()
# Of other people's exporters.
FOREIGN = {"probe_ssl_earliest_cert_expiry"}


def anchors():
    for title in re.findall(r"^#+ (.+)$", RUNBOOK, re.MULTILINE):
        yield re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-")


def metric_names(text):
    for name in re.findall(r"\b(?:orca_push|probe|process)_[a-z_]+\b", text):
        yield re.sub(r"_(bucket|sum|count)$", "", name)


def unfired(alerts, tests):
    fired = {
        case["alertname"] for test in tests["tests"] for case in test.get("alert_rule_test", []) if case["exp_alerts"]
    }
    for rule in alerts:
        if rule["alert"] not in fired:
            yield f"{rule['alert']}: no test shows that it can fire"


def faults(rules, tests, extra):
    sections = set(anchors())
    known = set(re.findall(r'"((?:orca_push|process)_[a-z_]+)"', SOURCES)) | FOREIGN
    alerts = [rule for group in rules["groups"] for rule in group["rules"]]
    yield from unfired(alerts, tests)
    for rule in alerts:
        page, _, section = rule["annotations"].get("runbook", "").partition("#")
        if page != "docs/operations.md" or section not in sections:
            yield f"{rule['alert']}: the runbook has no section {section!r}"
        for name in metric_names(rule["expr"]):
            if name not in known:
                yield f"{rule['alert']}: no program shows {name}"
    for path in extra:
        for name in metric_names(path.read_text()):
            if name not in known:
                yield f"{path.name}: no program shows {name}"
    watching = (ROOT / "infra/terraform/watching.tf").read_text()
    for section in re.findall(r'section\s*=\s*"([^"]+)"', watching):
        if section not in sections:
            yield f"watching.tf: the runbook has no section {section!r}"
    for line in re.findall(r'jsonPayload\.message(?:=|:)\\"([^"\\]+)\\"', watching):
        if f'"{line}' not in SOURCES:
            yield f"watching.tf: no program logs {line!r}"


def capacity_faults():
    """Figures that the runbook takes from the performance page are those of that page."""
    told = (ROOT / "docs/performance.md").read_text()
    rows = [line for line in RUNBOOK.splitlines() if line.startswith("|") and "(performance.md)" in line]
    if not rows:
        yield "operations.md: the capacity table takes nothing from performance.md"
    for row in rows:
        for figure in re.findall(r"\d[\d,.]*\d", row.split("|")[2]):
            if figure not in told:
                yield f"operations.md: performance.md does not say {figure}: {row.split('|')[1].strip()}"


def image_faults():
    """What the package names and the image's build does not get: it would fail, minutes into a rollout."""
    # Up to what is built for fuzzing alone.
    package = (ROOT / "Package.swift").read_text().partition("PUSH_FUZZ")[0]
    copies = re.findall(r"^COPY (?!--from)(.+) \S+$", (ROOT / "infra/Dockerfile").read_text(), re.MULTILINE)
    copied = [name for names in copies for name in names.split()]
    let_in = re.findall(r"^!(\S+)$", (ROOT / "infra/Dockerfile.dockerignore").read_text(), re.MULTILINE)
    for name in copied:
        if name not in let_in:
            yield f"Dockerfile.dockerignore keeps {name} out, which the Dockerfile copies"
    for name in re.findall(r'path: "([^"\\]+)"', package):
        if not any(pathlib.PurePath(name).is_relative_to(place) for place in copied):
            yield f"Dockerfile: Package.swift names {name}, which is not copied"


def image_shape(text):
    """What the image must be, whoever changes the file: pinned, not root's, labelled, its programs process 1."""
    stages = re.findall(r"^FROM (\S+) AS (\S+)\n(.*?)(?=^FROM |\Z)", text, re.MULTILINE | re.DOTALL)
    names = [name for _, name, _ in stages]
    for number, (base, name, _) in enumerate(stages):
        if base not in {"scratch", "debian@${DEBIAN_DIGEST}", *names[:number]}:
            yield f"Dockerfile: {name} begins with {base}, which no digest pins"
    gateway = next(body for _, name, body in stages if name == "gateway")
    final = "".join(body for _, name, body in stages if name != "build")
    if not re.search(r"^USER [1-9]\d*:[1-9]\d*$", gateway, re.MULTILINE) or final.count("\nUSER ") != 1:
        yield "Dockerfile: the programs do not run as a user of their own, by number"
    if "org.opencontainers.image.revision=$REVISION" not in gateway or "ORCA_PUSH_REVISION=$REVISION" not in gateway:
        yield "Dockerfile: the image does not say which source it is made of"
    if "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt" not in gateway:
        yield "Dockerfile: OpenSSL does not learn where the roots of TLS are"
    entries = {name: re.findall(r'^ENTRYPOINT \["/usr/local/bin/(\w+)"\]$', body, re.MULTILINE) for _, name, body in stages}
    if entries != {"build": [], "gateway": ["api"], "worker": ["worker"], "janitor": ["janitor"], "api": ["api"]}:
        yield f"Dockerfile: the entry points are {entries}"


def main():
    folder = ROOT / "infra"
    rules = yaml.safe_load((folder / "prometheus/alerts.yml").read_text())
    tests = yaml.safe_load((folder / "prometheus/tests.yml").read_text())
    cloud_tests = yaml.safe_load((folder / "prometheus/cloud-tests.yml").read_text())
    found = [
        *faults(rules, tests, sorted((folder / "grafana").glob("*.json"))), *unfired(cloud_rules.rules(), cloud_tests),
        *capacity_faults(), *image_faults(), *image_shape((folder / "Dockerfile").read_text()),
    ]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
