//! Unique keys: sets of columns by which no two rows of a result are equal.

use flott_functions::Expr;

use crate::logical::{Correlate, JoinKind, RankFunction, RankRange};
use crate::physical::{Rank, RegularJoin, WindowOutput, WindowRank};

/// The keys that survive a projection: those whose columns are all passed on.
pub fn project(keys: &[Vec<usize>], projection: &[Expr]) -> Vec<Vec<usize>> {
    keys.iter()
        .filter_map(|key| {
            key.iter()
                .map(|column| {
                    projection
                        .iter()
                        .position(|e| matches!(e, Expr::Column { index, .. } if index == column))
                })
                .collect::<Option<Vec<_>>>()
        })
        .collect()
}

/// The key of a grouping by its first `count` output columns. A global aggregate has one row.
pub fn grouped(count: usize) -> Vec<Vec<usize>> {
    vec![(0..count).collect()]
}

/// The key of a window aggregation: its keys and one bound of the window.
pub fn windowed(outputs: &[WindowOutput]) -> Vec<Vec<usize>> {
    let bound = |wanted: WindowOutput| outputs.iter().position(|output| *output == wanted);
    let keys = outputs
        .iter()
        .enumerate()
        .filter(|(_, output)| matches!(output, WindowOutput::Key(_)))
        .map(|(i, _)| i);
    let (Some(start), Some(end)) = (bound(WindowOutput::Start), bound(WindowOutput::End)) else {
        return Vec::new();
    };
    vec![keys.chain([start, end]).collect()]
}

/// The keys of a table function's rows: a key of the row it was called for, and one that tells the rows
/// of one call apart.
pub fn correlated(correlate: &Correlate, input: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let Ok(resolved) = (correlate.function.resolve)(&correlate.call_args()) else {
        return Vec::new();
    };
    let place = |given: &[usize], column: &usize| given.iter().position(|known| known == column);
    let mut keys = Vec::new();
    for outer in input {
        for inner in &resolved.keys {
            let outer = outer.iter().map(|column| place(&correlate.passed, column));
            let inner = inner
                .iter()
                .map(|column| Some(correlate.passed.len() + place(&correlate.given, column)?));
            keys.extend(outer.chain(inner).collect::<Option<Vec<usize>>>());
        }
    }
    keys
}

/// The keys of a Top-N: those of its input, and the partition with the rank, or by itself where
/// only one row of it is given.
pub fn ranked(rank: &Rank, input: &[Vec<usize>], width: usize) -> Vec<Vec<usize>> {
    let mut keys =
        of_partition(&rank.partition, rank.range, rank.function, rank.with_number, width);
    keys.extend(input.iter().filter(|key| !keys.contains(key)).cloned().collect::<Vec<_>>());
    keys
}

/// The keys of a Top-N by window.
pub fn window_ranked(rank: &WindowRank, input: &[Vec<usize>], width: usize) -> Vec<Vec<usize>> {
    let mut keys =
        of_partition(&rank.partition, rank.range, rank.function, rank.with_number, width);
    keys.extend(input.iter().filter(|key| !keys.contains(key)).cloned().collect::<Vec<_>>());
    keys
}

fn of_partition(
    partition: &[usize],
    range: RankRange,
    function: RankFunction,
    with_number: bool,
    width: usize,
) -> Vec<Vec<usize>> {
    let number = (!range.is_one()).then_some(width);
    if function != RankFunction::RowNumber || (number.is_some() && !with_number) {
        return Vec::new();
    }
    vec![partition.iter().copied().chain(number).collect()]
}

/// The keys of a join.
///
/// Rows are spread over tasks by what they are joined by. The old and the new row of a key that does not hold it may
/// so go through different tasks, and come in any order to who finds rows by that key: it is none any more.
pub fn joined(join: &RegularJoin, left_width: usize) -> Vec<Vec<usize>> {
    let left_unique = in_order(&join.left_unique, &join.left_keys, join.insert_only[0]);
    let right_unique = in_order(&join.right_unique, &join.right_keys, join.insert_only[1]);
    let right_once = covers(&join.right_unique, &join.right_keys);
    let left_once = covers(&join.left_unique, &join.left_keys);
    match join.kind {
        JoinKind::Semi | JoinKind::Anti => return left_unique,
        _ => {}
    }
    let mut keys = Vec::new();
    // Where each left row meets one right row at most, a left key stays a key.
    if right_once && !join.kind.keeps_right() {
        keys.extend(left_unique.iter().cloned());
    }
    if left_once && !join.kind.keeps_left() {
        keys.extend(shift(&right_unique, left_width));
    }
    if keys.is_empty() {
        for left in &left_unique {
            for right in shift(&right_unique, left_width) {
                keys.push(left.iter().copied().chain(right).collect());
            }
        }
    }
    keys
}

/// The keys whose rows stay in order where rows are spread over tasks by some columns.
fn in_order(keys: &[Vec<usize>], by: &[usize], insert_only: bool) -> Vec<Vec<usize>> {
    let stays = |key: &&Vec<usize>| insert_only || by.iter().all(|column| key.contains(column));
    keys.iter().filter(stays).cloned().collect()
}

/// Whether some key consists of these columns alone, so that no two rows agree in all of them.
pub fn covers(keys: &[Vec<usize>], columns: &[usize]) -> bool {
    keys.iter().any(|key| key.iter().all(|column| columns.contains(column)))
}

fn shift(keys: &[Vec<usize>], by: usize) -> Vec<Vec<usize>> {
    keys.iter().map(|key| key.iter().map(|column| column + by).collect()).collect()
}
