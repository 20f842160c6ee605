//! The options of a session: what SET and RESET change, and what the stages read of it.

mod memory;
mod recovery;

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use flott_catalog::connector::{OptionDef, OptionKind, Options};
use flott_functions::SessionSettings;
use flott_plan::{
    AggPhase, EmitOptions, Enforcement, KeyedShuffle, LengthEnforcer, MiniBatch, NestedEnforcer,
    NotNullEnforcer, PlanError, PlannerConfig, UpsertMaterialize,
};
use jiff::tz::TimeZone;

pub(crate) use memory::Memory;
pub(crate) use recovery::{Recovery, Storage};

/// All options that Flott reads.
pub fn options() -> impl Iterator<Item = &'static OptionDef> {
    OPTIONS.iter().chain(memory::OPTIONS).chain(recovery::OPTIONS)
}

/// Options that Flott reads; SET takes any other key too, as Flink does.
const OPTIONS: &[OptionDef] = &[
    RUNTIME_MODE,
    PARALLELISM,
    DEFAULT_PARALLELISM,
    MAX_PARALLELISM,
    LOCAL_TIME_ZONE,
    DYNAMIC_TABLE_OPTIONS,
    IDLE_TIMEOUT,
    REUSE_SUB_PLAN,
    REUSE_SOURCE,
    STATE_TTL,
    STRICT_STATE,
    LATE_ROWS_TABLE,
    EARLY_FIRE,
    EARLY_FIRE_DELAY,
    LATE_FIRE,
    LATE_FIRE_DELAY,
    ALLOW_LATENESS,
    SPLIT_DISTINCT,
    DISTINCT_BUCKETS,
    MINI_BATCH,
    MINI_BATCH_SIZE,
    MINI_BATCH_LATENCY,
    AGG_PHASE,
    NOT_NULL_ENFORCER,
    LENGTH_ENFORCER,
    NESTED_ENFORCER,
    CDC_EVENTS_DUPLICATE,
    UPSERT_MATERIALIZE,
    REQUIRE_ON_CONFLICT,
    KEYED_SHUFFLE,
    LEGACY_BYTES_TO_STRING,
    BUFFER_TIMEOUT,
    WATERMARK_INTERVAL,
    CHAINING,
    CORRELATION,
    OVER,
];

const RUNTIME_MODE: OptionDef = OptionDef::new(
    "execution.runtime-mode",
    OptionKind::Enum(&["streaming", "batch", "automatic"]),
    "whether queries are continuous or give only final rows",
)
.default("streaming");
const PARALLELISM: OptionDef =
    OptionDef::new("parallelism.default", OptionKind::Int, "parallel tasks an operator")
        .default("1");
const DEFAULT_PARALLELISM: OptionDef = OptionDef::new(
    "table.exec.resource.default-parallelism",
    OptionKind::Int,
    "parallel tasks an operator; -1: parallelism.default",
)
.default("-1");
const MAX_PARALLELISM: OptionDef =
    OptionDef::new("pipeline.max-parallelism", OptionKind::Int, "key groups; -1: 128")
        .default("-1");
