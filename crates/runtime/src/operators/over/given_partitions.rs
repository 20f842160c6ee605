//! Partitions of rows that are given anew when their results change, on their way to snapshots and to disk.

use flott_state::{SortKeyEncoder, StateDecoder, StateEncoder, StateError};

use super::functions::{Functions, FunctionsReader};
use super::given::GivenRows;
use super::partition::Partition;
use crate::operators::aggregation::pick;
use crate::operators::movable::{Movable, Plain, ValueReader, ValueWriter};
use crate::{Result, RuntimeError};

/// What a sort key occupies beside its bytes.
pub(super) const KEY_BYTES: usize = size_of::<(Box<[u8]>, Vec<u32>)>() * 4 / 3;

/// The state of partitions, by slot.
pub(super) struct GivenPartitions<'a> {
    pub order: &'a [usize],
    pub keys: &'a SortKeyEncoder,
    pub partitions: &'a mut Vec<Partition>,
    pub given: &'a mut GivenRows,
    /// Functions that have seen all rows of each partition, if there are such.
    pub functions: Option<&'a mut Functions>,
    pub key_bytes: &'a mut usize,
}

impl Movable for GivenPartitions<'_> {
    fn writer<'a>(&'a self, slots: &'a [u32]) -> Result<impl ValueWriter + 'a> {
        let functions =
            self.functions.as_ref().map(|functions| functions.writer(slots)).transpose()?;
        let rows = Plain(|slot: u32, out: &mut StateEncoder| {
            let partition = &self.partitions[slot as usize];
            let (ids, _) = partition.in_order();
            if self.functions.is_some() {
                out.i64(partition.tail);
            }
            self.given.write(&ids, out);
        });
        Ok((rows, functions))
    }

    fn reader(&mut self, now: i64) -> impl ValueReader + '_ {
        let functions = self.functions.as_ref().map(|functions| functions.reader(now));
        Reader { to: self, functions, read: Vec::new() }
    }

    fn leave(&mut self, slots: &[u32]) -> Result<()> {
        for slot in slots {
            let partition = std::mem::take(&mut self.partitions[*slot as usize]);
            *self.key_bytes -= partition.bytes(KEY_BYTES);
            self.given.forget(partition.in_order().0);
        }
        self.functions.iter_mut().for_each(|functions| functions.reset(slots));
        Ok(())
    }

    fn give_back(&mut self) -> Result<()> {
        *self.partitions = Vec::new();
        self.given.give_back();
        self.functions.iter_mut().try_for_each(|functions| functions.give_back())
    }
}

struct Reader<'a, 'b> {
    to: &'a mut GivenPartitions<'b>,
    functions: Option<FunctionsReader>,
    /// Slots with their last number and their rows, which are in order.
    read: Vec<(u32, i64, Vec<u32>)>,
}

impl ValueReader for Reader<'_, '_> {
    fn read(&mut self, slot: u32, input: &mut StateDecoder<'_>) -> Result<(), StateError> {
        let tail = if self.functions.is_some() { input.i64()? } else { 0 };
        let ids = self.to.given.read(input)?;
        let (at, partitions) = (slot as usize, &mut *self.to.partitions);
        partitions.resize_with(partitions.len().max(at + 1), Partition::default);
        self.read.push((slot, tail, ids));
        match (&mut self.functions, &mut self.to.functions) {
            (Some(reader), Some(functions)) => reader.read(functions, slot, input),
            _ => Ok(()),
        }
    }

    fn finish(self) -> Result<()> {
        if let (Some(reader), Some(functions)) = (self.functions, &mut self.to.functions) {
            reader.finish(functions)?;
        }
        let to = self.to;
        for (slot, tail, ids) in self.read {
            let columns = to.given.gather(&ids)?;
            let keys = to.keys.encode(&pick(&columns, to.order))?;
            if keys.len() != ids.len() {
                return Err(RuntimeError::internal("OverAggregate", "rows without a sort key"));
            }
            let partition = &mut to.partitions[slot as usize];
            for (id, key) in ids.iter().zip(keys.iter()) {
                *to.key_bytes += partition.insert(key, *id, KEY_BYTES);
            }
            partition.tail = tail;
        }
        Ok(())
    }
}
