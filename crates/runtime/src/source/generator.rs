//! Taking watermarks from the rows of a source, by Flink's rule.
//!
//! A watermark is taken after each row. It goes out at once when it has grown by more than
//! `pipeline.auto-watermark-interval` of event time since the last that went out, so what is late
//! does not depend on speed. Both begin at 0, as Flink's do: a first watermark at or below the
//! interval, and any before the epoch, waits for a higher one.

use std::sync::Arc;

use arrow::array::Int64Array;

use crate::marks::{Mark, Marks};

/// Rows looked at together to find out whether one of them matters.
const CHUNK: usize = 64;

/// The watermark of the splits of one task: the lowest of those that are not idle.
#[derive(Debug)]
pub(crate) struct WatermarkGenerator {
    /// The growth that sends a watermark out, in milliseconds.
    interval: i64,
    /// The silence, in milliseconds, after which a split is idle; 0 for never.
    idle_timeout: i64,
    emitted: i64,
    splits: Vec<SplitWatermark>,
}

/// What is known of one split.
#[derive(Debug, Clone)]
struct SplitWatermark {
    /// The split; one name for all when they are read one after the other.
    id: Arc<str>,
    /// The highest watermark seen.
    watermark: i64,
    /// Whether it has been silent for too long.
    idle: bool,
    /// How long the task had been waiting for rows when its last row came.
    last_row: i64,
}

impl WatermarkGenerator {
    /// A generator without splits; `interval` and `idle_timeout` are in milliseconds.
    pub fn new(interval: i64, idle_timeout: i64) -> Self {
        Self { interval, idle_timeout, emitted: 0, splits: Vec::new() }
    }

    /// Goes on after a restart.
    pub fn resume(&mut self, emitted: i64) {
        self.emitted = emitted;
    }

    /// The watermark that went out last, 0 before the first.
    pub fn emitted(&self) -> i64 {
        self.emitted
    }

    /// The highest watermark seen in a split.
    pub fn watermark(&self, id: &str) -> Option<i64> {
        self.splits.iter().find(|split| &*split.id == id).map(|split| split.watermark)
    }

    /// Begins a split whose highest watermark so far is `watermark`, 0 for a new one.
    pub fn add(&mut self, id: Arc<str>, watermark: i64, waited: i64) {
        self.splits.push(SplitWatermark { id, watermark, idle: false, last_row: waited });
    }

    /// Ends a split; the rest may then have got further.
    pub fn remove(&mut self, id: &str) -> Option<i64> {
        self.splits.retain(|split| &*split.id != id);
        self.rise(self.interval)
    }

    /// The watermarks that stand between the rows of a batch of split `id`, where `values` has the
    /// watermark after each row and `waited` is how long the task has been waiting in all.
    pub fn batch(&mut self, id: &str, values: &Int64Array, waited: i64) -> Marks {
        let Some(index) = self.splits.iter().position(|split| &*split.id == id) else {
            return Marks::NONE;
        };
        self.splits[index].last_row = waited;
        self.splits[index].idle = false;
        self.check_idle(waited);
        let others = self.lowest(Some(index)).unwrap_or(i64::MAX);
        let split = &mut self.splits[index];
        let mut marks = Vec::new();
        let mut start = 0;
        while start < values.len() {
            let chunk = values.slice(start, CHUNK.min(values.len() - start));
            let highest = arrow::compute::max(&chunk).unwrap_or(i64::MIN);
            if others.min(highest) - self.emitted <= self.interval {
                split.watermark = split.watermark.max(highest);
            } else {
                for (row, value) in chunk.iter().enumerate() {
                    split.watermark = split.watermark.max(value.unwrap_or(i64::MIN));
                    let combined = others.min(split.watermark);
                    if combined - self.emitted > self.interval {
                        self.emitted = combined;
                        marks.push(Mark { row: (start + row + 1) as u32, watermark: combined });
                    }
                }
            }
            start += CHUNK;
        }
        marks.into_iter().collect()
    }

    /// What has grown at all since the last watermark, because input pauses.
    pub fn pause(&mut self) -> Option<i64> {
        self.rise(0)
    }

    /// Whether a pause would bring something to light.
    pub fn has_news(&self) -> bool {
        self.lowest(None).is_some_and(|lowest| lowest > self.emitted)
    }

