#!/usr/bin/env bash
# Fills the corpora with what there is: recorded expressions and queries, the inputs of queries, a stored snapshot.
set -euo pipefail
cd "$(dirname "$0")"
mkdir -p corpus/{parse,evaluate,decode_csv,decode_json,decode_changes,snapshot,checkpoint}
sed -n 's/^{"expr": "\(.*\)", "\(type\|error\|rows\)": .*$/\1/p' ../conformance/expressions*/*.jsonl |
    sed 's/\\"/"/g; s/\\\\/\\/g' |
    awk '{ printf "%s", $0 > "corpus/evaluate/" NR; close("corpus/evaluate/" NR)
           printf "SELECT %s", $0 > "corpus/parse/" NR; close("corpus/parse/" NR) }'
for query in ../conformance/queries/*/*.sql; do
    cp "$query" "corpus/parse/$(basename "$(dirname "$query")")-$(basename "$query")"
done
cp ../conformance/data/*.csv corpus/decode_csv/
cp ../conformance/data/*.json corpus/decode_json/
for format in debezium:0 canal:1 maxwell:2 ogg:3; do
    for file in ../conformance/data/*."${format%:*}".json; do
        { printf "\\x0${format#*:}"; cat "$file"; } >"corpus/decode_changes/$(basename "$file")"
    done
done
cp ../crates/state/tests/fixtures/* corpus/snapshot/
cp seeds/checkpoint/* corpus/checkpoint/
