#!/usr/bin/env bash
# How often a run claims a difference where there is none: blog-comments with one strategy under two names, on a real
# mongod, so many times, each time with another seed. Prints a line per run and the count at the end.
#
#   scripts/false-alarms.sh [RUNS] [OPTIONS OF docshape run...]     default: 20 quick runs, about 30 minutes
set -euo pipefail
cd "$(dirname "$0")/.."

runs=${1:-20}
shift || true
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cargo build --release --quiet --bin docshape
{
    cat scenarios/blog-comments.yaml
    printf '  twin:\n    about: The same as embedded, under another name.\n    like: embedded\n'
} >"$work/twin.yaml"

alarms=0
for ((run = 1; run <= runs; run++)); do
    code=0
    target/release/docshape run "$work/twin.yaml" --strategies embedded,twin --seed "$run" --out "$work/$run" "${@}" \
        >"$work/report" 2>"$work/progress" || code=$?
    # A run that is not valid (exit code 4) claims nothing.
    if ((code != 0 && code != 4)); then
        cat "$work/progress" >&2
        exit 1
    fi
    # The verdict stands before the table. A claim in it says how much less or more time the twin takes.
    if claims=$(sed '/^Service time per call/q' "$work/report" | tr -s '\n ' ' ' | grep -oE 'twin (takes|is fastest) [^)]*\)'); then
        alarms=$((alarms + 1))
        printf 'run %s: claimed\n%s\n' "$run" "$claims"
    else
        printf 'run %s: nothing claimed\n' "$run"
    fi
done
printf '%s of %s runs claimed a difference between identical strategies\n' "$alarms" "$runs"
