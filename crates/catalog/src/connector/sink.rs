//! Sinks: writers, and the two-phase commit that makes them exactly-once.

use flott_types::{ChangelogBatch, ChangelogMode};

use super::{ConnectorError, MetadataColumn};

/// A table that can be written.
pub trait TableSink: Send + Sync {
    /// The kinds of rows the sink takes when a query would give `requested`. The planner refuses
    /// a query that gives more, or drops −U where only that is in the way.
    fn changelog_mode(&self, requested: ChangelogMode) -> ChangelogMode;

    /// Whether the sink, which takes upserts, deletes the row that a −U names. Then −U is not left out
    /// where a filter may let it through alone: the row would stay for ever.
    fn deletes_old_versions(&self) -> bool {
        false
    }

    /// The metadata columns that can be written.
    fn metadata(&self) -> Vec<MetadataColumn> {
        Vec::new()
    }

    /// Whether rows may replace what the table holds (`INSERT OVERWRITE`).
    fn supports_overwrite(&self) -> bool {
        false
    }

    /// The number of tasks that the sink wants, if it has a say (`sink.parallelism`).
    fn parallelism(&self) -> Option<usize> {
        None
    }

    /// A writer for one parallel task; batches have the table's persisted columns in order.
    fn writer(&self, context: &WriterContext) -> Result<Box<dyn SinkWriter>, ConnectorError>;

    /// Makes what writers prepared visible; `None` for sinks that write through.
    fn committer(&self) -> Result<Option<Box<dyn Committer>>, ConnectorError> {
        Ok(None)
    }
}

/// What a writer learns from the runtime.
#[derive(Debug, Clone)]
pub struct WriterContext {
    /// Names the job's run, so that temporary files and transactions of two jobs differ.
    pub job_id: String,
    /// Which of the parallel tasks this is, from 0.
    pub task: usize,
    /// How many there are.
    pub parallelism: usize,
    /// Positions of static partition values (`INSERT INTO t PARTITION (k = v)`), as text.
    pub static_partitions: Vec<(String, String)>,
    /// Whether what the table holds is replaced.
    pub overwrite: bool,
    /// What an earlier writer's `snapshot` gave, when the job resumes.
    pub state: Option<Vec<u8>>,
}

/// Writes batches. Runs on the thread of its task and may block.
pub trait SinkWriter: Send {
    /// Writes the rows of a batch in order.
    fn write(&mut self, batch: &ChangelogBatch) -> Result<(), ConnectorError>;

    /// Tells of the event time reached, in milliseconds; partition commit by time needs it.
    fn watermark(&mut self, _millis: i64) -> Result<(), ConnectorError> {
        Ok(())
    }

    /// Sends on what is buffered, because input pauses.
    fn flush(&mut self) -> Result<(), ConnectorError>;

    /// Ends what was written since the last call so that a commit can make it visible. Called at
    /// each checkpoint, and with `end_of_input` when the job has read everything.
    fn prepare_commit(&mut self, end_of_input: bool) -> Result<Vec<Committable>, ConnectorError>;

    /// What a writer that resumes after this checkpoint must know.
    fn snapshot(&mut self) -> Result<Vec<u8>, ConnectorError> {
        Ok(Vec::new())
    }
}

/// Something prepared, in the connector's own encoding, that awaits its commit.
pub type Committable = Vec<u8>;

/// Makes prepared writes visible. Must be idempotent: after a failure the same committables are
/// committed again.
pub trait Committer: Send {
    /// Commits. `end_of_input` says that the job is done and nothing more will come.
    fn commit(
        &mut self,
        committables: Vec<Committable>,
        end_of_input: bool,
    ) -> Result<(), ConnectorError>;

    /// Removes what was prepared and will never be committed, because the job ended in failure.
    fn abort(&mut self, committables: Vec<Committable>) -> Result<(), ConnectorError>;
}
