#!/usr/bin/env bash
# Counts false alarms. Runs blog-comments with one strategy under two names, each time with another seed, and counts the
# runs that report a difference. Prints a line per run, and the count at the end.
#
#   scripts/false-alarms.sh [RUNS] [OPTIONS OF docshape run...]     default: 20 quick runs, about 30 minutes
set -euo pipefail
cd "$(dirname "$0")/.."

runs=${1:-20}
shift || true
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cargo build --release --quiet --bin docshape
sed 's/^audits:/  twin:\n    about: The same as embedded, under another name.\n    like: embedded\n\n&/' scenarios/blog-comments.yaml \
    >"$work/twin.yaml"

alarms=0
for ((run = 1; run <= runs; run++)); do
    code=0
    target/release/docshape run "$work/twin.yaml" --strategies embedded,twin --seed "$run" --out "$work/$run" "${@}" \
        >"$work/report" 2>"$work/progress" || code=$?
    # An invalid run (exit code 4) reports no differences.
    if ((code != 0 && code != 4)); then
        cat "$work/progress" >&2
        exit 1
    fi
    differences=$(target/release/docshape report "$work/$run" --format json | python3 -c '
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
