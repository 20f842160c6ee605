//! Giving out rows at the wanted pace.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use flott_catalog::connector::{ConnectorError, SourceEvent, SourceReader, Split};
use flott_types::ChangelogBatch;

use super::rows::Rows;
use super::split::NumberedSplit;

/// Makes a batch of the rows of these numbers.
pub(crate) type Make = Box<dyn FnMut(Rows) -> Result<ChangelogBatch, ConnectorError> + Send>;

/// Gives batches of rows known by their numbers, from one split after the other in turn.
pub(crate) struct PacedReader {
    make: Make,
    /// Rows a second, from all splits of the table; `None`: as many as are taken.
    rate: Option<f64>,
    max_rows: usize,
    active: VecDeque<Active>,
}

/// A split under way.
struct Active {
    split: NumberedSplit,
    /// When the present second began, and how many rows it may still give.
    second: Instant,
    budget: u64,
}

impl PacedReader {
    pub(crate) fn new(make: Make, rate: Option<f64>, max_rows: usize) -> Self {
        Self { make, rate, max_rows: max_rows.max(1), active: VecDeque::new() }
    }

    /// As in Flink, the rows of a second come at its beginning.
    fn rows_per_second(&self, split: &NumberedSplit) -> u64 {
        self.rate.map_or(u64::MAX, |rate| (rate / split.parts as f64).ceil() as u64)
    }

    fn batch(
        &mut self,
        split: &NumberedSplit,
        count: usize,
    ) -> Result<ChangelogBatch, ConnectorError> {
        let first = split.part.wrapping_add(split.done.wrapping_mul(split.parts));
        (self.make)(Rows::new(first, split.parts, count))
    }

    /// Puts a split with rows to give in front; `None` when all must wait, at most until then.
    fn next_ready(&mut self) -> Result<(), Instant> {
        let now = Instant::now();
        let mut earliest = now + Duration::from_secs(1);
        for _ in 0..self.active.len() {
            let Some(front) = self.active.front() else { break };
            let next_second = front.second + Duration::from_secs(1);
            if front.budget > 0 || front.split.len() == Some(front.split.done) {
                return Ok(());
            }
            if next_second <= now {
                let budget = self.rows_per_second(&front.split);
                if let Some(front) = self.active.front_mut() {
                    front.second = next_second;
                    front.budget = budget;
                }
                return Ok(());
            }
            earliest = earliest.min(next_second);
            self.active.rotate_left(1);
        }
        Err(earliest)
    }
}

impl SourceReader for PacedReader {
    fn add_splits(&mut self, splits: Vec<Split>) -> Result<(), ConnectorError> {
        for split in &splits {
            let split = NumberedSplit::unpack(split)?;
            let budget = self.rows_per_second(&split);
            self.active.push_back(Active { split, second: Instant::now(), budget });
        }
        Ok(())
    }

    /// Splits of an endless table never end, so that none may wait for another.
    fn wants_all_splits(&self) -> bool {
        true
    }

    fn poll(&mut self, timeout: Duration) -> Result<SourceEvent, ConnectorError> {
        if self.active.is_empty() {
            std::thread::sleep(timeout);
            return Ok(SourceEvent::Pending);
        }
        if let Err(earliest) = self.next_ready() {
            std::thread::sleep(earliest.saturating_duration_since(Instant::now()).min(timeout));
            if self.next_ready().is_err() {
                return Ok(SourceEvent::Pending);
            }
        }
        let Some(mut active) = self.active.pop_front() else { return Ok(SourceEvent::Pending) };
        let left = active.split.len().map_or(u64::MAX, |len| len - active.split.done.min(len));
        if left == 0 {
            return Ok(SourceEvent::SplitEnd(active.split.id));
        }
        let count = left.min(active.budget).min(self.max_rows as u64);
        let batch = self.batch(&active.split, count as usize)?;
        active.split.done += count;
        if self.rate.is_some() {
            active.budget -= count;
        }
        let split = active.split.id.clone();
        self.active.push_back(active);
        Ok(SourceEvent::Rows { split, batch, bytes: 0 })
    }

    fn snapshot(&mut self) -> Result<Vec<Split>, ConnectorError> {
        Ok(self.active.iter().map(|active| active.split.pack()).collect())
    }
}
