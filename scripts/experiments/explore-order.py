#!/usr/bin/env python3
"""How well `explore` ranks shapes that its last run does not compare: measures shapes of an exploration by ordinary runs.

    scripts/experiments/explore-order.py EXPLORED OUT [MIX=SHAPES...]

EXPLORED is a folder of `docshape explore`, OUT a new one. For each mix as many shapes as asked for (default: 10 of the mix of the exploration),
spread over its list, become strategies of one scenario, which one run compares at saturation. Prints the calls per second of each beside the estimate, both
relative to the first one of the list.
"""
import itertools
import json
import math
import os
import pathlib
import subprocess
import sys

DIFFERENT = math.log(1.1)

explored, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
record = json.loads((explored / "explore.json").read_text())
wanted = [one.split("=") for one in sys.argv[3:]] or [[record["mix"], "10"]]
mixes = {record["mix"]: record["weights"], **{mix["name"]: mix["weights"] for mix in record.get("also", [])}}
names = [name for name, _ in record["weights"]]
docshape = os.environ.get("DOCSHAPE", "docshape")


def text(tried):
    quoted = lambda word: f"'{word}'" if "(" in word else word
    shape = ", ".join(f"{key}: [{', '.join(map(quoted, words))}]" for key, words in tried["shape"])
    ways = "".join(f", {key}: {tried[key]}" for key in ("join", "writes") if key in tried)
    return f"{{ shape: {{ {shape} }}{ways} }}"


def estimate(tried, weights):
    times = dict(zip(names, tried["outcome"]["measured"]["times"]))
    total = sum(weights.values())
    return sum(weight / total * times[name] for name, weight in weights.items() if weight > 0)


def rates(run):
    """Calls per second at saturation: the mean over rounds."""
    csv = subprocess.run([docshape, "report", str(run), "--format", "csv"], check=True, capture_output=True, text=True).stdout
    rows = [line.split(",") for line in csv.splitlines()]
    head = rows[0]
    found = {}
    for row in (dict(zip(head, row)) for row in rows[1:]):
        if (row["part"], row["metric"], row["repeat"]) == ("saturation", "throughput", "false") and not row["operation"]:
            found.setdefault(row["strategy"], []).append(float(row["value"]))
    return {name: sum(all_of) / len(all_of) for name, all_of in found.items()}


out.mkdir(parents=True)
pairs = right = shapes = close = 0
for mix, number in wanted:
    weights = dict(mixes[mix])
    measured = [one for one in record["tried"] if one.get("shape") and isinstance(one["outcome"], dict) and "measured" in one["outcome"]]
    measured = sorted((one for one in measured if one["name"] not in record["finalists"]), key=lambda one: estimate(one, weights))
    step = max(1.0, (len(measured) - 1) / max(1, int(number) - 1))
    chosen = [measured[round(place * step)] for place in range(min(int(number), len(measured)))]
    source = record["scenario"]["text"]
    source = source[: source.index("\nstrategies:")] + "\nstrategies:\n"
    source += "".join(f"  {one['name']}: {text(one)}\n" for one in chosen)
    scenario = out / f"{mix}.yaml"
    scenario.write_text(source)
    run = out / mix
    subprocess.run(
        [docshape, "run", str(scenario), "--mix", mix, "--all-strategies", "--only", "saturation", "--no-verify", "--out", str(run)],
        check=False, stdout=subprocess.DEVNULL,
    )
    known = rates(run)
    first = chosen[0]
    print(f"{mix}: time per call relative to {first['name']}, estimated and measured")
    found = {}
    for one in chosen:
        estimated = estimate(one, weights) / estimate(first, weights)
        ratio = known[first["name"]] / known[one["name"]]
        found[one["name"]] = (estimated, ratio)
        if one is not first:
            shapes += 1
            close += abs(math.log(estimated / ratio)) < math.log(1.2)
        print(f"  {estimated:5.2f}  {ratio:5.2f}  {one['name']}")
    for (estimated, ratio), (other, other_ratio) in itertools.combinations(found.values(), 2):
        if abs(math.log(ratio / other_ratio)) > DIFFERENT:
            pairs += 1
            right += (estimated < other) == (ratio < other_ratio)
print(f"{close} of {shapes} estimates within 20 %; {right} of {pairs} pairs beyond 10 % in the right order")
