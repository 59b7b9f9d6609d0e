#!/usr/bin/env bash
# Compares three ways to keep strategies apart: a server for each, all but the one on turn stopped (own); one server for all,
# slice by slice (shared); and one server for all, whole cells one after another (cells). Prints for identical strategies the
# bias and the standard deviation over rounds of ln(ratio) of the mix's mean time, and for very different ones how many bytes
# were written back from the cache for each byte that a strategy stored.
#
#   scripts/experiments/isolation.sh [ROUNDS] [OPTIONS OF docshape run...]     default: 12 rounds of each, about 30 minutes
#
#   DOCSHAPE   the docshape to use (one that is built first)
set -euo pipefail
# shellcheck source=prepare.sh
source "$(dirname "$0")/prepare.sh"

rounds=${1:-12}
shift || true
twin "$work/twin.yaml"

declare -A options=([own]='' [shared]='--shared-mongod' [cells]='--shared-mongod --isolate')
all_ways() {
    local scenario=$1 strategies=$2 name=$3 part=$4 kind
    shift 4
    for kind in own shared cells; do
        # shellcheck disable=SC2086
        measure "$work/$name-$kind-$part" "$scenario" --strategies "$strategies" --rounds "$((rounds / parts))" --seed "$part" \
            --only saturation ${options[$kind]} "$@"
    done
}
# The ways alternate, so that a change of the machine affects all.
parts=3
for ((part = 1; part <= parts; part++)); do
    all_ways "$work/twin.yaml" embedded,twin identical "$part" "$@"
    all_ways log-messages parent_ref,hybrid_slice log-messages "$part" "$@"
    all_ways trees ancestors,nested_sets_txn trees "$part" "$@"
done

python3 - "$work" <<'PYTHON'
import glob, json, math, statistics, sys

def mix_mean(run, cell):
    total = weights = 0.0
    for (name, weight), operation in zip(run["mix"]["weights"], cell["operations"]):
        good = [o for o in operation["outcomes"] if o["outcome"] not in ("failed", "skipped")]
        calls = sum(o["count"] for o in good)
        if weight > 0 and calls:
            total += weight * sum(o["sum"] for o in good) / calls
            weights += weight
    return total / weights

def written(cell):
    """Bytes written back from the cache in measured slices."""
    return cell["counters"].get("cache_bytes_written", 0)

def stored(cell):
    """Bytes by which the measured calls made documents and indexes larger."""
    size = lambda sizes: sum(c["size"] + sum(c["indexes"].values()) for c in sizes)
    return size(cell["after"]) - size(cell["before"])

def rounds(name, kind):
    for path in sorted(glob.glob(f"{sys.argv[1]}/{name}-{kind}-*/run.json")):
        run = json.load(open(path))
        if (run["server"]["servers"] == "per_strategy") != (kind == "own"):
            print(f"{path}: {' '.join(run['warnings'])}")
        for round in run["parts"]["saturation"]:
            yield run, round["cells"]

for kind in ("own", "shared", "cells"):
    logs = []
    for run, cells in rounds("identical", kind):
        # The baseline, its twin and its repeat are identical: two log ratios to the baseline per round.
        first, *others = (mix_mean(run, cell) for cell in cells)
        logs.append([math.log(other / first) for other in others])
    columns = list(zip(*logs))
    deviation = math.sqrt(statistics.mean(statistics.variance(column) for column in columns))
    bias = statistics.mean(statistics.mean(column) for column in columns)
    print(f"identical {kind:7} {len(logs)} rounds: bias {bias:+.4f}, standard deviation of ln(ratio) {deviation:.4f}")
for name in ("log-messages", "trees"):
    for kind in ("own", "shared", "cells"):
        sums, logs = {}, []
        for run, cells in rounds(name, kind):
            means = [mix_mean(run, cell) for cell in cells]
            logs.append(math.log(means[1] / means[0]))
            for strategy, cell in zip(run["strategies"], cells):
                total = sums.setdefault(strategy["name"], [0.0, 0.0])
                total[0] += written(cell)
                total[1] += stored(cell)
        shares = "; ".join(
            f"{strategy} {back / 1e6:.1f} MB written back, {kept / 1e6:.1f} MB stored" for strategy, (back, kept) in sums.items())
        ratio = math.exp(statistics.mean(logs))
        deviation = statistics.stdev(logs) if len(logs) > 1 else math.nan
        print(f"{name} {kind:7} ratio of mean times {ratio:.3f}, deviation {deviation:.4f}; {shares}")
PYTHON
