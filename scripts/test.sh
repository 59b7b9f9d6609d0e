#!/usr/bin/env bash
# Runs all tests, including those on a real mongod, and a short pass over the benchmarks. Installs a mongod if there is none:
# the tests use DOCSHAPE_MONGOD, the installed one, or one on PATH.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=set-up.sh
source scripts/set-up.sh

need openssl "it makes certificates for the tests (on Debian and Ubuntu: apt-get install openssl)"
set_up
# Most tests of a real server wait for it.
export RUST_TEST_THREADS=${RUST_TEST_THREADS:-$(($(nproc) + 1))}
cargo test --no-fail-fast "$@"

# A short, unoptimised pass only tests that the benchmarks work; its numbers mean nothing.
if [[ $# -eq 0 ]]; then
    cargo test --benches
fi