const LOCAL_TIME_ZONE: OptionDef = OptionDef::new(
    "table.local-time-zone",
    OptionKind::Text,
    "the session's zone: a region, an offset, or default for the system's",
)
.default("default");
const DYNAMIC_TABLE_OPTIONS: OptionDef = OptionDef::new(
    "table.dynamic-table-options.enabled",
    OptionKind::Bool,
    "whether the OPTIONS hint is allowed",
)
.default("true");
const IDLE_TIMEOUT: OptionDef = OptionDef::new(
    "table.exec.source.idle-timeout",
    OptionKind::Duration,
    "after which silence a source split no longer holds the watermark back; 0: never",
)
.default("0 ms");
const REUSE_SUB_PLAN: OptionDef = OptionDef::new(
    "table.optimizer.reuse-sub-plan-enabled",
    OptionKind::Bool,
    "whether equal parts of a plan run once",
)
.default("true");
const REUSE_SOURCE: OptionDef = OptionDef::new(
    "table.optimizer.reuse-source-enabled",
    OptionKind::Bool,
    "whether a table is scanned once for all its readers",
)
.default("true");
const STATE_TTL: OptionDef = OptionDef::new(
    "table.exec.state.ttl",
    OptionKind::Duration,
    "after which idleness state is forgotten; 0: never",
)
.default("0 ms");
const INTERVAL_JOIN_CLEANUP: OptionDef = OptionDef::new(
    "table.exec.interval-join.min-cleanup-interval",
    OptionKind::Duration,
    "how much later than possible an interval join frees rows, more of them at once",
)
.default("0 ms");
const STRICT_STATE: OptionDef = OptionDef::new(
    "table.exec.strict-state",
    OptionKind::Bool,
    "whether plans with operators whose state nothing bounds are refused",
)
.default("false");
const LATE_ROWS_TABLE: OptionDef = OptionDef::new(
    "table.exec.late-rows.table",
    OptionKind::Text,
    "the table that takes the rows which operators drop because they come late, in its columns 'operator', \
     'row_kind', 'row_json' (STRING), 'watermark', 'event_time', 'dropped_at' (TIMESTAMP_LTZ) and those named as \
     the rows' own",
);
const EARLY_FIRE: OptionDef = OptionDef::new(
    "table.exec.emit.early-fire.enabled",
    OptionKind::Bool,
    "whether group windows give results before their end",
)
.default("false");
const EARLY_FIRE_DELAY: OptionDef = OptionDef::new(
    "table.exec.emit.early-fire.delay",
    OptionKind::Duration,
    "how often they do; 0: with every row",
);
const LATE_FIRE: OptionDef = OptionDef::new(
    "table.exec.emit.late-fire.enabled",
    OptionKind::Bool,
    "whether group windows give results after their end for rows that come late",
)
.default("false");
const LATE_FIRE_DELAY: OptionDef = OptionDef::new(
    "table.exec.emit.late-fire.delay",
    OptionKind::Duration,
    "how often they do; 0: with every row",
);
const ALLOW_LATENESS: OptionDef = OptionDef::new(
    "table.exec.emit.allow-lateness",
    OptionKind::Duration,
    "how late rows may come with late-fire; without it table.exec.state.ttl",
);
const CORRELATION: OptionDef = OptionDef::new(
    "flott.correlation",
    OptionKind::Enum(&["flink", "general"]),
    "whether correlated sub-queries that Flink refuses are planned, too",
)
.default("flink");
const OVER: OptionDef = OptionDef::new(
    "flott.over",
    OptionKind::Enum(&["flink", "general"]),
    "whether OVER windows that Flink refuses are planned, too: aggregates over the last rows in the order of any \
     column",
)
.default("flink");
const SPLIT_DISTINCT: OptionDef = OptionDef::new(
    "table.optimizer.distinct-agg.split.enabled",
    OptionKind::Bool,
    "whether DISTINCT aggregates work in two steps: by key and bucket of values, then by key",
)
.default("false");
const DISTINCT_BUCKETS: OptionDef = OptionDef::new(
    "table.optimizer.distinct-agg.split.bucket-num",
    OptionKind::Int,
    "the number of those buckets",
)
.default("1024");
const MINI_BATCH: OptionDef = OptionDef::new(
    "table.exec.mini-batch.enabled",
    OptionKind::Bool,
    "whether rows are gathered so that only net changes are given",
)
.default("false");
const MINI_BATCH_SIZE: OptionDef =
    OptionDef::new("table.exec.mini-batch.size", OptionKind::Int, "rows of a bundle at most")
        .default("-1");
