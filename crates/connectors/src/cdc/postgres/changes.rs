//! The messages of the log as rows.

use std::collections::HashMap;
use std::sync::Arc;

use flott_catalog::connector::ConnectorError;
use flott_types::RowKind;

use super::failure::failure;
use super::key_order::KeyOrder;
use super::lsn::Lsn;
use super::messages::{self, Change, Old, Place, Relation, Tuple};
use super::position::{Position, Snapshot};
use super::table::Table;
use super::tables::TableInfo;
use crate::cdc::progress::{Key, TableProgress};
use crate::cdc::rows::{Cell, Origin, Rows};

/// Turns messages into rows, and moves the position as it does.
pub(super) struct Changes {
    table: Arc<Table>,
    infos: Vec<TableInfo>,
    order: KeyOrder,
    /// What is known of each relation; `None` for one that is not read.
    layouts: HashMap<u32, Option<Layout>>,
    transaction: Option<Transaction>,
    old: Vec<Place>,
    new: Vec<Place>,
}

/// The transaction that is being read.
#[derive(Debug, Clone, Copy)]
struct Transaction {
    commit: Lsn,
    xid: u32,
    /// In milliseconds since 1970.
    at: i64,
    /// How many of its changes have been seen.
    changes: u64,
    /// How many of them an earlier run has read.
    skip: u64,
}

/// Where the wanted values of a relation are.
struct Layout {
    relation: Relation,
    /// The position of each wanted column.
    wanted: Vec<usize>,
    /// The columns that say which row it is for whoever reads the changes.
    identity: Vec<usize>,
    /// The columns by whose order the snapshot is read, if all are told.
    key: Option<Vec<usize>>,
    /// The place among the infos.
    info: Option<usize>,
}

/// A row as it was or as it is.
#[derive(Clone, Copy)]
struct Row<'a> {
    tuple: Tuple<'a>,
    places: &'a [Place],
    key_only: bool,
}

impl Changes {
    pub(super) fn new(table: Arc<Table>, infos: Vec<TableInfo>) -> Self {
        Self {
            order: KeyOrder::new(table.connection.clone()),
            infos,
            layouts: HashMap::new(),
            transaction: None,
            old: Vec::new(),
            new: Vec::new(),
            table,
        }
    }

    /// Whether the log stands between two transactions.
    pub(super) fn is_between(&self) -> bool {
        self.transaction.is_none()
    }

    /// Reads a message: appends the rows of a change to `rows` and moves `position` behind it.
    pub(super) fn read(
        &mut self,
        message: &[u8],
        position: &mut Position,
        rows: &mut Rows,
    ) -> Result<(), ConnectorError> {
        let mut described = None;
        let change = messages::read(message, &mut |number, relation| {
            described = Some((number, relation));
        });
        match change.map_err(failure)? {
            Change::Begin { commit, at, xid } => {
                let skip = match position.transaction {
                    Some((of, done)) if of == commit => done,
                    _ => 0,
                };
                self.transaction = Some(Transaction { commit, xid, at, changes: 0, skip });
            }
            Change::Commit { end } => {
                self.transaction = None;
                position.advance(end);
            }
            Change::Relation => {
                if let Some((number, relation)) = described {
                    let layout = self.layout(relation, rows)?;
                    self.layouts.insert(number, layout);
                }
            }
            Change::Other => {}
            change => {
                let Some(transaction) = &mut self.transaction else {
                    return Err(ConnectorError::new(
                        "PostgreSQL sent a change outside of a transaction",
                    ));
                };
                transaction.changes += 1;
                let transaction = *transaction;
                if transaction.changes <= transaction.skip {
                    return Ok(());
                }
                if position.lsn <= transaction.commit {
                    self.change(&change, transaction, &position.tables, rows).map_err(|error| {
                        error.at(format!("PostgreSQL, transaction {}", transaction.commit))
                    })?;
                }
                position.transaction = Some((transaction.commit, transaction.changes));
            }
        }
        Ok(())
    }

    /// Finds the wanted columns of a relation. Fails when one of a table that is read is gone.
    fn layout(&self, relation: Relation, rows: &Rows) -> Result<Option<Layout>, ConnectorError> {
        if !self.table.wants(&relation.schema, &relation.name) {
            return Ok(None);
        }
        let find = |name: &str| relation.columns.iter().position(|(column, _)| column == name);
        let wanted = rows.names().iter().map(|name| {
            find(name).ok_or_else(|| {
                ConnectorError::new(format!(
                    "the table {}.{} has no column '{name}' any more",
                    relation.schema, relation.name
                ))
                .at(self.table.context.identifier.clone())
                .hint(
                    "declare the table as it is now; columns that were added need not be declared",
                )
            })
        });
        let wanted = wanted.collect::<Result<_, _>>()?;
        let same = |info: &TableInfo| info.schema == relation.schema && info.name == relation.name;
        let info = self.infos.iter().position(same);
        let context = &self.table.context;
        let declared = context.primary_key.iter().map(|at| &*context.schema.fields[*at].name);
        let mut identity: Vec<_> = declared.filter_map(find).collect();
        let of_table = info.map(|at| &self.infos[at].key);
        let key: Option<Vec<_>> =
            of_table.and_then(|key| key.iter().map(|column| find(&column.name)).collect());
        if identity.is_empty() {
            identity = key.clone().unwrap_or_default();
        }
        Ok(Some(Layout { wanted, identity, key, info, relation }))
    }

