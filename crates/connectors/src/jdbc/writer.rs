//! The task that writes rows.

use std::sync::Arc;
use std::time::Instant;

use flott_catalog::connector::{Committable, ConnectorError, SinkWriter};
use flott_types::text::value_to_string;
use flott_types::{ChangelogBatch, DataType, RowKind, Value};
use indexmap::IndexMap;

use super::connection::{DatabaseError, ErrorKind, Statement};
use super::sink::SinkSpec;
use super::statement::{Names, insert, key_condition};
use super::table::Session;

/// How many rows a statement has: statements of few lengths are prepared few times.
const LENGTHS: [usize; 4] = [512, 64, 8, 1];

/// Gathers rows and writes them in statements of many.
pub(super) struct TableWriter {
    spec: SinkSpec,
    key: Vec<usize>,
    others: Vec<usize>,
    types: Arc<[DataType]>,
    key_types: Arc<[DataType]>,
    buffer: Buffer,
    /// Since when the first of the rows waits.
    since: Option<Instant>,
    session: Option<Session>,
}

/// The rows that wait.
enum Buffer {
    /// In order; the table has no key.
    Rows(Vec<Vec<Value>>),
    /// Of each key the last change: the row, or `None` where it goes.
    ByKey(IndexMap<String, (Vec<Value>, Option<Vec<Value>>)>),
}

impl TableWriter {
    /// Connects, so that a database that is not there is told of at once.
    pub(super) fn new(spec: SinkSpec) -> Result<Self, ConnectorError> {
        let (key, others) = spec.table.key_and_others();
        let types: Vec<DataType> =
            spec.table.columns.iter().map(|column| column.data_type.clone()).collect();
        let mut session = None;
        spec.table
            .retried(&mut session, spec.retries, |_| Ok(()))
            .map_err(|error| spec.table.failed(error))?;
        Ok(Self {
            key_types: key.iter().map(|at| types[*at].clone()).collect(),
            types: types.into(),
            buffer: if key.is_empty() {
                Buffer::Rows(Vec::new())
            } else {
                Buffer::ByKey(IndexMap::new())
            },
            since: None,
            session,
            key,
            others,
            spec,
        })
    }

    /// An old version goes like a deletion, as in Flink: what replaces it may not pass a filter.
    fn put(&mut self, kind: RowKind, row: Vec<Value>) {
        match &mut self.buffer {
            Buffer::Rows(rows) => rows.push(row),
            Buffer::ByKey(changes) => {
                let key: Vec<Value> = self.key.iter().map(|at| row[*at].clone()).collect();
                let text = format!("{key:?}");
                changes.insert(text, (key, kind.adds().then_some(row)));
            }
        }
    }

    fn is_due(&self) -> bool {
        let many = self.spec.rows.is_some_and(|most| self.buffer.len() >= most);
        let old = self.spec.interval.zip(self.since).is_some_and(|(most, t)| t.elapsed() >= most);
        many || old
    }

    /// Writes what waits. It waits no more only when it is written.
    fn send(&mut self) -> Result<(), ConnectorError> {
        if self.buffer.len() == 0 {
            return Ok(());
        }
        let (table, retries) = (self.spec.table.clone(), self.spec.retries);
        let mut session = self.session.take();
        let written = table.retried(&mut session, retries, |session| {
            let chunks = self.chunks();
            let statements: Vec<Statement> =
                chunks.iter().map(|chunk| self.statement(chunk, &session.names)).collect();
            session.connection.transact(&statements).map_err(|error| match error.kind {
                ErrorKind::Rejected => self.name_row(session, &chunks, error),
                _ => error,
            })
        });
        self.session = session;
        written.map_err(|error| table.failed(error))?;
        self.buffer.clear();
        self.since = None;
        Ok(())
    }

