#!/usr/bin/env bash
# Measures the sweeps and growths below, explores models, and writes their reports and the rules of
# thumb into results/.
#
#   scripts/publish-sweeps.sh [--preset NAME] [--out DIR] [SCENARIO...]    (all that are below, preset quick, results/)
#
# Measures one after the other; the machine should be otherwise idle. After an interruption, the next call keeps what is complete
# and resumes the sweep that is not; remove a folder to measure it again. With preset quick all take two hours on two cores.
set -euo pipefail

# Scenario and sweep.
sweeps=(
    "blog-comments length" "blog-comments cache" "library-checkout copies" "log-messages looks"
    "bloated-documents cache" "paging length" "parts-products copies" "parts-products network" "ticketing contention" "trees writes" "trees nodes"
)
growths=(blog-comments log-messages outlier publisher-books tasks)
# Models of examples/ and of the catalogue.
explorations=(rubis-reads rubis shop blog-comments tasks)

# Keeps what a reader needs: the records of a sweep and of its points, compressed. `docshape site` makes the page.
publish_sweep() {
    local scenario=$1 name=$2 folder=$out/sweeps/$1-$2 point
    if is_published "$folder"; then
        return
    elif [[ -f $folder/sweep.json ]]; then
        "$docshape" sweep --resume "$folder"
    else
        rm -rf "$folder"
        "$docshape" sweep "$scenario" --sweep "$name" --preset "$preset" --out "$folder"
    fi
    for point in "$folder"/points/*; do
        [[ ! -f $point/run.json ]] || gzip --best --force --no-name "$point/run.json"
        find "$point" -type f ! -name run.json.gz -delete
    done
    # Its report again, with links to these files.
    "$docshape" sweep --resume "$folder" >/dev/null
    rm -f "$folder/report.html"
}

# Whether a sweep is complete and compressed. The page is removed last.
is_published() {
    [[ -f $1/sweep.json && ! -f $1/report.html ]] && grep -q '"complete":true' "$1/sweep.json" && ! compgen -G "$1/points/*/run.json" >/dev/null
}

publish_growth() {
    local folder=$out/growth/$1
    if [[ -d $folder ]] && ! grep -q '"is_reached":true' "$folder/growth.json"; then
        rm -r "$folder"
    fi
    [[ -d $folder ]] || "$docshape" grow "$1" --out "$folder"
}

# Keeps the record of the shapes and the run of the finalists: the runs of own costs are large.
publish_exploration() {
    local folder=$out/explorations/$1 model=examples/$1.yaml
    [[ -f $model ]] || model=$1
    if [[ -d $folder/screens ]]; then
        "$docshape" explore --resume "$folder"
    elif [[ -d $folder ]]; then
        return
    else
        "$docshape" explore "$model" --preset "$preset" --out "$folder"
    fi
    rm -r "$folder/screens"
    gzip --best "$folder/final/run.json"
    without_pictures "$folder/final"
}

# Renders the report of a run again. `docshape site` draws its pictures.
without_pictures() {
    "$docshape" report "$1" --out "$1" >/dev/null
    rm -f "$1"/*.svg "$1/report.html" "$1/metrics.csv"
    sed -i -e '/^!\[.*\](.*\.svg)$/,+1d' -e 's/, \[metrics\.csv\](metrics\.csv)//' "$1/report.md"
}

is_chosen() {
    ((${#chosen[@]} == 0)) || [[ " ${chosen[*]} " == *" $1 "* ]]
}

main() {
    cd "$(dirname "$0")/.."
    preset=quick out=results chosen=()
    while (($#)); do
        case $1 in
        --preset) preset=${2:?--preset needs the name of a preset: smoke, quick, full or publish}; shift 2 ;;
        --out) out=${2:?--out needs a folder}; shift 2 ;;
        -*) echo "unknown option $1; usage: $0 [--preset NAME] [--out DIR] [SCENARIO...]" >&2; exit 2 ;;
        *) chosen+=("$1"); shift ;;
        esac
    done
    cargo build --release --locked
    docshape=${CARGO_TARGET_DIR:-target}/release/docshape
    local sweep scenario
    for sweep in "${sweeps[@]}"; do
        read -ra sweep <<<"$sweep"
        ! is_chosen "${sweep[0]}" || publish_sweep "${sweep[@]}"
    done
    for scenario in "${growths[@]}"; do
        ! is_chosen "$scenario" || publish_growth "$scenario"
    done
    for scenario in "${explorations[@]}"; do
        ! is_chosen "$scenario" || publish_exploration "$scenario"
    done
    "$docshape" summary "$out" --rules >"$out/rules.md.new"
    mv "$out/rules.md.new" "$out/rules.md"
}

main "$@"
