#!/usr/bin/env python3
"""YCSB as the other client of scripts/experiments/peers.sh.

    YCSB=bin/ycsb.sh PEER=scripts/experiments/ycsb_peer.py scripts/experiments/peers.sh

Loads 10,000 documents as large as those of benches/points.yaml, and makes calls twice: as many as docshape, and five times as many.
Prints the difference, without the start of the JVM and most of its compilation, as one line of JSON: calls, seconds, and the CPU
seconds of the process (user and kernel).
"""

import json
import os
import subprocess
import sys

DOCUMENTS = 10_000
# With a key of about 24 letters, two fields of this length make documents of about 170 bytes.
PROPERTIES = {
    "workload": "site.ycsb.workloads.CoreWorkload",
    "recordcount": DOCUMENTS,
    "requestdistribution": "uniform",
    "fieldcount": 2,
    "fieldlength": 53,
    "readallfields": "true",
    "updateproportion": 0,
    "scanproportion": 0,
}


def ycsb(phase, clients, **properties):
    """Runs YCSB; returns the seconds of its calls and the CPU seconds of its process."""
    command = [os.environ["YCSB"], phase, "mongodb", "-threads", clients]
    for name, value in (PROPERTIES | properties).items():
        command += ["-p", f"{name}={value}"]
    ended = subprocess.run(command, capture_output=True, text=True)
    lines = [line.split(", ") for line in ended.stdout.splitlines() if line.startswith("[")]
    if ended.returncode != 0 or any("Return=" in line[1] and line[1] != "Return=OK" for line in lines):
        sys.exit(f"ycsb {phase} failed:\n{ended.stdout}{ended.stderr}")
    return next(float(line[2]) / 1_000 for line in lines if line[:2] == ["[OVERALL]", "RunTime(ms)"])


def measured(*arguments, **properties):
    """The same with the CPU seconds that the process took."""
    before = os.times()
    seconds = ycsb(*arguments, **properties)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return seconds, cpu


def main():
    uri, database, inserted, calls, clients = sys.argv[1:]
    calls, inserted = int(calls), float(inserted)
    host = uri.split("://", 1)[1].split("/", 1)[0]
    url = f"mongodb://{host}/{database}?directConnection=true&w=majority&retryWrites=false&retryReads=false"
    shared = {"mongodb.url": url, "readproportion": 1 - inserted, "insertproportion": inserted}
    shared["insertcount"] = DOCUMENTS
    ycsb("load", clients, **shared)
    # Inserted keys begin after recordcount; reads are of the first DOCUMENTS.
    first = {"operationcount": calls}
    then = {"operationcount": 5 * calls, "recordcount": DOCUMENTS + calls}
    few, many = (measured("run", clients, **shared, **one) for one in (first, then))
    seconds, cpu = (large - small for large, small in zip(many, few))
    print(json.dumps({"calls": 4 * calls, "seconds": seconds, "cpu": cpu}))


main()
