//! PostgreSQL.

mod catalog;
mod decode;
mod encode;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use flott_catalog::connector::{Predicate, PredicateSupport};
use flott_types::{DataType, Schema, TypeRoot, Value};
use jiff::tz::TimeZone;
use postgres::error::SqlState;
use postgres::types::ToSql;
use postgres::{Client, Config, NoTls};

use super::catalog::Metadata;
use super::connection::{Column, Connection, DatabaseError, ErrorKind, Login, Statement};
use super::dialect::{Dialect, parts, quoted};
use super::sqlite;
use super::statement::Names;
use decode::Raw;
use encode::Parameter;

/// The dialect of PostgreSQL.
pub(super) struct Postgres;

const PORT: u16 = 5432;

impl Dialect for Postgres {
    fn name(&self) -> &'static str {
        "PostgreSQL"
    }

    fn subprotocols(&self) -> &'static [&'static str] {
        &["postgresql"]
    }

    fn drivers(&self) -> &'static [&'static str] {
        &["org.postgresql.Driver"]
    }

    fn supports(&self, data_type: &DataType) -> bool {
        match &data_type.root {
            TypeRoot::Array(element) => self.supports(element),
            _ => sqlite::supports(data_type),
        }
    }

    fn quote(&self, name: &str) -> String {
        quoted(name, '"')
    }

    fn parameter(&self, out: &mut String, number: usize) {
        out.push('$');
        out.push_str(&number.to_string());
    }

    fn max_parameters(&self) -> usize {
        65_535
    }

    fn on_conflict(&self, key: &[&str], others: &[&str]) -> String {
        sqlite::on_conflict(key, others)
    }

    /// Texts are in the order of their collation, and CHAR columns are equal without regard to blanks
    /// at the end.
    fn predicate_support(&self, predicate: &Predicate, schema: &Schema) -> PredicateSupport {
        use TypeRoot::*;
        match predicate {
            Predicate::IsNull { .. } => PredicateSupport::Decides,
            Predicate::Like { column, .. } => match schema.fields[*column].data_type.root {
                Varchar(_) => PredicateSupport::Narrows,
                _ => PredicateSupport::None,
            },
            Predicate::Compare { column, op, .. } => match schema.fields[*column].data_type.root {
                TinyInt | SmallInt | Int | BigInt | Decimal { .. } | Double | Date | Boolean => {
                    PredicateSupport::Decides
                }
                Timestamp(_) | TimestampLtz(_) => PredicateSupport::Decides,
                Varchar(_) if op.sql() == "=" => PredicateSupport::Narrows,
                _ => PredicateSupport::None,
            },
            _ => PredicateSupport::None,
        }
    }

    fn connect(&self, login: &Login) -> Result<Box<dyn Connection>, DatabaseError> {
        let client = config(login)?.connect(NoTls).map_err(failed)?;
        Ok(Box::new(PostgresConnection {
            client,
            prepared: HashMap::new(),
            zone: login.zone.clone(),
        }))
    }

    fn metadata(&self) -> Option<&'static dyn Metadata> {
        Some(&catalog::PostgresMetadata)
    }

    /// Flink writes names without quotes, so that capital letters do not count: they count here only
    /// where the database has a name with just these.
    fn names(
        &self,
        connection: &mut dyn Connection,
        table: &str,
        columns: &[Column],
    ) -> Result<Names, DatabaseError> {
        let parts = parts(table, '"');
        let exact: Vec<String> = parts.iter().map(|(name, _)| self.quote(name)).collect();
        let folded: Vec<String> = parts
            .iter()
            .map(|(name, quoted)| if *quoted { name.clone() } else { name.to_lowercase() })
            .map(|name| self.quote(&name))
            .collect();
        for table in [exact.join("."), folded.join(".")] {
            let known = column_names(connection, &table)?;
            if known.is_empty() {
                continue;
            }
            let columns = columns.iter().map(|column| {
                let is = |name: &str| known.iter().any(|known| known == name);
                let lower = column.name.to_lowercase();
                match &*column.name {
                    name if is(name) => Ok(self.quote(name)),
                    _ if is(&lower) => Ok(self.quote(&lower)),
                    name => Err(DatabaseError::rejected(format!(
                        "there is no column '{name}'; the table has {}",
                        known.join(", ")
                    ))),
                }
            });
            return Ok(Names { columns: columns.collect::<Result<_, _>>()?, table });
        }
        Err(DatabaseError::rejected("the database has no such table"))
    }
}

