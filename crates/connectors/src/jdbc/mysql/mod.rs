//! MySQL and MariaDB.
//!
//! Connections run in UTC, so that a TIMESTAMP column and a value are the same instant whatever the zone
//! of the server.

mod catalog;

use std::time::Duration;

use flott_catalog::connector::{Predicate, PredicateSupport};
use flott_types::{DataType, Schema, TypeRoot, Value};
use jiff::civil;
use jiff::tz::TimeZone;
use mysql::consts::ColumnType;
use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder, Params, TxOpts, Value as Wire};

use super::catalog::Metadata;
use super::cell::Cell;
use super::connection::{Column, Connection, DatabaseError, ErrorKind, Login, Statement};
use super::dialect::{Dialect, quoted};
use super::sqlite;
use super::text;

/// The dialect of MySQL and MariaDB.
pub(super) struct MySql;

/// Prepared statements that a connection keeps.
const PREPARED: usize = 64;

impl Dialect for MySql {
    fn name(&self) -> &'static str {
        "MySQL"
    }

    fn subprotocols(&self) -> &'static [&'static str] {
        &["mysql", "mariadb"]
    }

    fn drivers(&self) -> &'static [&'static str] {
        &["com.mysql.cj.jdbc.Driver", "com.mysql.jdbc.Driver", "org.mariadb.jdbc.Driver"]
    }

    fn supports(&self, data_type: &DataType) -> bool {
        sqlite::supports(data_type)
    }

    fn quote(&self, name: &str) -> String {
        quoted(name, '`')
    }

    fn parameter(&self, out: &mut String, _: usize) {
        out.push('?');
    }

    fn max_parameters(&self) -> usize {
        65_535
    }

    fn on_conflict(&self, key: &[&str], others: &[&str]) -> String {
        // A table that is all key: a row that is there stays as it is.
        let columns = if others.is_empty() { key } else { others };
        let sets: Vec<String> =
            columns.iter().map(|name| format!("{name} = VALUES({name})")).collect();
        format!(" ON DUPLICATE KEY UPDATE {}", sets.join(", "))
    }

    /// Texts are usually compared without regard to case.
    fn predicate_support(&self, predicate: &Predicate, schema: &Schema) -> PredicateSupport {
        use TypeRoot::*;
        match predicate {
            Predicate::IsNull { .. } => PredicateSupport::Decides,
            Predicate::Like { column, .. } => match schema.fields[*column].data_type.root {
                Varchar(_) => PredicateSupport::Narrows,
                _ => PredicateSupport::None,
            },
            Predicate::Compare { column, op, .. } => match schema.fields[*column].data_type.root {
                TinyInt | SmallInt | Int | BigInt | Decimal { .. } | Double | Date => {
                    PredicateSupport::Decides
                }
                Timestamp(_) | TimestampLtz(_) => PredicateSupport::Decides,
                Varchar(_) if op.sql() == "=" => PredicateSupport::Narrows,
                _ => PredicateSupport::None,
            },
            _ => PredicateSupport::None,
        }
    }

    fn metadata(&self) -> Option<&'static dyn Metadata> {
        Some(&catalog::MySqlMetadata)
    }

    fn connect(&self, login: &Login) -> Result<Box<dyn Connection>, DatabaseError> {
        let address = &login.address;
        let wants_tls = ["useSSL", "requireSSL"]
            .iter()
            .any(|name| address.property(name).is_some_and(|ssl| ssl.eq_ignore_ascii_case("true")))
            || address.property("sslMode").is_some_and(|mode| {
                !["disabled", "disable", "preferred", "trust"]
                    .contains(&mode.to_ascii_lowercase().as_str())
            });
        if wants_tls {
            return Err(DatabaseError::rejected(
                "connections to MySQL by TLS are not part of this program: leave out 'useSSL'",
            ));
        }
        let localhost = [("localhost".to_string(), None)];
        let hosts = if address.hosts.is_empty() { &localhost[..] } else { &address.hosts };
        let mut last = None;
        for (host, port) in hosts {
            match Conn::new(options(login, host, *port)) {
                Ok(connection) => return Ok(Box::new(MySqlConnection { connection })),
                Err(error) => last = Some(failed(error)),
            }
        }
        Err(last.unwrap_or_else(|| DatabaseError::rejected("the address names no server")))
    }
}

