#!/usr/bin/env bash
# A MariaDB server for tests and examples: its data below target/mariadb.
#
#   scripts/mariadb.sh start [--fresh]   starts it (--fresh: without the data of earlier runs), waits until it
#                                        answers, and prints its address as the option 'url' takes it
#   scripts/mariadb.sh stop | kill       ends it, in order or with SIGKILL
#   scripts/mariadb.sh status            prints its address, or fails
#   scripts/mariadb.sh sql STATEMENT     runs SQL
#
# Needs MariaDB's server (Debian: mariadb-server). MARIADB_PORT (13306) is the port. The user is flott, its
# password secret, the database test. Root lets the user of MARIADB_USER (mysql) run the server, with data in
# MARIADB_HOME_DIR (/var/tmp/flott-mariadb), which that user can reach.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
port=${MARIADB_PORT:-13306}
if [ "$(id -u)" = 0 ]; then
    owner=${MARIADB_USER:-mysql}
    home=${MARIADB_HOME_DIR:-/var/tmp/flott-mariadb}
    user=(--user="$owner")
else
    owner=$(id -un)
    home=${MARIADB_HOME_DIR:-$here/../target/mariadb}
    user=()
fi
data=$home/$port
address="jdbc:mariadb://127.0.0.1:$port/test?user=flott&password=secret"

need() { command -v "$1" >/dev/null || { echo "mariadb.sh: $1 is not installed ($2)" >&2; exit 3; }; }

pid() { [ -e "$data/flott.pid" ] && kill -0 "$(cat "$data/flott.pid")" 2>/dev/null && cat "$data/flott.pid"; }

sql() { mariadb --no-defaults -h 127.0.0.1 -P "$port" -u flott -psecret "${2:-test}" -e "$1"; }

answers() { sql 'SELECT 1' >/dev/null 2>&1; }

start() {
    if pid >/dev/null; then echo "$address"; return; fi
    need mariadbd "Debian: mariadb-server"
    [ "${1:-}" = --fresh ] && rm -rf "$data"
    if [ ! -e "$data/mysql" ]; then
        mkdir -p "$data"
        [ "$(id -u)" != 0 ] || chown "$owner" "$home" "$data"
        mariadb-install-db --no-defaults --datadir="$data" "${user[@]}" --auth-root-authentication-method=normal \
            --skip-test-db >"$home/install.log" 2>&1 || { cat "$home/install.log" >&2; exit 1; }
    fi
    cat > "$home/init-$port.sql" <<SQL
CREATE DATABASE IF NOT EXISTS test CHARACTER SET utf8mb4;
CREATE USER IF NOT EXISTS 'flott'@'%' IDENTIFIED BY 'secret';
CREATE USER IF NOT EXISTS 'flott'@'localhost' IDENTIFIED BY 'secret';
GRANT ALL PRIVILEGES ON *.* TO 'flott'@'%';
GRANT ALL PRIVILEGES ON *.* TO 'flott'@'localhost';
SQL
    chmod 644 "$home/init-$port.sql"
    mariadbd --no-defaults "${user[@]}" --datadir="$data" --port="$port" --bind-address=127.0.0.1 \
        --socket="$data/socket" --pid-file="$data/server.pid" --init-file="$(cd "$home" && pwd)/init-$port.sql" \
        --innodb-flush-log-at-trx-commit=2 --skip-log-bin >>"$home/out" 2>&1 &
    echo $! > "$data/flott.pid"
    for _ in $(seq 600); do
        pid >/dev/null || break
        if answers; then echo "$address"; return; fi
        sleep 0.1
    done
    echo "mariadb.sh: the server does not start; its last words ($home/out):" >&2
    tail -n 20 "$home/out" >&2
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
    rm -f "$data/flott.pid"
}

case "${1:-}" in
    start) start "${2:-}" ;;
    stop) end TERM ;;
    kill) end KILL ;;
    status) pid >/dev/null && echo "$address" ;;
    sql) sql "$2" ;;
    *) sed -n '2,14s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
