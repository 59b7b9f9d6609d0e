#!/usr/bin/env bash
# From a fresh clone to a verdict: installs a mongod if there is none, installs docshape for this user (`cargo install`), and measures
# which of three schemas for blog comments is fastest on this machine. Options, such as --preset smoke, are passed to `docshape run`.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=set-up.sh
source scripts/set-up.sh

set_up
cargo install --locked --path .
docshape=${CARGO_INSTALL_ROOT:-${CARGO_HOME:-$HOME/.cargo}}/bin/docshape
command -v docshape >/dev/null || echo "demo.sh: docshape is $docshape; its folder is not on PATH" >&2
exec "$docshape" run blog-comments "$@"
