#!/usr/bin/env bash
# Soak test: runs docshape for a long time, and fails if its memory is more than 5 % above that after ten minutes. The record of
# the rounds, which a run keeps, does not count: the size of run.json is subtracted.
#
#   scripts/soak.sh [DURATION] [OPTIONS OF docshape run...]     default: 2h of blog-comments; for example 20m or 90s
#
# Reads VmRSS of docshape from /proc every SOAK_EVERY seconds (default 5) and prints twelve rows. The memory at a time is the median
# of the samples around it, because a report or a checkpoint is a peak and no leak. SOAK_SETTLED is the time of the first one
# (default 600 seconds).
set -euo pipefail
# shellcheck source=experiments/prepare.sh
source "$(dirname "$0")/experiments/prepare.sh"

duration=${1:-2h}
shift || true
number=${duration%[smh]}
case $duration in
    *h) seconds=$((number * 3600)) ;;
    *m) seconds=$((number * 60)) ;;
    *) seconds=$number ;;
esac
every=${SOAK_EVERY:-5}
settled=${SOAK_SETTLED:-600}
if ((seconds < settled + 10 * every)); then
    echo "soak: $duration is too short: memory settles for $settled s (SOAK_SETTLED)" >&2
    exit 2
fi

# More rounds than fit; the interrupt at the end also writes the report.
"$DOCSHAPE" run blog-comments --no-verify --rounds 1000 --duration 20s --out "$work/run" "$@" >"$work/report" 2>"$work/progress" &
docshape=$!
trap 'kill -KILL "$docshape" 2>/dev/null || true; rm -rf "$work"' EXIT
for ((now = 0; now <= seconds; now += every)); do
    sleep "$every"
    if ! kilobytes=$(awk '/^VmRSS/ { print $2 }' "/proc/$docshape/status" 2>/dev/null) || [[ -z $kilobytes ]]; then
        cat "$work/progress" >&2
        echo "soak: docshape ended by itself after $now s" >&2
        exit 1
    fi
    record=$(stat --format %s "$work/run/run.json" 2>/dev/null || echo 0)
    echo "$((now + every)) $((kilobytes - record / 1024))" >>"$work/samples"
done
kill -INT "$docshape"
exit=0
wait "$docshape" || exit=$?
if ((exit != 130)); then
    cat "$work/progress" >&2
    echo "soak: docshape ended with exit code $exit, expected 130" >&2
    exit 1
fi

python3 - "$work/samples" "$settled" <<'PYTHON'
import statistics, sys

samples = [tuple(map(int, line.split())) for line in open(sys.argv[1])]
end, settled = samples[-1][0], int(sys.argv[2])
span = max((end - settled) / 20, 3 * samples[0][0])


def memory(at):
    return statistics.median(kilobytes for time, kilobytes in samples if at - span <= time <= at + span) / 1024


print("after (s)   memory without the record (MiB)")
for row in range(12):
    at = settled + (end - settled) * row / 11
    print(f"{at:9.0f} {memory(at):14.1f}")
growth = memory(end) / memory(settled) - 1
print(f"growth from {settled} s to {end} s: {growth:+.1%} (limit 5 %)")
sys.exit(growth > 0.05)
PYTHON
