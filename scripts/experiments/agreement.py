#!/usr/bin/env python3
"""Prints whether the measures of a run tell the same story.

    scripts/experiments/agreement.py RUN...     folders of runs that measured saturation, and own costs for the last column

For every strategy, as ratios to the baseline (the mean of both its arms, where it was repeated) over rounds: the mean time per
call at saturation, the inverse of calls per second, the server's CPU time per call, and what the own costs of the operations
predict for the mean of the mix. Of strategies with the same number of calls in flight the first two must agree.
"""

import json
import math
import pathlib
import statistics
import sys

ANSWERS = ("ok", "same", "not_found", "rejected")


def mean_time(cell, weights):
    """The mean time per answered call of the mix."""
    total = weight_sum = 0.0
    for operation, weight in zip(cell["operations"], weights):
        answered = [o for o in operation["outcomes"] if o["outcome"].split(":")[0] in ANSWERS]
        calls = sum(o["count"] for o in answered)
        if calls and weight:
            total += weight * sum(o["sum"] for o in answered) / calls
            weight_sum += weight
    return total / weight_sum if weight_sum else None


def rate(cell):
    """Calls per second while all clients had calls."""
    slices = cell["slices"]
    return sum(one["saturated_calls"] for one in slices) / sum(one["saturated_seconds"] for one in slices)


def cpu(cell):
    """The server's CPU time per call."""
    return cell["counters"]["cpu_us"] / cell["calls"]


def ratio(rounds, strategy, baseline, of):
    """The geometric mean over rounds of a number divided by the baseline's."""
    logs = []
    for cells in rounds:
        values = [of(cells[place]) for place in [strategy, *baseline]]
        if all(values):
            logs.append(math.log(values[0]) - statistics.mean(map(math.log, values[1:])))
    return math.exp(statistics.mean(logs)) if logs else math.nan


def main():
    print(f"{'':44} {'mean':>7} {'1/rate':>7} {'CPU':>7} {'own costs':>10}")
    for folder in sys.argv[1:]:
        run = json.loads(pathlib.Path(folder, "run.json").read_text(encoding="utf-8"))
        weights = [weight for _, weight in run["mix"]["weights"]]
        parts = {name: [round["cells"] for round in rounds] for name, rounds in run["parts"].items()}
        if "saturation" not in parts:
            sys.exit(f"{folder} has no saturation: measure it again without --only, or with --only saturation")
        baseline = [0] + [place for place, one in enumerate(run["strategies"]) if one["is_repeat"]]
        print(f"{run['scenario']['name']}, mix {run['mix']['name']}, {len(parts['saturation'])} rounds")
        for place, strategy in enumerate(run["strategies"]):
            if place in baseline:
                continue
            measures = [
                ratio(parts["saturation"], place, baseline, of)
                for of in (lambda cell: mean_time(cell, weights), lambda cell: 1 / rate(cell), cpu)
            ]
            own = ratio(parts.get("own", []), place, baseline, lambda cell: mean_time(cell, weights))
            numbers = " ".join(f"{number:7.3f}" for number in measures)
            print(f"  {strategy['name']:42} {numbers} {own:10.3f}")


if __name__ == "__main__":
    main()
