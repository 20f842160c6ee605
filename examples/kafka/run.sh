#!/usr/bin/env bash
# Starts a Kafka server, sends what some users did, and counts it. Needs Java 17 and Maven for the server.
set -euo pipefail
cd "$(dirname "$0")/../.."

scripts/kafka.sh start
scripts/kafka.sh topic user_behavior 2
scripts/kafka.sh topic region_stats 2
scripts/kafka.sh send user_behavior < examples/kafka/user_behavior.json
cargo run --release --bin flott -- run examples/kafka/pipeline.sql --format changelog
echo "The server still runs; scripts/kafka.sh stop ends it."