    /// Declares idle what has been silent for too long; true when that leaves no split active.
    pub fn check_idle(&mut self, waited: i64) -> bool {
        if self.idle_timeout == 0 {
            return false;
        }
        let timeout = self.idle_timeout;
        for split in &mut self.splits {
            split.idle |= waited - split.last_row >= timeout;
        }
        !self.splits.is_empty() && self.splits.iter().all(|split| split.idle)
    }

    /// How much more waiting, in milliseconds, makes the next split idle.
    pub fn until_idle(&self, waited: i64) -> Option<i64> {
        let active = self.splits.iter().filter(|split| !split.idle && self.idle_timeout > 0);
        active.map(|split| (split.last_row + self.idle_timeout - waited).max(0)).min()
    }

    fn rise(&mut self, by_more_than: i64) -> Option<i64> {
        let lowest = self.lowest(None)?;
        (lowest.saturating_sub(self.emitted) > by_more_than).then(|| {
            self.emitted = lowest;
            lowest
        })
    }

    /// The lowest watermark of the active splits but one.
    fn lowest(&self, without: Option<usize>) -> Option<i64> {
        let active = self.splits.iter().enumerate();
        let active = active.filter(|(index, split)| Some(*index) != without && !split.idle);
        active.map(|(_, split)| split.watermark).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sequential() -> WatermarkGenerator {
        let mut generator = WatermarkGenerator::new(200, 0);
        generator.add("all".into(), 0, 0);
        generator
    }

    fn pairs(marks: &Marks) -> Vec<(u32, i64)> {
        marks.as_slice().iter().map(|mark| (mark.row, mark.watermark)).collect()
    }

    /// Recorded from Flink 2.3: `CURRENT_WATERMARK` after each row of these.
    #[test]
    fn watermarks_go_out_as_flinks_do() {
        let times = Int64Array::from(vec![-1000, 100, 200, 201, 401, 402, 0]);
        let mut generator = sequential();
        assert_eq!(pairs(&generator.batch("all", &times, 0)), [(4, 201), (6, 402)]);

        let mut every_row = WatermarkGenerator::new(0, 0);
        every_row.add("all".into(), 0, 0);
        let marks = every_row.batch("all", &times, 0);
        assert_eq!(pairs(&marks), [(2, 100), (3, 200), (4, 201), (5, 401), (6, 402)]);

        let some = Int64Array::from(vec![None, None, None, Some(201), None, None, None]);
        assert_eq!(pairs(&sequential().batch("all", &some, 0)), [(4, 201)]);
    }

    #[test]
    fn how_rows_are_cut_into_batches_does_not_matter() {
        let times: Vec<i64> = (0..3000)
            .map(|i| i * 37 + (i * 7919) % 1000 - if i % 50 == 0 { 5000 } else { 0 })
            .collect();
        let whole = pairs(&sequential().batch("all", &times.clone().into(), 0));
        for size in [1, 7, 64, 65, 1000] {
            let mut generator = sequential();
            let mut cut = Vec::new();
            for (i, part) in times.chunks(size).enumerate() {
                let marks = generator.batch("all", &part.to_vec().into(), 0);
                cut.extend(pairs(&marks).iter().map(|(row, w)| (row + (i * size) as u32, *w)));
            }
            assert_eq!(cut, whole, "batches of {size}");
        }
    }

    #[test]
    fn the_slowest_split_holds_the_watermark() {
        let mut generator = WatermarkGenerator::new(200, 1000);
        generator.add("a".into(), 0, 0);
        generator.add("b".into(), 0, 0);
        assert_eq!(generator.batch("a", &vec![1000, 5000].into(), 0), Marks::NONE);
        assert_eq!(
            pairs(&generator.batch("b", &vec![300, 400, 2000].into(), 0)),
            [(1, 300), (3, 2000)]
        );
        assert_eq!(generator.remove("b"), Some(5000));
    }

    #[test]
    fn silent_splits_become_idle_and_hold_nobody() {
        let mut generator = WatermarkGenerator::new(200, 1000);
        generator.add("a".into(), 0, 0);
        generator.add("b".into(), 0, 0);
        generator.batch("a", &vec![1000].into(), 900);
        assert_eq!(generator.until_idle(900), Some(100));
        assert!(!generator.check_idle(1000));
        assert_eq!(generator.pause(), Some(1000));
        assert!(generator.check_idle(1900));
        generator.batch("b", &vec![100].into(), 2000);
        assert!(!generator.check_idle(2000));
    }
}
