#!/usr/bin/env python3
"""Checks the licences and sources of all dependencies against deny.toml, with `cargo metadata`.

`cargo deny check licenses sources` reads the same lists but takes minutes to install; this takes seconds. Names every crate
whose licence or registry is not allowed, and then exits with 1.
"""

import json
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).parent.parent


def is_allowed(expression, allowed):
    """Returns whether allowed licences satisfy an SPDX expression; `A/B` is the old form of `A OR B`."""
    tokens = re.findall(r"[()]|[^\s()]+", expression.replace("/", " OR "))

    def one():
        token = tokens.pop(0)
        if token != "(":
            if tokens[:1] == ["WITH"]:
                token = f"{token} WITH {tokens[1]}"
                del tokens[:2]
            return token in allowed
        value = any_of()
        tokens.pop(0)
        return value

    def all_of():
        values = [one()]
        while tokens[:1] == ["AND"]:
            tokens.pop(0)
            values.append(one())
        return all(values)

    def any_of():
        values = [all_of()]
        while tokens[:1] == ["OR"]:
            tokens.pop(0)
            values.append(all_of())
        return any(values)

    return any_of()


def main():
    rules = tomllib.loads((ROOT / "deny.toml").read_text())
    licences = set(rules["licenses"]["allow"])
    registries = {f"registry+{address}" for address in rules["sources"]["allow-registry"]}
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", rules["graph"]["targets"][0]]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)
    faults = []
    for package in metadata["packages"]:
        name = f"{package['name']} {package['version']}"
        if package["source"] is not None and package["source"] not in registries:
            faults.append(f"{name}: source {package['source']} is not allowed")
        if not package["license"]:
            faults.append(f"{name}: no licence")
        elif not is_allowed(package["license"], licences):
            faults.append(f"{name}: licence {package['license']} is not allowed")
    print("\n".join(faults) or f"{len(metadata['packages'])} packages: licences and sources allowed")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
