//! Join keys on disk: those that a batch needs come back before it with their rows, cold ones leave after it.

use arrow::array::ArrayRef;
use flott_state::{KeyBatch, SpillSpace, StateDecoder, StateEncoder, StateError};

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
        if !self.by_key.is_spilled() {
            return Ok(());
        }
        let mut returned = Returned::default();
        self.by_key.load(keys, now, |_, input| returned.read(input, now))?;
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
    pub fn make_way(
        &mut self,
        room: usize,
        space: &SpillSpace,
        max_parallelism: u16,
    ) -> Result<()> {
        let held = self.memory();
        let victims = self.by_key.victims(held, room, space, |_| false)?;
        if victims.is_empty() {
            return Ok(());
        }
        let changed = self.by_key.not_on_disk(&victims);
        let (lists, rows) = (&self.lists, &self.rows);
        let (copies, matches) = (&self.copies, &self.matches);
        // An entry lives as long as the row that was written last.
        let last_write =
            |_: &_, key: u32| lists.iter(key).filter_map(|row| rows.last_write(row)).max();
        let (mut members, mut row) = (Vec::new(), Vec::new());
        let write = |key: u32, out: &mut StateEncoder| {
            members.clear();
            members.extend(lists.iter(key));
            out.list(members.iter(), |out, member| {
                row.clear();
                rows.write_row(*member, &mut row);
                out.bytes(&row);
                out.option(rows.last_write(*member), StateEncoder::i64);
                out.u32(copies[*member as usize]);
                out.u32(matches[*member as usize]);
            });
        };
        self.by_key.write_timed(&changed, space, max_parallelism, last_write, write)?;
        victims.iter().for_each(|key| self.drop_rows(*key));
        self.by_key.forget(&victims);
        if self.by_key.is_empty() {
            self.give_back();
        }
        Ok(())
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
