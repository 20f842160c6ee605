//! The frames of rows that are all there, in order.

use std::ops::Range;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{
    DataType as Arrow, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, Time32MillisecondType, TimestampMicrosecondType,
    TimestampMillisecondType,
};
use flott_plan::logical::{Frame, FrameBound, FrameUnit};
use flott_types::Value;

use crate::{Result, RuntimeError};

/// Rows of partitions in order: each partition, and each run of peers, is a range of rows.
pub(super) struct Ordered {
    /// By row, its partition.
    pub partitions: Vec<Range<usize>>,
    /// By row, itself and the rows that are equal in the order.
    pub peers: Vec<Range<usize>>,
}

/// The frame of each row, which may be empty.
pub(super) fn frames(
    frame: &Frame,
    ordered: &Ordered,
    key: Option<(&ArrayRef, bool)>,
) -> Result<Vec<Range<usize>>> {
    let distances = match (frame.unit, key) {
        (FrameUnit::Range, Some((column, descending))) if has_distance(frame) => {
            Some(Distances::new(column, descending)?)
        }
        _ => None,
    };
    let rows = ordered.partitions.len();
    let mut starts = Vec::with_capacity(rows);
    let mut ends = Vec::with_capacity(rows);
    for row in 0..rows {
        let partition = &ordered.partitions[row];
        let (before, behind) = match frame.unit {
            FrameUnit::Rows => (row, row + 1),
            FrameUnit::Range => (ordered.peers[row].start, ordered.peers[row].end),
        };
        // Bounds never go back within a partition, so each search begins where the last one ended.
        let last = |bounds: &[usize]| match row.checked_sub(1) {
            Some(last) if last >= partition.start => bounds[last],
            _ => partition.start,
        };
        let from = last(&starts);
        starts.push(match (&frame.start, &distances) {
            (FrameBound::UnboundedPreceding, _) => partition.start,
            (FrameBound::UnboundedFollowing, _) => partition.end,
            (FrameBound::CurrentRow, _) => before,
            (FrameBound::Preceding(by), None) => {
                row.saturating_sub(count(by)?).max(partition.start)
            }
            (FrameBound::Following(by), None) => row.saturating_add(count(by)?).min(partition.end),
            (FrameBound::Preceding(by), Some(keys)) => {
                keys.first(row, by, -1, from..partition.end).unwrap_or(before)
            }
            // NULLs are at no distance from each other.
            (FrameBound::Following(by), Some(keys)) => {
                let of_null = if keys.leads_away(by) { behind } else { before };
                keys.first(row, by, 1, from..partition.end).unwrap_or(of_null)
            }
        });
        let from = last(&ends);
        ends.push(match (&frame.end, &distances) {
            (FrameBound::UnboundedPreceding, _) => partition.start,
            (FrameBound::UnboundedFollowing, _) => partition.end,
            (FrameBound::CurrentRow, _) => behind,
            (FrameBound::Preceding(by), None) => {
                (row + 1).saturating_sub(count(by)?).max(partition.start)
            }
            (FrameBound::Following(by), None) => {
                (row + 1).saturating_add(count(by)?).min(partition.end)
            }
            (FrameBound::Preceding(by), Some(keys)) => {
                let of_null = if keys.leads_away(by) { before } else { behind };
                keys.behind(row, by, -1, from..partition.end).unwrap_or(of_null)
            }
            (FrameBound::Following(by), Some(keys)) => {
                keys.behind(row, by, 1, from..partition.end).unwrap_or(behind)
            }
        });
    }
    Ok(starts.into_iter().zip(ends).map(|(start, end)| start.min(end)..end).collect())
}

fn has_distance(frame: &Frame) -> bool {
    let is_distance =
        |bound: &FrameBound| matches!(bound, FrameBound::Preceding(_) | FrameBound::Following(_));
    is_distance(&frame.start) || is_distance(&frame.end)
}

fn count(value: &Value) -> Result<usize> {
    let count = value.as_int().and_then(|rows| usize::try_from(rows).ok());
    count.ok_or_else(|| RuntimeError::internal("OverAggregate", "a frame of no number of rows"))
}

/// Sort keys as numbers that ascend; NULL has none.
enum Distances {
    /// With how many of them a millisecond has.
    Exact(Vec<Option<i128>>, i128),
    Approximate(Vec<Option<f64>>),
}

