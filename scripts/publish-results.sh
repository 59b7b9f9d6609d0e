#!/usr/bin/env bash
# Measures mixes of scenarios of the catalogue, and publishes them: a folder per scenario, mix, server and machine, and pages over all.
#
#   scripts/publish-results.sh [OPTION...] [SCENARIO...]    (all scenarios with all mixes but those for verification)
#   scripts/publish-results.sh --render [--out DIR]         (renders reports and pages again, measures nothing)
#
#   --preset NAME      for all scenarios (default quick)
#   --full SCENARIO    preset full for this one; may be repeated
#   --out DIR          where results are published (default results)
#   --machine NAME     part of the folders' names (default none)
#   --again            also what is published by this version on this machine, which replaces it
#   --session SEED     another session of what is published by this version on this machine, with this seed
#
# Measures one mix after the other; the machine should be otherwise idle. After an interruption, the next call continues: it skips
# what is published and resumes the unfinished run. Runs that fail or are invalid are kept in DIR/.failed, and the series goes on.
set -euo pipefail

# The mixes of a scenario, one per line, without those for verification.
mixes() {
    sed -n '/^mixes:/,/^[a-z]/s/^  \([a-z][a-z0-9-]*\):.*/\1/p' "scenarios/$1.yaml" | grep -v '^verify'
}

# Prints the folder of a mix that this version has published on this machine, or fails.
is_published() {
    local summary
    for summary in "$out/$1/$2"/mongodb-*-"$(nproc)-cores${machine:+-$machine}"/summary.json; do
        if [[ -f $summary ]] && grep -q "\"version\":\"$version\"" "$summary"; then
            dirname "$summary"
            return
        fi
    done
    return 1
}

# Whether a published mix has a session with the seed already.
has_session() {
    grep -q "\"seed\":$session," "$1/summary.json"
}

preset_of() {
    if [[ " ${full[*]} " == *" $1 "* ]]; then echo full; else echo "$preset"; fi
}

publish() {
    local options=(--into "$out")
    [[ -z $machine ]] || options+=(--machine "$machine")
    [[ -n $session ]] || options+=(--replace)
    "$docshape" publish "$1" "${options[@]}"
}

# Measures a mix into a folder, or resumes the run in it.
measure() {
    local scenario=$1 mix=$2 work=$3 length wanted
    length=$(preset_of "$scenario")
    wanted="\"preset\":\"$length\""
    [[ -z $session ]] || wanted="\"seed\":$session,"
    if [[ -f $work/run.json ]] && grep -q "$wanted" "$work/run.json"; then
        ! grep -q '"status":"complete"' "$work/run.json" || return 0
        "$docshape" run --resume "$work"
    elif [[ -n $session ]]; then
        rm -rf "$work"
        "$docshape" run --like "$(is_published "$scenario" "$mix")" --seed "$session" --out "$work"
    else
        rm -rf "$work"
        "$docshape" run "$scenario" --mix "$mix" --preset "$length" --out "$work"
    fi
}

# Measures and publishes a mix. A run that cannot be published is moved out of the way of the next one.
result() {
    local scenario=$1 mix=$2 work=$out/.runs/$1/$2 status=0
    mkdir -p "$(dirname "$work")"
    measure "$scenario" "$mix" "$work" || status=$?
    if ((status == 130 || status == 137 || status == 143)); then
        echo "$scenario, $mix was stopped; complete rounds are in $work; the next call resumes it" >&2
        exit "$status"
    fi
    if ((status == 0)) && publish "$work"; then
        rm -r "$work"
        return
    fi
    local failed=$out/.failed/$scenario/$mix
    rm -rf "$failed"
    mkdir -p "$(dirname "$failed")"
    [[ ! -d $work ]] || mv "$work" "$failed"
    failures+=("$scenario, $mix")
    echo "$scenario, $mix is not published; files are in $failed" >&2
}

# Renders published results of a scenario again, so that each mentions the others; of all scenarios without a name.
render() {
    local record
    while read -r record; do
        "$docshape" publish "$(dirname "$record")" --into "$out" >/dev/null
    done < <(find "$out${1:+/$1}" -path '*/mongodb-*/run.json.gz' -not -path '*/.*' | sort)
}