fn options(login: &Login, host: &str, port: Option<u16>) -> OptsBuilder {
    let address = &login.address;
    let millis = Duration::from_millis(1);
    let limit = address.duration("connectTimeout", millis).unwrap_or(login.timeout);
    OptsBuilder::new()
        .ip_or_hostname(Some(host))
        .tcp_port(port.unwrap_or(3306))
        .user(login.user.as_deref())
        .pass(login.password.as_deref())
        .db_name(Some(address.database.as_str()).filter(|name| !name.is_empty()))
        .tcp_connect_timeout(Some(limit.min(login.timeout)))
        .read_timeout(address.duration("socketTimeout", millis))
        .write_timeout(address.duration("socketTimeout", millis))
        .prefer_socket(false)
        .stmt_cache_size(PREPARED)
        .init(vec!["SET time_zone = '+00:00'"])
}

struct MySqlConnection {
    connection: Conn,
}

impl Connection for MySqlConnection {
    fn query(
        &mut self,
        query: &Statement,
        columns: &[Column],
        block: usize,
        take: &mut dyn FnMut(Vec<Vec<Value>>) -> Result<bool, DatabaseError>,
    ) -> Result<(), DatabaseError> {
        let rows = self.connection.exec_iter(&*query.sql, parameters(query)).map_err(failed)?;
        let fresh = || -> Vec<Vec<Value>> { columns.iter().map(|_| Vec::new()).collect() };
        let (mut values, mut count) = (fresh(), 0);
        for row in rows {
            let row = row.map_err(failed)?;
            let kinds = row.columns_ref();
            for (at, column) in columns.iter().enumerate() {
                let wire = row.as_ref(at).unwrap_or(&Wire::NULL);
                let cell = cell(wire, kinds[at].column_type(), &column.data_type)
                    .ok_or_else(|| DatabaseError::unreadable(column, "a moment that is none"))?;
                values[at].push(cell.value(column, &TimeZone::UTC)?);
            }
            count += 1;
            if count == block {
                count = 0;
                if !take(std::mem::replace(&mut values, fresh()))? {
                    return Ok(());
                }
            }
        }
        if count > 0 {
            take(values)?;
        }
        Ok(())
    }

    fn transact(&mut self, statements: &[Statement]) -> Result<(), DatabaseError> {
        let mut transaction =
            self.connection.start_transaction(TxOpts::default()).map_err(failed)?;
        for (at, statement) in statements.iter().enumerate() {
            transaction
                .exec_drop(&*statement.sql, parameters(statement))
                .map_err(|error| failed(error).of_statement(at))?;
        }
        transaction.commit().map_err(failed)
    }
}

