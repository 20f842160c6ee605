//! SQLite: databases that are files, used in process.

use std::time::Duration;

use flott_catalog::connector::{Predicate, PredicateSupport};
use flott_types::{DataType, Schema, TypeRoot, Value};
use jiff::tz::TimeZone;
use rusqlite::types::{ToSqlOutput, Value as Owned, ValueRef};
use rusqlite::{OpenFlags, ToSql, TransactionBehavior, ffi};

use super::cell::Cell;
use super::connection::{Column, Connection, DatabaseError, ErrorKind, Login, Statement};
use super::dialect::{Dialect, quoted};
use super::text;

/// The dialect of SQLite.
pub(super) struct Sqlite;

/// How long a statement waits for other processes that write the file.
const BUSY: Duration = Duration::from_secs(10);

impl Dialect for Sqlite {
    fn name(&self) -> &'static str {
        "SQLite"
    }

    fn subprotocols(&self) -> &'static [&'static str] {
        &["sqlite"]
    }

    fn drivers(&self) -> &'static [&'static str] {
        &["org.sqlite.JDBC"]
    }

    fn supports(&self, data_type: &DataType) -> bool {
        supports(data_type)
    }

    fn quote(&self, name: &str) -> String {
        // What stands between double quotes and is no name becomes a text.
        quoted(name, '`')
    }

    fn parameter(&self, out: &mut String, _: usize) {
        out.push('?');
    }

    fn max_parameters(&self) -> usize {
        32_766
    }

    fn on_conflict(&self, key: &[&str], others: &[&str]) -> String {
        on_conflict(key, others)
    }

    /// Columns hold values of any kind, so only numbers compare as in the job.
    fn predicate_support(&self, predicate: &Predicate, schema: &Schema) -> PredicateSupport {
        let root = |column: &usize| &schema.fields[*column].data_type.root;
        match predicate {
            Predicate::IsNull { .. } => PredicateSupport::Decides,
            Predicate::Compare { column, op, .. } => match root(column) {
                root if root.is_integer() => PredicateSupport::Decides,
                TypeRoot::Double => PredicateSupport::Decides,
                // A column may be declared to compare without regard to case.
                TypeRoot::Varchar(_) if op.sql() == "=" => PredicateSupport::Narrows,
                _ => PredicateSupport::None,
            },
            _ => PredicateSupport::None,
        }
    }

    fn connect(&self, login: &Login) -> Result<Box<dyn Connection>, DatabaseError> {
        let path = &login.address.database;
        if path.is_empty() || path == ":memory:" {
            return Err(DatabaseError::rejected(
                "a database of SQLite in memory is seen by one connection only: name a file",
            ));
        }
        let opened =
            rusqlite::Connection::open_with_flags(path, OpenFlags::default()).map_err(failed)?;
        opened.busy_timeout(BUSY).map_err(failed)?;
        Ok(Box::new(SqliteConnection { connection: opened, zone: login.zone.clone() }))
    }
}

/// The types that scalar columns of all databases take.
pub(super) fn supports(data_type: &DataType) -> bool {
    use TypeRoot::*;
    match &data_type.root {
        Boolean | TinyInt | SmallInt | Int | BigInt | Float | Double | Decimal { .. } => true,
        Char(_) | Varchar(_) | Binary(_) | Varbinary(_) | Date | Time(_) => true,
        Timestamp(p) | TimestampLtz(p) => *p <= 6,
        _ => false,
    }
}

/// The clause of PostgreSQL and SQLite.
pub(super) fn on_conflict(key: &[&str], others: &[&str]) -> String {
    let sets: Vec<String> = others.iter().map(|name| format!("{name} = EXCLUDED.{name}")).collect();
    let action =
        if sets.is_empty() { "NOTHING".into() } else { format!("UPDATE SET {}", sets.join(", ")) };
    format!(" ON CONFLICT ({}) DO {action}", key.join(", "))
}

struct SqliteConnection {
    connection: rusqlite::Connection,
    zone: TimeZone,
}

/// Reads what a scan copied.
const COPY: &str = "SELECT * FROM temp.flott_scan ORDER BY rowid";

impl SqliteConnection {
    /// Whether nobody can write while rows are read: so it is without a write-ahead log.
    fn readers_lock(&self) -> Result<bool, DatabaseError> {
        let mode = self.connection.pragma_query_value(None, "journal_mode", |row| row.get(0));
        mode.map(|mode: String| !mode.eq_ignore_ascii_case("wal")).map_err(failed)
    }

