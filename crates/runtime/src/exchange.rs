//! The way from one task to the tasks of another node.

use std::sync::Arc;

use arrow::array::UInt32Array;
use flott_state::{KeyEncoder, key_group, key_group_owner};
use flott_types::DataType;

use crate::channel::ChannelSender;
use crate::checkpoint::{Barrier, Checkpoint, TaskSnapshot};
use crate::clock::Clock;
use crate::coalesce::{Coalescer, WORTH_SENDING};
use crate::element::{EndOfInput, MarkedBatch, StreamElement};
use crate::marks::Mark;
use crate::stage::{Stage, earlier};
use crate::{Result, RuntimeError};

/// Sends what it is given to the tasks that are to have it.
///
/// Small batches wait to be sent together until they are many, input pauses, or the buffer timeout
/// is over.
pub(crate) struct ExchangeWriter {
    partitioner: Partitioner,
    targets: Vec<Target>,
    exact: bool,
    clock: Arc<dyn Clock>,
    /// How long rows may wait, in milliseconds.
    buffer_timeout: i64,
}

/// Which of the tasks a row goes to.
pub(crate) enum Partitioner {
    /// There is but one.
    One,
    /// All of them.
    Broadcast,
    /// Batch by batch the next one.
    RoundRobin { next: usize },
    /// The one that owns the row's key.
    Hash(HashPartitioner),
}

struct Target {
    sender: ChannelSender,
    pending: Coalescer,
    /// When the first of the pending rows came.
    since: i64,
}

impl ExchangeWriter {
    pub fn new(
        partitioner: Partitioner,
        senders: Vec<ChannelSender>,
        exact: bool,
        clock: Arc<dyn Clock>,
        buffer_timeout: i64,
    ) -> Self {
        let target = |sender| Target { sender, pending: Coalescer::default(), since: 0 };
        let targets: Vec<_> = senders.into_iter().map(target).collect();
        let partitioner = if targets.len() == 1 { Partitioner::One } else { partitioner };
        Self { partitioner, targets, exact, clock, buffer_timeout }
    }

    fn deliver(&mut self, target: usize, rows: MarkedBatch) -> Result<()> {
        let to = &mut self.targets[target];
        let len = rows.batch.len();
        if len >= WORTH_SENDING || !to.pending.fits(len) {
            to.flush()?;
        }
        if len >= WORTH_SENDING || self.buffer_timeout == 0 {
            return to.sender.send(StreamElement::Batch(rows));
        }
        if to.pending.is_empty() {
            to.since = self.clock.now();
        }
        to.pending.push(rows);
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        self.targets.iter_mut().try_for_each(Target::flush)
    }

    fn send_all(&mut self, element: StreamElement) -> Result<()> {
        self.flush()?;
        self.targets.iter().try_for_each(|target| target.sender.send(element.clone()))
    }
}

impl Target {
    fn flush(&mut self) -> Result<()> {
        match self.pending.take()? {
            Some(rows) => self.sender.send(StreamElement::Batch(rows)),
            None => Ok(()),
        }
    }

    fn watermark(&mut self, watermark: i64) -> Result<()> {
        if self.pending.is_empty() {
            return self.sender.send(StreamElement::Watermark(watermark));
        }
        self.pending.push_watermark(watermark);
        Ok(())
    }
}

impl Stage for ExchangeWriter {
    fn exact(&self) -> bool {
        self.exact
    }

    fn open(&mut self, _restored: Option<&Checkpoint>) -> Result<()> {
        Ok(())
    }

    fn batch(&mut self, _input: usize, mut rows: MarkedBatch) -> Result<()> {
        if !self.exact {
            rows.marks = rows.marks.at_end(rows.batch.len());
        }
        match &mut self.partitioner {
            Partitioner::One => self.deliver(0, rows),
            Partitioner::Broadcast => {
                (0..self.targets.len()).try_for_each(|target| self.deliver(target, rows.clone()))
            }
            Partitioner::RoundRobin { next } => {
                let target = *next;
                *next = (target + 1) % self.targets.len();
                let last = rows.marks.last();
                self.deliver(target, rows)?;
                last.map_or(Ok(()), |watermark| {
                    let others = self.targets.iter_mut().enumerate();
                    let mut others = others.filter(|(other, _)| *other != target);
                    others.try_for_each(|(_, target)| target.watermark(watermark))
                })
            }
            Partitioner::Hash(hash) => {
                for (target, part) in hash.split(rows)? {
                    if part.batch.is_empty() {
                        let watermark = part.marks.last();
                        watermark.map_or(Ok(()), |w| self.targets[target].watermark(w))?;
                    } else {
                        self.deliver(target, part)?;
                    }
                }
                Ok(())
            }
        }
    }

    fn watermark(&mut self, _input: usize, watermark: i64) -> Result<()> {
        self.targets.iter_mut().try_for_each(|target| target.watermark(watermark))
    }

    fn idle(&mut self, _input: usize, idle: bool) -> Result<()> {
        self.send_all(if idle { StreamElement::Idle } else { StreamElement::Active })
    }

    fn barrier(&mut self, barrier: &Barrier, _snapshot: &mut TaskSnapshot) -> Result<()> {
        self.send_all(StreamElement::Barrier(*barrier))
    }

    fn end(&mut self, _input: usize, how: EndOfInput) -> Result<()> {
        self.send_all(StreamElement::End(how))
    }

    fn pause(&mut self) -> Result<()> {
        self.flush()
    }

    fn deadline(&self) -> Option<i64> {
        let waiting = self.targets.iter().filter(|target| !target.pending.is_empty());
        waiting.fold(None, |first, target| earlier(first, Some(target.since + self.buffer_timeout)))
    }

