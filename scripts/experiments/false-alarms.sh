#!/usr/bin/env bash
# Counts false alarms. Runs blog-comments with one strategy under two names, each time with another seed, and counts the
# runs that report a difference. Prints a line per run, and the count at the end.
#
#   scripts/experiments/false-alarms.sh [RUNS] [OPTIONS OF docshape run...]     default: 20 quick runs, about 30 minutes
set -euo pipefail
# shellcheck source=prepare.sh
source "$(dirname "$0")/prepare.sh"

runs=${1:-20}
shift || true
twin "$work/twin.yaml"

alarms=0
for ((run = 1; run <= runs; run++)); do
    measure "$work/$run" "$work/twin.yaml" --strategies embedded,twin --seed "$run" "$@"
    differences=$("$DOCSHAPE" report "$work/$run" --format json | python3 -c '
import json, sys
tables = json.load(sys.stdin)["tables"]
for row in tables.get("differences", []) + tables.get("mix", []):
    if row["strategy"] == "twin" and row["difference"]:
        print(row.get("operation") or row["question"], row["difference"], row["ratio"])')
    if [[ -n $differences ]]; then
        alarms=$((alarms + 1))
        printf 'run %s: false alarm\n%s\n' "$run" "$differences"
    else
        printf 'run %s: no difference\n' "$run"
    fi
done
printf '%s of %s runs reported a difference between identical strategies\n' "$alarms" "$runs"