    /// Deletions first: a row that goes may hold a value that another one takes over.
    fn chunks(&self) -> Vec<Chunk<'_>> {
        let (deleted, written): (Vec<&[Value]>, Vec<&[Value]>) = match &self.buffer {
            Buffer::Rows(rows) => (Vec::new(), rows.iter().map(Vec::as_slice).collect()),
            Buffer::ByKey(changes) => (
                changes
                    .values()
                    .filter(|(_, row)| row.is_none())
                    .map(|(key, _)| &key[..])
                    .collect(),
                changes.values().filter_map(|(_, row)| row.as_deref()).collect(),
            ),
        };
        let most = self.spec.table.dialect.max_parameters() / self.types.len().max(1);
        let mut chunks = Vec::new();
        for (rows, deletes) in [(deleted, true), (written, false)] {
            let mut rest = rows.as_slice();
            while !rest.is_empty() {
                let fits = |length: &&usize| **length <= rest.len() && **length <= most.max(1);
                let length = LENGTHS.iter().find(fits).copied().unwrap_or(1);
                let (chunk, behind) = rest.split_at(length);
                chunks.push(Chunk { deletes, rows: chunk.to_vec() });
                rest = behind;
            }
        }
        chunks
    }

    fn statement(&self, chunk: &Chunk<'_>, names: &Names) -> Statement {
        let dialect = self.spec.table.dialect;
        let values = chunk.rows.iter().flat_map(|row| row.iter().cloned()).collect();
        if chunk.deletes {
            let condition = key_condition(dialect, names, &self.key, chunk.rows.len());
            let sql = format!("DELETE FROM {} WHERE {condition}", names.table);
            return Statement { sql: sql.into(), types: self.key_types.clone(), values };
        }
        let of = |columns: &[usize]| -> Vec<&str> {
            columns.iter().map(|at| names.columns[*at].as_str()).collect()
        };
        let rest = match self.key.is_empty() {
            true => String::new(),
            false => dialect.on_conflict(&of(&self.key), &of(&self.others)),
        };
        let sql = insert(dialect, names, chunk.rows.len(), &rest);
        Statement { sql, types: self.types.clone(), values }
    }

    /// The error with the row that the database refuses: all rows of the statement are tried one by
    /// one, and taken back again.
    fn name_row(
        &self,
        session: &mut Session,
        chunks: &[Chunk<'_>],
        error: DatabaseError,
    ) -> DatabaseError {
        let Some((at, chunk)) = chunks.iter().enumerate().nth(error.statement) else {
            return error;
        };
        let before = chunks[..at].iter().map(|chunk| self.statement(chunk, &session.names));
        let rows = chunk.rows.iter().map(|row| {
            self.statement(&Chunk { deletes: chunk.deletes, rows: vec![*row] }, &session.names)
        });
        let statements: Vec<Statement> = before.chain(rows).collect();
        let refused = match session.connection.transact(&statements) {
            Err(refused) if refused.kind == ErrorKind::Rejected => refused,
            _ => return error,
        };
        let Some(row) = refused.statement.checked_sub(at).and_then(|row| chunk.rows.get(row))
        else {
            return error;
        };
        let types = if chunk.deletes { &self.key_types } else { &self.types };
        let zone = &self.spec.table.login.zone;
        let shown: Vec<String> =
            row.iter().zip(types.iter()).map(|(v, ty)| value_to_string(v, ty, zone)).collect();
        let what = if chunk.deletes { "deleting the row of key" } else { "writing the row" };
        DatabaseError {
            message: format!("{} ({what} ({}))", refused.message, shown.join(", ")),
            ..refused
        }
    }
}

/// Rows of one statement; of deletions their keys.
struct Chunk<'a> {
    deletes: bool,
    rows: Vec<&'a [Value]>,
}

impl Buffer {
    fn len(&self) -> usize {
        match self {
            Self::Rows(rows) => rows.len(),
            Self::ByKey(changes) => changes.len(),
        }
    }

    fn clear(&mut self) {
        match self {
            Self::Rows(rows) => rows.clear(),
            Self::ByKey(changes) => changes.clear(),
        }
    }
}

impl SinkWriter for TableWriter {
    fn write(&mut self, batch: &ChangelogBatch) -> Result<(), ConnectorError> {
        if !batch.is_empty() {
            self.since.get_or_insert_with(Instant::now);
        }
        for row in 0..batch.len() {
            let columns = batch.rows.columns().iter().zip(self.types.iter());
            let values = columns.map(|(column, ty)| Value::from_array(column, row, ty)).collect();
            self.put(batch.kind(row), values);
        }
        if self.is_due() { self.send() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), ConnectorError> {
        self.send()
    }

    fn prepare_commit(&mut self, _: bool) -> Result<Vec<Committable>, ConnectorError> {
        self.send()?;
        Ok(Vec::new())
    }
}
