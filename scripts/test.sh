#!/usr/bin/env bash
# Runs all tests, those against a real mongod included, and a short pass over the benchmarks.
#
# The tests need a mongod: the one that scripts/install-mongod.sh puts in place, DOCSHAPE_MONGOD, or one on PATH.
# Everything is built with the release profile, so that tests, benchmarks and the binary share their dependencies.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo test --release "$@"

# Benchmarks are only run briefly here: that they work is a test, how fast they are is not.
if [[ $# -eq 0 ]]; then
    cargo bench -- --test
fi
