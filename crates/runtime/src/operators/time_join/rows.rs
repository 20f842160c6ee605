//! The rows of one input as a join keeps them: by key, each key's in order of time.

use arrow::array::ArrayRef;
use flott_state::{EncodedRows, NO_ROW, NO_SLOT, RowStore, StateDecoder, StateEncoder, StateError};
use flott_types::{DataType, RowKind, Schema};

use crate::Result;

/// Rows under small numbers, in a list for each key that is ordered by time; rows of one time stand
/// in the order in which they came.
pub(super) struct SideRows {
    rows: RowStore,
    /// By slot of the key.
    lists: Vec<Ends>,
    /// By row.
    nodes: Vec<Node>,
}

#[derive(Clone, Copy)]
struct Ends {
    first: u32,
    last: u32,
}

#[derive(Clone, Copy)]
struct Node {
    time: i64,
    previous: u32,
    next: u32,
    kind: RowKind,
    /// Whether it met a row of the other side.
    matched: bool,
}

const EMPTY: Ends = Ends { first: NO_ROW, last: NO_ROW };
const UNLINKED: Node =
    Node { time: 0, previous: NO_ROW, next: NO_ROW, kind: RowKind::Insert, matched: false };

impl SideRows {
    /// No row yet; rows are of these columns.
    pub fn new(schema: &Schema) -> Self {
        let types: Vec<DataType> = schema.fields.iter().map(|f| f.data_type.clone()).collect();
        Self { rows: RowStore::new(&types), lists: Vec::new(), nodes: Vec::new() }
    }

    /// Encodes the rows of a batch.
    pub fn encode(&self, columns: &[ArrayRef], rows: usize) -> Result<EncodedRows, StateError> {
        self.rows.encode(columns, rows)
    }

    /// Keeps a row outside of any list and gives its number.
    pub fn keep(
        &mut self,
        rows: &EncodedRows,
        row: usize,
        kind: RowKind,
    ) -> Result<u32, StateError> {
        let id = self.rows.insert(rows, row)?;
        self.reset(id, kind);
        Ok(id)
    }

    fn reset(&mut self, id: u32, kind: RowKind) {
        if id as usize >= self.nodes.len() {
            self.nodes.resize(id as usize + 1, UNLINKED);
        }
        self.nodes[id as usize] = Node { kind, ..UNLINKED };
    }

    /// Puts a kept row into a key's list, behind those of its time and before.
    pub fn link(&mut self, key: u32, id: u32, time: i64) {
        if key as usize >= self.lists.len() {
            self.lists.resize(key as usize + 1, EMPTY);
        }
        let mut previous = self.lists[key as usize].last;
        while previous != NO_ROW && self.nodes[previous as usize].time > time {
            previous = self.nodes[previous as usize].previous;
        }
        self.link_behind(key, previous, id, time);
    }

    /// Puts a kept row at the end of a key's list, whatever its time.
    pub fn append(&mut self, key: u32, id: u32, time: i64) {
        if key as usize >= self.lists.len() {
            self.lists.resize(key as usize + 1, EMPTY);
        }
        self.link_behind(key, self.lists[key as usize].last, id, time);
    }

    fn link_behind(&mut self, key: u32, previous: u32, id: u32, time: i64) {
        let ends = &mut self.lists[key as usize];
        let next = match previous {
            NO_ROW => std::mem::replace(&mut ends.first, id),
            previous => std::mem::replace(&mut self.nodes[previous as usize].next, id),
        };
        match next {
            NO_ROW => ends.last = id,
            next => self.nodes[next as usize].previous = id,
        }
        let node = &mut self.nodes[id as usize];
        (node.time, node.previous, node.next) = (time, previous, next);
    }

    /// Takes a row out of its key's list; its columns stay until it is [released](Self::release).
    pub fn unlink(&mut self, key: u32, id: u32) {
        let Node { previous, next, .. } = self.nodes[id as usize];
        let ends = &mut self.lists[key as usize];
        match previous {
            NO_ROW => ends.first = next,
            previous => self.nodes[previous as usize].next = next,
        }
        match next {
            NO_ROW => ends.last = previous,
            next => self.nodes[next as usize].previous = previous,
        }
    }

