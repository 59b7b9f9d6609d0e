#!/usr/bin/env python3
"""How much code a call goes through: instructions, and cache lines (64 bytes) that hold them, docshape beside a bare
loop on the driver.

    scripts/code_lines.py insert

The argument is a row of `cargo bench --bench overhead`; its first number of workers, one, is looked at. Unlike times these
counts are the same on every machine, busy or not. Needs valgrind.
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
"""How long is counted. Under valgrind a call takes some 15 ms."""

SHARE = 0.4
"""A line counts as part of a call when this share of the calls goes through it."""

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
    """Runs the bench and has callgrind write what its threads did while one worker made calls."""
    tool = ["valgrind", "--tool=callgrind", "--separate-threads=yes", "--dump-instr=yes", f"--callgrind-out-file={out}"]
    environment = dict(os.environ, CARGO_MANIFEST_DIR=os.getcwd())
    bench = subprocess.Popen([*tool, program, "--bench", row], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        # The bench's own thread, and one of each side.
        while "IDs: 1 2 3 4" not in control("-s", str(bench.pid)):
            if bench.poll() is not None:
                sys.exit(f"the bench ended before its first call; does `cargo bench --bench overhead -- {row}` run?")
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
    """Every instruction of a thread: its object, address, function and how often it ran."""
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
                # What follows a call's line is the cost of what it called.
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
    """Per call of one thread: instructions and lines by part."""
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
        sys.exit("valgrind is not installed; the package of that name has it")
    os.chdir(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "callgrind")
        counted(executable(), sys.argv[1], out)
        # The last threads that are made: the driver's with commands that are ready, the sockets', docshape's.
        *_, driver, _, docshape = sorted(glob.glob(f"{out}.1-*"))
        (calls, work, lines), (_, driver_work, driver_lines) = side(docshape), side(driver)
    print(f"{sys.argv[1]}, one worker, {calls} calls")
    print(f"{'':<14}{'instructions':>14}{'driver alone':>14}{'lines':>10}{'driver alone':>14}")
    for part in sorted(lines | driver_lines, key=lambda part: -lines[part]):
        print(f"{part:<14}{work[part]:>14.0f}{driver_work[part]:>14.0f}{lines[part]:>10}{driver_lines[part]:>14}")
    total, driver_total = work.total(), driver_work.total()
    print(f"{'all':<14}{total:>14.0f}{driver_total:>14.0f}{lines.total():>10}{driver_lines.total():>14}")
    print(f"of the driver's {total / driver_total:>12.3f}{lines.total() / driver_lines.total():>24.3f}")


main()
