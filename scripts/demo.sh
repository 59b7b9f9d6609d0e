#!/usr/bin/env bash
# From a fresh clone to a verdict: installs a mongod if there is none, builds docshape, and measures which of three schemas
# for blog comments is fastest on this machine. Options, such as --preset smoke, are passed to `docshape run`.
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ -z ${DOCSHAPE_MONGOD:-} && -z ${MONGODB_URI:-} ]] && ! command -v mongod >/dev/null; then
    scripts/install-mongod.sh
fi
cargo build --release --bin docshape
exec target/release/docshape run blog-comments "$@"
