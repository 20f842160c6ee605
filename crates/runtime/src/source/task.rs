//! The task that reads a source.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use flott_catalog::connector::{
    BadRecordHandler, ConnectorError, ReaderContext, ScanRequest, SourceEvent, SourceReader, Split,
    TableSource,
};
use flott_types::ChangelogBatch;

use super::{Assignment, SplitQueue, WatermarkGenerator};
use crate::checkpoint::{Barrier, Checkpoint, SourceTaskState, TaskSnapshot};
use crate::context::TaskInfo;
use crate::control::JobControl;
use crate::element::{EndOfInput, MarkedBatch};
use crate::events::{EventSender, TaskEvent};
use crate::graph::{WatermarkFn, WatermarkStrategy};
use crate::marks::Marks;
use crate::metrics::{OperatorMetrics, SourceMetrics};
use crate::outputs::Outputs;
use crate::stage::earlier;
use crate::task::Step;
use crate::{Result, RuntimeError};

/// How long a reader may block while the task must look around from time to time: nothing wakes
/// a reader when a checkpoint begins or the job ends.
const LONGEST_POLL: Duration = Duration::from_millis(100);

/// The split under whose name the generator runs when splits are read one after the other; as in
/// Flink, where such a source has one watermark generator a task.
const ALL_SPLITS: &str = "";

/// Reads splits, takes watermarks, and sends both on.
pub(crate) struct SourceTask {
    parts: SourceTaskParts,
    reader: Option<Box<dyn SourceReader>>,
    /// Whether splits are read side by side rather than one after the other.
    side_by_side: bool,
    watermark: Option<SourceWatermark>,
    /// Splits of an earlier run that were not begun again.
    backlog: VecDeque<Split>,
    /// How many splits are under way.
    active: usize,
    had_split: bool,
    /// When to ask for splits again; `None` when there will be none.
    ask_again: Option<i64>,
    /// The queue's changes when the step began, and when it was last asked for splits.
    changes_seen: u64,
    changes_asked: u64,
    checkpoint_seen: u64,
    /// Checkpoints that are not complete, with the splits they hold.
    unconfirmed: VecDeque<(u64, Vec<Split>)>,
    /// What the reader gave while the task waited.
    stashed: Option<SourceEvent>,
    /// Since when the reader has had nothing.
    paused_at: Option<i64>,
    idle: bool,
    /// How long the task has waited for rows in all; time in which it was busy does not make a
    /// split idle.
    waited: i64,
    last_busy: i64,
}

/// What a source task is made of.
pub(crate) struct SourceTaskParts {
    pub uid: Arc<str>,
    /// The number of the task in the job.
    pub id: usize,
    pub source: Arc<dyn TableSource>,
    pub request: ScanRequest,
    pub bad_records: Arc<dyn BadRecordHandler>,
    pub strategy: Option<WatermarkStrategy>,
    /// In milliseconds.
    pub watermark_interval: i64,
    pub queue: Arc<SplitQueue>,
    pub outputs: Outputs,
    pub info: TaskInfo,
    pub metrics: Arc<OperatorMetrics>,
    pub source_metrics: Arc<SourceMetrics>,
    pub control: Arc<JobControl>,
    pub events: EventSender,
}

struct SourceWatermark {
    values: WatermarkFn,
    generator: WatermarkGenerator,
    interval: i64,
}

impl SourceTask {
    pub fn new(parts: SourceTaskParts) -> Self {
        Self {
            parts,
            reader: None,
            side_by_side: false,
            watermark: None,
            backlog: VecDeque::new(),
            active: 0,
            had_split: false,
            ask_again: Some(i64::MIN),
            changes_seen: 0,
            changes_asked: 0,
            checkpoint_seen: 0,
            unconfirmed: VecDeque::new(),
            stashed: None,
            paused_at: None,
            idle: false,
            waited: 0,
            last_busy: 0,
        }
    }

