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
    /// How rows are gathered, where mini-batch is enabled.
    pub mini_batch: Option<MiniBatch>,
    /// `table.optimizer.agg-phase-strategy`
    pub agg_phase: AggPhase,
    /// What becomes of values that a sink's columns do not allow.
    pub enforcement: Enforcement,
    /// `table.exec.source.cdc-events-duplicate`
    pub cdc_events_duplicate: bool,
    /// `table.exec.sink.upsert-materialize`
    pub upsert_materialize: UpsertMaterialize,
    /// `table.exec.sink.require-on-conflict`
    pub require_on_conflict: bool,
    /// `table.exec.sink.keyed-shuffle`
    pub keyed_shuffle: KeyedShuffle,
    /// `flott.correlation` = `general`: correlated sub-queries that Flink does not plan are planned.
    pub general_correlation: bool,
    /// `flott.over` = `general`: OVER windows that Flink does not plan are planned.
    pub general_over: bool,
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
    /// How long rows may wait, in milliseconds.
    pub latency: u64,
}

/// `table.optimizer.agg-phase-strategy`: whether rows are aggregated before they are sent to the task of
/// their key, where mini-batch is enabled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AggPhase {
    /// With a parallelism above 1.
    #[default]
    Auto,
    /// Always.
    TwoPhase,
    /// Never.
    OnePhase,
}

/// Whether rows are materialised by a sink's primary key before they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpsertMaterialize {
    /// Never: rows that share a key overwrite each other in the order in which they come.
    None,
    /// Where the query's upsert key is not part of the sink's primary key.
    Auto,
    /// Before every sink that finds rows by their key.
    Force,
}

/// Whether rows go to a sink's tasks by their primary key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyedShuffle {
    /// Never.
    None,
    /// Where changes come from a different number of tasks.
    Auto,
    /// Wherever there are several tasks.
    Force,
}

/// What is enforced before a sink.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Enforcement {
    /// `table.exec.sink.not-null-enforcer`
    pub not_null: NotNullEnforcer,
    /// `table.exec.sink.type-length-enforcer`
    pub length: LengthEnforcer,
    /// `table.exec.sink.nested-constraint-enforcer`
    pub nested: NestedEnforcer,
}

/// What becomes of a NULL in a NOT NULL column of a sink.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NotNullEnforcer {
    /// The job fails.
    #[default]
    Error,
    /// The row is dropped.
    Drop,
}

/// What becomes of a text or binary value longer than its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LengthEnforcer {
    /// It is written as it is.
    #[default]
    Ignore,
    /// It is cut, and short CHAR and BINARY values are padded.
    TrimPad,
    /// The job fails.
    Error,
}

/// Whether values inside of nested ones are looked at, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NestedEnforcer {
    /// No.
    #[default]
    Ignore,
    /// The fields of ROW values.
    Rows,
    /// And the elements of ARRAY, MAP and MULTISET values.
    RowsAndCollections,
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
            agg_phase: AggPhase::Auto,
            enforcement: Enforcement::default(),
            cdc_events_duplicate: false,
            upsert_materialize: UpsertMaterialize::Auto,
            require_on_conflict: true,
            keyed_shuffle: KeyedShuffle::Auto,
            general_correlation: false,
            general_over: false,
            working_directory: PathBuf::from("."),
        }
    }
}
