"""What no file of Terraform's may say here, whatever the provider takes.

    policy.py DIR    prints each finding; exits 1 when there is one
"""

import pathlib
import re
import sys

# The one thing that is for everybody.
PUBLIC = 'resource "google_cloud_run_v2_service_iam_member" "everyone"'
FORBIDDEN = {
    r"\ball(Authenticated)?Users\b": "is open to everybody",
    r"\broles/(owner|editor)\b": "gives a role over everything",
    r"\bauthorized_networks\b": "opens the database to a network",
    r'^resource "google_service_account_key"': "makes a key that lies in the state",
    r'^resource "google_secret_manager_secret_version"': "puts a secret's value into the state",
    r"^\s*(secret_data|password|root_password)\s*=": "puts a secret's value into the state",
    r'^\s*member\s*=\s*"user:': "names a person",
    r"\buniform_bucket_level_access\s*=\s*false": "lets single objects be made public",
}


def blocks(text):
    """The outermost blocks: they begin and end in the first column."""
    lines = text.splitlines()
    start = None
    for number, line in enumerate(lines, 1):
        if start is None and re.match(r"^\w.*\{\s*$", line):
            start = number
        if start is not None and line.startswith("}"):
            yield start, lines[start - 1:number]
            start = None


def findings(directory):
    for path in sorted(pathlib.Path(directory).glob("*.tf")):
        for start, lines in blocks(path.read_text()):
            for offset, line in enumerate(lines):
                code = re.sub(r"^\s*(#|//).*", "", line)
                for pattern, why in FORBIDDEN.items():
                    if re.search(pattern, code) and not (why == "is open to everybody" and lines[0].startswith(PUBLIC)):
                        yield f"{path}:{start + offset}: {lines[0].rstrip(' {')} {why}"


if __name__ == "__main__":
    found = list(findings(sys.argv[1]))
    print("\n".join(found), end="\n" if found else "")
    sys.exit(1 if found else 0)
