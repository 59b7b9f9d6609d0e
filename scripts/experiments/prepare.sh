# shellcheck shell=bash
# Sourced by the scripts that measure with docshape: leaves the repository's folder as working directory, a folder "$work" that is
# removed at the end, and "$DOCSHAPE", the docshape to use (one that is built first, unless it is set).
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [[ -z ${DOCSHAPE-} ]]; then
    cargo build --release --quiet --bin docshape
    DOCSHAPE=target/release/docshape
fi

# measure FOLDER SCENARIO [OPTIONS...]: a run. An invalid one (exit code 4) has its numbers, too.
measure() {
    local folder=$1
    shift
    "$DOCSHAPE" run "$@" --no-verify --out "$folder" >"$work/report" 2>"$work/progress" || (($? == 4)) ||
        { cat "$work/progress" >&2; exit 1; }
}

# twin FILE: blog-comments with the strategy embedded under another name, too.
twin() {
    sed 's/^audits:/  twin:\n    about: The same as embedded, under another name.\n    like: embedded\n\n&/' \
        scenarios/blog-comments.yaml >"$1"
}
