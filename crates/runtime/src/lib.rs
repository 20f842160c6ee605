//! Runs jobs: operators chained into tasks, tasks joined by exchanges, watermarks and checkpoint
//! barriers flowing through them.
//!
//! A [`JobGraph`] describes what runs: sources, operators and sinks with their parallelism, and
//! edges with an exchange each. Operators between two exchanges form a chain that one task runs by
//! direct calls. The same tasks run on threads or, for tests, step by step on one thread in an
//! order that a seed decides.
//!
//! This crate knows neither SQL nor plans: expressions arrive inside operators, and the watermark
//! of a source as a function of its batches.

mod chain;
mod channel;
mod check;
mod checkpoint;
mod clock;
mod coalesce;
mod context;
mod control;
mod element;
mod error;
mod exchange;
mod gate;
mod marks;
mod metrics;
mod operator;
pub mod operators;
mod outputs;
mod stage;
pub mod testing;
mod watermark;

pub use check::OutputContract;
pub use checkpoint::{
    Barrier, Checkpoint, CheckpointKind, CheckpointStore, MemoryCheckpointStore, OperatorState,
    OperatorStates, SourceState, SourceTaskState,
};
pub use clock::{Clock, Sleeper, SystemClock, VirtualClock};
pub use context::{OperatorContext, TaskInfo};
pub use element::{EndOfInput, MarkedBatch, StreamElement};
pub use error::{CheckpointProblem, RuntimeError};
pub use marks::{Mark, Marks, Segment};
pub use metrics::{OperatorCounts, OperatorMetrics};
pub use operator::Operator;

/// The result of everything that runs.
pub type Result<T, E = RuntimeError> = std::result::Result<T, E>;
