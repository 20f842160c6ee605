//! Sources: splits, their discovery, and readers.

use std::sync::Arc;
use std::time::Duration;

use flott_types::{ChangelogBatch, ChangelogMode};

use super::{
    ConnectorError, LookupSource, MetadataColumn, Predicate, PredicateSupport, PushedPredicate,
    SplitFilter,
};

/// A table that can be scanned.
///
/// The planner asks what the scan gives, then states its [`ScanRequest`]; the runtime makes one
/// enumerator a job and one reader a parallel task.
pub trait TableSource: Send + Sync {
    /// The kinds of rows the scan gives.
    fn changelog_mode(&self) -> ChangelogMode {
        ChangelogMode::INSERT_ONLY
    }

    /// Whether the scan ends.
    fn boundedness(&self) -> Boundedness;

    /// The metadata columns the table offers, those of its format included.
    fn metadata(&self) -> Vec<MetadataColumn> {
        Vec::new()
    }

    /// The columns that have one value in all rows of a split: conditions on them are handed over in
    /// [`ScanRequest::filters`] and not evaluated again.
    fn split_columns(&self) -> Vec<ScanColumn> {
        Vec::new()
    }

    /// What the source can do with a condition on its columns: what it supports is handed over in
    /// [`ScanRequest::predicates`].
    fn predicate_support(&self, _predicate: &Predicate) -> PredicateSupport {
        PredicateSupport::None
    }

    /// The number of tasks that the source wants, if it has a say (`scan.parallelism`).
    fn parallelism(&self) -> Option<usize> {
        None
    }

    /// How rows are fetched by key, where the connector can.
    fn lookup(&self) -> Option<Arc<dyn LookupSource>> {
        None
    }

    /// Finds the splits of the scan; `state` is what an earlier enumerator's `snapshot` gave.
    fn enumerator(
        &self,
        request: &ScanRequest,
        state: Option<&[u8]>,
    ) -> Result<Box<dyn SplitEnumerator>, ConnectorError>;

    /// A reader for one parallel task.
    fn reader(
        &self,
        request: &ScanRequest,
        context: &ReaderContext,
    ) -> Result<Box<dyn SourceReader>, ConnectorError>;
}

/// Whether a scan ends by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Boundedness {
    /// It ends.
    Bounded,
    /// It runs until it is stopped.
    Unbounded,
}

/// What a query wants of a scan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct ScanRequest {
    /// The columns of the batches, in order.
    pub columns: Vec<ScanColumn>,
    /// More rows than these are not needed from the whole scan; a source may ignore it.
    pub limit: Option<u64>,
    /// Splits for which one of these is not TRUE are left out; only over
    /// [`TableSource::split_columns`].
    pub filters: Vec<SplitFilter>,
    /// Conditions that the source said it supports; rows for which one does not hold are not needed.
    pub predicates: Vec<PushedPredicate>,
}

/// A column that a scan gives.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ScanColumn {
    /// The physical column at this position of the table.
    Physical(usize),
    /// The metadata column of this key, in the type the source names.
    Metadata(String),
}

/// What a reader learns from the runtime.
#[derive(Debug, Clone)]
pub struct ReaderContext {
    /// Which of the parallel tasks this is, from 0.
    pub task: usize,
    /// How many there are.
    pub parallelism: usize,
    /// The most rows a batch may have.
    pub max_rows: usize,
    /// Where bad records go.
    pub bad_records: Arc<dyn super::BadRecordHandler>,
}

impl std::fmt::Debug for dyn super::BadRecordHandler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("BadRecordHandler")
    }
}

/// A part of a source that is read in order: a file, a partition of a topic, a key range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// Names the split for ever, in messages and checkpoints.
    pub id: String,
    /// Where to go on, in the connector's own encoding; empty at the beginning.
    pub position: Vec<u8>,
}

/// Finds the splits of a source. There is one a job; the runtime hands splits to the readers.
pub trait SplitEnumerator: Send {
    /// Told once, before the first [`discover`](Self::discover), how many readers there are. A
    /// source that makes a split for each of them needs it.
    fn start(&mut self, _readers: usize) {}

    /// The splits that appeared since the last call.
    fn discover(&mut self) -> Result<Discovery, ConnectorError>;

    /// What it must remember so as not to give a split twice.
    fn snapshot(&self) -> Vec<u8>;
}

/// What an enumerator found.
#[derive(Debug, Default)]
pub struct Discovery {
    /// New splits, in the order in which they are best read.
    pub splits: Vec<Split>,
    /// When to look again; `None` when nothing more will ever come.
    pub again_after: Option<Duration>,
    /// Whether a split must go to the reader of a certain task (index beside each split);
    /// empty when any reader may take any split.
    pub tasks: Vec<usize>,
}

/// Reads splits, one or several at a time. Runs on the thread of a source task and may block.
pub trait SourceReader: Send {
    /// Takes splits to read. The runtime hands over one at a time unless `wants_all_splits`.
    fn add_splits(&mut self, splits: Vec<Split>) -> Result<(), ConnectorError>;

    /// Whether all splits should come at once (partitions that are read side by side) rather than
    /// the next when the last one ended (files).
    fn wants_all_splits(&self) -> bool {
        false
    }

    /// The next thing that happens, waiting at most `timeout` for it.
    fn poll(&mut self, timeout: Duration) -> Result<SourceEvent, ConnectorError>;

    /// The splits under way, each with the position after the last batch that `poll` returned.
    fn snapshot(&mut self) -> Result<Vec<Split>, ConnectorError>;

    /// Told when a checkpoint that holds `splits` is complete (to commit offsets, say).
    fn checkpoint_complete(&mut self, _splits: &[Split]) -> Result<(), ConnectorError> {
        Ok(())
    }
}

/// What a reader has to say.
#[derive(Debug)]
pub enum SourceEvent {
    /// Rows of one split, in its order. `bytes` is how much input they took, for progress.
    Rows {
        /// The split's id.
        split: Arc<str>,
        /// Its rows, as the scan request asked for them.
        batch: ChangelogBatch,
        /// Input bytes they were decoded from, 0 when unknown.
        bytes: u64,
    },
    /// A split is read to its end.
    SplitEnd(Arc<str>),
    /// Nothing came within the time.
    Pending,
}
