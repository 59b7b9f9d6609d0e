#!/usr/bin/env bash
# Measures scenarios of the catalogue, and writes their reports and a summary page into results/.
#
#   scripts/publish-results.sh [--preset NAME] [--out DIR] [SCENARIO...]    (all scenarios, preset quick, results/)
#   scripts/publish-results.sh --render [--out DIR]                         (renders reports and page again, measures nothing)
#
# Measures one scenario at a time; the machine should be otherwise idle. After an interruption, the next call continues the
# series: it keeps complete scenarios and resumes the unfinished run. Another preset starts a new series. With preset quick
# the seven scenarios take 20 minutes.
set -euo pipefail

# Publishes one scenario: resumes a stopped run, and keeps a failed one in .failed before measuring again.
publish() {
    local scenario=$1 folder=$out/$1 work=$out/$1/.run status=0
    if [[ -f $work/run.json ]]; then
        "$docshape" run --resume "$work" || status=$?
    else
        rm -rf "$work"
        mkdir -p "$folder"
        "$docshape" run "$scenario" --preset "$preset" --out "$work" || status=$?
    fi
    if ((status == 130 || status == 137 || status == 143)); then
        echo "$scenario was stopped; complete rounds are in $work; the next call resumes it" >&2
        return "$status"
    elif ((status)); then
        rm -rf "$folder/.failed"
        [[ ! -d $work ]] || mv "$work" "$folder/.failed"
        echo "$scenario failed with exit code $status and is not published; files are in $folder/.failed" >&2
        return "$status"
    fi
    mv "$work/run.json" "$folder/run.json"
    rm -r "$work"
    render "$folder"
}

# Renders the reports of a published run from its run.json, without large files and files that can be rebuilt.
render() {
    local files
    files=$(mktemp -d "$1/.render.XXXXXX")
    "$docshape" report "$1" --out "$files"
    rm -f "$1"/*.svg "$files"/*.csv
    mv "$files"/* "$1"/
    rmdir "$files"
}

page() {
    "$docshape" summary "$out" >"$out/README.md.new"
    mv "$out/README.md.new" "$out/README.md"
}

main() {
    cd "$(dirname "$0")/.."
    preset=quick out=results
    local scenarios=() only_render=
    while (($#)); do
        case $1 in
        --preset) preset=${2:?--preset needs the name of a preset: smoke, quick, full or publish}; shift 2 ;;
        --out) out=${2:?--out needs a folder}; shift 2 ;;
        --render) only_render=1; shift ;;
        -*) echo "unknown option $1; usage: $0 [--preset NAME] [--out DIR] [--render] [SCENARIO...]" >&2; exit 2 ;;
        *) scenarios+=("$1"); shift ;;
        esac
    done
    cargo build --release --locked --quiet
    # A copy, so that a build during the series does not change the program.
    copy=$(mktemp -d)
    trap 'rm -rf "$copy"' EXIT
    cp "${CARGO_TARGET_DIR:-target}/release/docshape" "$copy/docshape"
    docshape=$copy/docshape
    if [[ -n $only_render ]]; then
        local run
        for run in "$out"/*/run.json; do render "$(dirname "$run")"; done
        page
        return
    fi
    mkdir -p "$out"
    local series=$out/.series scenario
    if ((${#scenarios[@]})); then
        # Scenarios named on the command line are always measured.
        series=$(mktemp -p "$copy")
    else
        mapfile -t scenarios < <("$docshape" list | sed -n 's/^\([a-z][a-z0-9-]*\)  .*/\1/p')
        # The state of an interrupted series: its preset, and the complete scenarios.
        if [[ ! -f $series || $(head -n 1 "$series") != "$preset" ]]; then
            rm -rf "$out"/*/.run
            echo "$preset" >"$series"
        fi
    fi
    for scenario in "${scenarios[@]}"; do
        if grep -qx "$scenario" "$series"; then
            echo "$scenario: already done in this series" >&2
            continue
        fi
        echo "== $scenario" >&2
        publish "$scenario"
        echo "$scenario" >>"$series"
    done
    page
    rm -f "$series"
}

main "$@"
exit
