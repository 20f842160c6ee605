//! Checkpoints, resuming and restarts: Flink's keys and defaults.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::Duration;

use flott_catalog::connector::{OptionDef, OptionKind};
use flott_plan::PlanError;
use flott_runtime::{ExponentialDelay, RestartStrategy};

use super::SessionConfig;

/// What a job does to survive failures.
#[derive(Debug, Clone)]
pub(crate) struct Recovery {
    /// How often a checkpoint is taken.
    pub(crate) interval: Option<Duration>,
    pub(crate) min_pause: Duration,
    pub(crate) timeout: Duration,
    pub(crate) tolerable_failures: u32,
    pub(crate) storage: Storage,
    /// How many checkpoints are kept.
    pub(crate) retained: usize,
    /// The checkpoint or savepoint to resume from.
    pub(crate) resume: Option<PathBuf>,
    pub(crate) drop_unclaimed: bool,
    pub(crate) restarts: RestartStrategy,
}

/// Where checkpoints are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Storage {
    /// There are none.
    None,
    /// In memory: for restarts within this process.
    Memory,
    /// In folders below this one, one a job.
    Folder(PathBuf),
}

pub(super) const INTERVAL: OptionDef = OptionDef::new(
    "execution.checkpointing.interval",
    OptionKind::Duration,
    "how often a checkpoint is taken; without it, never",
);
pub(super) const MODE: OptionDef = OptionDef::new(
    "execution.checkpointing.mode",
    OptionKind::Enum(&["exactly_once", "at_least_once", "exactly-once", "at-least-once"]),
    "what a failure may do; both are exactly-once here",
)
.default("exactly_once");
pub(super) const TIMEOUT: OptionDef = OptionDef::new(
    "execution.checkpointing.timeout",
    OptionKind::Duration,
    "a checkpoint that takes longer counts as failed",
)
.default("10 min");
pub(super) const MIN_PAUSE: OptionDef = OptionDef::new(
    "execution.checkpointing.min-pause",
    OptionKind::Duration,
    "how long to wait after a checkpoint at least",
)
.default("0 ms");
pub(super) const MAX_CONCURRENT: OptionDef = OptionDef::new(
    "execution.checkpointing.max-concurrent-checkpoints",
    OptionKind::Int,
    "checkpoints under way at a time; only 1 is done",
)
.default("1");
pub(super) const TOLERABLE: OptionDef = OptionDef::new(
    "execution.checkpointing.tolerable-failed-checkpoints",
    OptionKind::Int,
    "checkpoints that may fail one after the other before the job does",
)
.default("0");
pub(super) const FOLDER: OptionDef = OptionDef::new(
    "execution.checkpointing.dir",
    OptionKind::Text,
    "the folder below which checkpoints are kept, a folder for each job; without it, in memory",
);
/// The name that `execution.checkpointing.dir` had before Flink 2.
pub(super) const OLD_FOLDER: OptionDef = OptionDef::new(
    "state.checkpoints.dir",
    OptionKind::Text,
    "the older name of execution.checkpointing.dir",
);
pub(super) const RETAINED: OptionDef = OptionDef::new(
    "execution.checkpointing.num-retained",
    OptionKind::Int,
    "how many checkpoints are kept",
)
.default("1");
pub(super) const RESUME: OptionDef = OptionDef::new(
    "execution.state-recovery.path",
    OptionKind::Text,
    "a checkpoint, a savepoint or the folder of a job, from which the next jobs resume",
);
pub(super) const IGNORE_UNCLAIMED: OptionDef = OptionDef::new(
    "execution.state-recovery.ignore-unclaimed-state",
    OptionKind::Bool,
    "whether a job may resume although it drops state",
)
.default("false");
pub(super) const RESTARTS: OptionDef = OptionDef::new(
    "restart-strategy.type",
    OptionKind::Enum(&[
        "none",
        "off",
        "disable",
        "fixed-delay",
        "fixeddelay",
        "failure-rate",
        "failurerate",
        "exponential-delay",
        "exponentialdelay",
    ]),
    "what happens after a failure; without it, exponential-delay if checkpoints are taken, else none",
);
const FIXED_ATTEMPTS: OptionDef = OptionDef::new(
    "restart-strategy.fixed-delay.attempts",
    OptionKind::Int,
    "how many times a job restarts",
)
.default("1");
const FIXED_DELAY: OptionDef = OptionDef::new(
    "restart-strategy.fixed-delay.delay",
    OptionKind::Duration,
    "how long to wait before a restart",
)
.default("1 s");
const RATE_MAX: OptionDef = OptionDef::new(
    "restart-strategy.failure-rate.max-failures-per-interval",
    OptionKind::Int,
    "failures within the interval that are borne",
)
.default("1");
const RATE_INTERVAL: OptionDef = OptionDef::new(
    "restart-strategy.failure-rate.failure-rate-interval",
    OptionKind::Duration,
    "the interval in which failures are counted",
)
.default("1 min");
const RATE_DELAY: OptionDef = OptionDef::new(
    "restart-strategy.failure-rate.delay",
    OptionKind::Duration,
    "how long to wait before a restart",
)
.default("1 s");
const BACKOFF_INITIAL: OptionDef = OptionDef::new(
    "restart-strategy.exponential-delay.initial-backoff",
    OptionKind::Duration,
    "the first delay",
)
.default("1 s");
const BACKOFF_MAX: OptionDef = OptionDef::new(
    "restart-strategy.exponential-delay.max-backoff",
    OptionKind::Duration,
    "the longest delay",
)
.default("1 min");
const BACKOFF_MULTIPLIER: OptionDef = OptionDef::new(
    "restart-strategy.exponential-delay.backoff-multiplier",
    OptionKind::Double,
    "by how much each delay is longer than the one before",
)
.default("1.5");
const BACKOFF_RESET: OptionDef = OptionDef::new(
    "restart-strategy.exponential-delay.reset-backoff-threshold",
    OptionKind::Duration,
    "after so long without failure the delay is the first again",
)
.default("1 h");
const BACKOFF_JITTER: OptionDef = OptionDef::new(
    "restart-strategy.exponential-delay.jitter-factor",
    OptionKind::Double,
    "by which part of itself a delay varies at random",
)
.default("0.1");
const BACKOFF_ATTEMPTS: OptionDef = OptionDef::new(
    "restart-strategy.exponential-delay.attempts-before-reset-backoff",
    OptionKind::Int,
    "restarts before the delay is the first again; without it, any number",
);