/// The columns of a table in quotes; none when there is no such table.
fn column_names(
    connection: &mut dyn Connection,
    table: &str,
) -> Result<Vec<String>, DatabaseError> {
    let query = Statement {
        sql: "SELECT attname FROM pg_catalog.pg_attribute \
              WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum"
            .into(),
        types: Arc::new([DataType::string()]),
        values: vec![Value::string(table)],
    };
    let columns = [Column { name: "attname".into(), data_type: DataType::string() }];
    let mut names = Vec::new();
    connection.query(&query, &columns, usize::MAX, &mut |mut rows| {
        names.extend(rows.remove(0).iter().filter_map(Value::as_str).map(str::to_string));
        Ok(true)
    })?;
    Ok(names)
}

fn config(login: &Login) -> Result<Config, DatabaseError> {
    let address = &login.address;
    let seconds = Duration::from_secs(1);
    let mut config = Config::new();
    for (host, port) in &address.hosts {
        config.host(host).port(port.unwrap_or(PORT));
    }
    if address.hosts.is_empty() {
        config.host("localhost").port(PORT);
    }
    let user = login.user.clone().unwrap_or_else(|| "postgres".into());
    let database = if address.database.is_empty() { &user } else { &address.database };
    config.user(&user).dbname(database);
    if let Some(password) = &login.password {
        config.password(password);
    }
    let limit = address.duration("connectTimeout", seconds).unwrap_or(login.timeout);
    config.connect_timeout(limit.min(login.timeout)).keepalives_idle(60 * seconds);
    if let Some(limit) = address.duration("socketTimeout", seconds) {
        config.tcp_user_timeout(limit);
    }
    let wants_tls = match address.property("sslmode") {
        Some(mode) => !matches!(mode, "disable" | "allow" | "prefer"),
        None => address.property("ssl").is_some_and(|ssl| ssl != "false"),
    };
    if wants_tls {
        return Err(DatabaseError::rejected(
            "connections to PostgreSQL by TLS are not part of this program: leave out 'sslmode'",
        ));
    }
    config.application_name(address.property("ApplicationName").unwrap_or("flott"));
    if let Some(schema) = address.property("currentSchema") {
        config.options(&format!("-c search_path={}", schema.replace(' ', "\\ ")));
    }
    Ok(config)
}

struct PostgresConnection {
    client: Client,
    prepared: HashMap<Arc<str>, postgres::Statement>,
    zone: TimeZone,
}

impl PostgresConnection {
    fn prepare(&mut self, sql: &Arc<str>) -> Result<postgres::Statement, DatabaseError> {
        if let Some(prepared) = self.prepared.get(sql) {
            return Ok(prepared.clone());
        }
        let prepared = self.client.prepare(sql).map_err(failed)?;
        self.prepared.insert(sql.clone(), prepared.clone());
        Ok(prepared)
    }

    /// Hands over rows; whether more are wanted.
    fn give(
        &self,
        rows: &[postgres::Row],
        columns: &[Column],
        take: &mut dyn FnMut(Vec<Vec<Value>>) -> Result<bool, DatabaseError>,
    ) -> Result<bool, DatabaseError> {
        if rows.is_empty() {
            return Ok(true);
        }
        let mut values: Vec<Vec<Value>> =
            columns.iter().map(|_| Vec::with_capacity(rows.len())).collect();
        for row in rows {
            for (at, column) in columns.iter().enumerate() {
                let raw: Raw<'_> = row.try_get(at).map_err(failed)?;
                let data_type = row.columns()[at].type_();
                let cell = decode::cell(raw.0, data_type).ok_or_else(|| {
                    DatabaseError::unreadable(column, format!("a value of type {data_type}"))
                })?;
                values[at].push(cell.value(column, &self.zone)?);
            }
        }
        take(values)
    }
}

