"""Writes what Terraform's Google provider takes (names, types, what is required) as JSON.

    google_schema.py ASSEMBLY SCHEMA

ASSEMBLY is the jsii assembly within the package cdktf-cdktf-provider-google, which describes every resource of the
provider in machine-readable form. The provider itself cannot be had from a package index; this stands in for its schema.
Not in it: which values an argument takes, and which arguments exclude one another.
"""

import json
import re
import sys

LINK = re.compile(r"docs/(resources|data-sources|)/?([a-z0-9_]*)#([a-z0-9_]+)")
PRIMITIVES = {"string": "string", "number": "number", "boolean": "bool", "any": "dynamic", "json": "dynamic"}


def text_of(member):
    docs = member.get("docs", {})
    return f"{docs.get('summary') or ''}\n{docs.get('remarks') or ''}"


def snake(name):
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda match: "_" + match.group(1), name).lower()


def terraform_name(member):
    link = LINK.search(text_of(member))
    return link.group(3) if link else snake(member["name"])


def concrete(kind):
    """A union's first member that is not the placeholder for values known later."""
    if "union" not in kind:
        return kind
    members = [each for each in kind["union"]["types"] if each.get("fqn") != "cdktf.IResolvable"]
    return concrete(members[0]) if members else {"primitive": "any"}


def attribute_type(kind):
    kind = concrete(kind)
    if "primitive" in kind:
        return PRIMITIVES[kind["primitive"]]
    if "collection" not in kind:
        return "dynamic"
    element = attribute_type(kind["collection"]["elementtype"])
    if element == "dynamic":
        return "dynamic"
    return ["map" if kind["collection"]["kind"] == "map" else "list", element]


class Assembly:
    def __init__(self, types):
        self.types = types

    def structure(self, kind):
        """The interface that a block consists of, and whether there may be several."""
        kind = concrete(kind)
        nesting = "single"
        if "collection" in kind:
            kind, nesting = concrete(kind["collection"]["elementtype"]), "list"
        name = kind.get("fqn")
        return (name, nesting) if name in self.types and self.types[name]["kind"] == "interface" else (None, None)

    def block(self, name, above=()):
        attributes, blocks = {}, {}
        for member in self.types[name].get("properties", []):
            argument = terraform_name(member)
            required = not member.get("optional")
            inner, nesting = self.structure(member["type"])
            is_block = re.search(rf"(^|\n){re.escape(argument)} block\b", text_of(member))
            if inner and is_block and inner not in above:
                blocks[argument] = {
                    "nesting": nesting, "required": required, "block": self.block(inner, (*above, name))
                }
            else:
                attributes[argument] = {"type": attribute_type(member["type"]), "required": required}
        return {"attributes": attributes, "blocks": blocks}

    def add_computed(self, block, class_name):
        """What the provider answers: the resource class's own members."""
        for member in self.types.get(class_name, {}).get("properties", []):
            if member.get("static") or member["name"].endswith("Input"):
                continue
            name = snake(member["name"])
            if name in block["attributes"]:
                block["attributes"][name]["computed"] = True
            elif name not in block["blocks"]:
                is_text_map = member["type"].get("fqn") == "cdktf.StringMap"
                kind = ["map", "string"] if is_text_map else attribute_type(member["type"])
                block["attributes"][name] = {"type": kind, "computed": True, "only": True}

    def schema(self):
        found = {"resources": {}, "data": {}, "provider": None}
        for name, kind in self.types.items():
            if kind["kind"] != "interface" or not name.endswith("Config"):
                continue
            if name.endswith(".GoogleProviderConfig"):
                found["provider"] = self.block(name)
            if "cdktf.TerraformMetaArguments" not in (kind.get("interfaces") or []):
                continue
            links = (LINK.search(text_of(member)) for member in kind.get("properties", []))
            link = next((link for link in links if link), None)
            if not link or not link.group(2):
                continue
            block = self.block(name)
            self.add_computed(block, name.removesuffix("Config"))
            where = "resources" if link.group(1) == "resources" else "data"
            found[where][f"google_{link.group(2)}"] = block
        return found


def main(assembly, target):
    with open(assembly) as file:
        types = json.load(file)["types"]
    with open(target, "w") as file:
        json.dump(Assembly(types).schema(), file, separators=(",", ":"))


if __name__ == "__main__":
    main(*sys.argv[1:])
