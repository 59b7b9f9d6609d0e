#!/usr/bin/env bash
# Makes a short run and pages of all kinds, and checks them in a browser with tests/html/check.mjs.
#
#   scripts/check-report.sh [--firefox] [FOLDER]     for screenshots and pages; by default a temporary folder
#
# Installs Chromium with apt and two npm modules at the versions below. If that is impossible, the check is skipped with a
# message, or fails if CI is set. With --firefox it also opens the pages in Debian's Firefox (tests/html/firefox.mjs says what
# that covers), which the gate does not.
set -euo pipefail
cd "$(dirname "$0")/.."

playwright=1.65.1
axe=4.14.1

firefox=
if [[ ${1-} == --firefox ]]; then
    firefox=${FIREFOX:-firefox-esr}
    shift
fi

skip() {
    echo "check-report: skipped: $1" >&2
    [[ -z ${CI-} ]] || exit 1
    exit 0
}

browser=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
if [[ -z $browser ]]; then
    command -v apt-get >/dev/null || skip "Chromium not found, and no apt to install it; set CHROMIUM to its path"
    [[ $(id -u) == 0 ]] || skip "Chromium not found; as root, run apt-get install chromium"
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null
    browser=$(command -v chromium)
fi
for program in node npm; do
    command -v "$program" >/dev/null || skip "$program not found"
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
rm -rf "$folder/run" "$folder/hostile" "$folder/pages"

docshape=${DOCSHAPE:-}
if [[ -z $docshape ]]; then
    cargo build --locked --quiet
    docshape=${CARGO_TARGET_DIR:-target}/debug/docshape
fi

# Looks at a page, beside others on the other cores.
failed=
look() {
    while (($(jobs -rp | wc -l) >= $(nproc))); do wait -n || failed=1; done
    CHROMIUM=$browser MODULES=$modules node tests/html/check.mjs "$@" &
}

# On a busy machine the run may be invalid (exit code 4). Its page is checked anyway.
"$docshape" run blog-comments --preset smoke --rounds 2 --calls 600 --no-verify --out "$folder/run" >"$folder/run.log" 2>&1 ||
    (($? == 4)) || { cat "$folder/run.log" >&2; exit 1; }
look "$folder/run/report.html" "$folder"

# A page of every kind of report, from the records of the unit tests.
mkdir -p "$folder/pages"
cargo test --locked --quiet --lib pages_of_every_kind >"$folder/pages.log" 2>&1 || { cat "$folder/pages.log" >&2; exit 1; }
cp target/report-pages/*.html "$folder/pages/"
# Own times predict the mix of the winner alone, so that the other page has no sliders.
CHARTS="forest sizes cost" WHAT_IF=no look "$folder/pages/run.html" "$folder/pages/run"
CHARTS="forest sizes cost" WHAT_IF=yes look "$folder/pages/winner.html" "$folder/pages/winner"
for kind in compare capacity verify summary sweep growth rules explain; do
    CHARTS="" look "$folder/pages/$kind.html" "$folder/pages/$kind"
done

# The page of the run, with texts that try to inject markup and script.
mkdir -p "$folder/hostile"
node tests/html/hostile.mjs "$folder/run/run.json" "$folder/hostile/run.json"
cp "$folder/run/latency.hlog" "$folder/hostile/"
"$docshape" report "$folder/hostile" --format html >"$folder/hostile.html"
look "$folder/hostile.html" "$folder/hostile"

# Published results of a scenario with two mixes, a sweep and growth: every link leads somewhere, as do those of the run.
rm -rf "$folder/published" "$folder/site"
mkdir -p "$folder/published/results/sweeps" "$folder/published/results/growth"
cp -r results/log-messages results/claims results/numbers.json results/sessions.json "$folder/published/results/"
cp -r results/sweeps/log-messages-looks "$folder/published/results/sweeps/"
cp -r results/growth/log-messages "$folder/published/results/growth/"
cp -r docs scenarios "$folder/published/"
"$docshape" site "$folder/published/results" --out "$folder/site" >"$folder/site.log"
for page in index matrix rules trees/index; do
    CHARTS="" look "$folder/site/$page.html" "$folder/pages/site-${page%/*}"
done
node tests/html/links.mjs "$folder/run" "$folder/site"

while [[ -n $(jobs -p) ]]; do wait -n || failed=1; done
[[ -z $failed ]] || exit 1

if [[ -n $firefox ]]; then
    command -v "$firefox" >/dev/null || apt-get install -y -qq --no-install-recommends firefox-esr >/dev/null
    FIREFOX=$firefox node --experimental-websocket tests/html/firefox.mjs "$folder" \
        "$folder/run/report.html" "$folder/hostile.html" "$folder"/pages/*.html
fi
