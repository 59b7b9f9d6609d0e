#!/usr/bin/env python3
"""Compares all numbers of two JSON reports of the same run, made before and after a change of the report's form.

    scripts/report_numbers.py before.json after.json [--renames FILE]

`before.json` and `after.json` are outputs of `docshape report RUN --format json`. FILE has one rename per line:

    report.json: rows[].cells[].reference -> rows[].cells[].baseline

A path is keys joined by dots; `[]` matches any position of a list. A rename also moves everything below its path. A
single key (`workers -> clients`) is renamed everywhere. `-> -` drops a path on purpose. Lines that start with `#`, and
lines for other files (`run.json: ...`), are skipped; text after the new path is a comment.

Numbers are matched by path, and the rest by value, so that a number that only moved is not reported. Prints the numbers
that differ, are missing or are new; exits with 1 if a number differs or is missing.
"""

import argparse
import json
import re
import sys
from collections import Counter


def numbers(value, path=""):
    """Yields path and value of every number; `[3]` is the fourth entry of a list."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from numbers(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for position, inner in enumerate(value):
            yield from numbers(inner, f"{path}[{position}]")
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield path, value


def read_renames(file):
    """Returns pairs of an old and a new path; the new path is `None` for a dropped one."""
    renames = []
    for line in file or []:
        line = line.split("#")[0].strip()
        prefix, colon, rest = line.partition(":")
        if colon and prefix.endswith(".json"):
            if prefix != "report.json":
                continue
            line = rest.strip()
        if "->" not in line:
            continue
        old, new = (part.strip() for part in line.split("->", 1))
        new = re.split(r"[\s,;(]", new)[0]
        renames.append((old, None if new in ("-", "") else new))
    return renames


def applied(path, renames):
    """Returns the path after all renames, or `None` if it was dropped."""
    for old, new in renames:
        is_key = "." not in old and "[" not in old
        pattern = re.escape(old).replace(r"\[\]", r"\[(\d+)\]")
        # A single key matches anywhere, a path only from its start.
        before, after = (r"(^|[.\]])", r"(?=$|[.\[])") if is_key else (r"^()", r"(?=$|[.\[])")
        found = re.search(before + pattern + after, path)
        if not found:
            continue
        if new is None:
            return None
        positions = list(found.groups()[1:])
        replaced = re.sub(r"\[\]", lambda _: f"[{positions.pop(0)}]" if positions else "[]", new)
        path = path[: found.start()] + found.group(1) + replaced + path[found.end() :]
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=argparse.FileType())
    parser.add_argument("after", type=argparse.FileType())
    parser.add_argument("--renames", type=argparse.FileType(), metavar="FILE", help="renamed keys and paths")
    arguments = parser.parse_args()
    renames = read_renames(arguments.renames)
    before = {}
    for path, value in numbers(json.load(arguments.before)):
        renamed = applied(path, renames)
        if renamed is not None:
            before[renamed] = value
    after = dict(numbers(json.load(arguments.after)))

    differing = [(path, before[path], after[path]) for path in before if path in after and before[path] != after[path]]
    missing = {path: value for path, value in before.items() if path not in after}
    new = {path: value for path, value in after.items() if path not in before}
    by_value = Counter(new.values())
    moved = 0
    for path, value in list(missing.items()):
        if by_value[value] > 0:
            by_value[value] -= 1
            moved += 1
            del missing[path]

    for path, old, value in differing:
        print(f"differs  {path}: {old} -> {value}")
    for path, value in missing.items():
        print(f"missing  {path}: {value}")
    same = len(before) - len(differing) - len(missing) - moved
    print(
        f"{len(before)} numbers before, {len(after)} after: {same} equal by path, {moved} equal by value only, "
        f"{len(differing)} differ, {len(missing)} missing, {sum(by_value.values())} new"
    )
    return 1 if differing or missing else 0


if __name__ == "__main__":
    sys.exit(main())