    /// Forgets a row that is in no list.
    pub fn release(&mut self, id: u32) {
        self.rows.remove(id);
    }

    /// Forgets the rows of a key, which is on disk with them.
    pub fn leave(&mut self, key: u32) {
        while let Some(first) = self.first(key) {
            self.unlink(key, first);
            self.release(first);
        }
    }

    /// The same without any row, and without their memory.
    pub fn emptied(&self) -> Self {
        Self { rows: self.rows.emptied(), lists: Vec::new(), nodes: Vec::new() }
    }

    /// The first row of a key: that of the earliest time.
    pub fn first(&self, key: u32) -> Option<u32> {
        Some(self.end(key).first).filter(|id| *id != NO_ROW)
    }

    /// The last row of a key: that of the latest time.
    pub fn last(&self, key: u32) -> Option<u32> {
        Some(self.end(key).last).filter(|id| *id != NO_ROW)
    }

    fn end(&self, key: u32) -> Ends {
        debug_assert!(key != NO_SLOT);
        self.lists.get(key as usize).copied().unwrap_or(EMPTY)
    }

    /// The row behind a row of a list.
    pub fn next(&self, id: u32) -> Option<u32> {
        Some(self.nodes[id as usize].next).filter(|id| *id != NO_ROW)
    }

    /// The row before a row of a list.
    pub fn previous(&self, id: u32) -> Option<u32> {
        Some(self.nodes[id as usize].previous).filter(|id| *id != NO_ROW)
    }

    /// The rows of a key in order.
    pub fn of_key(&self, key: u32) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(self.first(key), |id| self.next(*id))
    }

    pub fn time(&self, id: u32) -> i64 {
        self.nodes[id as usize].time
    }

    pub fn kind(&self, id: u32) -> RowKind {
        self.nodes[id as usize].kind
    }

    pub fn is_matched(&self, id: u32) -> bool {
        self.nodes[id as usize].matched
    }

    pub fn set_matched(&mut self, id: u32) {
        self.nodes[id as usize].matched = true;
    }

    /// Rows as columns; NULLs for [`NO_ROW`].
    pub fn columns(&self, ids: &[u32]) -> Result<Vec<ArrayRef>> {
        Ok(self.rows.gather(ids)?)
    }

    /// Some columns of rows.
    pub fn some_columns(&self, ids: &[u32], wanted: &[usize]) -> Result<Vec<ArrayRef>> {
        Ok(self.rows.gather_columns(ids, wanted)?)
    }

    /// The bytes held.
    pub fn memory(&self) -> usize {
        self.rows.memory()
            + self.lists.capacity() * size_of::<Ends>()
            + self.nodes.capacity() * size_of::<Node>()
    }

    /// What a snapshot's header says of the rows.
    pub fn schema(&self) -> String {
        self.rows.codec().schema()
    }

    /// Writes the rows of a key.
    pub fn write(&self, key: u32, out: &mut StateEncoder) {
        out.count(self.of_key(key).count());
        for id in self.of_key(key) {
            out.i64(self.time(id));
            out.u32(u32::from(self.kind(id) as u8) << 1 | u32::from(self.is_matched(id)));
            out.bytes(self.rows.bytes(id));
        }
    }

    /// Adds the rows of a key that were written.
    pub fn read(&mut self, key: u32, input: &mut StateDecoder<'_>) -> Result<(), StateError> {
        let count = input.count()?;
        let mut heads = Vec::with_capacity(count);
        let mut bytes = Vec::with_capacity(count);
        for _ in 0..count {
            heads.push((input.i64()?, input.u32()?));
            bytes.push(input.bytes()?);
        }
        let columns = self.rows.codec().decode(&bytes)?;
        let encoded = self.encode(&columns, count)?;
        for (row, (time, head)) in heads.into_iter().enumerate() {
            let id = self.keep(&encoded, row, RowKind::from_u8((head >> 1) as u8))?;
            self.append(key, id, time);
            if head & 1 == 1 {
                self.set_matched(id);
            }
        }
        Ok(())
    }
}
