//! What tasks tell the coordinator of their job.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use flott_catalog::connector::Committable;

use crate::checkpoint::{Checkpoint, CheckpointKind, TaskSnapshot};
use crate::element::EndOfInput;
use crate::{Result, RuntimeError};

/// News from a task.
#[derive(Debug)]
pub(crate) enum TaskEvent {
    /// The task's part of a checkpoint.
    Snapshot { task: usize, checkpoint: u64, snapshot: TaskSnapshot },
    /// A writer has written everything; what it prepared awaits the commit.
    SinkEnded { sink: Arc<str>, task: usize, committables: Vec<Committable> },
    /// The task is done.
    Finished { task: usize, how: EndOfInput },
    /// The task ended for a reason of its own, or because the job was cancelled.
    Failed { task: usize, error: RuntimeError },
}

/// What the coordinator is told.
pub(crate) enum Message {
    /// By a task.
    Task(TaskEvent),
    /// By whoever wants a checkpoint.
    Take(CheckpointRequest),
}

/// A checkpoint that is asked for, and awaited.
pub(crate) struct CheckpointRequest {
    pub kind: CheckpointKind,
    /// The folder that a savepoint is written to.
    pub target: Option<PathBuf>,
    /// Whether the job ends with it.
    pub stop: bool,
    pub reply: Sender<Result<Arc<Checkpoint>>>,
}

/// A way to the coordinator.
#[derive(Clone)]
pub(crate) struct EventSender(Sender<Message>);

impl EventSender {
    pub fn new(sender: Sender<Message>) -> Self {
        Self(sender)
    }

    /// Tells the coordinator of a task. If it is gone the job is over and nobody wants to know.
    pub fn send(&self, event: TaskEvent) {
        let _ = self.0.send(Message::Task(event));
    }

    /// Asks the coordinator for a checkpoint.
    pub fn take(&self, request: CheckpointRequest) {
        let _ = self.0.send(Message::Take(request));
    }
}
