#!/usr/bin/env bash
# Measures whether the interval of one run holds for other data. Runs blog-comments at saturation with ten seeds, each of which has
# data and calls of its own. Prints for every strategy and run the ratio of calls per second to the baseline's with its 95 % CI, and how
# many of the other runs' ratios lie in it.
#
#   scripts/experiments/seeds.sh [RUNS] [OPTIONS OF docshape run...]     default: 10 quick runs, about 15 minutes
set -euo pipefail
# shellcheck source=prepare.sh
source "$(dirname "$0")/prepare.sh"

runs=${1:-10}
shift || true

for ((run = 1; run <= runs; run++)); do
    measure "$work/$run" blog-comments --only saturation --seed "$run" "$@"
    "$DOCSHAPE" report "$work/$run" --format json >"$work/$run.json"
done
python3 - "$work" "$runs" <<'PYTHON'
import json, sys

work, runs = sys.argv[1], int(sys.argv[2])
found = {}
for run in range(1, runs + 1):
    for row in json.load(open(f"{work}/{run}.json"))["tables"]["mix"]:
        if row["low"] is not None and "(repeat)" not in row["strategy"]:
            found.setdefault(row["strategy"], []).append((run, row["ratio"], row["low"], row["high"]))
for strategy, rows in found.items():
    for run, ratio, low, high in rows:
        inside = sum(low <= other <= high for other_run, other, _, _ in rows if other_run != run)
        print(f"{strategy} seed {run}: {ratio:.3f} ({low:.3f}-{high:.3f}), {inside} of {len(rows) - 1} others inside")
PYTHON
