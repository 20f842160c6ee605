#!/usr/bin/env bash
# Fills the corpora with what there is: recorded expressions and queries, the inputs of queries, a stored snapshot.
set -euo pipefail
cd "$(dirname "$0")"
mkdir -p corpus/{parse,evaluate,decode_csv,decode_json,decode_changes,decode_avro,snapshot,checkpoint}
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
printf '\0\2\1\2\3\2\4\2\6\2\0\0\300\77\0\0\2\2\1\2\2a' >corpus/decode_avro/binary
printf '\1{"c0":{"boolean":true},"c1":{"int":1},"c2":null,"c3":{"long":7},"c4":{"float":1.5}}' >corpus/decode_avro/json
cp ../crates/state/tests/fixtures/* corpus/snapshot/
cp seeds/checkpoint/* corpus/checkpoint/
