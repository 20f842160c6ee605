#!/usr/bin/env bash
# Fills the corpora of `parse` and `evaluate` with what Flink answered to.
set -euo pipefail
cd "$(dirname "$0")"
mkdir -p corpus/parse corpus/evaluate
number=0
while IFS= read -r expression; do
    number=$((number + 1))
    printf '%s' "$expression" >"corpus/evaluate/$number"
    printf 'SELECT %s' "$expression" >"corpus/parse/$number"
done < <(cat ../conformance/expressions*/*.jsonl | jq -r '.expr | select(contains("\n") | not)')
for query in ../conformance/queries/*/*.sql; do
    cp "$query" "corpus/parse/$(basename "$(dirname "$query")")-$(basename "$query")"
done
