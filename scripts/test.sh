#!/usr/bin/env bash
# Runs all tests, those against a real mongod included, and a short pass over the benchmarks.
#
# The tests need a mongod: the one that scripts/install-mongod.sh puts in place, DOCSHAPE_MONGOD, or one on PATH.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo test "$@"

# Benchmarks are only run briefly here, and as unoptimised as tests: that they work is a test, how fast they are is not.
if [[ $# -eq 0 ]]; then
    cargo test --benches
fi