    fn change(
        &mut self,
        change: &Change<'_>,
        transaction: Transaction,
        tables: &[TableProgress<Snapshot>],
        rows: &mut Rows,
    ) -> Result<(), ConnectorError> {
        let (relation, old, new) = match change {
            Change::Insert { relation, new } => (relation, None, Some(new)),
            Change::Update { relation, old, new } => (relation, old.as_ref(), Some(new)),
            Change::Delete { relation, old } => (relation, Some(old), None),
            Change::Truncate { relations } => return self.truncate(relations),
            _ => return Ok(()),
        };
        let Some(layout) = self.layouts.get(relation) else {
            return Err(ConnectorError::new(
                "PostgreSQL sent a row of a relation it has not described",
            ));
        };
        let Some(layout) = layout else { return Ok(()) };
        self.old.clear();
        self.new.clear();
        if let Some(Old { tuple, .. }) = old {
            tuple.places(&mut self.old);
        }
        if let Some(tuple) = new {
            tuple.places(&mut self.new);
        }
        let was =
            old.map(|old| Row { tuple: old.tuple, places: &self.old, key_only: old.key_only });
        let is = new.map(|new| Row { tuple: *new, places: &self.new, key_only: false });
        let mut seen =
            Seen { layout, infos: &self.infos, order: &mut self.order, tables, transaction };
        let writer = Writer { table: &self.table, layout, transaction };
        match (is, was) {
            (Some(is), None) if matches!(change, Change::Insert { .. }) => {
                if !seen.has(is)? {
                    writer.push(rows, RowKind::Insert, is, None)?;
                }
            }
            // The key is as it was when the row as it was is not told.
            (Some(is), None) => {
                if !seen.has(is)? {
                    writer.update_unknown(rows, is)?;
                }
            }
            (Some(is), Some(was)) => {
                let moved = writer.has_moved(was, is);
                let new_seen = seen.has(is)?;
                let old_seen = if moved { seen.has(was)? } else { new_seen };
                writer.update(rows, (was, old_seen), (is, new_seen), moved)?;
            }
            (None, Some(was)) => {
                if !seen.has(was)? {
                    writer.push(rows, RowKind::Delete, was, None)?;
                }
            }
            (None, None) => {}
        }
        Ok(())
    }

    fn truncate(&self, relations: &[u32]) -> Result<(), ConnectorError> {
        let read = relations.iter().filter_map(|number| self.layouts.get(number)?.as_ref()).next();
        let Some(Layout { relation, .. }) = read else { return Ok(()) };
        let name = format!("{}.{}", relation.schema, relation.name);
        if self.table.skip_truncate {
            tracing::warn!(table = %name, "TRUNCATE is passed over: its rows stay");
            return Ok(());
        }
        Err(ConnectorError::new(format!(
            "TRUNCATE of {name}: the log does not tell which rows went, so they cannot be taken back"
        ))
        .hint(
            "use DELETE instead; to go on with the rows staying, as Flink CDC does, set \
             'debezium.skipped.operations' = 't'; or start the job without its state",
        ))
    }
}

/// Whether the snapshot has seen a change.
struct Seen<'a> {
    layout: &'a Layout,
    infos: &'a [TableInfo],
    order: &'a mut KeyOrder,
    tables: &'a [TableProgress<Snapshot>],
    transaction: Transaction,
}

impl Seen<'_> {
    fn has(&mut self, row: Row<'_>) -> Result<bool, ConnectorError> {
        let relation = &self.layout.relation;
        let same = |table: &&TableProgress<_>| {
            table.schema == relation.schema && table.name == relation.name
        };
        let Some(progress) = self.tables.iter().find(same) else { return Ok(false) };
        let (layout, infos, order) = (self.layout, self.infos, &mut *self.order);
        progress.has_seen(
            |snapshot| snapshot.sees(self.transaction.xid),
            |until| {
                let missing = || {
                    ConnectorError::new(format!(
                        "a change of {}.{} does not tell the key ({}), which the snapshot was read by",
                        relation.schema,
                        relation.name,
                        progress.key.join(", ")
                    ))
                    .hint("ALTER TABLE … REPLICA IDENTITY FULL, and start the job without its state")
                };
                let key = layout.key.as_ref().and_then(|columns| row.key(columns, layout));
                let (Some(key), Some(info)) = (key, layout.info) else { return Err(missing()) };
                order.is_behind(&infos[info], &key, until)
            },
        )
    }
}

