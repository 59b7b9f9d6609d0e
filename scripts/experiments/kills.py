#!/usr/bin/env python3
"""Kills docshape at random moments, and looks at what it leaves.

    scripts/experiments/kills.py DOCSHAPE [--tries 200] [--workers 2] [--seed 1]

Every try starts `run`, `verify` or `capacity` on a small scenario, on an embedded server or on a server of its user (half of
them each), and sends SIGKILL, SIGINT or SIGTERM after a random time. Looked for afterwards:
a run.json that cannot be reported or resumed, servers that still run, databases that `docshape clean` does not remove, and
folders that the next start does not remove. Prints a line per signal, for scripts/experiments/faults.sh; exit code 1 when anything of this was found.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

SCENARIO = "blog-comments"
SMALL = ["--set", "posts=20", "--strategies", "embedded,linked"]
LOAD = ["--clients", "2", "--calls", "150", "--only", "saturation", "--no-verify"]
COMMANDS = {
    "run": ["run", SCENARIO, *SMALL, *LOAD, "--rounds", "4"],
    "verify": ["verify", SCENARIO, *SMALL],
    "capacity": ["capacity", SCENARIO, *SMALL, "--clients", "2", "--objective", "p99<200ms", "--rounds", "1", "--confirm", "0"],
}
SIGNALS = [signal.SIGKILL, signal.SIGINT, signal.SIGTERM]
# Seconds: the latest kill, and how long to wait for an end.
MOMENT = 6.0
LONGEST = 60.0


class Worker:
    """A folder for temporary files and a server of a user, for one try after the other."""

    def __init__(self, docshape, number, folder):
        self.docshape = docshape
        self.folder = folder / f"worker{number}"
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir(parents=True)
        (self.folder / "user").mkdir()
        self.server = subprocess.Popen([docshape, "server", "start"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                       env={**os.environ, "TMPDIR": str(self.folder / "user")}, text=True)
        self.uri = None
        while self.uri is None:
            line = self.server.stdout.readline()
            if not line:
                sys.exit("the server of the user does not start")
            found = re.search(r"mongodb://\S+", line)
            self.uri = found and found.group(0)

    def stop(self):
        self.server.terminate()
        self.server.wait()

    def start(self, command, out, **streams):
        return subprocess.Popen([self.docshape, *command], cwd=self.folder, start_new_session=True,
                                env={**os.environ, "TMPDIR": str(self.temporary), "NO_COLOR": "1"}, **streams)

    def call(self, command):
        """The exit code and what was said."""
        process = self.start(command, None, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        try:
            said, _ = process.communicate(timeout=2 * LONGEST)
        except subprocess.TimeoutExpired:
            process.kill()
            return None, "did not end"
        return process.returncode, said.decode(errors="replace")

    def databases(self):
        """The databases of the user's server that are not the server's own."""
        host, port = re.match(r"mongodb://([^:/]+):(\d+)", self.uri).groups()
        fields = b"\x10listDatabases\0" + struct.pack("<i", 1) + b"\x08nameOnly\0\x01"
        fields += b"\x02$db\0" + struct.pack("<i", 6) + b"admin\0"
        document = struct.pack("<i", len(fields) + 5) + fields + b"\0"
        message = struct.pack("<iiiii", 21 + len(document), 1, 0, 2013, 0) + b"\0" + document
        with socket.create_connection((host, int(port))) as connection:
            connection.sendall(message)
            reply = b""
            while len(reply) < 4 or len(reply) < struct.unpack("<i", reply[:4])[0]:
                reply += connection.recv(65536)
        names = re.findall(rb"\x02name\0....([^\0]+)\0", reply, re.DOTALL)
        return sorted({name.decode() for name in names} - {"admin", "config", "local"})

    def servers(self):
        """The processes of embedded servers."""
        found = []
        for process in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            try:
                if str(self.temporary).encode() in process.read_bytes() and b"mongod" in process.read_bytes():
                    found.append(process.parent.name)
            except OSError:
                pass
        return found

    def folders(self):
        return sorted(path.name for path in self.temporary.iterdir())


def attempt(worker, number, chance):
    """One kill. Returns its signal, and what it left; None when the command had ended before."""
    kind = chance.choice(list(COMMANDS))
    on_user_server = number % 2 == 0
    how = SIGNALS[number // 2 % 3]
    out = pathlib.Path(tempfile.mkdtemp(dir=worker.folder)) / "run"
    command = COMMANDS[kind] + (["--uri", worker.uri, "--yes"] if on_user_server else [])
    command += ["--out", str(out)] if kind != "verify" else []
    left = collections.Counter()
    process = worker.start(command, out, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(chance.uniform(0.05, MOMENT))
    if process.poll() is not None:
        return None
    process.send_signal(how)
    try:
        process.wait(LONGEST)
    except subprocess.TimeoutExpired:
        left["hung"] += 1
        process.kill()
        process.wait()
    until = time.monotonic() + 5
    while worker.servers() and time.monotonic() < until:
        time.sleep(0.05)
    left["orphans"] += len(worker.servers())
    if kind == "run":
        look_at_run(worker, out, on_user_server, left, how)
    if on_user_server:
        left["databases left"] += len(worker.databases())
        code, said = worker.call(["clean", "--uri", worker.uri, "--yes"])
        if code != 0 or worker.databases():
            left["not cleaned"] += 1
            print(f"{kind}, {how.name}: {worker.databases()}: exit code {code}\n{said}", file=sys.stderr)
    return how.name, left


def look_at_run(worker, out, on_user_server, left, how):
    if not (out / "run.json").exists():
        left["no record"] += 1
        return
    code, said = worker.call(["report", str(out)])
    if code != 0:
        left["corrupt"] += 1
        print(f"{how.name}: exit code {code}\n{said}", file=sys.stderr)
        return
    resume = ["run", "--resume", str(out)] + (["--uri", worker.uri, "--yes"] if on_user_server else [])
    code, said = worker.call(resume)
    left["resumed"] += code in (0, 4)
    if code not in (0, 4):
        left["not resumed"] += 1
        print(f"{how.name}, resume: exit code {code}\n{said}", file=sys.stderr)


def work(docshape, number, folder, tries, seed):
    worker, chance = Worker(docshape, number, folder), random.Random(f"{seed}/{number}")
    totals = collections.defaultdict(collections.Counter)
    try:
        for attempted in tries:
            kill = None
            while kill is None:
                kill = attempt(worker, attempted, chance)
            name, left = kill
            totals[name]["kills"] += 1
            totals[name].update(left)
        worker.call(["verify", SCENARIO, *SMALL])
        for name in worker.folders():
            totals["SIGKILL"]["folders left"] += 1
            print(f"left: {name}", file=sys.stderr)
    finally:
        worker.stop()
    return totals


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("docshape", type=pathlib.Path)
    parser.add_argument("--tries", type=int, default=200)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    totals = collections.defaultdict(collections.Counter)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(given.workers) as pool:
        share = [range(number * given.tries // given.workers, (number + 1) * given.tries // given.workers)
                 for number in range(given.workers)]
        parts = [pool.submit(work, given.docshape.resolve(), number, pathlib.Path(folder), tries, given.seed)
                 for number, tries in enumerate(share)]
        for part in parts:
            for name, counts in part.result().items():
                totals[name].update(counts)
    wrong = ["hung", "orphans", "corrupt", "not resumed", "not cleaned", "folders left"]
    shown = ["kills", "no record", "resumed", "databases left", *wrong]
    for name, counts in sorted(totals.items()):
        print(f"fault={name.lower()}-docshape " + " ".join(f"{word.replace(' ', '_')}={counts[word]}" for word in shown))
    sys.exit(any(counts[word] for counts in totals.values() for word in wrong))


if __name__ == "__main__":
    main()
