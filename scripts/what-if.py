#!/usr/bin/env python3
"""Shows how well own times predict measured mixes: what the section "What if my mix is different?" of a report rests on.

    scripts/what-if.py RUNS...

RUNS are folders with the runs of one scenario in folders below them (RUNS/MIX/run.json). Every measured mix is predicted from
the own times of the run of mix `default`, and from those of its own run where that measured them. Prints a Markdown table: the
ratio of the best strategy to the baseline (of the next one to the baseline, where the baseline is the best), predicted and
measured, and whether a report would show the estimate. It reads run.json by itself and shares no code with docshape.
"""

import json
import math
import pathlib
import sys

AGREEMENT = 0.2
"""How far an estimate may be from what was measured (`AGREEMENT` in src/stats/flip.rs)."""

LOADS = ["saturation", "rate"]


def geometric_mean(values):
    known = [math.log(value) for value in values if value]
    return math.exp(sum(known) / len(known)) if known else None


class Run:
    def __init__(self, path):
        self.record = json.loads(path.read_text())
        self.mix = self.record["mix"]["name"]
        self.operations = self.record["operations"]
        self.strategies = [one["name"] for one in self.record["strategies"]]
        weights = dict(self.record["mix"]["weights"])
        total = sum(weights.values())
        self.shares = [weights.get(name, 0) / total for name in self.operations]

    def judged(self):
        every = enumerate(self.record["strategies"])
        return [place for place, one in every if not one.get("is_repeat") and not one.get("is_unsafe")]

    def parameters(self):
        return self.record["parameters"]

    def rounds(self, part):
        return self.record["parts"].get(part, [])

    def mean(self, part, one_round, strategy, operation):
        """The mean time of the answered calls of an operation in a round: response times at a rate, else service times."""
        total = count = 0
        for outcome in one_round["cells"][strategy]["operations"][operation]["outcomes"]:
            if outcome["outcome"] in ("failed", "skipped"):
                continue
            response = outcome.get("response") if part == "rate" else None
            total += (response or outcome)["sum"]
            count += outcome["count"]
        return total / count if count else None

    def own_time(self, strategy, operation):
        return geometric_mean([self.mean("own", one, strategy, operation) for one in self.rounds("own")])

    def measured(self, part, strategy):
        """The geometric mean over rounds of the mean time of a call of the mix."""
        means = []
        for one in self.rounds(part):
            parts = [
                (share, self.mean(part, one, strategy, operation))
                for operation, share in enumerate(self.shares)
                if share > 0 and any(cell["operations"][operation]["calls"] for cell in one["cells"])
            ]
            if parts and all(mean for _, mean in parts):
                means.append(sum(share * mean for share, mean in parts) / sum(share for share, _ in parts))
        return geometric_mean(means)

    def estimate(self, strategy, shares):
        """The mean time of a call of a mix, from own times; nothing where an operation has none."""
        times = [(share, self.own_time(strategy, operation)) for operation, share in enumerate(shares) if share > 0]
        return sum(share * time for share, time in times) if times and all(time for _, time in times) else None


def ratio(one, other):
    return one / other if one and other else None


def agrees(estimated, measured, noise):
    """As `MixEstimate::agrees`."""
    by, of = math.log(estimated), math.log(measured)
    is_noise = noise > 0 and min(abs(by), abs(of)) <= math.log1p(noise)
    return (is_noise or (by < 0) == (of < 0)) and abs(by - of) <= math.log1p(AGREEMENT)


def rows(source, run, name):
    """A row for the pair of a run, predicted from the own times of another one."""
    judged = run.judged()
    main = next((part for part in ["rate", "saturation"] if run.rounds(part)), None)
    times = {place: run.measured(main, place) for place in judged} if main else {}
    known = sorted((place for place in times if times[place]), key=times.get)
    if len(known) < 2:
        return
    one, other = (known[0], 0) if known[0] != 0 else (known[1], 0)
    predicted = ratio(source.estimate(one, run.shares), source.estimate(other, run.shares))
    if predicted is None:
        return
    pair = f"{run.strategies[one]} / {run.strategies[other]}"
    cells, holds = [], []
    for part in LOADS:
        measured = ratio(run.measured(part, one), run.measured(part, other)) if run.rounds(part) else None
        if measured is None:
            cells += ["", ""]
            continue
        cells += [f"{measured:.2f}", f"{round(100 * (predicted / measured - 1)):+d} %"]
        holds.append(agrees(predicted, measured, run.record["settings"]["noise"]))
    shown = "yes" if all(holds) else "no"
    print(f"| {name} | {run.mix} | {source.mix} | {pair} | {predicted:.2f} | {' | '.join(cells)} | {shown} |")


def main(folders):
    print("| scenario | mix | own times of | pair | predicted | at saturation | miss | at the common rate | miss | holds |")
    print("|---|---|---|---|---:|---:|---:|---:|---:|---|")
    for folder in folders:
        runs = [Run(path) for path in sorted(pathlib.Path(folder).glob("*/run.json"))]
        default = next((run for run in runs if run.mix == "default" and run.rounds("own")), None)
        for run in sorted(runs, key=lambda run: (run.mix != "default", run.mix)):
            # A mix that sets parameters differs in more than its weights.
            sources = [default] if default and default.parameters() == run.parameters() else []
            sources += [run] if run.rounds("own") and run is not default else []
            for source in sources:
                rows(source, run, run.record["scenario"]["name"])


if len(sys.argv) < 2:
    sys.exit("usage: scripts/what-if.py RUNS...; a folder with RUNS/MIX/run.json")
main(sys.argv[1:])