    fn tick(&mut self, now: i64) -> Result<()> {
        let timeout = self.buffer_timeout;
        let due =
            |target: &&mut Target| !target.pending.is_empty() && target.since + timeout <= now;
        self.targets.iter_mut().filter(due).try_for_each(Target::flush)
    }

    fn has_room(&self) -> bool {
        self.targets.iter().all(|target| target.sender.has_room())
    }
}

/// Sends each row to the task that owns its key's group.
pub(crate) struct HashPartitioner {
    columns: Vec<usize>,
    encoder: KeyEncoder,
    max_parallelism: u16,
    /// The task that owns each key group.
    owners: Vec<u16>,
    /// The rows of each task, kept to reuse their memory.
    rows: Vec<Vec<u32>>,
}

impl HashPartitioner {
    /// Divides rows between `parallelism` tasks by `columns`, which are of `types`.
    pub fn new(
        columns: Vec<usize>,
        types: &[DataType],
        max_parallelism: u16,
        parallelism: usize,
    ) -> Self {
        let owner = |group| key_group_owner(max_parallelism, parallelism as u16, group);
        Self {
            columns,
            encoder: KeyEncoder::new(types),
            max_parallelism,
            owners: (0..max_parallelism).map(owner).collect(),
            rows: vec![Vec::new(); parallelism],
        }
    }

    /// The rows of each task, in order, with the marks where they belong among them.
    pub fn split(&mut self, rows: MarkedBatch) -> Result<Vec<(usize, MarkedBatch)>> {
        let MarkedBatch { batch, marks } = rows;
        let columns: Vec<_> = self.columns.iter().map(|i| batch.column(*i).clone()).collect();
        let keys = self.encoder.encode(&columns, batch.len())?;
        self.rows.iter_mut().for_each(Vec::clear);
        let mut placed: Vec<Vec<Mark>> = vec![Vec::new(); self.rows.len()];
        for segment in marks.segments(batch.len()) {
            for row in segment.rows {
                let group = key_group(keys.hashes()[row], self.max_parallelism);
                let owner = self.owners[usize::from(group)];
                self.rows[usize::from(owner)].push(row as u32);
            }
            let Some(watermark) = segment.watermark else { continue };
            for (marks, rows) in placed.iter_mut().zip(&self.rows) {
                marks.push(Mark { row: rows.len() as u32, watermark });
            }
        }
        let parts = self.rows.iter_mut().zip(placed).map(|(rows, marks)| {
            let part = if rows.len() == batch.len() {
                batch.clone()
            } else {
                let indices = UInt32Array::from(std::mem::take(rows));
                let part = batch.take(&indices)?;
                *rows = indices.into_parts().1.into_inner().into_vec().unwrap_or_default();
                part
            };
            Ok(MarkedBatch { batch: part, marks: marks.into_iter().collect() })
        });
        let parts: Result<Vec<_>, RuntimeError> = parts.collect();
        Ok(parts?.into_iter().enumerate().collect())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, AsArray, Int64Array};
    use arrow::datatypes::{DataType as Arrow, Field, Int64Type, Schema};
    use arrow::record_batch::RecordBatch;
    use flott_types::{ChangelogBatch, RowKind};

    use super::*;
    use crate::marks::Marks;

    fn rows(count: i64, marks: &[(u32, i64)]) -> MarkedBatch {
        let schema = Arc::new(Schema::new(vec![Field::new("key", Arrow::Int64, true)]));
        let keys: ArrayRef = Arc::new((0..count).map(|i| i % 10).collect::<Int64Array>());
        let kinds = (0..count).map(|i| if i % 3 == 0 { RowKind::Delete } else { RowKind::Insert });
        let rows = RecordBatch::try_new(schema, vec![keys]).unwrap();
        let marks = marks.iter().map(|(row, watermark)| Mark { row: *row, watermark: *watermark });
        MarkedBatch {
            batch: ChangelogBatch::new(rows, kinds.collect()),
            marks: marks.collect::<Marks>(),
        }
    }

    #[test]
    fn each_key_goes_to_one_task_with_its_kinds_and_marks() {
        let mut hash = HashPartitioner::new(vec![0], &[DataType::bigint()], 128, 3);
        let parts = hash.split(rows(60, &[(0, 5), (20, 10), (60, 30)])).unwrap();
        let mut owners = [None; 10];
        let mut total = 0;
        for (target, part) in parts {
            let keys = part.batch.column(0).as_primitive::<Int64Type>().values().to_vec();
            for key in &keys {
                assert_eq!(*owners[*key as usize].get_or_insert(target), target);
            }
            // Of each key there are six rows, two of them before the middle mark.
            let share = keys.len() as u32 / 6;
            let expected = [(0, 5), (share * 2, 10), (share * 6, 30)];
            let expected: Marks =
                expected.into_iter().map(|(row, watermark)| Mark { row, watermark }).collect();
            assert_eq!(part.marks, expected);
            let deletes = part.batch.kinds.iter().flat_map(|kinds| kinds.iter());
            total += deletes.filter(|kind| *kind == RowKind::Delete).count();
        }
        assert_eq!(total, 20);
    }

    #[test]
    fn a_batch_of_one_task_is_not_copied() {
        let mut hash = HashPartitioner::new(vec![0], &[DataType::bigint()], 128, 1);
        let rows = rows(60, &[]);
        let column = rows.batch.column(0).clone();
        let parts = hash.split(rows).unwrap();
        assert!(Arc::ptr_eq(parts[0].1.batch.column(0), &column));
    }
}
