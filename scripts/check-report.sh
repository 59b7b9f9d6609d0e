#!/usr/bin/env bash
# Measures a scenario shortly and looks at its page in a browser: tests/html/check.mjs says what must hold.
#
#   scripts/check-report.sh [FOLDER]     screenshots and the page go there; a temporary folder without it
#
# A new machine gets Chromium from apt, and the two modules from npm at the versions below. Where that is not possible
# the check is left out with a message, but never where CI is set: there it fails.
set -euo pipefail
cd "$(dirname "$0")/.."

playwright=1.65.1
axe=4.14.1

skip() {
    echo "the page is not checked in a browser: $1" >&2
    [[ -z ${CI-} ]] || exit 1
    exit 0
}

browser=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
if [[ -z $browser ]]; then
    command -v apt-get >/dev/null || skip "there is neither Chromium nor apt; CHROMIUM names one"
    [[ $(id -u) == 0 ]] || skip "there is no Chromium, and only root may install it: apt-get install chromium"
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null
    browser=$(command -v chromium)
fi
for program in node npm; do
    command -v "$program" >/dev/null || skip "there is no $program"
done

modules=${XDG_CACHE_HOME:-$HOME/.cache}/docshape-page/$playwright-$axe
if [[ ! -f $modules/complete ]]; then
    mkdir -p "$modules"
    npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$modules" \
        "playwright-core@$playwright" "axe-core@$axe"
    touch "$modules/complete"
fi

if [[ -n ${1-} ]]; then
    folder=$1
    mkdir -p "$folder"
else
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
fi
rm -rf "$folder/run" "$folder/hostile"

docshape=${DOCSHAPE:-}
if [[ -z $docshape ]]; then
    cargo build --locked --quiet
    docshape=${CARGO_TARGET_DIR:-target}/debug/docshape
fi

look() { CHROMIUM=$browser MODULES=$modules node tests/html/check.mjs "$@"; }

# A busy machine may make a run that is not valid, which is not the page's fault: its page is looked at all the same.
"$docshape" run blog-comments --preset smoke --rounds 2 --calls 600 --no-verify --out "$folder/run" >"$folder/run.log" 2>&1 ||
    (($? == 4)) || { cat "$folder/run.log" >&2; exit 1; }
look "$folder/run/report.html" "$folder"

# The same page with texts that would like to be code.
mkdir -p "$folder/hostile"
node tests/html/hostile.mjs "$folder/run/run.json" "$folder/hostile/run.json"
cp "$folder/run/latency.hlog" "$folder/hostile/"
"$docshape" report "$folder/hostile" --format html >"$folder/hostile.html"
look "$folder/hostile.html" "$folder/hostile"