/// The options of this file.
pub const OPTIONS: &[OptionDef] = &[
    INTERVAL,
    MODE,
    TIMEOUT,
    MIN_PAUSE,
    MAX_CONCURRENT,
    TOLERABLE,
    FOLDER,
    OLD_FOLDER,
    RETAINED,
    RESUME,
    IGNORE_UNCLAIMED,
    RESTARTS,
    FIXED_ATTEMPTS,
    FIXED_DELAY,
    RATE_MAX,
    RATE_INTERVAL,
    RATE_DELAY,
    BACKOFF_INITIAL,
    BACKOFF_MAX,
    BACKOFF_MULTIPLIER,
    BACKOFF_RESET,
    BACKOFF_JITTER,
    BACKOFF_ATTEMPTS,
];

impl SessionConfig {
    /// What jobs do to survive failures. Relative paths are relative to `working_directory`.
    pub(crate) fn recovery(&self, working_directory: &Path) -> Result<Recovery, PlanError> {
        let options = &self.options;
        let path = |def: &OptionDef| options.text(def).map(|text| local(text, working_directory));
        let duration = |def: &OptionDef| -> Result<Duration, PlanError> {
            Ok(options.duration(def)?.unwrap_or_default())
        };
        if let Some(mode) = options.text(&MODE) {
            MODE.check(MODE.key, mode)?;
        }
        let interval = options.duration(&INTERVAL)?.filter(|interval| !interval.is_zero());
        let folder = path(&FOLDER).or_else(|| path(&OLD_FOLDER)).transpose()?;
        let storage = match (folder, interval) {
            (Some(folder), _) => Storage::Folder(folder),
            (None, Some(_)) => Storage::Memory,
            (None, None) => Storage::None,
        };
        Ok(Recovery {
            interval,
            min_pause: duration(&MIN_PAUSE)?,
            timeout: duration(&TIMEOUT)?,
            tolerable_failures: self.count(&TOLERABLE, 0)? as u32,
            storage,
            retained: self.count(&RETAINED, 1)? as usize,
            resume: path(&RESUME).transpose()?,
            drop_unclaimed: options.bool(&IGNORE_UNCLAIMED)?,
            restarts: self.restarts(interval.is_some())?,
        })
    }