impl Connection for PostgresConnection {
    /// Large results come through a cursor, part by part.
    fn query(
        &mut self,
        query: &Statement,
        columns: &[Column],
        block: usize,
        take: &mut dyn FnMut(Vec<Vec<Value>>) -> Result<bool, DatabaseError>,
    ) -> Result<(), DatabaseError> {
        let zone = self.zone.clone();
        let parameters: Vec<Parameter<'_>> =
            query.parameters().map(|(value, ty)| Parameter::new(value, ty, &zone)).collect();
        let parameters: Vec<&(dyn ToSql + Sync)> =
            parameters.iter().map(|parameter| parameter as &(dyn ToSql + Sync)).collect();
        if block == usize::MAX {
            let prepared = self.prepare(&query.sql)?;
            let rows = self.client.query(&prepared, &parameters).map_err(failed)?;
            return self.give(&rows, columns, take).map(drop);
        }
        self.client.batch_execute("BEGIN READ ONLY").map_err(failed)?;
        let declare = format!("DECLARE flott NO SCROLL CURSOR FOR {}", query.sql);
        self.client.execute(&declare, &parameters).map_err(failed)?;
        let fetch = self.client.prepare(&format!("FETCH FORWARD {block} FROM flott"));
        let fetch = fetch.map_err(failed)?;
        loop {
            let rows = self.client.query(&fetch, &[]).map_err(failed)?;
            if !self.give(&rows, columns, take)? || rows.len() < block {
                break;
            }
        }
        self.client.batch_execute("COMMIT").map_err(failed)
    }

    fn transact(&mut self, statements: &[Statement]) -> Result<(), DatabaseError> {
        let zone = self.zone.clone();
        let prepared: Vec<postgres::Statement> = statements
            .iter()
            .enumerate()
            .map(|(at, of)| self.prepare(&of.sql).map_err(|error| error.of_statement(at)))
            .collect::<Result<_, _>>()?;
        let mut transaction = self.client.transaction().map_err(failed)?;
        for (at, (statement, prepared)) in statements.iter().zip(&prepared).enumerate() {
            let parameters: Vec<Parameter<'_>> =
                statement.parameters().map(|(v, ty)| Parameter::new(v, ty, &zone)).collect();
            let parameters: Vec<&(dyn ToSql + Sync)> =
                parameters.iter().map(|parameter| parameter as &(dyn ToSql + Sync)).collect();
            transaction
                .execute(prepared, &parameters)
                .map_err(|error| failed(error).of_statement(at))?;
        }
        transaction.commit().map_err(failed)
    }
}

fn failed(error: postgres::Error) -> DatabaseError {
    let Some(database) = error.as_db_error() else {
        let rejected = error.to_string().starts_with("error serializing")
            || error.to_string().starts_with("error deserializing")
            || error.to_string().starts_with("invalid configuration");
        let kind = if rejected { ErrorKind::Rejected } else { ErrorKind::Lost };
        return DatabaseError::new(kind, with_cause(&error));
    };
    let code = database.code();
    let kind =
        if [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED].contains(code) {
            ErrorKind::Busy
        } else if [
            SqlState::ADMIN_SHUTDOWN,
            SqlState::CRASH_SHUTDOWN,
            SqlState::CANNOT_CONNECT_NOW,
            SqlState::TOO_MANY_CONNECTIONS,
        ]
        .contains(code)
            || code.code().starts_with("08")
        {
            ErrorKind::Lost
        } else {
            ErrorKind::Rejected
        };
    let detail = database.detail().map(|detail| format!(" ({detail})")).unwrap_or_default();
    DatabaseError::new(kind, format!("{}{detail}", database.message()))
}

/// The message with those of its causes.
fn with_cause(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