impl Distances {
    fn new(column: &ArrayRef, descending: bool) -> Result<Self> {
        let sign = if descending { -1 } else { 1 };
        macro_rules! exact {
            ($t:ty, $per_milli:expr, $scale:expr) => {
                Self::Exact(
                    column
                        .as_primitive::<$t>()
                        .iter()
                        .map(|key| key.map(|key| i128::from(key) * $scale * sign))
                        .collect(),
                    $per_milli,
                )
            };
        }
        macro_rules! approximate {
            ($t:ty) => {{
                let keys = column.as_primitive::<$t>().iter();
                Self::Approximate(
                    keys.map(|key| key.map(|key| f64::from(key) * sign as f64)).collect(),
                )
            }};
        }
        use arrow::datatypes::TimeUnit;
        Ok(match column.data_type() {
            Arrow::Int8 => exact!(Int8Type, 1, 1),
            Arrow::Int16 => exact!(Int16Type, 1, 1),
            Arrow::Int32 => exact!(Int32Type, 1, 1),
            Arrow::Int64 => exact!(Int64Type, 1, 1),
            // Timestamps of high precision count nanoseconds.
            Arrow::Decimal128(..) => exact!(Decimal128Type, 1_000_000, 1),
            Arrow::Date32 => exact!(Date32Type, 1, 86_400_000),
            Arrow::Time32(_) => exact!(Time32MillisecondType, 1, 1),
            Arrow::Timestamp(TimeUnit::Millisecond, _) => exact!(TimestampMillisecondType, 1, 1),
            Arrow::Timestamp(TimeUnit::Microsecond, _) => {
                exact!(TimestampMicrosecondType, 1_000, 1)
            }
            Arrow::Float32 => approximate!(Float32Type),
            Arrow::Float64 => approximate!(Float64Type),
            other => {
                let problem = format!("a RANGE over {other}");
                return Err(RuntimeError::internal("OverAggregate", problem));
            }
        })
    }

    /// The first row of a range whose key is not before that of `row` moved by a distance.
    fn first(&self, row: usize, by: &Value, sign: i128, range: Range<usize>) -> Option<usize> {
        self.search(row, by, sign, range, false)
    }

    /// The first row of a range whose key is behind that of `row` moved by a distance.
    fn behind(&self, row: usize, by: &Value, sign: i128, range: Range<usize>) -> Option<usize> {
        self.search(row, by, sign, range, true)
    }

    /// `None` where the row has no key.
    fn search(
        &self,
        row: usize,
        by: &Value,
        sign: i128,
        mut range: Range<usize>,
        inclusive: bool,
    ) -> Option<usize> {
        let end = range.end;
        let found = match self {
            Self::Exact(keys, _) => {
                let bound = keys[row]?.saturating_add(self.exact(by).saturating_mul(sign));
                range.find(|at| match keys[*at] {
                    Some(key) => key > bound || (!inclusive && key == bound),
                    // NULLs stand before all keys, where they are passed over, or behind all.
                    None => *at > row,
                })
            }
            Self::Approximate(keys) => {
                // As Flink has it, distances are compared and not the key that is so far away.
                let (here, by) = (keys[row]?, approximate(by) * sign as f64);
                range.find(|at| match keys[*at] {
                    Some(key) => key - here > by || (!inclusive && key - here >= by),
                    None => *at > row,
                })
            }
        };
        Some(found.unwrap_or(end))
    }

    /// Whether a distance leads away from the row itself, and from its peers.
    fn leads_away(&self, by: &Value) -> bool {
        match self {
            Self::Exact(..) => self.exact(by) > 0,
            Self::Approximate(_) => approximate(by) > 0.0,
        }
    }

    fn exact(&self, by: &Value) -> i128 {
        let per_milli = if let Self::Exact(_, per_milli) = self { *per_milli } else { 1 };
        match by {
            Value::Millis(millis) => i128::from(*millis).saturating_mul(per_milli),
            Value::Int(by) => i128::from(*by),
            Value::Decimal(by) => *by,
            _ => 0,
        }
    }
}

fn approximate(by: &Value) -> f64 {
    match by {
        Value::Double(by) => *by,
        Value::Float(by) => f64::from(*by),
        _ => 0.0,
    }
}
