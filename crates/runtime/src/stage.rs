//! The parts that a task is made of, each handing on to those after it by direct calls.

use crate::Result;
use crate::checkpoint::{Barrier, Checkpoint, TaskSnapshot};
use crate::element::{EndOfInput, MarkedBatch};

/// A part of a task: an operator with what follows it, a sink, or the way into an exchange.
pub(crate) trait Stage: Send {
    /// Whether something here or further on must know which row came before which watermark.
    fn exact(&self) -> bool;

    /// Called once before anything else, with the state to resume from if there is any.
    fn open(&mut self, restored: Option<&Checkpoint>) -> Result<()>;

    /// Takes rows of an input and the watermarks between them.
    fn batch(&mut self, input: usize, rows: MarkedBatch) -> Result<()>;

    /// Input `input` has reached `watermark`.
    fn watermark(&mut self, input: usize, watermark: i64) -> Result<()>;

    /// Input `input` became idle, or active again.
    fn idle(&mut self, input: usize, idle: bool) -> Result<()>;

    /// All inputs have given what belongs to a checkpoint: writes the state into `snapshot`.
    fn barrier(&mut self, barrier: &Barrier, snapshot: &mut TaskSnapshot) -> Result<()>;

    /// Input `input` has ended.
    fn end(&mut self, input: usize, how: EndOfInput) -> Result<()>;

    /// Input pauses: what waits only for the sake of throughput goes on.
    fn pause(&mut self) -> Result<()>;

    /// The processing time at which it must be called even without input.
    fn deadline(&self) -> Option<i64>;

    /// Processing time has reached `now`.
    fn tick(&mut self, now: i64) -> Result<()>;

    /// Whether it could hand on a batch without waiting.
    fn has_room(&self) -> bool;
}

/// The earlier of two deadlines.
pub(crate) fn earlier(one: Option<i64>, other: Option<i64>) -> Option<i64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
