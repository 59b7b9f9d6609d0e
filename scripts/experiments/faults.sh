#!/usr/bin/env bash
# Causes faults under load and writes what they left into the table of docs/reliability.md: on a replica set of three local members,
# the primary steps down, is ended, killed and stopped; docshape itself is killed at random moments. About 20 minutes on two cores.
#
# usage: scripts/experiments/faults.sh [FAILOVERS [KILLS]]   default: 30 of each kind but 10 stops, and 200 kills of docshape
#
# DOCSHAPE names a docshape to kill instead of building one. A lost write, a violated audit, an unreadable file or anything else
# left behind ends the script with exit code 1, after the table.
set -uo pipefail
# shellcheck source=scripts/experiments/prepare.sh
source "$(dirname "$0")/prepare.sh"

failovers=${1:-}
kills=${2:-200}
failed=0

cargo test --quiet --no-run --test real_server || exit
# Both at once: the failovers wait most of the time.
scripts/experiments/kills.py "$DOCSHAPE" --tries "$kills" --workers 1 >"$work/docshape" 2>"$work/docshape.log" &
kills_pid=$!
for kind in step_downs terminations kills stops; do
    env ${failovers:+DOCSHAPE_FAULTS="$failovers"} cargo test --quiet --test real_server "failover::$kind" -- --exact --ignored --nocapture \
        >"$work/$kind" 2>&1 || { failed=1; tail -n 20 "$work/$kind" >&2; }
done
wait "$kills_pid" || { failed=1; cat "$work/docshape.log" >&2; }
cat "$work"/{step_downs,terminations,kills,stops} >"$work/failovers"

python3 - "$work/failovers" "$work/docshape" <<'PYTHON' || exit
import pathlib
import re
import sys

NAMES = {
    "stepdown": "the primary steps down", "sigterm": "SIGTERM of the primary", "sigkill": "SIGKILL of the primary",
    "sigstop": "SIGSTOP of the primary for 5 s", "sigkill-docshape": "SIGKILL of docshape",
    "sigint-docshape": "SIGINT of docshape", "sigterm-docshape": "SIGTERM of docshape",
}


def lines(path):
    for line in pathlib.Path(path).read_text(errors="replace").splitlines():
        found = re.search(r"fault=.*", line)
        if found:
            yield dict(pair.split("=", 1) for pair in found.group(0).split())


def seconds(milliseconds):
    return f"{int(milliseconds) / 1000:.1f} s"


rows = ["| fault | times | lost acknowledged writes | violated audits of safe strategies | corrupt files | orphans | databases left "
        "| time to recover (median, longest), or runs resumed |", "|---|---:|---:|---:|---:|---:|---|---|"]
for fault in lines(sys.argv[1]):
    recovery = f"{seconds(fault['median_ms'])}, {seconds(fault['longest_ms'])}"
    rows.append(f"| {NAMES[fault['fault']]} | {fault['tries']} | {fault['lost']} | {fault['violated']} | – | – | – | {recovery} |")
for fault in lines(sys.argv[2]):
    left = fault["databases_left"]
    left = f"{left}, of which `clean` removed all but {fault['not_cleaned']}" if int(left) else "0"
    recovery = f"{fault['resumed']} resumed, {fault['not_resumed']} not"
    rows.append(f"| {NAMES[fault['fault']]} | {fault['kills']} | – | – | {fault['corrupt']} | {fault['orphans']} | {left} | {recovery} |")
page = pathlib.Path("docs/reliability.md")
text = re.sub(r"(<!-- faults -->\n).*?(<!-- end -->)", lambda match: match[1] + "\n".join(rows) + "\n" + match[2], page.read_text(),
              flags=re.DOTALL)
page.write_text(text)
print("\n".join(rows))
PYTHON
exit "$failed"
