//! Watermarks between the rows of a batch.
//!
//! Flink takes a watermark after every row, so that which row is late depends on the data and not
//! on how it was cut into batches. Cutting a batch at every watermark would cost its speed; instead
//! the watermarks travel with the batch, as a list of marks. Operators for which they matter are
//! fed in pieces or read the marks themselves, all others see whole batches.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, BooleanArray};

/// A watermark inside a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// How many rows of the batch precede the watermark, 0 to the number of rows.
    pub row: u32,
    /// The watermark, in milliseconds since the epoch.
    pub watermark: i64,
}

/// The watermarks of one batch: rows never fall, watermarks rise strictly. Cheap to clone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Marks(Option<Arc<[Mark]>>);

/// Rows of a batch that no watermark parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// The rows; may be empty.
    pub rows: Range<usize>,
    /// The watermark that follows them; `None` after the last mark.
    pub watermark: Option<i64>,
}

impl Marks {
    /// No watermark.
    pub const NONE: Self = Self(None);

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The marks in order.
    pub fn as_slice(&self) -> &[Mark] {
        self.0.as_deref().unwrap_or_default()
    }

    /// The highest watermark, which is the last.
    pub fn last(&self) -> Option<i64> {
        self.as_slice().last().map(|mark| mark.watermark)
    }

    /// The segments of a batch of `rows` rows in order; the last one has no watermark and is left
    /// out when it has no rows either.
    pub fn segments(&self, rows: usize) -> impl Iterator<Item = Segment> + '_ {
        let marks = self.as_slice();
        let ends = marks.iter().map(|mark| (mark.row as usize, Some(mark.watermark)));
        let tail = marks.last().is_none_or(|mark| (mark.row as usize) < rows);
        let mut start = 0;
        ends.chain(tail.then_some((rows, None))).map(move |(end, watermark)| {
            let segment = Segment { rows: start..end, watermark };
            start = end;
            segment
        })
    }

    /// The watermark in force at each of `rows` rows, where `before` is the one before the batch.
    /// `i64::MIN` stands for none.
    pub fn per_row(&self, rows: usize, before: i64) -> Vec<i64> {
        let mut values = Vec::with_capacity(rows);
        let mut current = before;
        for segment in self.segments(rows) {
            values.resize(segment.rows.end, current);
            current = segment.watermark.map_or(current, |watermark| current.max(watermark));
        }
        values
    }

    /// The marks of `len` rows from `offset`. A mark that stands between two slices belongs to the
    /// earlier one.
    pub fn slice(&self, offset: usize, len: usize) -> Self {
        let end = offset + len;
        self.as_slice()
            .iter()
            .filter(|mark| {
                let row = mark.row as usize;
                row <= end && (row > offset || offset == 0)
            })
            .map(|mark| Mark { row: mark.row - offset as u32, watermark: mark.watermark })
            .collect()
    }

    /// The marks after each row was replaced by others: `position(n)` is how many rows come out of
    /// the first `n`.
    pub fn remap(&self, mut position: impl FnMut(usize) -> usize) -> Self {
        if self.is_empty() {
            return Self::NONE;
        }
        self.as_slice()
            .iter()
            .map(|mark| Mark { row: position(mark.row as usize) as u32, ..*mark })
            .collect()
    }

    /// The marks of the rows for which `keep` is true; NULL counts as false.
    pub fn filter(&self, keep: &BooleanArray) -> Self {
        if self.is_empty() {
            return Self::NONE;
        }
        let bits = match keep.nulls() {
            None => keep.values().clone(),
            Some(valid) => keep.values() & valid.inner(),
        };
        let (mut done, mut kept) = (0, 0);
        self.remap(|row| {
            kept += bits.slice(done, row - done).count_set_bits();
            done = row;
            kept
        })
    }

    /// Only the last watermark, after all `rows` rows: enough where no operator cares which row
    /// came before which watermark.
    pub fn at_end(&self, rows: usize) -> Self {
        self.last().map(|watermark| Mark { row: rows as u32, watermark }).into_iter().collect()
    }
}

impl FromIterator<Mark> for Marks {
    /// Marks in order; where several stand at one row only the last, highest, stays.
    fn from_iter<T: IntoIterator<Item = Mark>>(marks: T) -> Self {
        let mut list: Vec<Mark> = Vec::new();
        for mark in marks {
            match list.last_mut() {
                Some(last) if mark.watermark <= last.watermark => {}
                Some(last) if last.row == mark.row => last.watermark = mark.watermark,
                _ => list.push(mark),
            }
        }
        Self((!list.is_empty()).then(|| list.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(list: &[(u32, i64)]) -> Marks {
        list.iter().map(|(row, watermark)| Mark { row: *row, watermark: *watermark }).collect()
    }

    fn segments(list: &[(u32, i64)], rows: usize) -> Vec<(Range<usize>, Option<i64>)> {
        marks(list).segments(rows).map(|s| (s.rows, s.watermark)).collect()
    }

    #[test]
    fn segments_cover_the_batch() {
        assert_eq!(segments(&[], 3), [(0..3, None)]);
        assert_eq!(segments(&[(1, 10), (3, 20)], 3), [(0..1, Some(10)), (1..3, Some(20))]);
        assert_eq!(
            segments(&[(0, 10), (2, 20)], 3),
            [(0..0, Some(10)), (0..2, Some(20)), (2..3, None)]
        );
    }

    #[test]
    fn marks_at_one_row_become_the_highest() {
        assert_eq!(marks(&[(1, 10), (1, 20), (2, 15)]), marks(&[(1, 20)]));
        assert!(marks(&[]).is_empty());
    }

    #[test]
    fn each_row_knows_its_watermark() {
        assert_eq!(marks(&[(1, 10), (3, 20)]).per_row(4, 5), [5, 10, 10, 20]);
        assert_eq!(Marks::NONE.per_row(2, i64::MIN), [i64::MIN; 2]);
    }

    #[test]
    fn slices_share_out_the_marks() {
        let all = marks(&[(0, 5), (2, 10), (4, 20)]);
        assert_eq!(all.slice(0, 2), marks(&[(0, 5), (2, 10)]));
        assert_eq!(all.slice(2, 2), marks(&[(2, 20)]));
        assert_eq!(all.slice(2, 1), Marks::NONE);
    }

    #[test]
    fn filtering_moves_marks_with_their_rows() {
        let keep = BooleanArray::from(vec![Some(true), Some(false), None, Some(true)]);
        assert_eq!(marks(&[(1, 10), (3, 20), (4, 30)]).filter(&keep), marks(&[(1, 20), (2, 30)]));
    }
}
