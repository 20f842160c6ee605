//! What every database can do once a connection is made, and how it fails.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use flott_catalog::connector::ConnectorError;
use flott_types::{DataType, Value};
use jiff::tz::TimeZone;

use super::address::Address;

/// A connection to a database.
pub(super) trait Connection: Send {
    /// Runs a query and hands over its rows in blocks, by column, until there are no more or `take`
    /// says false. `columns` are those of the query.
    fn query(
        &mut self,
        query: &Statement,
        columns: &[Column],
        block: usize,
        take: &mut dyn FnMut(Vec<Vec<Value>>) -> Result<bool, DatabaseError>,
    ) -> Result<(), DatabaseError>;

    /// Runs statements in one transaction. Where one fails nothing of them holds, unless the
    /// connection was lost on the way.
    fn transact(&mut self, statements: &[Statement]) -> Result<(), DatabaseError>;
}

/// How to connect.
#[derive(Clone)]
pub(super) struct Login {
    pub(super) address: Address,
    pub(super) user: Option<String>,
    pub(super) password: Option<String>,
    /// How long making a connection may take.
    pub(super) timeout: Duration,
    /// The session's time zone.
    pub(super) zone: TimeZone,
}

/// A column of a query or table.
#[derive(Debug, Clone)]
pub(super) struct Column {
    pub(super) name: Arc<str>,
    pub(super) data_type: DataType,
}

/// SQL text with the values of its parameters.
#[derive(Debug, Clone)]
pub(super) struct Statement {
    pub(super) sql: Arc<str>,
    /// The parameters' types; when they are fewer than the values, they come again.
    pub(super) types: Arc<[DataType]>,
    /// The parameters in order.
    pub(super) values: Vec<Value>,
}

impl Statement {
    /// SQL without parameters.
    pub(super) fn plain(sql: impl Into<Arc<str>>) -> Self {
        Self { sql: sql.into(), types: Arc::new([]), values: Vec::new() }
    }

    /// The parameters with their types.
    pub(super) fn parameters(&self) -> impl ExactSizeIterator<Item = (&Value, &DataType)> {
        let types = &self.types;
        self.values.iter().enumerate().map(move |(i, value)| (value, &types[i % types.len()]))
    }
}

/// What a database refused, or that it is gone.
#[derive(Debug, Clone)]
pub(super) struct DatabaseError {
    pub(super) kind: ErrorKind,
    pub(super) message: String,
    /// Which of several statements failed.
    pub(super) statement: usize,
}

/// Whether trying again may help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ErrorKind {
    /// The connection is of no more use; another may be.
    Lost,
    /// Others were in the way: the same may pass later.
    Busy,
    /// It will fail again.
    Rejected,
}

impl DatabaseError {
    pub(super) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), statement: 0 }
    }

    /// An error that comes again.
    pub(super) fn rejected(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Rejected, message)
    }

    /// A value of the database that is none of the type declared.
    pub(super) fn unreadable(column: &Column, found: impl fmt::Display) -> Self {
        Self::rejected(format!(
            "column '{}' is declared as {}, but the database holds {found}",
            column.name,
            column.data_type.summary()
        ))
    }

    /// The same of one statement among several.
    pub(super) fn of_statement(mut self, statement: usize) -> Self {
        self.statement = statement;
        self
    }

    /// Whether trying again may help.
    pub(super) fn is_transient(&self) -> bool {
        self.kind != ErrorKind::Rejected
    }
}

impl From<DatabaseError> for ConnectorError {
    fn from(error: DatabaseError) -> Self {
        let connector = ConnectorError::new(error.message);
        if error.kind == ErrorKind::Rejected { connector } else { connector.transient() }
    }
}
