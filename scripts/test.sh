#!/usr/bin/env bash
# Runs all tests, including those on a real mongod, and a short pass over the benchmarks. Installs a mongod if there is none:
# the tests use DOCSHAPE_MONGOD, the installed one, or one on PATH.
set -euo pipefail
cd "$(dirname "$0")/.."

command -v cc >/dev/null || { echo "test: a C compiler is needed (on Debian and Ubuntu: apt-get install gcc)" >&2; exit 1; }
if [[ -z ${DOCSHAPE_MONGOD:-} ]] && ! command -v mongod >/dev/null; then
    scripts/install-mongod.sh
fi
cargo test --no-fail-fast "$@"

# A short, unoptimised pass only tests that the benchmarks work; its numbers mean nothing.
if [[ $# -eq 0 ]]; then
    cargo test --benches
fi
