//! What a checkpoint is made of and where it is kept.

mod chains;
mod directory;
mod load;
mod manifest;
mod pace;
mod piece_file;
mod restore;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use flott_catalog::connector::{Committable, Split};
use flott_state::Snapshot;

use crate::{Result, RuntimeError};

pub use directory::{CheckpointDirectory, write_savepoint};
pub(crate) use pace::CheckpointPace;
pub use restore::RestoreEffects;

/// Divides a stream into what belongs to a checkpoint and what comes after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Barrier {
    /// The checkpoint's number; numbers rise.
    pub checkpoint: u64,
    /// What it is taken for.
    pub kind: CheckpointKind,
}

/// What a checkpoint is taken for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum CheckpointKind {
    /// To recover from failure; may build on earlier ones.
    #[default]
    Checkpoint,
    /// At a user's wish; stands by itself.
    Savepoint,
}

/// The state of a whole job between two rows of every stream.
#[derive(Debug, Clone, Default)]
pub struct Checkpoint {
    /// Its number.
    pub id: u64,
    /// What it was taken for.
    pub kind: CheckpointKind,
    /// The state of each operator by fingerprint.
    pub operators: BTreeMap<Arc<str>, OperatorStates>,
    /// The state of each source by fingerprint.
    pub sources: BTreeMap<Arc<str>, SourceState>,
    /// What the writers of each sink prepared, by fingerprint; committed once the checkpoint is
    /// published, and again after a restart in case that did not happen.
    pub committables: BTreeMap<Arc<str>, Vec<Committable>>,
}

/// The state of one operator.
#[derive(Debug, Clone, Default)]
pub struct OperatorStates {
    /// The number of its tasks.
    pub parallelism: usize,
    /// The state of each task that had not ended.
    pub tasks: Vec<OperatorState>,
}

/// The state of one operator in one task.
#[derive(Debug, Clone)]
pub struct OperatorState {
    /// The task, from 0.
    pub task: usize,
    /// The watermark it had reached; `i64::MIN` for none.
    pub watermark: i64,
    /// The checkpoint before, if the snapshot holds only what changed since that.
    pub since: Option<u64>,
    /// What the operator wrote.
    pub snapshot: Arc<Snapshot>,
}

/// The state of a source.
#[derive(Debug, Clone, Default)]
pub struct SourceState {
    /// What the enumerator remembers.
    pub enumerator: Vec<u8>,
    /// Splits that no reader had taken, with the task each is meant for, if any.
    pub unassigned: Vec<(Split, Option<usize>)>,
    /// The number of its tasks.
    pub parallelism: usize,
    /// What each task that had not ended was reading.
    pub tasks: Vec<SourceTaskState>,
}

/// The state of a source in one task.
#[derive(Debug, Clone, Default)]
pub struct SourceTaskState {
    /// The task, from 0.
    pub task: usize,
    /// The splits under way, with the highest watermark seen in each.
    pub splits: Vec<(Split, i64)>,
    /// The highest watermark seen, where splits are read one after the other.
    pub watermark: i64,
    /// The watermark sent on last.
    pub emitted: i64,
}

impl Checkpoint {
    /// The fingerprints of everything that has something to lose: operators with state, sources,
    /// and sinks whose writers had prepared something.
    pub fn claims(&self) -> impl Iterator<Item = &Arc<str>> {
        let operators = self
            .operators
            .iter()
            .filter(|(_, states)| states.tasks.iter().any(|state| !state.snapshot.is_empty()));
        let sinks = self.committables.iter().filter(|(_, committables)| !committables.is_empty());
        let operators = operators.map(|(uid, _)| uid).chain(self.sources.keys());
        operators.chain(sinks.map(|(uid, _)| uid))
    }

