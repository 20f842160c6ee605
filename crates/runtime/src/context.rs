//! What an operator is given to work with.

use std::collections::BTreeSet;
use std::sync::Arc;

use flott_functions::RecordTimes;
use flott_state::{DEFAULT_MAX_PARALLELISM, KeyGroupRange, MemoryBudget};
use flott_types::ChangelogBatch;
use jiff::tz::TimeZone;

use crate::Result;
use crate::clock::Clock;
use crate::element::MarkedBatch;
use crate::late::LateRows;
use crate::marks::Marks;
use crate::metrics::OperatorMetrics;
use crate::outputs::Outputs;
use crate::watermark::WatermarkCombiner;

/// Which part of a job a task is, and what holds for the whole of it.
#[derive(Clone)]
pub struct TaskInfo {
    /// The operator's name in the graph, for messages.
    pub name: Arc<str>,
    /// Which of the parallel tasks this is, from 0.
    pub task: usize,
    /// How many there are.
    pub parallelism: usize,
    /// The number of key groups (`pipeline.max-parallelism`).
    pub max_parallelism: u16,
    /// The key groups of this task.
    pub key_groups: KeyGroupRange,
    /// The session's time zone.
    pub zone: TimeZone,
    /// Processing time.
    pub clock: Arc<dyn Clock>,
    /// The memory that all operators of the job share for their state, and where goes what has no
    /// room; each one's [`state_bytes`](crate::Operator::state_bytes) are charged to it.
    pub memory: MemoryBudget,
    /// Names the job's run.
    pub job_id: Arc<str>,
}

impl TaskInfo {
    /// The only task of an operator, in UTC.
    pub fn single(name: &str, clock: Arc<dyn Clock>) -> Self {
        Self {
            name: name.into(),
            task: 0,
            parallelism: 1,
            max_parallelism: DEFAULT_MAX_PARALLELISM,
            key_groups: KeyGroupRange::all(DEFAULT_MAX_PARALLELISM),
            zone: TimeZone::UTC,
            clock,
            memory: MemoryBudget::unlimited(),
            job_id: "job".into(),
        }
    }
}

/// An operator's way to its surroundings: output, time, timers and counters.
pub struct OperatorContext {
    pub(crate) info: TaskInfo,
    pub(crate) outputs: Outputs,
    /// Runs ahead of `watermark` while rows between marks are processed.
    pub(crate) inputs: WatermarkCombiner,
    pub(crate) watermark: i64,
    pub(crate) marks: Marks,
    pub(crate) timers: BTreeSet<i64>,
    pub(crate) metrics: Arc<OperatorMetrics>,
    /// What an operator inside of another one emits.
    pub(crate) captured: Option<Vec<ChangelogBatch>>,
}

impl OperatorContext {
    /// Sends rows on. Batches that are too large are cut, empty ones dropped.
    pub fn emit(&mut self, batch: ChangelogBatch) -> Result<()> {
        self.emit_marked(batch, Marks::NONE)
    }

    /// Sends rows on with the watermarks that stand between them; for operators that
    /// [handle marks](crate::Operator::handles_marks).
    pub fn emit_marked(&mut self, batch: ChangelogBatch, marks: Marks) -> Result<()> {
        if let Some(captured) = &mut self.captured {
            captured.push(batch);
            return Ok(());
        }
        self.metrics.count_out(batch.len());
        self.outputs.batch(MarkedBatch { batch, marks })
    }

    /// Calls an operator that works inside of another one: gives what it emits instead of sending it on.
    pub(crate) fn capture(
        &mut self,
        f: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<Vec<ChangelogBatch>> {
        self.captured = Some(Vec::new());
        let done = f(self);
        let captured = self.captured.take().unwrap_or_default();
        done.map(|()| captured)
    }

    /// Sends a watermark on; one that does not rise is swallowed.
    pub fn emit_watermark(&mut self, watermark: i64) -> Result<()> {
        self.outputs.watermark(watermark)
    }

    /// The watermark in force: the lowest of all inputs, as `on_watermark` last said; `i64::MIN`
    /// before the first.
    pub fn watermark(&self) -> i64 {
        self.watermark
    }

    /// The watermark of one input; `i64::MIN` before the first.
    pub fn input_watermark(&self, input: usize) -> i64 {
        self.inputs.input(input)
    }

    /// The watermarks inside the batch at hand, for operators that
    /// [handle marks](crate::Operator::handles_marks); else there are none.
    pub fn marks(&self) -> Marks {
        self.marks.clone()
    }

    /// Processing time, in milliseconds since the epoch.
    pub fn now(&self) -> i64 {
        self.info.clock.now()
    }

    /// The processing times of records at hand, for expressions.
    pub fn record_times(&self, rows: usize) -> RecordTimes {
        let clock = Arc::clone(&self.info.clock);
        RecordTimes::new(rows, move || clock.now())
    }

    /// Asks for a call of `on_timer` when processing time reaches `time` (milliseconds since the
    /// epoch). A time is called once however often it was asked for. Timers are not part of
    /// checkpoints: `open` registers them anew.
    pub fn register_timer(&mut self, time: i64) {
        self.timers.insert(time);
    }

    /// Takes a timer back.
    pub fn delete_timer(&mut self, time: i64) {
        self.timers.remove(&time);
    }

    /// Drops rows of `batch`, which came by `input`, because they are late: they are counted, and written to
    /// the table for them if the job has one.
    pub fn drop_late(
        &mut self,
        input: usize,
        batch: &ChangelogBatch,
        late: LateRows,
    ) -> Result<()> {
        if late.is_empty() {
            return Ok(());
        }
        self.metrics.count_late(late.len());
        self.outputs.late(input, batch, &late, self.info.clock.now())
    }

    /// Which task this is.
    pub fn task(&self) -> &TaskInfo {
        &self.info
    }

    /// The session's time zone.
    pub fn zone(&self) -> &TimeZone {
        &self.info.zone
    }
}
