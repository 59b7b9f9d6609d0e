#!/usr/bin/env python3
"""How well own costs rank strategies: for every published result, the mean of own times weighted by the mix, beside calls per second.

    scripts/experiments/own-cost-order.py [RESULTS]

The numbers are quoted in docs/explore.md.
"""
import itertools
import json
import math
import pathlib
import statistics
import sys

DIFFERENT = math.log(1.1)

pairs = right = runs = among_two = 0
losses = []
for path in sorted(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "results").glob("*/*/*/summary.json")):
    result = json.loads(path.read_text())
    weights = dict(result["mix"]["weights"])
    called = [one for one in result["operations"] if weights.get(one["name"], 0) > 0]
    total = sum(weights.values())
    known = {}
    for place, strategy in enumerate(result["strategies"]):
        times = [one["own_times"][place] if one["own_times"] else None for one in called]
        rate = strategy["metrics"].get("calls_per_second")
        if strategy["is_unsafe"] or rate is None or not called or None in times:
            continue
        mean = sum(weights[one["name"]] / total * time for one, time in zip(called, times))
        known[strategy["name"]] = (mean, rate["value"])
    if len(known) < 2:
        continue
    runs += 1
    for (mean, rate), (other_mean, other_rate) in itertools.combinations(known.values(), 2):
        if abs(math.log(rate / other_rate)) > DIFFERENT:
            pairs += 1
            right += (rate > other_rate) == (mean < other_mean)
    order = sorted(known, key=lambda name: known[name][0])
    best = max(known, key=lambda name: known[name][1])
    among_two += best in order[:2]
    losses.append(1 - known[order[0]][1] / known[best][1])
print(f"{runs} runs; {right} of {pairs} pairs beyond 10 % in the right order; the best among the first two in {among_two}")
print(f"calls per second that the first one lacks: at most {max(losses):.1%}, median {statistics.median(losses):.1%}")
