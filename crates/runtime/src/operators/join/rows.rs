//! How the rows of a join's input are told apart and stored: as the input's unique keys allow.

use arrow::array::ArrayRef;
use flott_state::{
    EncodedRows, KeyBatch, KeySlots, NO_SLOT, RowCodec, RowStore, SlotMeta, StateError, Ttl,
};
use flott_types::DataType;

/// What tells the rows of an input apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Identity {
    /// Nothing: rows are never taken back, and each is kept by itself.
    None,
    /// These columns, a unique key beside the join key: a later row replaces an earlier one.
    Columns(Vec<usize>),
    /// All columns: equal rows are kept once, with how often they are there.
    Whole,
}

impl Identity {
    /// The identity of rows of an input: the smallest unique key, if there is one. The input's rows are
    /// spread by the join key, so that belongs to it.
    pub fn of(unique: &[Vec<usize>], join_key: &[usize], insert_only: bool) -> Self {
        let within = |key: &Vec<usize>| key.iter().all(|column| join_key.contains(column));
        if unique.iter().any(within) {
            return Self::Columns(join_key.to_vec());
        }
        match unique.iter().min_by_key(|key| key.len()).cloned() {
            Some(key) => {
                let beside = key.into_iter().filter(|column| !join_key.contains(column));
                Self::Columns(join_key.iter().copied().chain(beside).collect())
            }
            None if insert_only => Self::None,
            None => Self::Whole,
        }
    }
}

/// Rows under small numbers.
#[allow(clippy::large_enum_variant)] // A join has two.
pub(super) enum Rows {
    /// Each by itself.
    Single { store: RowStore, meta: SlotMeta, live: Vec<bool>, cursor: u32 },
    /// By a unique key: the number is the key's slot, which leads to the row.
    Unique { columns: Vec<usize>, keys: KeySlots, store: RowStore, ids: Vec<u32> },
    /// By all columns, which are the row.
    Whole(KeySlots),
}

/// Rows of a batch, encoded as they are told apart and stored.
pub(super) enum RowBatch {
    Single(EncodedRows),
    Unique(KeyBatch, EncodedRows),
    Whole(KeyBatch),
}

impl Rows {
    pub fn new(types: &[DataType], identity: Identity, ttl: Option<Ttl>) -> Self {
        match identity {
            Identity::None => Self::Single {
                store: RowStore::new(types),
                meta: SlotMeta::new(ttl),
                live: Vec::new(),
                cursor: 0,
            },
            Identity::Columns(columns) => {
                let keys: Vec<DataType> = columns.iter().map(|c| types[*c].clone()).collect();
                Self::Unique {
                    keys: KeySlots::new(&keys, ttl),
                    columns,
                    store: RowStore::new(types),
                    ids: Vec::new(),
                }
            }
            Identity::Whole => Self::Whole(KeySlots::new(types, ttl)),
        }
    }

    pub fn encode(&self, columns: &[ArrayRef], rows: usize) -> Result<RowBatch, StateError> {
        Ok(match self {
            Self::Single { store, .. } => RowBatch::Single(store.encode(columns, rows)?),
            Self::Unique { columns: key, keys, store, .. } => {
                let key: Vec<ArrayRef> = key.iter().map(|c| columns[*c].clone()).collect();
                RowBatch::Unique(keys.encoder().encode(&key, rows)?, store.encode(columns, rows)?)
            }
            Self::Whole(keys) => RowBatch::Whole(keys.encoder().encode(columns, rows)?),
        })
    }

    /// Keeps a row; gives its number and whether what is known of the number must be reset.
    pub fn write(
        &mut self,
        batch: &RowBatch,
        row: usize,
        now: i64,
    ) -> Result<(u32, bool), StateError> {
        match (self, batch) {
            (Self::Single { store, meta, live, .. }, RowBatch::Single(rows)) => {
                let id = store.insert(rows, row)?;
                if id as usize >= live.len() {
                    live.resize(id as usize + 1, false);
                }
                live[id as usize] = true;
                meta.written(id, now);
                Ok((id, true))
            }
            (Self::Unique { keys, store, ids, .. }, RowBatch::Unique(key, rows)) => {
                let (slot, fresh) = keys.write_one(key, row, now)?;
                if slot as usize >= ids.len() {
                    ids.resize(slot as usize + 1, NO_SLOT);
                }
                let id = &mut ids[slot as usize];
                match *id {
                    NO_SLOT => *id = store.insert(rows, row)?,
                    id => store.replace(id, rows, row)?,
                }
                Ok((slot, fresh))
            }
            (Self::Whole(keys), RowBatch::Whole(rows)) => keys.write_one(rows, row, now),
            _ => Err(StateError::KeyKind),
        }
    }

    /// The number of the row that a row of a batch takes back, of those under its join key.
    pub fn find(
        &self,
        batch: &RowBatch,
        row: usize,
        now: i64,
        mut of_key: impl Iterator<Item = u32>,
    ) -> Option<u32> {
        match (self, batch) {
            (Self::Single { store, .. }, RowBatch::Single(rows)) => {
                of_key.find(|id| store.is_row(*id, rows, row))
            }
            (Self::Unique { keys, .. }, RowBatch::Unique(key, _)) => keys.read_one(key, row, now),
            (Self::Whole(keys), RowBatch::Whole(rows)) => keys.read_one(rows, row, now),
            _ => None,
        }
    }

