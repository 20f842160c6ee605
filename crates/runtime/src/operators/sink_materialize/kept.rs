//! Rows kept by number, each with what tells it apart from others of its primary key.

use arrow::array::ArrayRef;
use flott_state::{EncodedRows, RowStore, StateDecoder, StateEncoder};
use flott_types::{ChangelogBatch, DataType, Schema};

use crate::Result;

/// A row that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kept {
    /// Its number.
    pub row: u32,
    identity: u32,
}

/// The rows, and the values of the query's upsert key beside them.
pub(super) struct KeptRows {
    pub rows: RowStore,
    /// The columns of the upsert key and their values; without one a row is told apart by all of it.
    identity: Option<(Vec<usize>, RowStore)>,
}

/// The rows of a batch, to be kept or looked for.
pub(super) struct Incoming {
    rows: EncodedRows,
    identity: Option<EncodedRows>,
}

impl KeptRows {
    pub fn new(schema: &Schema, upsert_key: &[usize]) -> Self {
        let types: Vec<DataType> = schema.fields.iter().map(|f| f.data_type.clone()).collect();
        let identity = (!upsert_key.is_empty()).then(|| {
            let of_key: Vec<DataType> = upsert_key.iter().map(|at| types[*at].clone()).collect();
            (upsert_key.to_vec(), RowStore::new(&of_key))
        });
        Self { rows: RowStore::new(&types), identity }
    }

    pub fn encode(&self, batch: &ChangelogBatch) -> Result<Incoming> {
        let columns = batch.rows.columns();
        let identity = match &self.identity {
            None => None,
            Some((key, store)) => {
                let key: Vec<ArrayRef> = key.iter().map(|at| columns[*at].clone()).collect();
                Some(store.encode(&key, batch.len())?)
            }
        };
        Ok(Incoming { rows: self.rows.encode(columns, batch.len())?, identity })
    }

    pub fn insert(&mut self, incoming: &Incoming, row: usize) -> Result<Kept> {
        let id = self.rows.insert(&incoming.rows, row)?;
        let identity = match (&mut self.identity, &incoming.identity) {
            (Some((_, store)), Some(rows)) => store.insert(rows, row)?,
            _ => id,
        };
        Ok(Kept { row: id, identity })
    }

    /// Whether a row of a batch stands for the kept one: it has its upsert key or, without one, all of its
    /// values.
    pub fn is(&self, kept: Kept, incoming: &Incoming, row: usize) -> bool {
        match (&self.identity, &incoming.identity) {
            (Some((_, store)), Some(rows)) => store.is_row(kept.identity, rows, row),
            _ => self.rows.is_row(kept.row, &incoming.rows, row),
        }
    }

    /// Whether rows are told apart by a key, so that one may replace another.
    pub fn has_key(&self) -> bool {
        self.identity.is_some()
    }

    /// The same of two kept rows.
    pub fn are_one(&self, a: Kept, b: Kept) -> bool {
        match &self.identity {
            Some((_, store)) => store.bytes(a.identity) == store.bytes(b.identity),
            None => self.are_equal(a, b),
        }
    }

    /// Whether two kept rows agree in all columns.
    pub fn are_equal(&self, a: Kept, b: Kept) -> bool {
        self.rows.bytes(a.row) == self.rows.bytes(b.row)
    }

    /// Forgets what tells a row apart; the row itself may still have to be given.
    pub fn release(&mut self, kept: Kept) -> u32 {
        if let Some((_, store)) = &mut self.identity {
            store.remove(kept.identity);
        }
        kept.row
    }

    /// Gives all memory back, when no row is kept.
    pub fn give_back(&mut self) {
        self.rows = self.rows.emptied();
        if let Some((_, store)) = &mut self.identity {
            *store = store.emptied();
        }
    }

    pub fn memory(&self) -> usize {
        self.rows.memory() + self.identity.as_ref().map_or(0, |(_, store)| store.memory())
    }

    /// The layout of what [`Self::write`] writes.
    pub fn schema(&self) -> String {
        let identity = self.identity.as_ref().map(|(_, store)| store.codec().schema());
        format!("{} by {}", self.rows.codec().schema(), identity.unwrap_or_default())
    }

    pub fn write(&self, kept: &[Kept], out: &mut StateEncoder) {
        let ids = |of: &dyn Fn(&Kept) -> u32| kept.iter().map(of).collect::<Vec<_>>();
        self.rows.write_rows(&ids(&|kept| kept.row), out);
        if let Some((_, store)) = &self.identity {
            store.write_rows(&ids(&|kept| kept.identity), out);
        }
    }

    pub fn read(&mut self, input: &mut StateDecoder<'_>) -> flott_state::Result<Vec<Kept>> {
        let (mut rows, mut identities) = (Vec::new(), Vec::new());
        self.rows.read_rows(input, &mut rows)?;
        match &mut self.identity {
            Some((_, store)) => store.read_rows(input, &mut identities)?,
            None => identities.clone_from(&rows),
        }
        if rows.len() != identities.len() {
            return Err(input.damaged("not one key for each row"));
        }
        Ok(rows.into_iter().zip(identities).map(|(row, identity)| Kept { row, identity }).collect())
    }
}
