#!/usr/bin/env bash
# Runs all tests, including those on a real mongod, and a short pass over the benchmarks.
#
# The tests need a mongod: DOCSHAPE_MONGOD, the one that scripts/install-mongod.sh installs, or one on PATH.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo test --no-fail-fast "$@"

# A short, unoptimised pass only tests that the benchmarks work; its numbers mean nothing.
if [[ $# -eq 0 ]]; then
    cargo test --benches
fi