    fn meta(&self) -> &SlotMeta {
        match self {
            Self::Single { meta, .. } => meta,
            Self::Unique { keys, .. } | Self::Whole(keys) => keys.meta(),
        }
    }

    pub fn ttl(&self) -> Option<Ttl> {
        self.meta().ttl()
    }

    #[inline]
    pub fn is_expired(&self, row: u32, now: i64) -> bool {
        self.meta().is_expired(row, now)
    }

    pub fn last_write(&self, row: u32) -> Option<i64> {
        self.meta().last_write(row)
    }

    /// The same without any row.
    pub fn emptied(&self) -> Self {
        let types = self.codec().types();
        let identity = match self {
            Self::Single { .. } => Identity::None,
            Self::Unique { columns, .. } => Identity::Columns(columns.clone()),
            Self::Whole(_) => Identity::Whole,
        };
        Self::new(types, identity, self.ttl())
    }

    /// Notes that a row was written at `now`, in milliseconds.
    pub fn written(&mut self, row: u32, now: i64) {
        match self {
            Self::Single { meta, .. } => meta.written(row, now),
            Self::Unique { keys, .. } | Self::Whole(keys) => keys.written(row, now),
        }
    }

    pub fn remove(&mut self, row: u32) {
        match self {
            Self::Single { store, live, .. } => {
                if std::mem::take(&mut live[row as usize]) {
                    store.remove(row);
                }
            }
            Self::Unique { keys, store, ids, .. } => {
                let id = std::mem::replace(&mut ids[row as usize], NO_SLOT);
                if id != NO_SLOT {
                    store.remove(id);
                }
                keys.remove(row);
            }
            Self::Whole(keys) => {
                keys.remove(row);
            }
        }
    }

    /// Appends a row as it is encoded.
    pub fn write_row(&self, row: u32, out: &mut Vec<u8>) {
        match self {
            Self::Single { store, .. } => out.extend_from_slice(store.bytes(row)),
            Self::Unique { store, ids, .. } => {
                out.extend_from_slice(store.bytes(ids[row as usize]));
            }
            Self::Whole(keys) => keys.write_key(row, out),
        }
    }

    /// Rows as columns; `NO_SLOT` gives NULLs.
    pub fn columns(&self, rows: &[u32]) -> Result<Vec<ArrayRef>, StateError> {
        self.some_columns(rows, &(0..self.codec().types().len()).collect::<Vec<_>>())
    }

    /// Some columns of rows; `NO_SLOT` gives NULLs.
    pub fn some_columns(
        &self,
        rows: &[u32],
        wanted: &[usize],
    ) -> Result<Vec<ArrayRef>, StateError> {
        match self {
            Self::Single { store, .. } => store.gather_columns(rows, wanted),
            Self::Unique { store, ids, .. } => {
                let id = |row: &u32| if *row == NO_SLOT { NO_SLOT } else { ids[*row as usize] };
                store.gather_columns(&rows.iter().map(id).collect::<Vec<_>>(), wanted)
            }
            Self::Whole(keys) => {
                let columns = keys.key_columns(rows)?;
                Ok(wanted.iter().map(|column| columns[*column].clone()).collect())
            }
        }
    }

    /// The numbers of all rows.
    pub fn all(&self) -> Vec<u32> {
        match self {
            Self::Single { live, .. } => {
                (0u32..).zip(live).filter(|(_, live)| **live).map(|(row, _)| row).collect()
            }
            Self::Unique { keys, .. } | Self::Whole(keys) => keys.index().slots().collect(),
        }
    }

    /// Looks at up to `limit` rows, going on where the last call ended, for those that expired.
    pub fn sweep(&mut self, now: i64, limit: usize, expired: &mut Vec<u32>) {
        match self {
            Self::Single { meta, live, cursor, .. } => {
                if meta.ttl().is_none() || live.is_empty() {
                    return;
                }
                for _ in 0..limit.min(live.len()) {
                    *cursor = if *cursor as usize >= live.len() { 0 } else { *cursor };
                    if live[*cursor as usize] && meta.is_expired(*cursor, now) {
                        expired.push(*cursor);
                    }
                    *cursor += 1;
                }
            }
            Self::Unique { keys, .. } | Self::Whole(keys) => keys.sweep(now, limit, expired),
        }
    }

    /// The codec of whole rows.
    pub fn codec(&self) -> &RowCodec {
        match self {
            Self::Single { store, .. } | Self::Unique { store, .. } => store.codec(),
            Self::Whole(keys) => keys.encoder().codec(),
        }
    }

    /// What a snapshot's header says of the rows.
    pub fn schema(&self) -> String {
        let rows = self.codec().schema();
        match self {
            Self::Unique { columns, .. } => format!("[{rows}] unique {columns:?} copies, matches"),
            _ => format!("[{rows}] copies, matches"),
        }
    }

    pub fn memory(&self) -> usize {
        match self {
            Self::Single { store, meta, live, .. } => {
                store.memory() + meta.memory() + live.capacity()
            }
            Self::Unique { keys, store, ids, .. } => {
                keys.memory() + store.memory() + ids.capacity() * 4
            }
            Self::Whole(keys) => keys.memory(),
        }
    }
}
