#!/usr/bin/env bash
# Alternates docshape and a hand-written loop on one embedded mongod: the same calls on the same collection, with equally
# many calls in flight. Prints calls per second, client CPU per call, and their ratios, per mix. benches/peers.md explains
# the numbers.
#
#   scripts/experiments/peers.sh [MIX...]                         default: reads inserts mixed, of benches/points.yaml
#
# Takes about three minutes. Variables (defaults):
#   ROUNDS     rounds (8)
#   CALLS      calls per round and program (10000)
#   CLIENTS    calls in flight (8)
#   PROCESSES  pymongo processes that share the clients (1: threads of one process)
#   DOCSHAPE   the docshape program (a release build of this tree)
#   PYTHON     a Python with pymongo (a virtual environment below ~/.cache, where the script installs pymongo)
#   PEER       a program built from benches/peers.c, which replaces pymongo (none)
set -euo pipefail
cd "$(dirname "$0")/../.."

mixes=("$@")
((${#mixes[@]})) || mixes=(reads inserts mixed)
rounds=${ROUNDS:-8} calls=${CALLS:-10000} clients=${CLIENTS:-8} processes=${PROCESSES:-1}

python=${PYTHON:-}
if [[ -z $python ]]; then
    folder=${XDG_CACHE_HOME:-$HOME/.cache}/docshape-pymongo
    python=$folder/bin/python
    "$python" -c 'import pymongo' 2>/dev/null || { python3 -m venv "$folder" && "$folder/bin/pip" install --quiet 'pymongo==4.*'; }
fi
if [[ -n ${PEER:-} ]]; then
    declare -A inserts=([reads]=0 [inserts]=1 [mixed]=0.05)
    peer() { "$PEER" "$uri" "$1" "${inserts[$2]}" "$calls" "$clients"; }
    printf 'peer: %s\n' "$PEER"
else
    peer() { "$python" scripts/experiments/pymongo_loop.py "$uri" "$1" "$2" --calls "$calls" --clients "$clients" --processes "$processes"; }
    "$python" -c 'import pymongo, sys; print(f"peer: pymongo {pymongo.version}, C extension: {pymongo.has_c()}, Python {sys.version.split()[0]}")'
fi
docshape=${DOCSHAPE:-}
if [[ -z $docshape ]]; then
    cargo build --release --quiet --bin docshape
    docshape=${CARGO_TARGET_DIR:-target}/release/docshape
fi

work=$(mktemp -d)
"$docshape" server start >"$work/uri" 2>"$work/server" &
server=$!
clean() {
    kill "$server" 2>/dev/null || true
    wait "$server" || true
    rm -rf -- "$work"
}
trap clean EXIT
until [[ -s $work/uri ]]; do
    kill -0 "$server" 2>/dev/null || { cat "$work/server" >&2; exit 1; }
    sleep 0.1
done
uri=$(<"$work/uri")

for ((round = 0; round < rounds; round++)); do
    for mix in "${mixes[@]}"; do
        run=$work/$mix-$round
        # Exit code 4 is an invalid run, for example on a busy machine. Its numbers are used anyway.
        "$docshape" run benches/points.yaml --mix "$mix" --only saturation --preset smoke --rounds 1 --slices 1 --calls "$calls" \
            --clients "$clients" --seed "$((round + 1))" --keep --uri "$uri" --db-prefix "${mix}_${round}_" --out "$run" >/dev/null 2>"$work/progress" ||
            (($? == 4)) || { cat "$work/progress" >&2; exit 1; }
        peer "${mix}_${round}_points_plain" "$mix" >"$run/peer.json"
    done
done

printf '%s alternating rounds of %s calls, %s calls in flight; medians over rounds, of values and of ratios\n' "$rounds" "$calls" "$clients"
"$python" - "$work" "$rounds" "${mixes[@]}" <<'PYTHON'
import json
import sys
from pathlib import Path
from statistics import median

work, rounds, mixes = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]


def docshape(folder):
    (cell,) = json.loads((folder / "run.json").read_text())["parts"]["saturation"][0]["cells"]
    return cell["calls"], cell["seconds"], cell["machine"]["load_thread_busy"] * cell["seconds"]


def peer(folder):
    window = json.loads((folder / "peer.json").read_text())
    return window["calls"], window["seconds"], window["cpu"]


def row(ours, theirs):
    return median(ours), median(theirs), median(one / other for one, other in zip(ours, theirs))


print("mix      calls/s: docshape     peer  ratio   CPU us/call: docshape     peer  ratio")
for mix in mixes:
    folders = [work / f"{mix}-{number}" for number in range(rounds)]
    sides = [[side(folder) for folder in folders] for side in (docshape, peer)]
    rate = row(*([calls / seconds for calls, seconds, _ in side] for side in sides))
    cpu = row(*([cpu / calls * 1e6 for calls, _, cpu in side] for side in sides))
    print("{:<8} {:17,.0f} {:8,.0f} {:6.2f} {:23.1f} {:8.1f} {:6.3f}".format(mix, *rate, *cpu))
PYTHON
