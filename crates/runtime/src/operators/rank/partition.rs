//! One partition at work: where a row belongs, and which ranks change by it.

use std::cmp::Ordering;

use flott_types::RowKind;

use super::super::ranking::{Arrivals, Changes, Given, Run, SortedRows};
use crate::Result;

/// The ranks that are given.
#[derive(Debug, Clone, Copy)]
pub(in crate::operators) struct Bounds {
    /// The first, from 1.
    pub start: u64,
    /// The last.
    pub end: u64,
}

impl Bounds {
    pub fn holds(self, rank: u64) -> bool {
        self.start <= rank && rank <= self.end
    }

    /// How many rows are ranked at most.
    fn rows(self) -> usize {
        usize::try_from(self.end).unwrap_or(usize::MAX)
    }
}

/// The rows of a partition, and where its changes go.
pub(in crate::operators) struct Partition<'a> {
    pub run: &'a mut Run,
    pub sorted: &'a mut SortedRows,
    pub out: &'a mut Changes,
    pub bounds: Bounds,
    /// Whether a row that moves to another rank is an update of both ranks. Otherwise only rows that
    /// come into range or leave it are changes.
    pub numbered: bool,
    /// Whether rows out of range are kept, because they may come back.
    pub keeps_all: bool,
}

/// What became of a row that came.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(in crate::operators) struct Added {
    /// Its number, if it was kept.
    pub id: Option<u32>,
    /// The row that fell out of range and was forgotten for it.
    pub dropped: Option<u32>,
}