pages() {
    "$docshape" summary "$out" >"$out/README.md.new"
    mv "$out/README.md.new" "$out/README.md"
    "$docshape" summary "$out" --sessions --format json >"$out/sessions.json.new"
    mv "$out/sessions.json.new" "$out/sessions.json"
    "$docshape" summary "$out" --rules >"$out/rules.md.new"
    mv "$out/rules.md.new" "$out/rules.md"
}

# How long the rest takes, from the mean of what was measured so far.
say_rest() {
    local left=$1 rest="unknown"
    if ((measured)); then
        local minutes=$((SECONDS * left / measured / 60))
        rest="$((minutes / 60)) h $((minutes % 60)) min"
    fi
    echo "$left left, about: $rest" >&2
}

main() {
    cd "$(dirname "$0")/.."
    preset=quick out=results machine='' session='' full=() failures=() measured=0
    local scenarios=() only_render='' again='' usage
    usage="usage: $0 [--preset NAME] [--full SCENARIO] [--out DIR] [--machine NAME] [--again | --session SEED] [--render] [SCENARIO...]"
    while (($#)); do
        case $1 in
        --preset) preset=${2:?--preset needs the name of a preset: quick, full or publish}; shift 2 ;;
        --full) full+=("${2:?--full needs the name of a scenario}"); shift 2 ;;
        --out) out=${2:?--out needs a folder}; shift 2 ;;
        --machine) machine=${2:?--machine needs a name}; shift 2 ;;
        --again) again=1; shift ;;
        --session) session=${2:?--session needs a seed}; shift 2 ;;
        --render) only_render=1; shift ;;
        -*) echo "unknown option $1; $usage" >&2; exit 2 ;;
        *) scenarios+=("$1"); shift ;;
        esac
    done
    docshape=${DOCSHAPE:-}
    if [[ -z $docshape ]]; then
        cargo build --release --locked --quiet
        # A copy, so that a build during the series does not change the program.
        local copy
        copy=$(mktemp -d)
        # shellcheck disable=SC2064 # The folder's name is known now.
        trap "rm -rf '$copy'" EXIT
        cp "${CARGO_TARGET_DIR:-target}/release/docshape" "$copy/docshape"
        docshape=$copy/docshape
    fi
    version=$("$docshape" --version | cut -d ' ' -f 2)
    if [[ -n $only_render ]]; then
        render
        pages
        return
    fi
    if ((${#scenarios[@]} == 0)); then
        mapfile -t scenarios < <("$docshape" list | sed -n 's/^  \([a-z][a-z0-9-]*\)  .*/\1/p')
    fi
    local todo=() scenario mix
    for scenario in "${scenarios[@]}" ${full[@]+"${full[@]}"}; do
        [[ -f scenarios/$scenario.yaml ]] || { echo "unknown scenario $scenario; docshape list prints them" >&2; exit 2; }
        while read -r mix; do
            [[ " ${todo[*]-} " != *" $scenario/$mix "* ]] || continue
            local published=''
            published=$(is_published "$scenario" "$mix") || published=''
            if [[ -n $session ]]; then
                [[ -z $published ]] || has_session "$published" || todo+=("$scenario/$mix")
            elif [[ -n $again || -z $published ]]; then
                todo+=("$scenario/$mix")
            fi
        done < <(mixes "$scenario")
    done
    mkdir -p "$out"
    local left=${#todo[@]} one
    SECONDS=0
    for one in ${todo[@]+"${todo[@]}"}; do
        say_rest "$left"
        echo "== ${one%/*}, mix ${one#*/}" >&2
        result "${one%/*}" "${one#*/}"
        measured=$((measured + 1)) left=$((left - 1))
    done
    local touched
    while read -r touched; do
        [[ -z $touched || ! -d $out/$touched ]] || render "$touched"
    done < <(printf '%s\n' ${todo[@]+"${todo[@]%/*}"} | sort -u)
    pages
    if ((${#failures[@]})); then
        printf 'not published: %s\n' "${failures[@]}" >&2
        exit 1
    fi
}

main "$@"
exit
