#!/usr/bin/env bash
# Measures how much noise alternating slices remove. Runs identical arms of blog-comments with whole windows one after
# another (--isolate) and in slices, at saturation. Prints for both the standard deviation over rounds of ln(ratio) of the
# mix's mean time, and the quotient of the two.
#
#   scripts/experiments/slices.sh [ROUNDS] [OPTIONS OF docshape run...]     default: 12 rounds of each, about 3 minutes
set -euo pipefail
# shellcheck source=prepare.sh
source "$(dirname "$0")/prepare.sh"

rounds=${1:-12}
shift || true
twin "$work/twin.yaml"

# Both kinds alternate, so that a change of the machine affects both.
parts=3
for ((part = 1; part <= parts; part++)); do
    for kind in slices isolate; do
        options=()
        [[ $kind == isolate ]] && options=(--isolate)
        measure "$work/$kind-$part" "$work/twin.yaml" --strategies embedded,twin --rounds "$((rounds / parts))" --seed "$part" \
            --only saturation "${options[@]}" "$@"
    done
done

python3 - "$work" <<'PYTHON'
import glob, json, math, statistics, sys

def mix_mean(run, cell):
    total = weights = 0.0
    for (name, weight), operation in zip(run["mix"]["weights"], cell["operations"]):
        good = [o for o in operation["outcomes"] if o["outcome"] in ("ok", "same", "not_found")]
        calls = sum(o["count"] for o in good)
        if weight > 0 and calls:
            total += weight * sum(o["sum"] for o in good) / calls
            weights += weight
    return total / weights

deviation = {}
for kind in ("isolate", "slices"):
    logs = []
    for path in sorted(glob.glob(f"{sys.argv[1]}/{kind}-*/run.json")):
        run = json.load(open(path))
        for round in run["parts"]["saturation"]:
            # The baseline, its twin and its repeat are identical: two log ratios to the baseline per round.
            first, *others = (mix_mean(run, cell) for cell in round["cells"])
            logs.append([math.log(other / first) for other in others])
    deviation[kind] = math.sqrt(statistics.mean(statistics.variance(column) for column in zip(*logs)))
    print(f"{kind:8}  {len(logs)} rounds, standard deviation of ln(ratio) {deviation[kind]:.4f}")
print(f"slices reduce it {deviation['isolate'] / deviation['slices']:.1f}-fold")
PYTHON