/// What came over the wire; `None` for moments that no calendar has, such as `0000-00-00`.
fn cell<'a>(wire: &'a Wire, kind: ColumnType, declared: &DataType) -> Option<Cell<'a>> {
    Some(match wire {
        Wire::NULL => Cell::Null,
        Wire::Int(number) => Cell::Int((*number).into()),
        Wire::UInt(number) => Cell::Int((*number).into()),
        Wire::Float(number) => Cell::Float(*number),
        Wire::Double(number) => Cell::Double(*number),
        Wire::Bytes(bytes) => match (kind, &declared.root) {
            (ColumnType::MYSQL_TYPE_BIT, TypeRoot::Binary(_) | TypeRoot::Varbinary(_)) => {
                Cell::Bytes(bytes)
            }
            (ColumnType::MYSQL_TYPE_BIT, _) => {
                Cell::Int(bytes.iter().fold(0, |number, byte| number << 8 | i128::from(*byte)))
            }
            (_, TypeRoot::Binary(_) | TypeRoot::Varbinary(_)) => Cell::Bytes(bytes),
            _ => Cell::Text(String::from_utf8_lossy(bytes)),
        },
        Wire::Date(year, month, day, hour, minute, second, micros) => {
            let (year, month, day) =
                (i16::try_from(*year).ok()?, i8::try_from(*month).ok()?, i8::try_from(*day).ok()?);
            let date = civil::Date::new(year, month, day).ok()?;
            let days = text::days(date);
            let seconds = u64::from(*hour) * 3600 + u64::from(*minute) * 60 + u64::from(*second);
            let nanos = i128::from(seconds) * 1_000_000_000 + i128::from(*micros) * 1000;
            match kind {
                ColumnType::MYSQL_TYPE_DATE | ColumnType::MYSQL_TYPE_NEWDATE => Cell::Date(days),
                _ => Cell::Local(i128::from(days) * text::DAY + nanos),
            }
        }
        Wire::Time(negative, days, hours, minutes, seconds, micros) => {
            if *negative || *days > 0 {
                return None;
            }
            let seconds = i64::from(*hours) * 3600 + i64::from(*minutes) * 60 + i64::from(*seconds);
            Cell::Time(seconds * 1_000_000_000 + i64::from(*micros) * 1000)
        }
    })
}

fn parameters(statement: &Statement) -> Params {
    if statement.values.is_empty() {
        return Params::Empty;
    }
    Params::Positional(statement.parameters().map(|(value, ty)| wire(value, ty)).collect())
}

fn wire(value: &Value, data_type: &DataType) -> Wire {
    match value {
        Value::Null => Wire::NULL,
        Value::Boolean(value) => Wire::Int((*value).into()),
        Value::Int(value) => Wire::Int(*value),
        Value::Float(value) => Wire::Float(*value),
        Value::Double(value) => Wire::Double(*value),
        Value::String(value) => Wire::Bytes(value.as_bytes().to_vec()),
        Value::Bytes(value) => Wire::Bytes(value.to_vec()),
        // All sessions are in UTC: the wall clock of an instant is that of UTC.
        Value::Timestamp(_) => {
            let precision = match data_type.root {
                TypeRoot::Timestamp(p) | TypeRoot::TimestampLtz(p) => p,
                _ => 6,
            };
            Wire::Bytes(text::write(value, &DataType::timestamp(precision)).into_bytes())
        }
        other => Wire::Bytes(text::write(other, data_type).into_bytes()),
    }
}

/// Codes of the server for what may pass: deadlock, time-out of a lock, too many connections, shutting down.
const PASSING: [(u16, ErrorKind); 5] = [
    (1213, ErrorKind::Busy),
    (1205, ErrorKind::Busy),
    (1040, ErrorKind::Lost),
    (1053, ErrorKind::Lost),
    (1927, ErrorKind::Lost),
];

fn failed(error: mysql::Error) -> DatabaseError {
    let kind = match &error {
        mysql::Error::MySqlError(server) => {
            let known = PASSING.iter().find(|(code, _)| *code == server.code);
            known.map_or(ErrorKind::Rejected, |(_, kind)| *kind)
        }
        mysql::Error::IoError(_) | mysql::Error::CodecError(_) => ErrorKind::Lost,
        mysql::Error::DriverError(mysql::DriverError::MismatchedStmtParams(..)) => {
            ErrorKind::Rejected
        }
        mysql::Error::DriverError(_) => ErrorKind::Lost,
        _ => ErrorKind::Rejected,
    };
    let message = match error {
        mysql::Error::MySqlError(server) => server.message,
        other => other.to_string(),
    };
    DatabaseError::new(kind, message)
}
