#!/usr/bin/env bash
# Runs fuzz targets, all or those named, for so many seconds each; fails at the first finding. It installs
# cargo-fuzz where that is missing, and needs no nightly compiler: where there is none, the stable one is allowed what
# coverage takes.
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

if [ -n "${FUZZ_TOOLCHAIN-}" ]; then
    export RUSTUP_TOOLCHAIN=$FUZZ_TOOLCHAIN
elif rustup toolchain list 2>/dev/null | grep -q '^nightly'; then
    export RUSTUP_TOOLCHAIN=nightly
else
    export RUSTC_BOOTSTRAP=1
fi
command -v cargo-fuzz >/dev/null || cargo install cargo-fuzz --locked --quiet
./seed.sh

features=
[ -z "${FUZZ_FEATURES+set}" ] || features="--no-default-features --features=$FUZZ_FEATURES"
export CARGO_TARGET_DIR=${FUZZ_TARGET_DIR:-$PWD/target}
for target in "${targets[@]}"; do
    printf '\n-- %s for %s s\n' "$target" "$seconds"
    # shellcheck disable=SC2086 # Two words, or none.
    cargo fuzz run --sanitizer none --codegen-units 16 $features "$target" -- \
        -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -verbosity=0 -print_final_stats=1
done
