#!/usr/bin/env bash
# Runs all tests, including those on a real mongod, and a short pass over the benchmarks. Installs a mongod if there is none:
# the tests use DOCSHAPE_MONGOD, the installed one, or one on PATH.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=set-up.sh
source scripts/set-up.sh

# Servers of tests wait for their journals, on a disk a third of the time, in memory none of it. So temporary files are in memory, if it
# has room for those of a dozen servers.
in_memory() {
    [[ -z ${TMPDIR-} && $(stat --file-system --format %T /dev/shm 2>/dev/null) == tmpfs ]] || return 0
    [[ $(findmnt --noheadings --output OPTIONS /dev/shm) != *noexec* ]] || return 0
    (($(df --output=avail --block-size=G /dev/shm | tr -dc '[:digit:]') >= 8)) || return 0
    (($(sed -n 's/^MemAvailable: *\([0-9]*\).*/\1/p' /proc/meminfo) >= 12000000)) || return 0
    TMPDIR=$(mktemp --directory /dev/shm/docshape-tests.XXXXXX)
    export TMPDIR
    trap 'rm -rf "$TMPDIR"' EXIT
}

need openssl "it makes certificates for the tests (on Debian and Ubuntu: apt-get install openssl)"
set_up
in_memory
# Most tests of a real server wait for it.
export RUST_TEST_THREADS=${RUST_TEST_THREADS:-$(($(nproc) + 1))}
cargo test --no-fail-fast "$@"

# A short, unoptimised pass only tests that the benchmarks work; its numbers mean nothing.
if [[ $# -eq 0 ]]; then
    cargo test --benches
fi
