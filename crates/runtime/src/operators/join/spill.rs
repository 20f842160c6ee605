//! Join keys on disk: those that a batch needs come back before it with their rows, cold ones leave after it.

use arrow::array::ArrayRef;
use flott_state::{
    EncodedRows, KeyBatch, SpillSpace, StateDecoder, StateEncoder, StateError, Times,
};

use super::side::Side;
use crate::Result;

/// Rows that came back from disk, to be kept again together.
#[derive(Default)]
struct Returned {
    bytes: Vec<u8>,
    rows: Vec<ReturnedRow>,
}

struct ReturnedRow {
    /// Where its bytes end.
    end: usize,
    written: i64,
    copies: u32,
    matches: u32,
}

impl Side {
    /// Brings back the rows under the keys of a batch, of either side, that are on disk.
    pub fn load(&mut self, keys: &KeyBatch, now: i64) -> Result<()> {
        if !self.spilled.is_active() {
            return Ok(());
        }
        let mut returned = Returned::default();
        let ttl = self.rows.ttl();
        self.spilled.load(&mut self.by_key, keys, ttl, now, |_, input| {
            returned.read(input, now)
        })?;
        if returned.rows.is_empty() {
            return Ok(());
        }
        let rows = returned.slices();
        let columns: Vec<ArrayRef> = self.rows.codec().decode(&rows)?;
        let encoded = self.encode(&columns, rows.len())?;
        for (row, returned) in returned.rows.iter().enumerate() {
            self.keep_returned(&encoded, row, returned.copies, returned.matches, returned.written)?;
        }
        Ok(())
    }

    /// Moves keys with their rows to disk, so that `room` bytes are enough for the rest.
    pub fn make_way(&mut self, room: usize, space: &SpillSpace, max_parallelism: u16) -> Result<()> {
        let held = self.memory();
        let victims = self.spilled.victims(&self.by_key, held, room, space, |_| false);
        if victims.is_empty() {
            return Ok(());
        }
        let changed = self.spilled.changed(&self.by_key, &victims);
        let members: Vec<u32> = changed.iter().flat_map(|key| self.lists.iter(*key)).collect();
        for key in &changed {
            // The entry lives as long as the row that was written last.
            if let Some(last) = self.lists.iter(*key).filter_map(|row| self.rows.last_write(row)).max()
            {
                self.by_key.written(*key, last);
            }
        }
        let rows = self.encoded_members(&members)?;
        let (lists, kept, copies, matches) =
            (&self.lists, &self.rows, &self.copies, &self.matches);
        let mut next = 0;
        let write = |key: u32, out: &mut StateEncoder| {
            out.count(lists.iter(key).count());
            for member in lists.iter(key) {
                out.bytes(rows.row(next));
                next += 1;
                out.option(kept.last_write(member), StateEncoder::i64);
                out.u32(copies[member as usize]);
                out.u32(matches[member as usize]);
            }
        };
        self.spilled.write(&mut self.by_key, &changed, space, max_parallelism, write)?;
        for key in &victims {
            self.drop_rows(*key);
        }
        self.spilled.forget(&mut self.by_key, &victims);
        if self.by_key.is_empty() {
            self.give_back();
        }
        Ok(())
    }

    /// Writes what is on disk into a section of a snapshot.
    pub fn snapshot_spilled(&mut self, section: &mut flott_state::KeyedSection<'_>) -> Result<()> {
        Ok(self.spilled.snapshot(&mut self.by_key, section, Times::Dropped)?)
    }

    fn encoded_members(&self, members: &[u32]) -> Result<EncodedRows> {
        let columns = self.rows.columns(members)?;
        Ok(self.rows.codec().encode(&columns, members.len())?)
    }
}

impl Returned {
    fn read(&mut self, input: &mut StateDecoder<'_>, now: i64) -> Result<(), StateError> {
        for _ in 0..input.count()? {
            self.bytes.extend_from_slice(input.bytes()?);
            self.rows.push(ReturnedRow {
                end: self.bytes.len(),
                written: input.option(StateDecoder::i64)?.unwrap_or(now),
                copies: input.u32()?,
                matches: input.u32()?,
            });
        }
        Ok(())
    }

    fn slices(&self) -> Vec<&[u8]> {
        let starts = std::iter::once(0).chain(self.rows.iter().map(|row| row.end));
        starts.zip(&self.rows).map(|(start, row)| &self.bytes[start..row.end]).collect()
    }
}
