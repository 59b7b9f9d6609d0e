#!/usr/bin/env bash
# Measures scenarios of the catalogue and writes their reports into results/, with a page over all of them.
#
#   scripts/publish-results.sh [--preset NAME] [--out DIR] [SCENARIO...]    (all scenarios, preset quick, results/)
#
# One scenario at a time, on a machine that does nothing else. A series that was interrupted goes on where it stopped when
# it is asked for again: scenarios that are done are left as they are, and the unfinished run is resumed. With preset quick
# the seven scenarios take about half an hour, with preset full two hours.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=quick
out=results
scenarios=()
while (($#)); do
    case $1 in
    --preset) preset=${2:?--preset needs the name of a preset: smoke, quick, full or publish}; shift 2 ;;
    --out) out=${2:?--out needs a folder}; shift 2 ;;
    -*) echo "unknown option $1; usage: $0 [--preset NAME] [--out DIR] [SCENARIO...]" >&2; exit 2 ;;
    *) scenarios+=("$1"); shift ;;
    esac
done

cargo build --release --locked --quiet
docshape=${CARGO_TARGET_DIR:-target}/release/docshape
if ((${#scenarios[@]} == 0)); then
    mapfile -t scenarios < <("$docshape" list | sed -n 's/^\([a-z][a-z0-9-]*\)  .*/\1/p')
fi

# What an interrupted series has done: its preset, and the scenarios whose reports are in place.
series=$out/.series
mkdir -p "$out"
[[ -f $series && $(head -n 1 "$series") == "$preset" ]] || echo "$preset" >"$series"

publish() {
    local scenario=$1 folder=$out/$1 work=$out/$1/.run status=0
    if [[ -f $work/run.json ]]; then
        "$docshape" run --resume "$work" || status=$?
    else
        rm -rf "$work"
        mkdir -p "$folder"
        "$docshape" run "$scenario" --preset "$preset" --out "$work" || status=$?
    fi
    if ((status)); then
        # A run that was stopped is resumed next time; one that came to a bad end is kept for a look, and measured anew.
        if ((status != 130)); then
            rm -rf "$folder/.failed"
            [[ ! -d $work ]] || mv "$work" "$folder/.failed"
        fi
        echo "$scenario ended with exit code $status and is not published; what there is of it is below $folder" >&2
        return "$status"
    fi
    rm -f "$folder"/report.* "$folder"/run.json "$folder"/*.svg "$folder"/*.csv
    mv "$work"/report.* "$work"/run.json "$work"/*.svg "$folder"/
    rm -r "$work"
    echo "$scenario" >>"$series"
}

for scenario in "${scenarios[@]}"; do
    if grep -qx "$scenario" "$series"; then
        echo "$scenario: done before in this series" >&2
        continue
    fi
    echo "== $scenario" >&2
    publish "$scenario"
done

"$docshape" summary "$out" >"$out/README.md.new"
mv "$out/README.md.new" "$out/README.md"
rm "$series"
