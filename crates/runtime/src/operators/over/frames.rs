//! The rows that are in bounded frames, of which only what the functions read is kept.

use std::collections::HashMap;

use arrow::array::{ArrayRef, UInt32Array};
use arrow::compute::{concat, take};
use flott_state::{RowStore, SlotLists, StateDecoder, StateEncoder, StateError};
use flott_types::DataType;

use super::script::Script;
use crate::Result;

/// How far back frames reach; all end with the current row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// To the first row.
    Unbounded,
    /// So many rows before the current one.
    Rows(u32),
    /// So many milliseconds.
    Millis(i64),
}

/// Rows of frames by partition, the oldest first.
pub(super) struct Frames {
    rows: RowStore,
    lists: SlotLists,
    /// By row.
    times: Vec<i64>,
    /// By partition.
    lengths: Vec<u32>,
}

impl Frames {
    /// No row; of rows these types are kept.
    pub fn new(types: &[DataType]) -> Self {
        let rows = RowStore::new(types);
        Self { rows, lists: SlotLists::new(), times: Vec::new(), lengths: Vec::new() }
    }

    /// Makes room for partitions `0..groups`.
    pub fn resize(&mut self, groups: usize) {
        if groups > self.lengths.len() {
            self.lengths.resize(groups, 0);
        }
    }

    /// Takes in rows that come out in this order. Gives the script, one read a row, and its columns.
    /// With `peers` all rows of one time and partition are read after the last of them.
    pub fn advance(
        &mut self,
        reach: Reach,
        args: &[ArrayRef],
        groups: &[u32],
        times: &[i64],
        peers: bool,
    ) -> Result<(Vec<ArrayRef>, Script)> {
        let mut ids = Vec::new();
        let encoded = self.rows.encode(args, groups.len())?;
        self.rows.insert_all(&encoded, &mut ids)?;
        let script = Script { peers, ..Script::default() };
        let mut moves = Moves { script, picks: Vec::new(), left: Vec::new() };
        for (row, (group, time)) in groups.iter().zip(times).enumerate() {
            match reach {
                Reach::Unbounded => {}
                Reach::Rows(preceding) => {
                    while self.lengths[*group as usize] > preceding {
                        self.leave(*group, *time, groups.len(), &mut moves);
                    }
                }
                Reach::Millis(millis) => {
                    let start = time.saturating_sub(millis);
                    while self.oldest(*group).is_some_and(|oldest| oldest < start) {
                        self.leave(*group, *time, groups.len(), &mut moves);
                    }
                }
            }
            self.enter(*group, ids[row], *time);
            moves.picks.push(row as u32);
            let step = moves.script.step(*group, 1, *time);
            moves.script.reads.push(step);
        }
        if peers {
            read_after_peers(groups, times, &mut moves.script.reads);
        }
        let columns = self.columns(args, &moves)?;
        moves.left.into_iter().for_each(|id| self.rows.remove(id));
        Ok((columns, moves.script))
    }

    /// The columns of a script's rows: those that came, and those that left.
    fn columns(&self, args: &[ArrayRef], moves: &Moves) -> Result<Vec<ArrayRef>> {
        if moves.left.is_empty() {
            return Ok(args.to_vec());
        }
        let left = self.rows.gather(&moves.left)?;
        let picks = UInt32Array::from(moves.picks.clone());
        let both = args.iter().zip(&left);
        both.map(|(came, left)| Ok(take(&concat(&[came, left])?, &picks, None)?)).collect()
    }

    fn oldest(&self, group: u32) -> Option<i64> {
        self.lists.first(group).map(|row| self.times[row as usize])
    }

    fn enter(&mut self, group: u32, row: u32, time: i64) {
        if row as usize >= self.times.len() {
            self.times.resize(row as usize + 1, 0);
        }
        self.times[row as usize] = time;
        self.lists.push(group, row);
        self.lengths[group as usize] += 1;
    }

    /// Takes the oldest row out of a frame; `came` rows stand before those that left.
    fn leave(&mut self, group: u32, time: i64, came: usize, moves: &mut Moves) {
        let Some(row) = self.lists.first(group) else {
            self.lengths[group as usize] = 0;
            return;
        };
        self.lists.remove(group, row);
        self.lengths[group as usize] -= 1;
        moves.picks.push((came + moves.left.len()) as u32);
        moves.left.push(row);
        moves.script.step(group, -1, time);
    }

    /// Empties the frames of partitions.
    pub fn reset(&mut self, groups: &[u32]) {
        for group in groups {
            while let Some(row) = self.lists.first(*group) {
                self.lists.remove(*group, row);
                self.rows.remove(row);
            }
            self.lengths[*group as usize] = 0;
        }
    }

    /// The same without any row.
    pub fn emptied(&self) -> Self {
        Self::new(self.rows.codec().types())
    }

    /// The bytes held.
    pub fn memory(&self) -> usize {
        self.rows.memory()
            + self.lists.memory()
            + self.times.capacity() * size_of::<i64>()
            + self.lengths.capacity() * size_of::<u32>()
    }

    /// Writes the frame of a partition.
    pub fn write(&self, group: u32, out: &mut StateEncoder) {
        let ids: Vec<u32> = self.lists.iter(group).collect();
        out.list(ids.iter(), |out, row| out.i64(self.times[*row as usize]));
        self.rows.write_rows(&ids, out);
    }

    /// Reads what [`Self::write`] wrote.
    pub fn read(&mut self, group: u32, input: &mut StateDecoder<'_>) -> Result<(), StateError> {
        let times = input.list(StateDecoder::i64)?;
        let mut ids = Vec::new();
        self.rows.read_rows(input, &mut ids)?;
        if ids.len() != times.len() {
            return Err(input.damaged("rows without a time"));
        }
        self.resize(group as usize + 1);
        for (row, time) in ids.into_iter().zip(times) {
            self.enter(group, row, time);
        }
        Ok(())
    }
}

/// What rows do to frames.
struct Moves {
    script: Script,
    /// For each step its row: first those that came, behind them those that left.
    picks: Vec<u32>,
    left: Vec<u32>,
}

/// The script of frames that only grow: every row comes, and is read after itself or its last peer.
pub(super) fn growing(groups: &[u32], times: &[i64], peers: bool) -> Script {
    let mut reads: Vec<u32> = (0..groups.len() as u32).collect();
    if peers {
        read_after_peers(groups, times, &mut reads);
    }
    Script {
        groups: groups.to_vec(),
        signs: vec![1; groups.len()],
        times: times.to_vec(),
        peers,
        reads,
    }
}

/// Moves each read to that of the last row of the same time and partition. Rows are ordered by time.
fn read_after_peers(groups: &[u32], times: &[i64], reads: &mut [u32]) {
    let mut last: HashMap<u32, u32> = HashMap::new();
    let mut start = 0;
    while start < times.len() {
        let same = times[start..].iter().take_while(|time| **time == times[start]).count();
        let end = start + same;
        if same > 1 {
            last.clear();
            for row in (start..end).rev() {
                reads[row] = *last.entry(groups[row]).or_insert(reads[row]);
            }
        }
        start = end;
    }
}
