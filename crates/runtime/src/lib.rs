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

mod build;
mod chain;
mod change_check;
mod channel;
mod check;
mod checkpoint;
mod clock;
mod coalesce;
mod config;
mod context;
mod control;
mod coordinator;
mod element;
mod error;
mod events;
mod exchange;
mod gate;
mod graph;
mod job;
mod late;
mod marks;
mod metrics;
mod operator;
pub mod operators;
mod outputs;
mod restart;
mod results;
mod seeded;
mod sink;
mod source;
mod stage;
mod task;
pub mod testing;
mod threads;
mod translate;
mod watermark;

pub use check::OutputContract;
pub use checkpoint::{
    Barrier, Checkpoint, CheckpointDirectory, CheckpointKind, CheckpointStore,
    MemoryCheckpointStore, OperatorState, OperatorStates, RestoreEffects, SourceState,
    SourceTaskState, write_savepoint,
};
pub use clock::{Clock, Sleeper, SystemClock, VirtualClock};
pub use config::{EndHook, JobConfig};
pub use context::{OperatorContext, TaskInfo};
pub use element::{EndOfInput, MarkedBatch, StreamElement};
pub use error::{CheckpointProblem, RuntimeError, StoredProblem};
pub use flott_state::MemoryBudget;
pub use graph::{
    Exchange, JobGraph, NodeId, NodeSpec, OperatorFactory, SinkSpec, SourceSpec, WatermarkFactory,
    WatermarkFn, WatermarkStrategy,
};
pub use job::{JobHandle, JobMetrics, JobStatus, OperatorReport};
pub use late::{LateFactory, LateRowWriter, LateRows, LateTable, LateTime};
pub use marks::{Mark, Marks, Segment};
pub use metrics::{OperatorCounts, OperatorMetrics, SplitProgress};
pub use operator::Operator;
pub use restart::{ExponentialDelay, RestartStrategy};
pub use results::{NextResult, ResultSender, Results, results};
pub use seeded::{SeededOutcome, SeededRun};
pub use threads::{GraphFactory, start, start_restarting};
pub use translate::{Surroundings, translate};

/// The result of everything that runs.
pub type Result<T, E = RuntimeError> = std::result::Result<T, E>;
