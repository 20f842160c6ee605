#!/usr/bin/env bash
# Runs fuzz targets, all or those named, for so many seconds each; fails at the first finding. What it needs it
# installs: a nightly compiler and cargo-fuzz.
#
#     fuzz/run.sh SECONDS [TARGET]…
#
# FUZZ_FEATURES=formats builds without what the other targets need, see Cargo.toml.
set -euo pipefail
cd "$(dirname "$0")"
seconds=${1:?how many seconds for each target}
shift
targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(sed -n 's/^name = "\(.*\)"$/\1/p' Cargo.toml | tail -n +2)

toolchain=${FUZZ_TOOLCHAIN:-nightly}
rustup toolchain list | grep -q "^$toolchain" || rustup toolchain install "$toolchain" --profile minimal
command -v cargo-fuzz >/dev/null || cargo install cargo-fuzz --locked --quiet
./seed.sh

features=
[ -z "${FUZZ_FEATURES+set}" ] || features="--no-default-features --features=$FUZZ_FEATURES"
export CARGO_TARGET_DIR=${FUZZ_TARGET_DIR:-$PWD/target}
for target in "${targets[@]}"; do
    printf '\n-- %s for %s s\n' "$target" "$seconds"
    # shellcheck disable=SC2086 # Two words, or none.
    cargo "+$toolchain" fuzz run --sanitizer none --codegen-units 16 $features "$target" -- \
        -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -verbosity=0 -print_final_stats=1
done