const MINI_BATCH_LATENCY: OptionDef = OptionDef::new(
    "table.exec.mini-batch.allow-latency",
    OptionKind::Duration,
    "how long rows may wait for a bundle to fill on their way through a query",
)
.default("0 ms");
const AGG_PHASE: OptionDef = OptionDef::new(
    "table.optimizer.agg-phase-strategy",
    OptionKind::Enum(&["auto", "two_phase", "one_phase"]),
    "whether GROUP BY with mini-batch aggregates rows before they are sent to the task of their key; \
     auto: with a parallelism above 1",
)
.default("auto");
const NOT_NULL_ENFORCER: OptionDef = OptionDef::new(
    "table.exec.sink.not-null-enforcer",
    OptionKind::Enum(&["error", "drop"]),
    "what becomes of a NULL in a NOT NULL column of a sink",
)
.default("error");
const LENGTH_ENFORCER: OptionDef = OptionDef::new(
    "table.exec.sink.type-length-enforcer",
    OptionKind::Enum(&["ignore", "trim_pad", "error"]),
    "what becomes of texts and bytes longer than their column of a sink",
)
.default("ignore");
const NESTED_ENFORCER: OptionDef = OptionDef::new(
    "table.exec.sink.nested-constraint-enforcer",
    OptionKind::Enum(&["ignore", "rows", "rows_and_collections"]),
    "whether NOT NULL and lengths hold inside of nested values of a sink, too",
)
.default("ignore");
const CDC_EVENTS_DUPLICATE: OptionDef = OptionDef::new(
    "table.exec.source.cdc-events-duplicate",
    OptionKind::Bool,
    "whether change events may come twice, so that each is compared with the last of its key",
)
.default("false");
const UPSERT_MATERIALIZE: OptionDef = OptionDef::new(
    "table.exec.sink.upsert-materialize",
    OptionKind::Enum(&["none", "auto", "force"]),
    "whether a sink gets one row a key where rows of different keys of the query share one",
)
.default("auto");
const REQUIRE_ON_CONFLICT: OptionDef = OptionDef::new(
    "table.exec.sink.require-on-conflict",
    OptionKind::Bool,
    "whether an INSERT whose upsert key differs from the sink's key must say what a conflict does",
)
.default("true");
const KEYED_SHUFFLE: OptionDef = OptionDef::new(
    "table.exec.sink.keyed-shuffle",
    OptionKind::Enum(&["none", "auto", "force"]),
    "whether rows go to a sink's tasks by their primary key",
)
.default("auto");
const LEGACY_BYTES_TO_STRING: OptionDef = OptionDef::new(
    "table.exec.legacy-bytes-to-string-cast",
    OptionKind::Bool,
    "whether a cast of bytes that are no UTF-8 replaces what is wrong instead of failing",
)
.default("false");
const BUFFER_TIMEOUT: OptionDef = OptionDef::new(
    "execution.buffer-timeout.interval",
    OptionKind::Duration,
    "how long rows may wait at an exchange for others to join them",
)
.default("100 ms");
const WATERMARK_INTERVAL: OptionDef = OptionDef::new(
    "pipeline.auto-watermark-interval",
    OptionKind::Duration,
    "by how much of event time a watermark rises before it is sent",
)
.default("200 ms");
const CHAINING: OptionDef = OptionDef::new(
    "pipeline.operator-chaining.enabled",
    OptionKind::Bool,
    "whether operators without an exchange between them share a thread",
)
.default("true");

/// The options of a session.
#[derive(Debug, Clone, Default)]
pub struct SessionConfig {
    options: Options,
}

/// What the runtime reads of the options.
#[derive(Debug, Clone, Copy)]
pub struct RuntimeOptions {
    /// `execution.buffer-timeout.interval`
    pub buffer_timeout: Duration,
    /// `pipeline.auto-watermark-interval`
    pub watermark_interval: Duration,
    /// `pipeline.operator-chaining.enabled`
    pub chaining: bool,
}

impl SessionConfig {
    /// Checks a value of `execution.runtime-mode`, the one option that Flink reads at once.
    pub(crate) fn check_mode(&self, key: &str, value: &str) -> Result<(), PlanError> {
        if key == RUNTIME_MODE.key {
            RUNTIME_MODE.check(key, value)?;
        }
        Ok(())
    }

    /// Sets an option; its value is checked when it is read, as in Flink.
    pub fn set(&mut self, key: &str, value: &str) {
        self.options.set(key, value);
    }

    /// Removes an option, which so gets its default back.
    pub fn reset(&mut self, key: &str) {
        self.options.remove(key);
    }

    /// Removes all options.
    pub fn reset_all(&mut self) {
        self.options = Options::default();
    }

