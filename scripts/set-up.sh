# shellcheck shell=bash
# Sourced by demo.sh and test.sh.

missing=()

# need PROGRAM REMEDY: notes a program that is missing.
need() {
    command -v "$1" >/dev/null || missing+=("$1: $2")
}

# Names a Rust that is older than Cargo.toml demands: its own message would be about an unknown edition.
need_rust() {
    local oldest found
    oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    need cargo "https://rustup.rs installs it; docshape needs Rust $oldest or later"
    found=$(rustc --version 2>/dev/null | cut -d ' ' -f 2) || return 0
    if [[ $(printf '%s\n' "$oldest" "$found" | sort -V | head -n 1) != "$oldest" ]]; then
        missing+=("Rust $oldest or later: this is $found; https://rustup.rs installs a newer one")
    fi
}

# Ends the script with one message about all that is missing: what it needed before, and what both scripts need. Installs a mongod if
# there is none.
set_up() {
    need_rust
    need cc "a C compiler (on Debian and Ubuntu: apt-get install gcc libc6-dev)"
    if ((${#missing[@]})); then
        printf '%s\n' "${missing[@]/#/"${0##*/}: missing "}" >&2
        exit 1
    fi
    if [[ -z ${DOCSHAPE_MONGOD:-} ]] && ! command -v mongod >/dev/null; then
        scripts/install-mongod.sh
    fi
}
