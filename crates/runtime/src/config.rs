//! What holds for a whole job.

use std::sync::Arc;
use std::time::Duration;

use flott_state::{DEFAULT_MAX_PARALLELISM, MemoryBudget};
use flott_types::ChangelogBatch;
use jiff::tz::TimeZone;

use crate::checkpoint::CheckpointStore;
use crate::clock::{Clock, SystemClock};

/// The settings of a job.
#[derive(Clone)]
pub struct JobConfig {
    /// Names the run, so that temporary files and transactions of two runs differ.
    pub job_id: Arc<str>,
    /// Processing time.
    pub clock: Arc<dyn Clock>,
    /// The session's time zone.
    pub zone: TimeZone,
    /// The number of key groups (`pipeline.max-parallelism`).
    pub max_parallelism: u16,
    /// Whether neighbours of equal parallelism run in one task
    /// (`pipeline.operator-chaining.enabled`).
    pub chaining: bool,
    /// How long rows wait to be sent together (`execution.buffer-timeout.interval`); zero means
    /// not at all.
    pub buffer_timeout: Duration,
    /// A watermark goes out when it has grown by more than this since the last
    /// (`pipeline.auto-watermark-interval`).
    pub watermark_interval: Duration,
    /// The rows a channel holds before its sender waits; batches are counted as well.
    pub channel_rows: usize,
    /// The memory that operators may use for their state.
    pub memory: MemoryBudget,
    /// How often a checkpoint is taken (`execution.checkpointing.interval`); `None` for never.
    pub checkpoint_interval: Option<Duration>,
    /// How long to wait after a checkpoint at least (`execution.checkpointing.min-pause`).
    pub checkpoint_min_pause: Duration,
    /// A checkpoint that takes longer counts as failed (`execution.checkpointing.timeout`).
    pub checkpoint_timeout: Duration,
    /// How many checkpoints may fail one after the other before the job does
    /// (`execution.checkpointing.tolerable-failed-checkpoints`).
    pub tolerable_failed_checkpoints: u32,
    /// Where checkpoints are kept.
    pub checkpoints: Option<Arc<dyn CheckpointStore>>,
    /// Whether a job may resume from a checkpoint that holds state of operators it does not have
    /// (`execution.state-recovery.ignore-unclaimed-state`).
    pub drop_unknown_state: bool,
    /// Called when all tasks have ended, whatever their outcome, before the job's outcome is
    /// known: closes what belongs to the job and not to a task. An error fails the job.
    pub on_end: Vec<EndHook>,
}

/// A call at the end of a job.
pub type EndHook = Arc<dyn Fn() -> crate::Result<()> + Send + Sync>;

impl Default for JobConfig {
    /// Flink's defaults.
    fn default() -> Self {
        Self {
            job_id: "job".into(),
            clock: Arc::new(SystemClock),
            zone: TimeZone::UTC,
            max_parallelism: DEFAULT_MAX_PARALLELISM,
            chaining: true,
            buffer_timeout: Duration::from_millis(100),
            watermark_interval: Duration::from_millis(200),
            channel_rows: 4 * ChangelogBatch::MAX_ROWS,
            memory: MemoryBudget::unlimited(),
            checkpoint_interval: None,
            checkpoint_min_pause: Duration::ZERO,
            checkpoint_timeout: Duration::from_secs(600),
            tolerable_failed_checkpoints: 0,
            checkpoints: None,
            drop_unknown_state: false,
            on_end: Vec::new(),
        }
    }
}
