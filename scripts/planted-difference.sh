#!/usr/bin/env bash
# How often a run finds a difference that is there: blog-comments with a strategy that is as embedded, but whose read_post
# makes one more round trip. Prints a line per run and the count at the end.
#
#   scripts/planted-difference.sh [RUNS] [OPTIONS OF docshape run...]     default: 10 quick runs, about 15 minutes
set -euo pipefail
cd "$(dirname "$0")/.."

runs=${1:-10}
shift || true
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cargo build --release --quiet --bin docshape
{
    cat scenarios/blog-comments.yaml
    cat <<'YAML'
  planted:
    about: As embedded, with one more round trip in read_post.
    like: embedded
    operations:
      read_post:
        - { findOne: posts, filter: { _id: <post> }, projection: { _id: 1 } }
        - { findOne: posts, filter: { _id: <post> } }
        - return: { post: reply, comments: reply.comments }
YAML
} >"$work/planted.yaml"

found=0
for ((run = 1; run <= runs; run++)); do
    code=0
    target/release/docshape run "$work/planted.yaml" --strategies embedded,planted --seed "$run" --out "$work/$run" "${@}" \
        >"$work/report" 2>"$work/progress" || code=$?
    # A run that is not valid (exit code 4) claims nothing.
    if ((code != 0 && code != 4)); then
        cat "$work/progress" >&2
        exit 1
    fi
    # The verdict stands before the table, an operation per paragraph.
    verdict=$(sed '/^Service time per call/q' "$work/report" | tr -s '\n ' ' ')
    if claim=$(grep -oE 'read_post planted takes [^)]* (more time|times as long)[^)]*\)' <<<"$verdict"); then
        found=$((found + 1))
        printf 'run %s: %s\n' "$run" "$claim"
    else
        printf 'run %s: not found\n' "$run"
    fi
done
printf '%s of %s runs found that read_post of the planted strategy takes more time\n' "$found" "$runs"
