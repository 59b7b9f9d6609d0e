# Everyday commands; `just` lists them. Without just, type the lines below a name.

_default:
    @just --list

# Compile docshape and its tests
build:
    cargo build --all-targets

# Run all tests, or those of a filter: just test --lib report::
test *arguments:
    cargo test {{ arguments }}

# The short subset of the gate: format, lints of the library, unit tests without long statistics
quick:
    cargo fmt --check
    cargo clippy --lib --locked -- -D warnings
    cargo test --lib -- --skip simulation --skip hostile --skip matrix::tests

# Check format, lints and dependencies
lint:
    cargo fmt --check
    cargo clippy --all-targets --locked -- -D warnings
    scripts/deny.sh

# Run a benchmark: just bench overhead
bench name:
    cargo bench --bench {{ name }}

# Render a run again: just report results/blog-comments/RUN
report run:
    cargo run --quiet -- report {{ run }}

# Run everything that a change must pass
gate:
    .ci/run
