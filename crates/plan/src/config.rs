//! The session options that decide plans.

use std::path::PathBuf;

/// Options of the planner; keys and defaults are Flink's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannerConfig {
    /// Whether `execution.runtime-mode` is BATCH.
    pub batch: bool,
    /// `table.dynamic-table-options.enabled`
    pub dynamic_table_options: bool,
    /// `table.exec.source.idle-timeout` in milliseconds; 0: an idle split holds the watermark.
    pub source_idle_timeout: u64,
    /// `table.optimizer.reuse-sub-plan-enabled`
    pub reuse_sub_plan: bool,
    /// `table.optimizer.reuse-source-enabled`
    pub reuse_source: bool,
    /// `parallelism.default`, or `table.exec.resource.default-parallelism` where that is set.
    pub parallelism: usize,
    /// `pipeline.max-parallelism`
    pub max_parallelism: u16,
    /// `table.exec.state.ttl` in milliseconds; 0: state is kept for ever.
    pub state_ttl: u64,
    /// `table.exec.interval-join.min-cleanup-interval` in milliseconds.
    pub interval_join_min_cleanup: u64,
    /// `table.exec.strict-state`: plans whose state nothing bounds are refused.
    pub strict_state: bool,
    /// When group windows give results beside their end.
    pub emit: EmitOptions,
    /// Over how many buckets the values of DISTINCT aggregates are spread, where they are split
    /// (`table.optimizer.distinct-agg.split.*`).
    pub distinct_buckets: Option<u32>,
    /// Mini-batch aggregation, where it is enabled.
    pub mini_batch: Option<MiniBatch>,
    /// `table.exec.sink.not-null-enforcer`
    pub not_null_enforcer: NotNullEnforcer,
    /// `table.exec.sink.type-length-enforcer`
    pub length_enforcer: LengthEnforcer,
    /// `flott.correlation` = `general`: correlated sub-queries that Flink does not plan are planned.
    pub general_correlation: bool,
    /// Relative paths in options are relative to it.
    pub working_directory: PathBuf,
}

/// `table.exec.emit.*`; all delays in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EmitOptions {
    /// `table.exec.emit.early-fire.enabled`
    pub early_fire: bool,
    /// `table.exec.emit.early-fire.delay`
    pub early_delay: Option<u64>,
    /// `table.exec.emit.late-fire.enabled`
    pub late_fire: bool,
    /// `table.exec.emit.late-fire.delay`
    pub late_delay: Option<u64>,
    /// `table.exec.emit.allow-lateness`
    pub allow_lateness: Option<u64>,
}

/// `table.exec.mini-batch.*`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MiniBatch {
    /// `table.exec.mini-batch.size`: the rows of a bundle at most.
    pub size: u64,
    /// `table.exec.mini-batch.allow-latency` in milliseconds.
    pub latency: u64,
}

/// What becomes of a NULL in a NOT NULL column of a sink.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotNullEnforcer {
    /// The job fails.
    Error,
    /// The row is dropped.
    Drop,
}

/// What becomes of a text or binary value longer than its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LengthEnforcer {
    /// It is written as it is.
    Ignore,
    /// It is cut, and short CHAR and BINARY values are padded.
    TrimPad,
    /// The job fails.
    Error,
}

impl Default for PlannerConfig {
    fn default() -> Self {
        Self {
            batch: false,
            dynamic_table_options: true,
            source_idle_timeout: 0,
            reuse_sub_plan: true,
            reuse_source: true,
            parallelism: 1,
            max_parallelism: 128,
            state_ttl: 0,
            interval_join_min_cleanup: 0,
            strict_state: false,
            emit: EmitOptions::default(),
            distinct_buckets: None,
            mini_batch: None,
            not_null_enforcer: NotNullEnforcer::Error,
            length_enforcer: LengthEnforcer::Ignore,
            general_correlation: false,
            working_directory: PathBuf::from("."),
        }
    }
}