impl Partition<'_> {
    /// Takes a row of the batch, by ROW_NUMBER.
    ///
    /// With numbers each row behind it hands its rank on to the next: −U and +U for each rank, then +I
    /// if there was room. Without, a row that falls out of range gives −D before the new one's +I.
    pub fn add(&mut self, arrivals: &Arrivals, row: usize) -> Result<Added> {
        let (len, end) = (self.run.len(), self.bounds.rows());
        if !self.keeps_all && len >= end {
            let last = self.run.last();
            if last.is_none_or(|last| self.sorted.goes_before(last, arrivals, row)) {
                return Ok(Added::default());
            }
        }
        let at = self.sorted.place(self.run, arrivals, row);
        let id = self.sorted.insert(arrivals, row)?;
        if self.numbered {
            let mut current = Given::New(row);
            let mut rank = at as u64 + 1;
            for next in self.run.iter_from(at).take(end.saturating_sub(at)) {
                let next = Given::Kept(next);
                give(self.out, self.bounds, RowKind::UpdateBefore, next, rank);
                give(self.out, self.bounds, RowKind::UpdateAfter, current, rank);
                (current, rank) = (next, rank + 1);
            }
            give(self.out, self.bounds, RowKind::Insert, current, rank);
        } else if at < end {
            if let Some(last) = self.run.get(end - 1) {
                give(self.out, self.bounds, RowKind::Delete, Given::Kept(last), end as u64);
            }
            give(self.out, self.bounds, RowKind::Insert, Given::New(row), at as u64 + 1);
        }
        self.run.insert(at, id);
        let dropped = (!self.keeps_all && len >= end).then(|| self.run.remove(len));
        dropped.into_iter().for_each(|id| self.out.retire(id));
        Ok(Added { id: Some(id), dropped })
    }

    /// Takes a row back, by ROW_NUMBER; whether it was there.
    pub fn remove(&mut self, arrivals: &Arrivals, row: usize) -> bool {
        let Some(at) = self.sorted.find(self.run, arrivals, row) else { return false };
        let id = self.run.remove(at);
        let end = self.bounds.rows();
        let mut gone = Given::Kept(id);
        if self.numbered {
            let mut rank = at as u64 + 1;
            for next in self.run.iter_from(at).take(end.saturating_sub(at)) {
                let next = Given::Kept(next);
                give(self.out, self.bounds, RowKind::UpdateBefore, gone, rank);
                give(self.out, self.bounds, RowKind::UpdateAfter, next, rank);
                (gone, rank) = (next, rank + 1);
            }
            give(self.out, self.bounds, RowKind::Delete, gone, rank);
        } else if at < end {
            give(self.out, self.bounds, RowKind::Delete, gone, at as u64 + 1);
            if let Some(next) = self.run.get(end - 1) {
                give(self.out, self.bounds, RowKind::Insert, Given::Kept(next), end as u64);
            }
        }
        self.out.retire(id);
        true
    }

    /// Puts a row of the batch in the place of an earlier version of it, and gives its number. A
    /// version equal to the earlier one is a change only if `repeats`.
    pub fn update(
        &mut self,
        old: u32,
        arrivals: &Arrivals,
        row: usize,
        repeats: bool,
    ) -> Result<u32> {
        if !repeats && self.sorted.is_row(old, arrivals, row) {
            return Ok(old);
        }
        let Some(from) = self.sorted.position(self.run, old) else { return Ok(old) };
        let new = self.sorted.insert(arrivals, row)?;
        let old_rank = from as u64 + 1;
        if self.sorted.key(old).cmp(arrivals.key(row)) == Ordering::Equal || !self.numbered {
            give(self.out, self.bounds, RowKind::UpdateBefore, Given::Kept(old), old_rank);
            give(self.out, self.bounds, RowKind::UpdateAfter, Given::New(row), old_rank);
            if self.sorted.key(old) == arrivals.key(row) {
                self.run.replace(from, new);
            } else {
                self.run.remove(from);
                let to = self.sorted.place(self.run, arrivals, row);
                self.run.insert(to, new);
            }
            self.out.retire(old);
            return Ok(new);
        }
        self.run.remove(from);
        let to = self.sorted.place(self.run, arrivals, row);
        if to <= from {
            self.move_up(old, row, from, to);
        } else {
            self.move_down(old, row, from, to);
        }
        self.run.insert(to, new);
        self.out.retire(old);
        Ok(new)
    }

    /// The changes of a row that passes others on its way up; it is out of the run meanwhile.
    fn move_up(&mut self, old: u32, row: usize, from: usize, to: usize) {
        let old_rank = from as u64 + 1;
        let mut current = Given::New(row);
        let mut rank = to as u64 + 1;
        for next in self.run.iter_from(to).take(from - to) {
            let next = Given::Kept(next);
            give(self.out, self.bounds, RowKind::UpdateBefore, next, rank);
            if current == Given::New(row) {
                give(self.out, self.bounds, RowKind::UpdateBefore, Given::Kept(old), old_rank);
            }
            give(self.out, self.bounds, RowKind::UpdateAfter, current, rank);
            (current, rank) = (next, rank + 1);
        }
        if to == from {
            give(self.out, self.bounds, RowKind::UpdateBefore, Given::Kept(old), old_rank);
        }
        give(self.out, self.bounds, RowKind::UpdateAfter, current, old_rank);
    }

    /// The changes of a row that falls behind others, which happens only when state was lost.
    fn move_down(&mut self, old: u32, row: usize, from: usize, to: usize) {
        let mut rank = from as u64 + 1;
        give(self.out, self.bounds, RowKind::UpdateBefore, Given::Kept(old), rank);
        for next in self.run.iter_from(from).take(to - from) {
            let next = Given::Kept(next);
            give(self.out, self.bounds, RowKind::UpdateBefore, next, rank + 1);
            give(self.out, self.bounds, RowKind::UpdateAfter, next, rank);
            rank += 1;
        }
        give(self.out, self.bounds, RowKind::UpdateAfter, Given::New(row), rank);
    }
}

/// Gives a row if its rank is wanted.
pub(super) fn give(out: &mut Changes, bounds: Bounds, kind: RowKind, row: Given, rank: u64) {
    if bounds.holds(rank) {
        out.push(kind, row, rank);
    }
}