impl<'a> Row<'a> {
    /// The value of a column of the relation; `None` when it is not told.
    fn cell(&self, column: usize, layout: &Layout) -> Option<Cell<'a>> {
        match self.places.get(column)? {
            Place::Text { from, to } => Some(Cell::Text(self.tuple.text(*from, *to))),
            Place::Null if self.key_only && !layout.relation.columns[column].1 => None,
            Place::Null => Some(Cell::Null),
            Place::Unchanged => None,
        }
    }

    fn key(&self, columns: &[usize], layout: &Layout) -> Option<Key> {
        let text = |column: &usize| match self.cell(*column, layout)? {
            Cell::Text(text) => Some(String::from_utf8_lossy(text).into_owned()),
            Cell::Null => None,
        };
        columns.iter().map(text).collect()
    }
}

/// Appends rows.
struct Writer<'a> {
    table: &'a Table,
    layout: &'a Layout,
    transaction: Transaction,
}

impl Writer<'_> {
    /// Whether an update gave the row another key.
    fn has_moved(&self, was: Row<'_>, is: Row<'_>) -> bool {
        let differs = |column: &usize| {
            let (was, is) = (was.cell(*column, self.layout), is.cell(*column, self.layout));
            is.is_some() && was.is_some() && was != is
        };
        let key = self.layout.key.iter().flatten();
        self.layout.identity.iter().chain(key).any(differs)
    }

    /// A change of a row that is not told as it was.
    fn update_unknown(&self, rows: &mut Rows, is: Row<'_>) -> Result<(), ConnectorError> {
        if self.table.upsert {
            return self.push(rows, RowKind::UpdateAfter, is, None);
        }
        Err(self.no_before("UPDATE"))
    }

    /// A change of a row, of which the snapshot may have seen one half where the key changed.
    fn update(
        &self,
        rows: &mut Rows,
        (was, old_seen): (Row<'_>, bool),
        (is, new_seen): (Row<'_>, bool),
        moved: bool,
    ) -> Result<(), ConnectorError> {
        let (before, after) = match (moved, self.table.upsert) {
            (true, _) => (Some(RowKind::Delete), RowKind::Insert),
            (false, false) => (Some(RowKind::UpdateBefore), RowKind::UpdateAfter),
            (false, true) => (None, RowKind::UpdateAfter),
        };
        if let Some(before) = before.filter(|_| !old_seen) {
            self.push(rows, before, was, None)?;
        }
        if !new_seen {
            self.push(rows, after, is, Some(was))?;
        }
        Ok(())
    }

    /// Appends a row; a value that is not told is taken from the row as it was.
    fn push(
        &self,
        rows: &mut Rows,
        kind: RowKind,
        row: Row<'_>,
        was: Option<Row<'_>>,
    ) -> Result<(), ConnectorError> {
        let Layout { relation, wanted, .. } = self.layout;
        let origin = Origin {
            database: &self.table.connection.database,
            schema: &relation.schema,
            table: &relation.name,
            at: self.transaction.at,
        };
        rows.push(kind, &origin, |at| {
            let column = wanted[at];
            let told = row.cell(column, self.layout);
            if let Some(cell) = told.or_else(|| was.and_then(|was| was.cell(column, self.layout))) {
                return Ok(cell);
            }
            if row.key_only {
                // Of a row that goes, an upsert has but the key.
                return if self.table.upsert { Ok(Cell::Null) } else { Err(self.no_before("DELETE")) };
            }
            match (&self.table.placeholder, row.places.get(column)) {
                (Some(placeholder), Some(Place::Unchanged)) => Ok(Cell::Text(placeholder.as_bytes())),
                _ => Err(ConnectorError::new(format!(
                    "the value of '{}' of {}.{} did not change and is too large for the log to repeat it",
                    relation.columns[column].0, relation.schema, relation.name
                ))
                .hint(format!(
                    "ALTER TABLE {}.{} REPLICA IDENTITY FULL; or leave the column out, or name a stand-in by \
                     'debezium.unavailable.value.placeholder'",
                    relation.schema, relation.name
                ))),
            }
        })
    }

    fn no_before(&self, operation: &str) -> ConnectorError {
        let Relation { schema, name, .. } = &self.layout.relation;
        ConnectorError::new(format!(
            "The \"before\" field of {operation} message is null, please check the Postgres table {schema}.{name} \
             has been set REPLICA IDENTITY to FULL level."
        ))
        .hint(format!(
            "ALTER TABLE {schema}.{name} REPLICA IDENTITY FULL, or declare a PRIMARY KEY and set \
             'changelog-mode' = 'upsert'; what is in the log already stays as it is, so start the job without its \
             state or with the other mode"
        ))
    }
}
