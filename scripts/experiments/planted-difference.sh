#!/usr/bin/env bash
# Counts the runs that find a planted difference. Adds a strategy to blog-comments that is like embedded, except that
# read_post makes one more round trip. Prints a line per run, and the count at the end.
#
#   scripts/experiments/planted-difference.sh [RUNS] [OPTIONS OF docshape run...]     default: 10 quick runs, about 15 minutes
set -euo pipefail
# shellcheck source=prepare.sh
source "$(dirname "$0")/prepare.sh"

runs=${1:-10}
shift || true
cat >"$work/planted" <<'YAML'
  planted:
    about: Like embedded, with one more round trip in read_post.
    like: embedded
    operations:
      read_post:
        - { findOne: posts, filter: { _id: <post> }, projection: { _id: 1 } }
        - { findOne: posts, filter: { _id: <post> } }
        - return: { post: reply, comments: reply.comments }
YAML
# Below the last strategy.
sed -e "/^audits:/{e cat '$work/planted'" -e '}' scenarios/blog-comments.yaml >"$work/planted.yaml"

found=0
for ((run = 1; run <= runs; run++)); do
    measure "$work/$run" "$work/planted.yaml" --strategies embedded,planted --seed "$run" "$@"
    ratio=$("$DOCSHAPE" report "$work/$run" --format json | python3 -c '
import json, sys
for row in json.load(sys.stdin)["tables"].get("differences", []):
    if (row["strategy"], row["operation"], row["difference"]) == ("planted", "read_post", "slower"):
        print(row["ratio"])')
    if [[ -n $ratio ]]; then
        found=$((found + 1))
        printf 'run %s: found, ratio %s\n' "$run" "$ratio"
    else
        printf 'run %s: not found\n' "$run"
    fi
done
printf '%s of %s runs found that read_post of the planted strategy is slower\n' "$found" "$runs"