    /// Makes the reader and takes up what an earlier run was reading.
    pub fn open(&mut self, restored: Option<&Checkpoint>) -> Result<()> {
        self.parts.outputs.open(restored)?;
        let info = &self.parts.info;
        let context = ReaderContext {
            task: info.task,
            parallelism: info.parallelism,
            max_rows: ChangelogBatch::MAX_ROWS,
            bad_records: self.parts.bad_records.clone(),
        };
        let reader = self.parts.source.reader(&self.parts.request, &context);
        let reader = reader.map_err(|error| self.failed(error))?;
        self.side_by_side = reader.wants_all_splits();
        self.reader = Some(reader);
        self.last_busy = self.parts.info.clock.now();
        if let Some(strategy) = &self.parts.strategy {
            let interval = self.parts.watermark_interval;
            let idle_timeout = strategy.idle_timeout.as_millis() as i64;
            let mut generator = WatermarkGenerator::new(interval, idle_timeout);
            if !self.side_by_side {
                generator.add(ALL_SPLITS.into(), 0, 0);
            }
            let values = (strategy.values)(&self.parts.info)?;
            self.watermark = Some(SourceWatermark { values, generator, interval });
        }
        match restored {
            Some(checkpoint) => self.restore(checkpoint),
            None => Ok(()),
        }
    }

    fn restore(&mut self, checkpoint: &Checkpoint) -> Result<()> {
        self.checkpoint_seen = checkpoint.id;
        let Some(source) = checkpoint.sources.get(&self.parts.uid) else { return Ok(()) };
        let info = &self.parts.info;
        let states = source.of_task(info.task, info.parallelism);
        if let Some(watermark) = &mut self.watermark
            && let Some(emitted) = states.iter().map(|state| state.emitted).min()
        {
            watermark.generator.resume(emitted);
            if !self.side_by_side {
                let reached = states.iter().map(|state| state.watermark).min().unwrap_or(0);
                watermark.generator.remove(ALL_SPLITS);
                watermark.generator.add(ALL_SPLITS.into(), reached, 0);
            }
            if emitted > 0 {
                self.parts.outputs.watermark(emitted)?;
            }
        }
        let splits: Vec<_> = states.iter().flat_map(|state| state.splits.iter().cloned()).collect();
        if self.side_by_side {
            return self.add_splits(splits);
        }
        self.backlog = splits.into_iter().map(|(split, _)| split).collect();
        Ok(())
    }

    /// Does the next thing there is to do, without waiting.
    pub fn step(&mut self) -> Result<Step> {
        self.changes_seen = self.parts.queue.changes();
        if let Some(event) = self.stashed.take() {
            return self.event(event);
        }
        if self.parts.control.is_stopping() {
            return self.finish(EndOfInput::Stopped);
        }
        let now = self.parts.info.clock.now();
        if self.parts.outputs.deadline().is_some_and(|deadline| deadline <= now) {
            self.parts.outputs.tick(now)?;
        }
        if let Some(barrier) = self.parts.queue.barrier(self.checkpoint_seen) {
            self.checkpoint(barrier)?;
            return Ok(Step::Progress);
        }
        self.confirm()?;
        if self.wants_splits(now) && self.ask(now)? {
            return Ok(Step::Progress);
        }
        if self.active > 0 {
            let event = self.call(|reader| reader.poll(Duration::ZERO))?;
            return self.event(event);
        }
        if self.ask_again.is_none() && self.backlog.is_empty() {
            return self.finish(EndOfInput::Drained);
        }
        self.pause(now)
    }

    /// Waits for rows, splits, or the time given.
    pub fn wait(&mut self, deadline: Option<i64>) -> Result<()> {
        let at_most = deadline.and_then(|time| self.parts.info.clock.real_wait(time));
        if self.active == 0 {
            self.parts.queue.wait(self.changes_seen, at_most);
            return Ok(());
        }
        let at_most = at_most.map_or(LONGEST_POLL, |time| time.min(LONGEST_POLL));
        // Nothing is what the next step finds by itself, once it has looked around.
        let event = self.call(|reader| reader.poll(at_most))?;
        self.stashed = Some(event).filter(|event| !matches!(event, SourceEvent::Pending));
        Ok(())
    }