    /// Copies the rows of a scan into a file of the connection's own: a job that reads and writes one
    /// database would else wait for itself.
    fn copy(&self, query: &Statement) -> rusqlite::Result<()> {
        self.connection.execute("DROP TABLE IF EXISTS temp.flott_scan", [])?;
        let sql = format!("CREATE TEMPORARY TABLE flott_scan AS {}", query.sql);
        let parameters = query.parameters().map(|(value, ty)| Parameter(value, ty));
        self.connection.execute(&sql, rusqlite::params_from_iter(parameters))?;
        Ok(())
    }
}

impl Connection for SqliteConnection {
    fn query(
        &mut self,
        query: &Statement,
        columns: &[Column],
        block: usize,
        take: &mut dyn FnMut(Vec<Vec<Value>>) -> Result<bool, DatabaseError>,
    ) -> Result<(), DatabaseError> {
        let copies = block != usize::MAX && self.readers_lock()?;
        if copies {
            self.copy(query).map_err(failed)?;
        }
        let sql = if copies { COPY } else { &*query.sql };
        let mut statement = self.connection.prepare_cached(sql).map_err(failed)?;
        let values = query.parameters().filter(|_| !copies);
        let parameters = values.map(|(value, ty)| Parameter(value, ty));
        let mut rows = statement.query(rusqlite::params_from_iter(parameters)).map_err(failed)?;
        let fresh = || -> Vec<Vec<Value>> { columns.iter().map(|_| Vec::new()).collect() };
        let (mut values, mut count) = (fresh(), 0);
        while let Some(row) = rows.next().map_err(failed)? {
            for (at, column) in columns.iter().enumerate() {
                let cell = cell(row.get_ref(at).map_err(failed)?, &column.data_type);
                values[at].push(cell.value(column, &self.zone)?);
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
        // The lock for writing is taken at once: one that is taken later cannot be waited for.
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(failed)?;
        for (at, statement) in statements.iter().enumerate() {
            let run = || -> rusqlite::Result<()> {
                let mut prepared = transaction.prepare_cached(&statement.sql)?;
                let parameters = statement.parameters().map(|(value, ty)| Parameter(value, ty));
                prepared.execute(rusqlite::params_from_iter(parameters))?;
                Ok(())
            };
            run().map_err(|error| failed(error).of_statement(at))?;
        }
        transaction.commit().map_err(failed)
    }
}

/// What SQLite holds, seen as the type declared: numbers may be moments, as its JDBC driver writes them.
fn cell<'a>(value: ValueRef<'a>, data_type: &DataType) -> Cell<'a> {
    match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(millis) => match &data_type.root {
            TypeRoot::Date
            | TypeRoot::Time(_)
            | TypeRoot::Timestamp(_)
            | TypeRoot::TimestampLtz(_) => Cell::Instant(i128::from(millis) * 1_000_000),
            _ => Cell::Int(millis.into()),
        },
        ValueRef::Real(number) => Cell::Double(number),
        ValueRef::Text(bytes) => match &data_type.root {
            TypeRoot::Binary(_) | TypeRoot::Varbinary(_) => Cell::Bytes(bytes),
            _ => Cell::Text(String::from_utf8_lossy(bytes)),
        },
        ValueRef::Blob(bytes) => Cell::Bytes(bytes),
    }
}

struct Parameter<'a>(&'a Value, &'a DataType);

impl ToSql for Parameter<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self.0 {
            Value::Null => ToSqlOutput::Borrowed(ValueRef::Null),
            Value::Boolean(value) => ToSqlOutput::Owned(Owned::Integer((*value).into())),
            Value::Int(value) => ToSqlOutput::Owned(Owned::Integer(*value)),
            Value::Float(value) => ToSqlOutput::Owned(Owned::Real((*value).into())),
            Value::Double(value) => ToSqlOutput::Owned(Owned::Real(*value)),
            Value::String(value) => ToSqlOutput::Borrowed(ValueRef::Text(value.as_bytes())),
            Value::Bytes(value) => ToSqlOutput::Borrowed(ValueRef::Blob(value)),
            // SQLite's functions for dates read `+00:00`, not `+00`.
            Value::Timestamp(_) if matches!(self.1.root, TypeRoot::TimestampLtz(_)) => {
                ToSqlOutput::Owned(Owned::Text(text::write(self.0, self.1) + ":00"))
            }
            other => ToSqlOutput::Owned(Owned::Text(text::write(other, self.1))),
        })
    }
}

fn failed(error: rusqlite::Error) -> DatabaseError {
    let kind = match error.sqlite_error().map(|error| error.extended_code & 0xff) {
        Some(ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED) => ErrorKind::Busy,
        Some(ffi::SQLITE_IOERR) => ErrorKind::Lost,
        _ => ErrorKind::Rejected,
    };
    DatabaseError::new(kind, error.to_string())
}
