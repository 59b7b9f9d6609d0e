#!/usr/bin/env bash
# Counts false differences between identical programs. Runs parts-products, in which child_refs_lookup sends the same commands
# as child_refs_applookup in seven operations, each time with another seed. Prints per run how these operations' own times differ,
# and at the end in how many runs docshape raised its alarm.
#
#   scripts/experiments/interference.sh [RUNS] [OPTIONS OF docshape run...]     default: 20 quick runs of own costs, about 40 minutes
#
#   DOCSHAPE   the docshape to use (one that is built first)
set -euo pipefail
# shellcheck source=prepare.sh
source "$(dirname "$0")/prepare.sh"

runs=${1:-20}
shift || true

alarms=0
for ((run = 1; run <= runs; run++)); do
    measure "$work/$run" parts-products --strategies child_refs_applookup,child_refs_lookup --only own --seed "$run" "$@"
    "$DOCSHAPE" report "$work/$run" --format json >"$work/report.json"
    found=$(python3 - "$work/report.json" <<'PYTHON'
import json, sys

report = json.load(open(sys.argv[1]))
rows = [row for row in report["tables"]["differences"] if row["reason"] == "identical"]
ratios = ", ".join(f"{row['operation']} {row['ratio']:.3f}" for row in rows)
is_alarm = "Identical programs took different times" in json.dumps(report["sections"])
print(f"{'ALARM: ' if is_alarm else ''}{ratios}")
PYTHON
    )
    [[ $found != ALARM* ]] || alarms=$((alarms + 1))
    printf 'run %s: %s\n' "$run" "$found"
done
printf '%s of %s runs raised the alarm\n' "$alarms" "$runs"
