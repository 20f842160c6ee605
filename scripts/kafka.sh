#!/usr/bin/env bash
# An Apache Kafka server for tests and examples: one process, KRaft, its data below target/kafka.
#
#   scripts/kafka.sh start [--fresh]   starts it (--fresh: without the data of earlier runs), waits until it
#                                      answers, and prints its address
#   scripts/kafka.sh stop | kill       ends it, in order or with SIGKILL
#   scripts/kafka.sh status            prints its address, or fails
#   scripts/kafka.sh topic NAME [PARTITIONS]      makes a topic
#   scripts/kafka.sh send TOPIC                   sends the lines of standard input
#   scripts/kafka.sh read TOPIC [OPTION…]         prints a topic's records, committed ones only
#
# Needs Java 17, and Maven the first time, which fetches the server's jars. KAFKA_PORT (9092) is the
# port; port + 2 takes logins by SASL (users alice/secret by PLAIN and SCRAM-SHA-256), and port + 3 is TLS, whose
# certificate is target/kafka/<port>/certificate.pem.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
port=${KAFKA_PORT:-9092}
home=${KAFKA_HOME_DIR:-$here/../target/kafka}
jars=$home/libs
data=$home/$port
address=localhost:$port

need() { command -v "$1" >/dev/null || { echo "kafka.sh: $1 is not installed ($2)" >&2; exit 3; }; }

fetch_jars() {
    need java "Java 17 runs the server"
    [ -e "$jars/.complete" ] && return
    need mvn "Maven fetches the server's jars"
    mkdir -p "$jars"
    mvn -q -B -f "$here/kafka/pom.xml" dependency:copy-dependencies \
        "-DoutputDirectory=$(cd "$jars" && pwd)" -DincludeScope=runtime >&2
    touch "$jars/.complete"
}

# Becomes a class of the server or its tools.
become() {
    local heap=$1; shift
    exec java "-Xmx$heap" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
        "-Dlog4j2.configurationFile=file:$here/kafka/log4j2.properties" -cp "$jars/*" "$@"
}

pid() { [ -e "$data/pid" ] && kill -0 "$(cat "$data/pid")" 2>/dev/null && cat "$data/pid"; }

answers() { (exec 3<>"/dev/tcp/localhost/$port") 2>/dev/null; }

settings() {
    cat <<SETTINGS
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@localhost:$((port + 1))
listeners=PLAINTEXT://localhost:$port,CONTROLLER://localhost:$((port + 1)),SASL_PLAINTEXT://localhost:$((port + 2)),SSL://localhost:$((port + 3))
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,SSL:SSL
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
log.dirs=$data/log
num.partitions=1
default.replication.factor=1
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
log.retention.ms=-1
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256
listener.name.sasl_plaintext.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_alice="secret";
listener.name.sasl_plaintext.scram-sha-256.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
ssl.keystore.type=PKCS12
ssl.keystore.location=$data/keys.p12
ssl.keystore.password=secret
SETTINGS
}

certificate() {
    local store=(-keystore "$data/keys.p12" -storetype PKCS12 -storepass secret -alias kafka)
    keytool -genkeypair "${store[@]}" -keyalg EC -dname CN=localhost -ext san=dns:localhost -validity 3650 >&2
    keytool -exportcert "${store[@]}" -rfc > "$data/certificate.pem" 2>/dev/null
}

start() {
    if pid >/dev/null; then echo "$address"; return; fi
    fetch_jars
    [ "${1:-}" = --fresh ] && rm -rf "$data"
    mkdir -p "$data"
    [ -e "$data/certificate.pem" ] || certificate
    settings > "$data/server.properties"
    if [ ! -e "$data/log/meta.properties" ]; then
        (become 256m kafka.tools.StorageTool format -t flott-kafka-tests-00000w -c "$data/server.properties" \
            --add-scram 'SCRAM-SHA-256=[name=alice,password=secret]' >&2)
    fi
    become "${KAFKA_HEAP:-512m}" kafka.Kafka "$data/server.properties" >>"$data/out" 2>&1 &
    echo $! > "$data/pid"
    for _ in $(seq 300); do
        pid >/dev/null || break
        if answers; then echo "$address"; return; fi
        sleep 0.2
    done
    echo "kafka.sh: the server does not start; its last words ($data/out):" >&2
    tail -n 20 "$data/out" >&2
    exit 1
}

end() {
    local server
    server=$(pid) || return 0
    kill "-$1" "$server"
    for _ in $(seq 300); do
        pid >/dev/null || break
        sleep 0.1
    done
    rm -f "$data/pid"
}

case "${1:-}" in
    start) start "${2:-}" ;;
    stop) end TERM ;;
    kill) end KILL ;;
    status) pid >/dev/null && echo "$address" ;;
    topic)
        fetch_jars
        become 128m org.apache.kafka.tools.TopicCommand --bootstrap-server "$address" --create --if-not-exists \
            --topic "$2" --partitions "${3:-1}" >&2
        ;;
    send)
        fetch_jars
        become 128m org.apache.kafka.tools.ConsoleProducer --bootstrap-server "$address" --topic "$2" "${@:3}"
        ;;
    read)
        fetch_jars
        become 128m org.apache.kafka.tools.consumer.ConsoleConsumer --bootstrap-server "$address" --topic "$2" \
            --from-beginning --isolation-level read_committed --timeout-ms "${KAFKA_READ_TIMEOUT:-5000}" "${@:3}"
        ;;
    *) sed -n '2,15s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
