//! What a thread runs: a chain of operators between exchanges, moved on step by step.

use std::sync::Arc;

use crate::Result;
use crate::checkpoint::{Barrier, Checkpoint, TaskSnapshot};
use crate::context::TaskInfo;
use crate::control::JobControl;
use crate::element::EndOfInput;
use crate::events::{EventSender, TaskEvent};
use crate::gate::{Arrival, InputGate};
use crate::source::SourceTask;
use crate::stage::Stage;

/// A task of a job.
pub(crate) struct Task {
    /// Its number in the job.
    pub id: usize,
    /// Its name, for threads and messages.
    pub name: Arc<str>,
    pub kind: TaskKind,
}

pub(crate) enum TaskKind {
    Source(Box<SourceTask>),
    Operators(Box<OperatorTask>),
}

/// What a step came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Something was done, and there may be more.
    Progress,
    /// There is nothing to do until something arrives or processing time reaches the deadline.
    Idle { deadline: Option<i64> },
    /// The task is done.
    Done(EndOfInput),
}

impl Task {
    /// Called once before the first step, with the state to resume from if there is any.
    pub fn open(&mut self, restored: Option<&Checkpoint>) -> Result<()> {
        match &mut self.kind {
            TaskKind::Source(task) => task.open(restored),
            TaskKind::Operators(task) => task.open(restored),
        }
    }

    /// Does the next thing there is to do, without waiting.
    pub fn step(&mut self) -> Result<Step> {
        match &mut self.kind {
            TaskKind::Source(task) => task.step(),
            TaskKind::Operators(task) => task.step(),
        }
    }

    /// Waits until a step may make progress.
    pub fn wait(&mut self, deadline: Option<i64>) -> Result<()> {
        match &mut self.kind {
            TaskKind::Source(task) => task.wait(deadline),
            TaskKind::Operators(task) => {
                task.wait(deadline);
                Ok(())
            }
        }
    }

    /// Whether a step could send on what it makes without waiting.
    pub fn has_room(&self) -> bool {
        match &self.kind {
            TaskKind::Source(task) => task.has_room(),
            TaskKind::Operators(task) => task.stage.has_room(),
        }
    }
}

/// A task that takes its input from other tasks.
pub(crate) struct OperatorTask {
    id: usize,
    uid: Arc<str>,
    gate: InputGate,
    stage: Box<dyn Stage>,
    info: TaskInfo,
    open_inputs: usize,
    how: EndOfInput,
    paused: bool,
    events: EventSender,
    control: Arc<JobControl>,
}

impl OperatorTask {
    /// A task whose first operator, of fingerprint `uid`, is in `stage` and has `inputs` inputs.
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        id: usize,
        uid: Arc<str>,
        gate: InputGate,
        stage: Box<dyn Stage>,
        inputs: usize,
        info: TaskInfo,
        events: EventSender,
        control: Arc<JobControl>,
    ) -> Self {
        Self {
            id,
            uid,
            gate,
            stage,
            info,
            open_inputs: inputs,
            how: EndOfInput::Drained,
            paused: false,
            events,
            control,
        }
    }

    fn open(&mut self, restored: Option<&Checkpoint>) -> Result<()> {
        if let Some(checkpoint) = restored {
            let states = checkpoint.operator(&self.uid, self.info.task, self.info.parallelism);
            if let Some(watermark) = states.iter().map(|state| state.watermark).min() {
                self.gate.resume(watermark);
            }
        }
        self.stage.open(restored)
    }

    fn step(&mut self) -> Result<Step> {
        self.control.go_on()?;
        if let Some(deadline) = self.stage.deadline() {
            let now = self.info.clock.now();
            if deadline <= now {
                self.stage.tick(now)?;
            }
        }
        let Some(arrival) = self.gate.next()? else {
            if !std::mem::replace(&mut self.paused, true) {
                self.stage.pause()?;
                return Ok(Step::Progress);
            }
            return Ok(Step::Idle { deadline: self.stage.deadline() });
        };
        self.paused = false;
        match arrival {
            Arrival::Rows(input, rows) => self.stage.batch(input, rows)?,
            Arrival::Watermark(input, watermark) => self.stage.watermark(input, watermark)?,
            Arrival::Idle(input, idle) => self.stage.idle(input, idle)?,
            Arrival::Barrier(barrier) => self.checkpoint(barrier)?,
            Arrival::End(input, how) => {
                self.how = self.how.max(how);
                self.stage.end(input, how)?;
                self.open_inputs -= 1;
                if self.open_inputs == 0 {
                    return Ok(Step::Done(self.how));
                }
            }
        }
        Ok(Step::Progress)
    }

    fn wait(&self, deadline: Option<i64>) {
        self.gate.wait(deadline.and_then(|time| self.info.clock.real_wait(time)));
    }

    fn checkpoint(&mut self, barrier: Barrier) -> Result<()> {
        let mut snapshot = TaskSnapshot::default();
        self.stage.barrier(&barrier, &mut snapshot)?;
        flott_disk::crash_point("barrier passed");
        let (task, checkpoint) = (self.id, barrier.checkpoint);
        self.events.send(TaskEvent::Snapshot { task, checkpoint, snapshot });
        Ok(())
    }
}
