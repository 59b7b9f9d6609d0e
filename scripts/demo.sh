#!/usr/bin/env bash
# From a fresh clone to a verdict: installs a mongod if there is none, installs docshape for this user (`cargo install`), and measures
# which of three schemas for blog comments is fastest on this machine. Options, such as --preset smoke, are passed to `docshape run`.
set -euo pipefail
cd "$(dirname "$0")/.."

need() {
    command -v "$1" >/dev/null || { echo "demo: $1 is needed: $2" >&2; exit 1; }
}

need cargo "https://rustup.rs installs it"
need cc "on Debian and Ubuntu: apt-get install gcc"
if [[ -z ${DOCSHAPE_MONGOD:-} && -z ${MONGODB_URI:-} ]] && ! command -v mongod >/dev/null; then
    scripts/install-mongod.sh
fi
cargo install --locked --path .
docshape=${CARGO_INSTALL_ROOT:-${CARGO_HOME:-$HOME/.cargo}}/bin/docshape
command -v docshape >/dev/null || echo "demo: docshape is $docshape; its folder is not on PATH" >&2
exec "$docshape" run blog-comments "$@"
