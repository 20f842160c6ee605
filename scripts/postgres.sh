#!/usr/bin/env bash
# A PostgreSQL server for tests and examples: its data below target/postgres.
#
#   scripts/postgres.sh start [--fresh]   starts it (--fresh: without the data of earlier runs), waits until it
#                                         answers, and prints its address as the option 'url' takes it
#   scripts/postgres.sh stop | kill       ends it, in order or with SIGKILL
#   scripts/postgres.sh status            prints its address, or fails
#   scripts/postgres.sh sql STATEMENT     runs SQL
#
# Needs PostgreSQL's server (Debian: postgresql). POSTGRES_PORT (15432) is the port. The user is flott, its
# password secret, the database test. Root cannot run the server: then the user of POSTGRES_USER (postgres)
# does, with data in POSTGRES_HOME_DIR (/var/tmp/flott-postgres), which that user can reach.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
port=${POSTGRES_PORT:-15432}
if [ "$(id -u)" = 0 ]; then
    owner=${POSTGRES_USER:-postgres}
    home=${POSTGRES_HOME_DIR:-/var/tmp/flott-postgres}
    as() { (cd / && exec setpriv --reuid "$owner" --regid "$owner" --clear-groups "$@"); }
else
    owner=$(id -un)
    home=${POSTGRES_HOME_DIR:-$here/../target/postgres}
    as() { "$@"; }
fi
data=$home/$port
address="jdbc:postgresql://localhost:$port/test?user=flott&password=secret"

# Where Debian puts the programs of the newest version, if they are not on the path.
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
PATH=${bin:+$bin:}$PATH

need() { command -v "$1" >/dev/null || { echo "postgres.sh: $1 is not installed ($2)" >&2; exit 3; }; }

pid() { [ -e "$data/flott.pid" ] && kill -0 "$(cat "$data/flott.pid")" 2>/dev/null && cat "$data/flott.pid"; }

sql() { PGPASSWORD=secret psql -q -v ON_ERROR_STOP=1 -h localhost -p "$port" -U flott -d "${2:-test}" -c "$1"; }

answers() { sql 'SELECT 1' postgres >/dev/null 2>&1; }

start() {
    if pid >/dev/null; then echo "$address"; return; fi
    need initdb "Debian: postgresql"
    [ "${1:-}" = --fresh ] && rm -rf "$data"
    if [ ! -e "$data/PG_VERSION" ]; then
        mkdir -p "$data"
        [ "$(id -u)" != 0 ] || chown "$owner" "$home" "$data"
        chmod 700 "$data"
        echo secret > "$home/password"
        chmod 644 "$home/password"
        as initdb -D "$data" -U flott --pwfile="$home/password" --auth=scram-sha-256 -E UTF8 \
            --locale=C >"$home/initdb.log" 2>&1 || { cat "$home/initdb.log" >&2; exit 1; }
    fi
    # One that was killed leaves its file behind.
    rm -f "$data/postmaster.pid"
    as "$bin/postgres" -D "$data" -p "$port" -k "$data" -c fsync=off -c wal_level=logical \
        -c max_wal_senders=20 -c max_replication_slots=20 >>"$home/out" 2>&1 &
    echo $! > "$data/flott.pid"
    for _ in $(seq 300); do
        pid >/dev/null || break
        if answers; then
            sql 'CREATE DATABASE test' postgres >/dev/null 2>&1 || true
            # The process that the shell knows may stand between it and the server.
            head -n 1 "$data/postmaster.pid" > "$data/flott.pid"
            echo "$address"
            return
        fi
        sleep 0.1
    done
    echo "postgres.sh: the server does not start; its last words ($home/out):" >&2
    tail -n 20 "$home/out" >&2
    exit 1
}

end() {
    local server
    server=$(pid) || return 0
    # Of a killed server its children go as well, as they do when a machine loses power.
    [ "$1" != KILL ] || kill -KILL $(ps -o pid= --ppid "$server") 2>/dev/null || true
    kill "-$1" "$server"
    for _ in $(seq 300); do
        pid >/dev/null || break
        sleep 0.1
    done
    rm -f "$data/flott.pid"
}

case "${1:-}" in
    start) start "${2:-}" ;;
    stop) end INT ;;
    kill) end KILL ;;
    status) pid >/dev/null && echo "$address" ;;
    sql) sql "$2" ;;
    *) sed -n '2,14s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