    /// The states from which a task of an operator resumes: its own, or those of all tasks when
    /// their number has changed.
    pub(crate) fn operator(
        &self,
        uid: &str,
        task: usize,
        parallelism: usize,
    ) -> Vec<&OperatorState> {
        let Some(states) = self.operators.get(uid) else { return Vec::new() };
        let same = states.parallelism == parallelism;
        states.tasks.iter().filter(|state| !same || state.task == task).collect()
    }
}

impl OperatorState {
    /// This state, and the one that the same task gave for the next checkpoint.
    pub(crate) fn followed_by(&self, next: &Self) -> Result<Self> {
        if next.since.is_none() {
            return Ok(next.clone());
        }
        let mut snapshot = self.snapshot.followed_by(&next.snapshot)?;
        snapshot.compact()?;
        Ok(Self { since: self.since, snapshot: snapshot.into(), ..*next })
    }
}

impl Checkpoint {
    /// This checkpoint with all there is of the state of operators, of which it may hold only what changed
    /// since `before`.
    fn completed(&self, before: Option<&Self>) -> Result<Self> {
        let mut whole = self.clone();
        for (uid, states) in &mut whole.operators {
            for state in states.tasks.iter_mut().filter(|state| state.since.is_some()) {
                let base = before.filter(|before| Some(before.id) == state.since);
                let base = base.and_then(|before| before.operators.get(uid));
                let base = base.and_then(|of| of.tasks.iter().find(|b| b.task == state.task));
                let base = base.ok_or_else(|| missing_base(uid, state))?;
                *state = base.followed_by(state)?;
            }
        }
        Ok(whole)
    }
}

/// The error of a state whose base the store does not have.
fn missing_base(uid: &Arc<str>, state: &OperatorState) -> RuntimeError {
    let base = state.since.map_or_else(|| "none".to_string(), |id| id.to_string());
    let problem = format!("task {} builds on checkpoint {base}, which is not kept", state.task);
    RuntimeError::internal(uid.clone(), problem)
}

impl SourceState {
    /// The states from which a task resumes: its own, or a share of them when their number has
    /// changed.
    pub(crate) fn of_task(&self, task: usize, parallelism: usize) -> Vec<&SourceTaskState> {
        let states = self.tasks.iter();
        states.filter(|state| state.task % parallelism == task).collect()
    }
}

/// What one task contributes to a checkpoint.
#[derive(Debug, Default)]
pub(crate) struct TaskSnapshot {
    pub operators: Vec<(Arc<str>, OperatorState)>,
    pub source: Option<(Arc<str>, SourceTaskState)>,
    pub committables: Vec<(Arc<str>, Vec<Committable>)>,
}

/// Keeps checkpoints.
pub trait CheckpointStore: Send + Sync {
    /// Keeps a checkpoint whose parts are all there. When it returns, the job could be resumed
    /// from it even if the program ended now. States may hold only what [changed](OperatorState::since)
    /// since the checkpoint that was kept last; when this fails, that is still the last.
    fn publish(&self, checkpoint: Arc<Checkpoint>) -> Result<()>;

    /// The latest one, from which the job restarts after a failure.
    fn latest(&self) -> Result<Option<Arc<Checkpoint>>>;

    /// The folder in which checkpoints are kept, if it is one.
    fn folder(&self) -> Option<&Path> {
        None
    }

    /// Removes all that it keeps, because the job has finished.
    fn discard(&self) -> Result<()> {
        Ok(())
    }
}

/// Keeps the latest checkpoint in memory.
#[derive(Debug, Default)]
pub struct MemoryCheckpointStore {
    latest: Mutex<Option<Arc<Checkpoint>>>,
}

impl CheckpointStore for MemoryCheckpointStore {
    fn publish(&self, checkpoint: Arc<Checkpoint>) -> Result<()> {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        *latest = Some(Arc::new(checkpoint.completed(latest.as_deref())?));
        Ok(())
    }

    fn latest(&self) -> Result<Option<Arc<Checkpoint>>> {
        Ok(self.latest.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }
}
