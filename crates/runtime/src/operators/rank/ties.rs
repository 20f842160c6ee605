//! RANK and DENSE_RANK: rows that are equal in the order share a rank.

use flott_plan::logical::RankFunction;
use flott_types::RowKind;

use super::super::ranking::{Arrivals, Changes, Given, Run, SortedRows};
use super::partition::{Added, Bounds, Partition, give};
use crate::Result;

impl Partition<'_> {
    /// Takes a row of the batch: rows behind it change their ranks, then it is given itself.
    pub fn add_tied(
        &mut self,
        function: RankFunction,
        arrivals: &Arrivals,
        row: usize,
    ) -> Result<Added> {
        let at = self.sorted.place(self.run, arrivals, row);
        let ties = self.run.partition_point(|id| self.sorted.key(id) < arrivals.key(row));
        let behind = self.run.partition_point(|id| self.sorted.key(id) <= arrivals.key(row));
        let is_first = ties == behind;
        let rank = rank_at(function, self.sorted, self.run, ties, self.bounds.end);
        if !self.keeps_all && rank > self.bounds.end {
            return Ok(Added::default());
        }
        let id = self.sorted.insert(arrivals, row)?;
        let shift = u64::from(function == RankFunction::Rank || is_first);
        let mut out_of_range = 0;
        if shift > 0 {
            let first = next_rank(function, rank, behind, is_first);
            for (next, old) in walk(function, self.sorted, self.run, behind, first) {
                if old > self.bounds.end {
                    break;
                }
                change(self.out, self.bounds, self.numbered, next, old, old + shift);
                out_of_range += usize::from(old + shift > self.bounds.end);
            }
        }
        give(self.out, self.bounds, RowKind::Insert, Given::New(row), rank);
        self.run.insert(at, id);
        if !self.keeps_all {
            for _ in 0..out_of_range {
                let gone = self.run.remove(self.run.len() - 1);
                self.out.retire(gone);
            }
        }
        Ok(Added { id: Some(id), dropped: None })
    }

    /// Takes a row back; whether it was there.
    pub fn remove_tied(&mut self, function: RankFunction, arrivals: &Arrivals, row: usize) -> bool {
        let Some(at) = self.sorted.find(self.run, arrivals, row) else { return false };
        let id = self.run.remove(at);
        let ties = self.run.partition_point(|id| self.sorted.key(id) < arrivals.key(row));
        let behind = self.run.partition_point(|id| self.sorted.key(id) <= arrivals.key(row));
        let was_only = ties == behind;
        let rank = rank_at(function, self.sorted, self.run, ties, self.bounds.end);
        give(self.out, self.bounds, RowKind::Delete, Given::Kept(id), rank);
        let shift = u64::from(function == RankFunction::Rank || was_only);
        if shift > 0 {
            let first = next_rank(function, rank, behind, was_only);
            for (next, new) in walk(function, self.sorted, self.run, behind, first) {
                if new > self.bounds.end {
                    break;
                }
                change(self.out, self.bounds, self.numbered, next, new + shift, new);
            }
        }
        self.out.retire(id);
        true
    }
}

/// The rank of the row at a position that no row before it is equal to; of DENSE_RANK, counted no
/// further than behind `end`.
fn rank_at(function: RankFunction, sorted: &SortedRows, run: &Run, at: usize, end: u64) -> u64 {
    if function != RankFunction::DenseRank {
        return at as u64 + 1;
    }
    let mut distinct = 0;
    let mut last: Option<u32> = None;
    for id in run.iter().take(at) {
        if last.is_none_or(|last| sorted.key(last) != sorted.key(id)) {
            distinct += 1;
            if distinct > end {
                break;
            }
        }
        last = Some(id);
    }
    distinct + 1
}

/// The rank of the first row behind those that are equal to a row of rank `rank`, which is not in
/// the run.
fn next_rank(function: RankFunction, rank: u64, behind: usize, is_alone: bool) -> u64 {
    match function {
        RankFunction::DenseRank => rank + u64::from(!is_alone),
        _ => behind as u64 + 1,
    }
}

/// The rows from a position on, which has rank `rank`, with their ranks.
pub(in crate::operators) fn walk<'a>(
    function: RankFunction,
    sorted: &'a SortedRows,
    run: &'a Run,
    from: usize,
    rank: u64,
) -> impl Iterator<Item = (u32, u64)> + 'a {
    let mut rank = rank;
    let mut last: Option<u32> = None;
    run.iter_from(from).zip(from as u64 + 1..).map(move |(id, number)| {
        let is_tie = last.replace(id).is_some_and(|last| sorted.key(last) == sorted.key(id));
        let is_first = number == from as u64 + 1;
        match function {
            RankFunction::RowNumber => rank = number,
            RankFunction::Rank if !is_tie && !is_first => rank = number,
            RankFunction::DenseRank if !is_tie && !is_first => rank += 1,
            _ => {}
        }
        (id, rank)
    })
}

/// The change of a row whose rank changes.
fn change(out: &mut Changes, bounds: Bounds, numbered: bool, id: u32, old: u64, new: u64) {
    let row = Given::Kept(id);
    match (bounds.holds(old), bounds.holds(new)) {
        (true, true) if numbered => {
            out.push(RowKind::UpdateBefore, row, old);
            out.push(RowKind::UpdateAfter, row, new);
        }
        (true, false) => out.push(RowKind::Delete, row, old),
        (false, true) => out.push(RowKind::Insert, row, new),
        _ => {}
    }
}
