#!/usr/bin/env bash
# Measures how well own costs predict mixes: runs every mix of blog-comments with own costs and saturation, and prints what
# scripts/experiments/agreement.py makes of them.
#
#   scripts/experiments/mixes.sh [OPTIONS OF docshape run...]     default: quick runs, about 15 minutes
set -euo pipefail
# shellcheck source=prepare.sh
source "$(dirname "$0")/prepare.sh"

for mix in default read-heavy write-heavy hot-post balanced pagination front-page; do
    measure "$work/$mix" blog-comments --mix "$mix" --only own,saturation "$@"
done
python3 scripts/experiments/agreement.py "$work"/*/
