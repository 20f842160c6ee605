//! A table of a database: what its options say, and how it is opened.

use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use flott_catalog::connector::{ConnectorError, LookupCache, TableContext};

use super::JDBC;
use super::address::Address;
use super::connection::{Column, Connection, DatabaseError, ErrorKind, Login};
use super::dialect::{self, Dialect};
use super::options::{DRIVER, PASSWORD, RETRY_TIMEOUT, TABLE_NAME, URL, USERNAME};
use super::statement::Names;
use crate::common::{invalid, validate};

/// A table whose options and types are checked.
pub(super) struct Table {
    pub(super) context: TableContext,
    pub(super) dialect: &'static dyn Dialect,
    pub(super) login: Login,
    pub(super) columns: Vec<Column>,
    name: String,
}

/// A connection, with what the table and its columns are called there.
pub(super) struct Session {
    pub(super) connection: Box<dyn Connection>,
    pub(super) names: Names,
}

impl Table {
    /// Reads and checks the options that reading and writing share.
    pub(super) fn of(context: &TableContext) -> Result<Self, ConnectorError> {
        validate(context, &JDBC)?;
        LookupCache::of(&context.options)?;
        let options = &context.options;
        let address = Address::parse(options.text(&URL).unwrap_or_default())?;
        let dialect = dialect::of(&address)?;
        if let Some(driver) = options.raw(DRIVER.key).map(str::trim)
            && !dialect.drivers().contains(&driver)
        {
            let wanted = format!("for {}: {}", dialect.name(), dialect.drivers().join(", "));
            return Err(invalid(DRIVER.key, driver, &wanted));
        }
        let timeout = options.duration(&RETRY_TIMEOUT)?.unwrap_or(Duration::from_secs(60));
        if timeout < Duration::from_secs(1) {
            let text = options.text(&RETRY_TIMEOUT).unwrap_or_default();
            return Err(invalid(RETRY_TIMEOUT.key, text, "a duration from 1 s"));
        }
        let columns: Vec<Column> = context
            .schema
            .fields
            .iter()
            .map(|field| Column { name: field.name.clone(), data_type: field.data_type.clone() })
            .collect();
        if let Some(column) = columns.iter().find(|column| !dialect.supports(&column.data_type)) {
            return Err(ConnectorError::new(format!(
                "column '{}' is of type {}, which tables of {} do not have",
                column.name,
                column.data_type.summary(),
                dialect.name()
            ))
            .hint("docs/jdbc.md lists the types of each database"));
        }
        Ok(Self {
            login: login(context, address, timeout)?,
            name: options.text(&TABLE_NAME).unwrap_or_default().into(),
            context: context.clone(),
            dialect,
            columns,
        })
    }

    /// Connects and finds the table.
    pub(super) fn open(&self) -> Result<Session, DatabaseError> {
        let mut connection = self.dialect.connect(&self.login)?;
        let names = self.dialect.names(&mut *connection, &self.name, &self.columns)?;
        Ok(Session { connection, names })
    }

    /// Runs `work` in a session that is kept, and again after a pause when what went wrong may pass:
    /// up to `retries` times.
    pub(super) fn retried<T>(
        &self,
        session: &mut Option<Session>,
        retries: u32,
        mut work: impl FnMut(&mut Session) -> Result<T, DatabaseError>,
    ) -> Result<T, DatabaseError> {
        let mut attempt = 0;
        loop {
            let opened = match session.take() {
                Some(session) => Ok(session),
                None => self.open(),
            };
            let failure = match opened {
                Err(error) => error,
                Ok(mut opened) => match work(&mut opened) {
                    Ok(result) => {
                        *session = Some(opened);
                        return Ok(result);
                    }
                    Err(error) => {
                        if error.kind != ErrorKind::Lost {
                            *session = Some(opened);
                        }
                        error
                    }
                },
            };
            if !failure.is_transient() || attempt == retries {
                return Err(failure);
            }
            attempt += 1;
            tracing::warn!(
                table = self.context.identifier,
                attempt,
                error = failure.message,
                "trying again"
            );
            sleep(Duration::from_secs(attempt.into()));
        }
    }

    /// An error that names the table and the database.
    pub(super) fn failed(&self, error: DatabaseError) -> ConnectorError {
        let address = self.login.address.shown();
        let hint = (error.kind == ErrorKind::Lost)
            .then(|| format!("check that the database runs and that '{}' is right", URL.key));
        let mut failed =
            ConnectorError::from(error).at(format!("table '{}' of {address}", self.name));
        failed.hint = hint;
        failed
    }

    /// The columns of the primary key as positions, and the others.
    pub(super) fn key_and_others(&self) -> (Vec<usize>, Vec<usize>) {
        let key = self.context.primary_key.clone();
        let others = (0..self.columns.len()).filter(|at| !key.contains(at)).collect();
        (key, others)
    }

    /// The positions of columns, as columns.
    pub(super) fn columns_at(&self, positions: &[usize]) -> Vec<Column> {
        positions.iter().map(|at| self.columns[*at].clone()).collect()
    }
}

fn login(
    context: &TableContext,
    address: Address,
    timeout: Duration,
) -> Result<Login, ConnectorError> {
    let options = &context.options;
    let user = options.raw(USERNAME.key);
    let password = options.raw(PASSWORD.key);
    if user.is_some() != password.is_some() {
        return Err(ConnectorError::new(format!(
            "either all or none of the options '{}' and '{}' must be set",
            USERNAME.key, PASSWORD.key
        )));
    }
    let mut address = address;
    // As other paths are, relative to the session's directory.
    let path = &address.database;
    if address.subprotocol == "sqlite" && !path.is_empty() && !path.starts_with([':', '/']) {
        let path = context.working_directory.join(path);
        address.database = path.to_string_lossy().into_owned();
    }
    let of_address = |name: &str| address.property(name).map(str::to_string);
    Ok(Login {
        user: user.map(str::to_string).or_else(|| of_address("user")),
        password: password.map(str::to_string).or_else(|| of_address("password")),
        timeout,
        zone: context.zone.clone(),
        address,
    })
}

/// A number of retries; it must not be negative.
pub(super) fn retries(
    context: &TableContext,
    def: &flott_catalog::connector::OptionDef,
) -> Result<u32, ConnectorError> {
    let number = context.options.int(def)?.unwrap_or_default();
    u32::try_from(number).map_err(|_| invalid(def.key, &number.to_string(), "a number from 0"))
}

/// A table that threads share.
pub(super) type TableRef = Arc<Table>;
