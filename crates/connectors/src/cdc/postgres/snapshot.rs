//! The rows there are, table after table under one snapshot, each in the order of its key.

use std::sync::Arc;

use flott_catalog::connector::ConnectorError;
use flott_types::RowKind;

use super::connection::{Connection, Fields, PgError};
use super::failure::failure;
use super::lsn::Lsn;
use super::position::{Position, Snapshot};
use super::tables::{TableInfo, quote};
use crate::cdc::progress::{Key, TableProgress};
use crate::cdc::rows::{Cell, Origin, Rows};

/// A transaction that reads tables.
pub(super) struct SnapshotReader {
    connection: Connection,
    infos: Vec<TableInfo>,
    snapshot: Snapshot,
    /// The table whose cursor is open: its place among the position's.
    open: Option<usize>,
    fetch_size: usize,
}

impl SnapshotReader {
    pub(super) fn new(
        mut connection: Connection,
        infos: Vec<TableInfo>,
        fetch_size: usize,
    ) -> Result<Self, ConnectorError> {
        let rows = connection.query(
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
             SELECT pg_catalog.txid_current_snapshot()::text,
                    pg_catalog.pg_current_wal_insert_lsn()::text",
        );
        let rows = rows.map_err(failure)?;
        let snapshot = match rows.first().map(Vec::as_slice) {
            Some([Some(snapshot), Some(lsn)]) => {
                Lsn::parse(lsn).and_then(|lsn| Snapshot::parse(snapshot, lsn))
            }
            _ => None,
        };
        let snapshot = snapshot.ok_or_else(|| failure(PgError::Protocol("no snapshot")))?;
        Ok(Self { connection, infos, snapshot, open: None, fetch_size })
    }

    /// Reads some rows of the first table that is not done into `rows`, and moves the position behind them.
    pub(super) fn read(
        &mut self,
        position: &mut Position,
        rows: &mut Rows,
        database: &str,
    ) -> Result<(), ConnectorError> {
        let Some(at) = position.tables.iter().position(|table| !table.is_done()) else {
            return Ok(());
        };
        let progress = &mut position.tables[at];
        let same = |info: &&TableInfo| info.schema == progress.schema && info.name == progress.name;
        let info = self.infos.iter().find(same).ok_or_else(|| {
            ConnectorError::new(format!(
                "the table {}.{} is gone in the middle of its snapshot",
                progress.schema, progress.name
            ))
        })?;
        if self.open != Some(at) {
            let declare = declare(info, progress, rows.names())?;
            self.connection.query(&declare).map_err(failure)?;
            self.open = Some(at);
        }
        let origin = Origin { database, schema: &info.schema, table: &info.name, at: 0 };
        let (wanted, width) = (rows.names().len(), rows.names().len() + info.key.len());
        let (mut count, mut last) = (0, Vec::new());
        let mut values: Vec<Option<(usize, usize)>> = Vec::with_capacity(width);
        let fetch = format!("FETCH {} FROM flott", self.fetch_size);
        self.connection.query_each(&fetch, |fields: Fields<'_>| {
            let body = fields.rest();
            values.clear();
            for field in fields {
                let place = |text: &[u8]| {
                    let from = text.as_ptr().addr() - body.as_ptr().addr();
                    (from, from + text.len())
                };
                values.push(field.map_err(Stop::Pg)?.map(place));
            }
            if values.len() != width {
                return Err(Stop::Pg(PgError::Protocol("a row of another width")));
            }
            let pushed = rows.push(RowKind::Insert, &origin, |column| {
                Ok(values[column].map_or(Cell::Null, |(from, to)| Cell::Text(&body[from..to])))
            });
            pushed.map_err(Stop::Row)?;
            count += 1;
            if count == self.fetch_size {
                let text = |place: &Option<(usize, usize)>| {
                    place.map_or(String::new(), |(from, to)| {
                        String::from_utf8_lossy(&body[from..to]).into_owned()
                    })
                };
                last = values[wanted..].iter().map(text).collect();
            }
            Ok::<_, Stop>(())
        })?;
        let more = count == self.fetch_size;
        progress.read(&self.snapshot, more.then_some(last));
        if !more {
            self.connection.query("CLOSE flott").map_err(failure)?;
            self.open = None;
        }
        Ok(())
    }
}

/// What ends reading early.
enum Stop {
    Pg(PgError),
    Row(ConnectorError),
}

impl From<PgError> for Stop {
    fn from(error: PgError) -> Self {
        Self::Pg(error)
    }
}

impl From<Stop> for ConnectorError {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Pg(error) => failure(error),
            Stop::Row(error) => error,
        }
    }
}

/// Opens the cursor on what is left of a table.
fn declare(
    info: &TableInfo,
    progress: &TableProgress<Snapshot>,
    wanted: &[Arc<str>],
) -> Result<String, ConnectorError> {
    let name = format!("{}.{}", info.schema, info.name);
    let key: Vec<_> = info.key.iter().map(|column| column.name.as_str()).collect();
    let behind: Option<&Key> = progress.last_key();
    if behind.is_some() && progress.key.is_empty() {
        return Err(ConnectorError::new(format!(
            "the snapshot of {name} ended in the middle, and without a primary key it cannot go on from there"
        ))
        .hint(
            "start the job without its state; a primary key, or \
             'scan.incremental.snapshot.chunk.key-column', lets a snapshot go on after a failure",
        ));
    }
    if progress.key != key {
        return Err(ConnectorError::new(format!(
            "the key of {name} was ({}) when its snapshot began and is ({}) now",
            progress.key.join(", "),
            key.join(", ")
        ))
        .hint("start the job without its state, so that a new snapshot is read"));
    }
    let columns: Vec<_> =
        wanted.iter().map(|name| &**name).chain(key.iter().copied()).map(quote).collect();
    // Rows of tables that inherit from this one are not its own.
    let only = if info.partitioned { "" } else { "ONLY " };
    let mut sql = format!(
        "DECLARE flott NO SCROLL CURSOR FOR SELECT {} FROM {only}{}",
        columns.join(", "),
        info.sql_name()
    );
    if let Some(behind) = behind {
        let (columns, values) = (info.key_columns(), info.key_values(behind));
        sql.push_str(&format!(" WHERE ({columns}) > ({values})"));
    }
    if !key.is_empty() {
        sql.push_str(&format!(" ORDER BY {}", info.key_columns()));
    }
    Ok(sql)
}
