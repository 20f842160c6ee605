# The commands of daily work; `just` lists them.

default:
    @just --list

# Everything CI checks.
ci:
    .ci/run

# All tests.
test:
    cargo test --workspace

# Format and lints.
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings

# Compare with what Flink answered; `just conformance expressions/json` explains the cases that differ.
conformance filter="":
    CONFORMANCE={{filter}} cargo test -p flott --test conformance -- --nocapture

# The models of all operators, each with so many random changelogs: row by row, in bundles, in several tasks.
models cases="10000":
    FLOTT_CASES={{cases}} cargo test --workspace --lib operators::

# Run a script.
run script *args:
    cargo run --release --bin flott -- run {{script}} {{args}}

# The benchmarks of single operators, functions and formats.
bench:
    cargo bench --workspace

# Nexmark queries over files or the in-process generator; see docs/benchmarks.md.
nexmark *args:
    cargo run --release -p flott-bench -- {{args}}

# Fuzzing: all targets for so many seconds each, or those named; see fuzz/README.md.
fuzz seconds *targets:
    fuzz/run.sh {{seconds}} {{targets}}
