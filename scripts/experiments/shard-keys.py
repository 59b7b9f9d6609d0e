#!/usr/bin/env python3
"""Counts the classes of `docshape shardkey` a second time, without a planner.

The server logs every command (slowms -1). For the stretch of the log in which shardkey makes its calls, this script decides by its
own rules which commands name the whole key, a part of it, or nothing of its first field, and compares the sums with
shard-key.json, for each strategy, collection and key that is not refused.

usage: shard-keys.py DOCSHAPE SCENARIO... [--calls N]        needs pymongo and a mongod that docshape finds
"""
import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import pymongo

READS = {"find": "filter", "count": "query", "distinct": "query"}
RANGES = {"$gt", "$gte", "$lt", "$lte", "$regex", "$ne", "$nin"}


def equal(condition):
    """Whether a condition demands one value."""
    if isinstance(condition, list):
        return False
    if isinstance(condition, dict) and any(key.startswith("$") for key in condition):
        # Extended JSON of one value also begins with a dollar.
        if set(condition) <= {"$oid", "$date", "$binary", "$uuid", "$numberLong", "$numberDecimal"}:
            return True
        values = condition.get("$in")
        return "$eq" in condition or len(condition) == 1 and isinstance(values, list) and len(values) == 1
    return True


def conditions(query, path):
    """The conditions on a path, those of a conjunction included."""
    found = []
    for name, value in query.items():
        if name == "$and":
            for part in value:
                found += conditions(part, path)
        elif name == path:
            found.append(value)
        elif path.startswith(name + ".") and isinstance(value, dict) and equal(value):
            inner = value
            for part in path[len(name) + 1 :].split("."):
                inner = inner.get(part) if isinstance(inner, dict) else None
            found += [] if inner is None else [inner]
    return found


def bounds(query, path, hashed):
    """Whether a query has a condition by which an index on the path finds less than all."""
    for condition in conditions(query, path):
        if equal(condition):
            return True
        operators = set(condition) if isinstance(condition, dict) else set()
        if "$in" in operators or not hashed and operators & RANGES:
            return True
    branches = query.get("$or") or next((part["$or"] for part in query.get("$and", []) if "$or" in part), None)
    return bool(branches) and all(bounds(branch, path, hashed) for branch in branches)


def target(query, key):
    """0: by the whole key, 1: by a part of it, 2: all shards."""
    if all(any(equal(one) for one in conditions(query, path)) for path, _ in key):
        return 0
    path, hashed = key[0]
    return 1 if bounds(query, path, hashed) else 2


def of_pipeline(stages):
    """The leading conditions of a pipeline as one query."""
    matches = []
    for stage in stages:
        if "$match" not in stage:
            break
        matches.append(stage["$match"])
    return {"$and": matches} if len(matches) > 1 else (matches or [{}])[0]


def questions(entry):
    """What a log entry asks: kind (reads, writes, inserts) and query."""
    command, kind = entry["command"], entry["type"]
    if kind in ("update", "remove"):
        return [("writes", command["q"])]
    name = next(iter(command))
    if name in READS:
        return [("reads", command.get(READS[name], {}))]
    if name == "aggregate":
        return [("reads", of_pipeline(command["pipeline"]))]
    if name == "findAndModify":
        return [("writes", command.get("query", {}))]
    if name == "insert":
        return [("inserts", {})] * entry["ninserted"]
    return []


def calls(lines, database):
    """The entries between the last key that shardkey prepares and the first thing that it looks at afterwards."""
    entries = [json.loads(line) for line in lines if f'"{database}.' in line and '"Slow query"' in line]
    entries = [entry["attr"] for entry in entries]
    prepares = [at for at, one in enumerate(entries) if "docshape.key_" in json.dumps(one["command"])[:200] and "explain" not in one["command"]]
    found = []
    for entry in entries[prepares[-1] + 1 :]:
        if "listIndexes" in entry["command"]:
            # Those between two keys, and after the calls.
            if found:
                break
            continue
        names = set(entry["command"])
        own = {"explain", "createIndexes", "dropIndexes", "create"} & names or ".docshape." in entry["ns"]
        own = bool(own) or "indexKey" in json.dumps(entry["command"].get("projection", ""))
        counts = next(iter(entry["command"])) == "count" and "query" not in names
        if not own and not counts:
            found.append(entry)
    return found


def compare(record, lines, scenario):
    """Prints a line per key; returns how many numbers differ."""
    wrong = 0
    for strategy in record["strategies"]:
        database = f"docshape_{scenario}_{strategy['name']}"
        entries = calls(lines, database)
        for collection in strategy["collections"]:
            asked = []
            for entry in entries:
                if entry["ns"] == f"{database}.{collection['name']}":
                    asked += questions(entry)
            for key in collection["keys"]:
                if key.get("refused"):
                    continue
                fields = [(path, kind == "hashed") for path, kind in re.findall(r"([\w.]+): (1|hashed)", key["key"])]
                own = Counter((kind, target(query, fields)) for kind, query in asked if kind != "inserts")
                inserts = sum(kind == "inserts" for kind, _ in asked)
                theirs = Counter()
                for counts in key["operations"]:
                    for kind in ("reads", "writes"):
                        for at, count in enumerate(counts[kind]):
                            theirs[kind, at] += count
                said = [[theirs[kind, at] for at in range(3)] for kind in ("reads", "writes")]
                mine = [[own[kind, at] for at in range(3)] for kind in ("reads", "writes")]
                their_inserts = sum(counts["inserts"] for counts in key["operations"])
                same = said == mine and inserts == their_inserts
                wrong += not same
                name = f"{strategy['name']}, {collection['name']} {key['key']}"
                print(f"{'same' if same else 'DIFFERS':8} {name:60} reads {said[0]} writes {said[1]} inserts {their_inserts}", end="")
                print("" if same else f"; by the script: reads {mine[0]} writes {mine[1]} inserts {inserts}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("docshape")
    parser.add_argument("scenarios", nargs="+")
    parser.add_argument("--calls", default="500")
    arguments = parser.parse_args()
    server = subprocess.Popen([arguments.docshape, "server", "start"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wrong = 0
    try:
        uri = server.stdout.readline().strip()
        folder = re.search(r"data in (\S+);", server.stderr.readline()).group(1)
        pymongo.MongoClient(uri).admin.command("profile", 0, slowms=-1)
        log = next(Path(folder).glob("*.log"))
        for scenario in arguments.scenarios:
            before = log.stat().st_size
            with tempfile.TemporaryDirectory() as temp:
                out = f"{temp}/out"
                command = [arguments.docshape, "shardkey", scenario, "--uri", uri, "--yes", "--calls", arguments.calls, "--out", out]
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                record = json.loads(Path(out, "shard-key.json").read_text())
            with log.open() as file:
                file.seek(before)
                lines = file.readlines()
            print(f"== {scenario}")
            wrong += compare(record, lines, record["scenario"]["name"])
    finally:
        server.terminate()
        server.wait()
    print(f"{wrong} keys differ")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