    /// Whether rows could be sent on without waiting.
    pub fn has_room(&self) -> bool {
        self.parts.outputs.has_room()
    }

    fn event(&mut self, event: SourceEvent) -> Result<Step> {
        let now = self.parts.info.clock.now();
        self.waited += (now - self.last_busy).max(0);
        self.last_busy = now;
        match event {
            SourceEvent::Rows { split, batch, bytes } => {
                self.paused_at = None;
                self.parts.source_metrics.count_bytes(bytes);
                self.rows(&split, batch)?;
                self.last_busy = self.parts.info.clock.now();
            }
            SourceEvent::SplitEnd(split) => {
                self.active = self.active.saturating_sub(1);
                self.parts.source_metrics.end_split(&split);
                let risen = match &mut self.watermark {
                    Some(watermark) if self.side_by_side => watermark.generator.remove(&split),
                    _ => None,
                };
                risen.map_or(Ok(()), |watermark| self.parts.outputs.watermark(watermark))?;
            }
            SourceEvent::Pending => return self.pause(now),
        }
        Ok(Step::Progress)
    }

    fn rows(&mut self, split: &str, batch: ChangelogBatch) -> Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        let marks = match &mut self.watermark {
            None => Marks::NONE,
            Some(watermark) => {
                let values = (watermark.values)(&batch);
                let values = values.map_err(|error| error.at(&self.parts.info.name))?;
                let of = if self.side_by_side { split } else { ALL_SPLITS };
                let marks = watermark.generator.batch(of, &values, self.waited);
                if let Some(reached) = watermark.generator.watermark(of) {
                    self.parts.source_metrics.record_watermark(split, reached);
                }
                marks
            }
        };
        if let Some(watermark) = marks.last() {
            self.parts.metrics.record_watermark(watermark);
        }
        if std::mem::take(&mut self.idle) {
            self.parts.outputs.idle(false)?;
        }
        self.parts.metrics.count_out(batch.len());
        self.parts.outputs.batch(MarkedBatch { batch, marks })
    }

    /// What is due when there is nothing to read: sending on what waits, the watermark that did not
    /// grow enough to go out at once, and idleness.
    fn pause(&mut self, now: i64) -> Result<Step> {
        let since = match self.paused_at {
            Some(since) => since,
            None => {
                self.parts.outputs.pause()?;
                self.paused_at = Some(now);
                now
            }
        };
        let mut deadline = self.parts.outputs.deadline();
        if self.active == 0 || self.side_by_side {
            deadline = earlier(deadline, self.ask_again);
        }
        let mut idle = false;
        if let Some(watermark) = &mut self.watermark {
            idle = watermark.generator.check_idle(self.waited) || !self.had_split;
            if watermark.generator.has_news() {
                let due = since + watermark.interval;
                if due > now {
                    deadline = earlier(deadline, Some(due));
                } else if let Some(risen) = watermark.generator.pause() {
                    self.parts.metrics.record_watermark(risen);
                    self.parts.outputs.watermark(risen)?;
                }
            }
            let until_idle = watermark.generator.until_idle(self.waited);
            deadline = earlier(deadline, until_idle.map(|left| now + left));
        }
        if idle && !std::mem::replace(&mut self.idle, true) {
            self.parts.outputs.idle(true)?;
        }
        Ok(Step::Idle { deadline })
    }

    fn wants_splits(&self, now: i64) -> bool {
        let due = self.ask_again.is_some_and(|time| time <= now);
        match self.side_by_side {
            true => due || self.ask_again.is_some() && self.changes_asked != self.changes_seen,
            false => self.active == 0 && (due || !self.backlog.is_empty()),
        }
    }

    /// Asks for splits; whether that led anywhere.
    fn ask(&mut self, now: i64) -> Result<bool> {
        if let Some(split) = self.backlog.pop_front() {
            return self.add_splits(vec![(split, 0)]).map(|()| true);
        }
        self.changes_asked = self.changes_seen;
        let all = self.side_by_side;
        match self.parts.queue.request(self.parts.info.task, all, self.checkpoint_seen, now)? {
            Assignment::Splits(splits) => {
                self.add_splits(splits.into_iter().map(|split| (split, 0)).collect())?;
                return Ok(true);
            }
            Assignment::Barrier(barrier) => {
                self.checkpoint(barrier)?;
                return Ok(true);
            }
            Assignment::Later(time) => self.ask_again = Some(time),
            Assignment::Never => self.ask_again = None,
        }
        Ok(false)
    }

    /// Begins splits, each with the highest watermark seen in it by an earlier run.
    fn add_splits(&mut self, splits: Vec<(Split, i64)>) -> Result<()> {
        for (split, reached) in &splits {
            self.parts.source_metrics.begin_split(&split.id);
            if let Some(watermark) = self.watermark.as_mut().filter(|_| self.side_by_side) {
                watermark.generator.add(split.id.as_str().into(), *reached, self.waited);
            }
        }
        self.active += splits.len();
        self.had_split |= !splits.is_empty();
        let splits = splits.into_iter().map(|(split, _)| split).collect();
        self.call(|reader| reader.add_splits(splits))
    }

    fn checkpoint(&mut self, barrier: Barrier) -> Result<()> {
        self.checkpoint_seen = barrier.checkpoint;
        let splits = self.call(|reader| reader.snapshot())?;
        self.unconfirmed.push_back((barrier.checkpoint, splits.clone()));
        let generator = self.watermark.as_ref().map(|watermark| &watermark.generator);
        let reached =
            |id: &str| generator.and_then(|generator| generator.watermark(id)).unwrap_or(0);
        let state = SourceTaskState {
            task: self.parts.info.task,
            splits: splits
                .into_iter()
                .chain(self.backlog.iter().cloned())
                .map(|split| {
                    let watermark = reached(&split.id);
                    (split, watermark)
                })
                .collect(),
            watermark: reached(ALL_SPLITS),
            emitted: generator.map_or(0, WatermarkGenerator::emitted),
        };
        let mut snapshot = TaskSnapshot {
            source: Some((self.parts.uid.clone(), state)),
            ..TaskSnapshot::default()
        };
        self.parts.outputs.barrier(&barrier, &mut snapshot)?;
        let (task, checkpoint) = (self.parts.id, barrier.checkpoint);
        self.parts.events.send(TaskEvent::Snapshot { task, checkpoint, snapshot });
        Ok(())
    }

    /// Tells the reader of checkpoints that have become complete.
    fn confirm(&mut self) -> Result<()> {
        if self.unconfirmed.is_empty() {
            return Ok(());
        }
        let complete = self.parts.queue.completed();
        while let Some((checkpoint, _)) = self.unconfirmed.front()
            && *checkpoint <= complete
            && let Some((_, splits)) = self.unconfirmed.pop_front()
        {
            self.call(|reader| reader.checkpoint_complete(&splits))?;
        }
        Ok(())
    }

    fn finish(&mut self, how: EndOfInput) -> Result<Step> {
        if how == EndOfInput::Drained {
            self.parts.metrics.record_watermark(i64::MAX);
            self.parts.outputs.watermark(i64::MAX)?;
        }
        self.parts.outputs.end(how)?;
        Ok(Step::Done(how))
    }

    /// Calls the reader and names the source in what goes wrong.
    fn call<T>(
        &mut self,
        f: impl FnOnce(&mut dyn SourceReader) -> Result<T, ConnectorError>,
    ) -> Result<T> {
        let Some(reader) = &mut self.reader else {
            return Err(RuntimeError::internal(
                self.parts.info.name.clone(),
                "read before it was open",
            ));
        };
        f(&mut **reader).map_err(|error| self.failed(error))
    }

    fn failed(&self, error: ConnectorError) -> RuntimeError {
        RuntimeError::from(error).at(&self.parts.info.name)
    }
}