    /// The options that were set, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.options.iter()
    }

    /// The value of an option that was set.
    pub fn value(&self, key: &str) -> Option<&str> {
        self.options.raw(key)
    }

    /// The table that takes late rows, if one is named.
    pub(crate) fn late_rows_table(&self) -> Option<&str> {
        self.options.text(&LATE_ROWS_TABLE).map(str::trim).filter(|name| !name.is_empty())
    }

    /// What the planner reads. Fails on values that are none.
    pub fn planner(&self, working_directory: PathBuf) -> Result<PlannerConfig, PlanError> {
        let options = &self.options;
        let millis = |def: &OptionDef| -> Result<u64, PlanError> {
            Ok(options.duration(def)?.map_or(0, |duration| duration.as_millis() as u64))
        };
        let int =
            |def: &OptionDef| -> Result<i64, PlanError> { Ok(options.int(def)?.unwrap_or(0)) };
        let default_parallelism = int(&DEFAULT_PARALLELISM)?;
        let parallelism =
            if default_parallelism > 0 { default_parallelism } else { int(&PARALLELISM)? };
        let max_parallelism = match int(&MAX_PARALLELISM)? {
            max @ 1..=32_768 => max as u16,
            _ => 128,
        };
        let word = |def: &OptionDef| -> Result<String, PlanError> {
            let text = options.text(def).unwrap_or_default();
            def.check(def.key, text)?;
            Ok(text.to_ascii_lowercase())
        };
        if options.bool(&MINI_BATCH)? && millis(&MINI_BATCH_LATENCY)? == 0 {
            return Err(PlanError::new("MiniBatch Latency must be greater than 0 ms.")
                .hint("SET 'table.exec.mini-batch.allow-latency' = '1 s'"));
        }
        let mini_batch = if options.bool(&MINI_BATCH)? {
            Some(MiniBatch {
                size: u64::try_from(int(&MINI_BATCH_SIZE)?)
                    .ok()
                    .filter(|size| *size > 0)
                    .ok_or_else(|| {
                        PlanError::new(
                            "Key: 'table.exec.mini-batch.size' must be a positive value when \
                             mini-batch is enabled",
                        )
                    })?,
                latency: millis(&MINI_BATCH_LATENCY)?,
            })
        } else {
            None
        };
        let enforcement = Enforcement {
            not_null: match word(&NOT_NULL_ENFORCER)?.as_str() {
                "drop" => NotNullEnforcer::Drop,
                _ => NotNullEnforcer::Error,
            },
            length: match word(&LENGTH_ENFORCER)?.as_str() {
                "trim_pad" => LengthEnforcer::TrimPad,
                "error" => LengthEnforcer::Error,
                _ => LengthEnforcer::Ignore,
            },
            nested: match word(&NESTED_ENFORCER)?.as_str() {
                "rows" => NestedEnforcer::Rows,
                "rows_and_collections" => NestedEnforcer::RowsAndCollections,
                _ => NestedEnforcer::Ignore,
            },
        };
        if enforcement.nested == NestedEnforcer::RowsAndCollections
            && enforcement.length == LengthEnforcer::TrimPad
        {
            return Err(PlanError::new(
                "Trimming and/or padding is not supported if constraint checking is enabled on \
                 types nested in collections.",
            )
            .hint("SET 'table.exec.sink.nested-constraint-enforcer' = 'ROWS'"));
        }
        Ok(PlannerConfig {
            batch: word(&RUNTIME_MODE)? == "batch",
            dynamic_table_options: options.bool(&DYNAMIC_TABLE_OPTIONS)?,
            source_idle_timeout: millis(&IDLE_TIMEOUT)?,
            reuse_sub_plan: options.bool(&REUSE_SUB_PLAN)?,
            reuse_source: options.bool(&REUSE_SOURCE)?,
            parallelism: parallelism.clamp(1, max_parallelism.into()) as usize,
            max_parallelism,
            state_ttl: millis(&STATE_TTL)?,
            interval_join_min_cleanup: millis(&INTERVAL_JOIN_CLEANUP)?,
            strict_state: options.bool(&STRICT_STATE)?,
            emit: self.emit()?,
            distinct_buckets: self.distinct_buckets()?,
            mini_batch,
            agg_phase: match word(&AGG_PHASE)?.as_str() {
                "two_phase" => AggPhase::TwoPhase,
                "one_phase" => AggPhase::OnePhase,
                _ => AggPhase::Auto,
            },
            enforcement,
            cdc_events_duplicate: options.bool(&CDC_EVENTS_DUPLICATE)?,
            upsert_materialize: match word(&UPSERT_MATERIALIZE)?.as_str() {
                "none" => UpsertMaterialize::None,
                "force" => UpsertMaterialize::Force,
                _ => UpsertMaterialize::Auto,
            },
            general_correlation: word(&CORRELATION)? == "general",
            general_over: word(&OVER)? == "general",
            require_on_conflict: options.bool(&REQUIRE_ON_CONFLICT)?,
            keyed_shuffle: match word(&KEYED_SHUFFLE)?.as_str() {
                "none" => KeyedShuffle::None,
                "force" => KeyedShuffle::Force,
                _ => KeyedShuffle::Auto,
            },
            working_directory,
        })
    }

    fn distinct_buckets(&self) -> Result<Option<u32>, PlanError> {
        if !self.options.bool(&SPLIT_DISTINCT)? {
            return Ok(None);
        }
        let buckets = self.options.int(&DISTINCT_BUCKETS)?.unwrap_or_default();
        match u32::try_from(buckets).ok().filter(|buckets| *buckets > 0) {
            Some(buckets) => Ok(Some(buckets)),
            None => Err(PlanError::new(format!(
                "invalid value '{buckets}' for option '{}'",
                DISTINCT_BUCKETS.key
            ))
            .hint("use a number from 1")),
        }
    }

    fn emit(&self) -> Result<EmitOptions, PlanError> {
        let delay = |def: &OptionDef| -> Result<Option<u64>, PlanError> {
            Ok(self.options.duration(def)?.map(|delay| delay.as_millis() as u64))
        };
        Ok(EmitOptions {
            early_fire: self.options.bool(&EARLY_FIRE)?,
            early_delay: delay(&EARLY_FIRE_DELAY)?,
            late_fire: self.options.bool(&LATE_FIRE)?,
            late_delay: delay(&LATE_FIRE_DELAY)?,
            allow_lateness: delay(&ALLOW_LATENESS)?,
        })
    }

    /// What expressions are compiled under. Fails on a time zone that is none.
    pub fn settings(&self, catalog: &str, database: &str) -> Result<SessionSettings, PlanError> {
        let mode = self.options.text(&RUNTIME_MODE).unwrap_or_default();
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(SessionSettings {
            zone: self.zone()?,
            query_start: since_epoch.as_nanos() as i128,
            batch: mode.eq_ignore_ascii_case("batch"),
            legacy_bytes_to_string: self.options.bool(&LEGACY_BYTES_TO_STRING)?,
            current_catalog: catalog.to_string(),
            current_database: database.to_string(),
        })
    }

    /// The session's time zone.
    pub fn zone(&self) -> Result<TimeZone, PlanError> {
        match self.options.text(&LOCAL_TIME_ZONE).unwrap_or("default") {
            "default" => Ok(TimeZone::system()),
            "Z" => Ok(TimeZone::UTC),
            name => parse_zone(name).ok_or_else(|| {
                PlanError::new(format!(
                    "Invalid time zone '{name}' in option 'table.local-time-zone'"
                ))
                .hint("use a region such as 'Europe/Berlin', or an offset such as 'GMT+02:00'")
            }),
        }
    }

    /// What the runtime reads.
    pub fn runtime(&self) -> Result<RuntimeOptions, PlanError> {
        let duration = |def: &OptionDef| -> Result<Duration, PlanError> {
            Ok(self.options.duration(def)?.unwrap_or_default())
        };
        Ok(RuntimeOptions {
            buffer_timeout: duration(&BUFFER_TIMEOUT)?,
            watermark_interval: duration(&WATERMARK_INTERVAL)?,
            chaining: self.options.bool(&CHAINING)?,
        })
    }
}

/// A region's name, `UTC`, or an offset: `+02:00`, `GMT-8`, `UTC+5:30`.
fn parse_zone(name: &str) -> Option<TimeZone> {
    let offset =
        ["GMT", "UTC", "UT"].iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
    let (sign, digits) = match offset.as_bytes().first() {
        Some(b'+') => (1, &offset[1..]),
        Some(b'-') => (-1, &offset[1..]),
        None => return Some(TimeZone::UTC),
        Some(_) => return TimeZone::get(name).ok(),
    };
    let (hours, minutes) = digits.split_once(':').unwrap_or((digits, "0"));
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    if hours > 18 || !(0..60).contains(&minutes) {
        return None;
    }
    let seconds = sign * (hours * 3600 + minutes * 60);
    Some(TimeZone::fixed(jiff::tz::Offset::from_seconds(seconds).ok()?))
}
