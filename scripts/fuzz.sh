#!/usr/bin/env bash
# Fuzzes what reads files and replies from outside. Needs cargo-fuzz (cargo install cargo-fuzz) and a C++ compiler.
#
# usage: scripts/fuzz.sh [MINUTES [TARGET...]]   MINUTES per target: 30; targets: all, one after the other
#
# What it finds along the way stays in target/fuzz; a finding ends the script with the input's file. Put that file into
# tests/fuzz/corpus/TARGET, where tests/no_server/corpus.rs reads it for ever after.
set -euo pipefail
cd "$(dirname "$0")/.."

minutes=${1:-30}
shift || true
targets=("$@")
[[ ${#targets[@]} -gt 0 ]] || targets=(scenario expression run_record interval_log reply server_log)
# Without a sanitizer the stable compiler will do; memory safety is not what is tested, as there is no unsafe code.
fuzz=(cargo fuzz run --fuzz-dir tests/fuzz --target-dir target/fuzz/build --sanitizer none)

for target in "${targets[@]}"; do
  found=target/fuzz/$target
  mkdir -p "$found" "target/fuzz/findings"
  seeds=("$found" "tests/fuzz/corpus/$target")
  [[ $target != scenario ]] || seeds+=(scenarios examples tests/valid tests/broken tests/broken_plan)
  "${fuzz[@]}" "$target" "${seeds[@]}" -- -max_total_time=$((minutes * 60)) -timeout=5 -rss_limit_mb=512 \
    -max_len=1048576 -artifact_prefix="$PWD/target/fuzz/findings/$target-" -print_final_stats=1
done
