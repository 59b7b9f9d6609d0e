#!/usr/bin/env python3
"""Counts the instructions that a call executes, and the cache lines (64 bytes) of code that it touches, in docshape and in
a bare loop on the driver.

    scripts/experiments/code_lines.py insert

The argument is a row of `cargo bench --bench overhead`, with one client. Unlike times, these counts do not depend on how
busy the machine is. Needs valgrind.
"""

import collections
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

SECONDS = 15
"""Seconds to count. Under valgrind a call takes about 15 ms."""

SHARE = 0.4
"""Smallest share of the calls that must touch a cache line for the line to count."""

CRATES = re.compile(r"docshape|mongodb|tokio|bson|futures_util|hdrhistogram|hashbrown|indexmap|serde|alloc|core|std")


def executable():
    command = ["cargo", "bench", "--profile", "profiling", "--no-run", "--bench", "overhead", "--message-format=json"]
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    built = [message for message in map(json.loads, lines) if message.get("executable")]
    return next(one["executable"] for one in built if one["target"]["name"] == "overhead")


def control(*arguments):
    done = subprocess.run(["callgrind_control", *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return done.stdout


def counted(program, row, out):
    """Runs the benchmark under callgrind, which writes what its threads executed while one client made calls."""
    tool = ["valgrind", "--tool=callgrind", "--separate-threads=yes", "--dump-instr=yes", f"--callgrind-out-file={out}"]
    environment = dict(os.environ, CARGO_MANIFEST_DIR=os.getcwd())
    bench = subprocess.Popen([*tool, program, "--bench", row], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        # The benchmark's own thread, and one per side.
        while "IDs: 1 2 3 4" not in control("-s", str(bench.pid)):
            if bench.poll() is not None:
                sys.exit(f"the benchmark ended before its first call; does `cargo bench --bench overhead -- {row}` run?")
            time.sleep(0.5)
        time.sleep(6)
        control("-z", str(bench.pid))
        time.sleep(SECONDS)
        control("-d", str(bench.pid))
        time.sleep(3)
    finally:
        bench.terminate()
        bench.wait()


def instructions(path):
    """Yields every instruction of a thread: its object, address, function and number of executions."""
    names, objects = {}, {}

    def named(text, known):
        number, name = re.match(r"\((\d+)\)(?: (.*))?$", text).groups()
        if name is not None:
            known[number] = name
        return known[number]

    function = owner = None
    address, is_call = 0, False
    with open(path) as lines:
        for line in lines:
            key, _, rest = line.rstrip("\n").partition("=")
            if key == "ob":
                owner = named(rest, objects)
            elif key == "fn":
                function = named(rest, names)
            elif key == "cfn":
                named(rest, names)
            elif key == "cob":
                named(rest, objects)
            elif key == "calls":
                is_call = True
            elif found := re.match(r"(0x[0-9a-f]+|[+-]\d+|\*) \S+ (\d+)$", key):
                place, count = found.groups()
                if place.startswith("0x"):
                    address = int(place, 16)
                elif place != "*":
                    address += int(place)
                # The line after `calls=` is the inclusive cost of the callee.
                if not is_call:
                    yield owner, address, function, int(count)
                is_call = False


def part_of(owner, function):
    if ".so" in owner:
        return os.path.basename(owner).split(".")[0]
    if "docshape" in function:
        return "docshape"
    found = CRATES.search(function)
    return found.group() if found else "other"


def side(path):
    """Returns the calls of one thread, and per call its instructions and cache lines by part."""
    all_of_it = list(instructions(path))
    calls = max(count for _, _, function, count in all_of_it if function == "send")
    work, lines = collections.Counter(), {}
    for owner, address, function, count in all_of_it:
        part = part_of(owner, function)
        work[part] += count / calls
        line = (owner, address // 64)
        if count > lines.get(line, (0, ""))[0]:
            lines[line] = (count, part)
    touched = collections.Counter(part for count, part in lines.values() if count >= SHARE * calls)
    return calls, work, touched


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if shutil.which("valgrind") is None:
        sys.exit("valgrind is not installed; install the package valgrind")
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "callgrind")
        counted(executable(), sys.argv[1], out)
        # The last threads to start, in order: the driver with ready commands, the sockets, docshape.
        *_, driver, _, docshape = sorted(glob.glob(f"{out}.1-*"))
        (calls, work, lines), (_, driver_work, driver_lines) = side(docshape), side(driver)
    print(f"{sys.argv[1]}, one client, {calls} calls")
    print(f"{'':<14}{'instructions':>14}{'driver alone':>14}{'lines':>10}{'driver alone':>14}")
    for part in sorted(lines | driver_lines, key=lambda part: -lines[part]):
        print(f"{part:<14}{work[part]:>14.0f}{driver_work[part]:>14.0f}{lines[part]:>10}{driver_lines[part]:>14}")
    total, driver_total = work.total(), driver_work.total()
    print(f"{'all':<14}{total:>14.0f}{driver_total:>14.0f}{lines.total():>10}{driver_lines.total():>14}")
    print(f"docshape / driver {total / driver_total:>12.3f}{lines.total() / driver_lines.total():>24.3f}")


main()