    fn restarts(&self, checkpoints: bool) -> Result<RestartStrategy, PlanError> {
        let options = &self.options;
        let duration = |def: &OptionDef| -> Result<Duration, PlanError> {
            Ok(options.duration(def)?.unwrap_or_default())
        };
        let number = |def: &OptionDef| -> Result<f64, PlanError> {
            Ok(options.double(def)?.unwrap_or_default())
        };
        let kind = match options.text(&RESTARTS) {
            Some(kind) => {
                RESTARTS.check(RESTARTS.key, kind)?;
                kind.to_ascii_lowercase()
            }
            None if checkpoints => "exponential-delay".to_string(),
            None => "none".to_string(),
        };
        Ok(match kind.as_str() {
            "fixed-delay" | "fixeddelay" => RestartStrategy::FixedDelay {
                attempts: self.count(&FIXED_ATTEMPTS, 0)? as u32,
                delay: duration(&FIXED_DELAY)?,
            },
            "failure-rate" | "failurerate" => RestartStrategy::FailureRate {
                max_failures: self.count(&RATE_MAX, 1)? as usize,
                interval: duration(&RATE_INTERVAL)?,
                delay: duration(&RATE_DELAY)?,
                failures: VecDeque::new(),
            },
            "exponential-delay" | "exponentialdelay" => {
                let initial = duration(&BACKOFF_INITIAL)?;
                let attempts = match options.int(&BACKOFF_ATTEMPTS)? {
                    Some(_) => self.count(&BACKOFF_ATTEMPTS, 1)?,
                    None => u64::MAX,
                };
                RestartStrategy::ExponentialDelay(ExponentialDelay {
                    initial,
                    max: duration(&BACKOFF_MAX)?.max(initial),
                    multiplier: number(&BACKOFF_MULTIPLIER)?.max(1.0),
                    reset_after: duration(&BACKOFF_RESET)?,
                    jitter: number(&BACKOFF_JITTER)?.clamp(0.0, 1.0),
                    attempts,
                    used: 0,
                    current: initial,
                    last: None,
                })
            }
            _ => RestartStrategy::None,
        })
    }

    /// A number of things, at least `least`.
    fn count(&self, def: &OptionDef, least: u64) -> Result<u64, PlanError> {
        let value = self.options.int(def)?.unwrap_or_default();
        match u64::try_from(value).ok().filter(|value| *value >= least) {
            Some(value) => Ok(value.min(u32::MAX.into())),
            None => {
                Err(PlanError::new(format!("invalid value '{value}' for option '{}'", def.key))
                    .hint(format!("give a number of {least} or more")))
            }
        }
    }
}

/// A path of the local file system, also as a `file:` URI.
fn local(text: &str, working_directory: &Path) -> Result<PathBuf, PlanError> {
    let text = text.trim();
    let path = match text.split_once(':') {
        Some(("file", rest)) => match rest.strip_prefix("//") {
            Some(rest) => rest,
            None => rest,
        },
        Some((scheme, _)) if scheme.len() > 1 && !scheme.contains(['/', '\\', '.']) => {
            return Err(PlanError::new(format!("'{text}' is not on the local file system"))
                .hint("checkpoints are kept in local folders: give a path or a file:// URI"));
        }
        _ => text,
    };
    Ok(working_directory.join(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recovery(options: &[(&str, &str)]) -> Result<Recovery, PlanError> {
        let mut config = SessionConfig::default();
        options.iter().for_each(|(key, value)| config.set(key, value));
        config.recovery(Path::new("/work"))
    }

    #[test]
    fn without_options_nothing_is_kept_and_nothing_restarts() {
        let recovery = recovery(&[]).unwrap();
        assert_eq!(recovery.interval, None);
        assert_eq!(recovery.storage, Storage::None);
        assert!(matches!(recovery.restarts, RestartStrategy::None));
    }

    #[test]
    fn an_interval_brings_restarts_with_growing_delays() {
        let recovery = recovery(&[("execution.checkpointing.interval", "10 s")]).unwrap();
        assert_eq!(recovery.interval, Some(Duration::from_secs(10)));
        assert_eq!(recovery.storage, Storage::Memory);
        assert!(matches!(recovery.restarts, RestartStrategy::ExponentialDelay(_)));
    }

    #[test]
    fn folders_are_local() {
        let folder = |text| {
            recovery(&[("execution.checkpointing.dir", text)]).map(|recovery| recovery.storage)
        };
        assert_eq!(folder("chk").unwrap(), Storage::Folder("/work/chk".into()));
        assert_eq!(folder("file:///data/chk").unwrap(), Storage::Folder("/data/chk".into()));
        assert!(folder("s3://bucket/chk").is_err());
        let old = recovery(&[("state.checkpoints.dir", "/old")]).unwrap();
        assert_eq!(old.storage, Storage::Folder("/old".into()));
    }

    #[test]
    fn bad_values_name_their_key() {
        for (key, value) in [
            ("restart-strategy.type", "sometimes"),
            ("execution.checkpointing.interval", "soon"),
            ("execution.checkpointing.num-retained", "0"),
            ("execution.checkpointing.mode", "twice"),
        ] {
            let error = recovery(&[(key, value)]).unwrap_err().to_string();
            assert!(error.contains(key) && error.contains(value), "{error}");
        }
    }
}
