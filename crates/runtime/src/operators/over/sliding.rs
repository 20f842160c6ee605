//! Aggregates of frames that slide over rows which are all there.

use std::ops::Range;

use arrow::array::{ArrayRef, UInt32Array};
use arrow::compute::{concat, take};
use arrow::record_batch::RecordBatch;
use flott_plan::physical::ColumnAggregate;

use super::bounds::Ordered;
use crate::Result;
use crate::operators::aggregation::{Aggregation, GroupedRows};

/// Frames of up to so many rows on average are computed one by one rather than row in, row out, where
/// that gives better results.
const SHORT: usize = 64;
/// Steps taken together.
const CHUNK: usize = 1 << 16;

/// The results of some calls over the frame of each row.
///
/// Rows come into a frame and leave it as it slides, so that the work does not depend on its length.
/// Sums of DOUBLE and FLOAT would keep the rounding of rows that left: their frames are computed each
/// by itself while they are short, as are those of functions that take nothing back.
pub(super) fn aggregate(
    calls: &[ColumnAggregate],
    rows: &RecordBatch,
    frames: &[Range<usize>],
    ordered: &Ordered,
    now: i64,
) -> Result<Vec<ArrayRef>> {
    let mut both = frames.iter().zip(&ordered.partitions);
    let only_grow = both.all(|(frame, partition)| frame.start == partition.start);
    if only_grow {
        return slide(Aggregation::new(calls, false, None)?, rows, frames, ordered, now);
    }
    let rounds = |call: &ColumnAggregate| {
        call.data_type.root.is_approximate()
            || call.arg_types.iter().any(|ty| ty.root.is_approximate())
    };
    let total: usize = frames.iter().map(Range::len).sum();
    if calls.iter().any(rounds) && total <= frames.len().saturating_mul(SHORT) {
        return each(calls, rows, frames, now);
    }
    match Aggregation::new(calls, true, None) {
        Ok(aggregation) => slide(aggregation, rows, frames, ordered, now),
        Err(_) => each(calls, rows, frames, now),
    }
}

/// Steps of rows in and out of frames.
#[derive(Default)]
struct Steps {
    rows: Vec<u32>,
    groups: Vec<u32>,
    signs: Vec<i8>,
    /// The steps after which results are read.
    reads: Vec<u32>,
}

/// Lets frames slide: each row comes once and leaves once.
fn slide(
    mut aggregation: Aggregation,
    rows: &RecordBatch,
    frames: &[Range<usize>],
    ordered: &Ordered,
    now: i64,
) -> Result<Vec<ArrayRef>> {
    aggregation.resize(1);
    let mut chunks: Vec<Vec<ArrayRef>> = Vec::new();
    let mut steps = Steps::default();
    let mut inside = 0..0;
    for (row, frame) in frames.iter().enumerate() {
        let partition = &ordered.partitions[row];
        if row == partition.start {
            take_steps(&mut aggregation, rows, &mut steps, now, &mut chunks)?;
            aggregation.reset(&[0]);
            inside = partition.start..partition.start;
        }
        let before = steps.rows.len();
        let mut step = |row: usize, sign: i8| {
            steps.rows.push(row as u32);
            steps.groups.push(0);
            steps.signs.push(sign);
        };
        // An empty frame may lie behind the rows that the next one begins with.
        let start = if frame.is_empty() { inside.end.max(inside.start) } else { frame.start };
        let end = if frame.is_empty() { inside.end } else { frame.end };
        (inside.end..end).for_each(|row| step(row, 1));
        (inside.start..start.min(end)).for_each(|row| step(row, -1));
        inside = start.min(end).max(inside.start)..end.max(inside.end);
        if steps.rows.len() == before {
            steps.rows.push(row as u32);
            steps.groups.push(0);
            steps.signs.push(0);
        }
        steps.reads.push(steps.rows.len() as u32 - 1);
        if steps.rows.len() >= CHUNK {
            take_steps(&mut aggregation, rows, &mut steps, now, &mut chunks)?;
        }
    }
    take_steps(&mut aggregation, rows, &mut steps, now, &mut chunks)?;
    join(chunks, &aggregation)
}

fn take_steps(
    aggregation: &mut Aggregation,
    rows: &RecordBatch,
    steps: &mut Steps,
    now: i64,
    chunks: &mut Vec<Vec<ArrayRef>>,
) -> Result<()> {
    if steps.rows.is_empty() {
        return Ok(());
    }
    let Steps { rows: picks, groups, signs, reads } = std::mem::take(steps);
    let columns = picked(rows, picks)?;
    let signs = signs.iter().any(|sign| *sign != 1).then_some(signs);
    let grouped = GroupedRows { columns: &columns, groups: &groups, signs: signs.as_deref(), now };
    let pairs = aggregation.update_with_changes(&grouped, &mut vec![false; groups.len()])?;
    let reads = UInt32Array::from_iter_values(reads.iter().map(|read| 2 * read + 1));
    let results = pairs.iter().map(|pair| take(pair, &reads, None));
    chunks.push(results.collect::<Result<_, _>>()?);
    Ok(())
}

/// Computes each frame by itself.
fn each(
    calls: &[ColumnAggregate],
    rows: &RecordBatch,
    frames: &[Range<usize>],
    now: i64,
) -> Result<Vec<ArrayRef>> {
    let mut aggregation = Aggregation::new(calls, false, None)?;
    let mut chunks = Vec::new();
    let mut at = 0;
    while at < frames.len() {
        let (mut picks, mut groups, mut count) = (Vec::new(), Vec::new(), 0u32);
        while at < frames.len() && picks.len() < CHUNK {
            picks.extend(frames[at].clone().map(|row| row as u32));
            groups.resize(picks.len(), count);
            count += 1;
            at += 1;
        }
        let all: Vec<u32> = (0..count).collect();
        aggregation.resize(all.len());
        aggregation.reset(&all);
        let columns = picked(rows, picks)?;
        let grouped = GroupedRows { columns: &columns, groups: &groups, signs: None, now };
        aggregation.update(&grouped)?;
        chunks.push(aggregation.values(&all)?);
    }
    join(chunks, &aggregation)
}

fn picked(rows: &RecordBatch, picks: Vec<u32>) -> Result<Vec<ArrayRef>> {
    let picks = UInt32Array::from(picks);
    let columns = rows.columns().iter().map(|column| take(column, &picks, None));
    Ok(columns.collect::<Result<_, _>>()?)
}

/// The chunks of each call, one behind the other.
fn join(chunks: Vec<Vec<ArrayRef>>, aggregation: &Aggregation) -> Result<Vec<ArrayRef>> {
    let Some(first) = chunks.first() else { return aggregation.values(&[]) };
    (0..first.len())
        .map(|call| {
            let parts: Vec<&dyn arrow::array::Array> =
                chunks.iter().map(|chunk| &*chunk[call]).collect();
            Ok(concat(&parts)?)
        })
        .collect()
}
