//! Lookups: rows fetched by key while a query runs, and how they are remembered.

use std::time::Duration;

use arrow::record_batch::RecordBatch;

use super::reload::{OPTIONS as RELOAD, Reload};
use super::{ConnectorError, OptionDef, OptionKind, Options, PushedPredicate, ScanColumn};

/// A table whose rows can be fetched by key: what `FOR SYSTEM_TIME AS OF` processing time asks.
pub trait LookupSource: Send + Sync {
    /// A reader for one parallel task.
    fn reader(&self, request: &LookupRequest) -> Result<Box<dyn LookupReader>, ConnectorError>;
}

/// What a query wants of lookups.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct LookupRequest {
    /// The columns of the rows, in order.
    pub columns: Vec<ScanColumn>,
    /// The key: positions in `columns`.
    pub keys: Vec<usize>,
    /// Conditions that the source said it supports; rows for which one does not hold are not wanted.
    pub predicates: Vec<PushedPredicate>,
}

/// Fetches rows by key. Runs on the thread of an operator's task and may block.
pub trait LookupReader: Send {
    /// The rows of each key. `keys` holds different keys, without NULLs, as columns of the key's types.
    fn lookup(&mut self, keys: &RecordBatch) -> Result<LookupRows, ConnectorError>;
}

/// The rows that a lookup found.
#[derive(Debug, Clone)]
pub struct LookupRows {
    /// The rows, in the columns that were asked for.
    pub rows: RecordBatch,
    /// For each row which of the keys it belongs to; keys ascend.
    pub keys: Vec<u32>,
}

/// What is remembered of lookups (`lookup.cache`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LookupCache {
    /// Every lookup asks the table.
    None,
    /// The keys looked up last.
    Partial(PartialCache),
    /// The whole table, read when the query starts, and again as the schedule says if there is one.
    Full {
        /// When it is read again.
        reload: Option<Reload>,
    },
}

/// `lookup.partial-cache.*`
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PartialCache {
    /// Keys not asked for during so long are forgotten.
    pub expire_after_access: Option<Duration>,
    /// Keys looked up so long ago are forgotten.
    pub expire_after_write: Option<Duration>,
    /// Rows kept at most; the keys not asked for longest go first.
    pub max_rows: Option<u64>,
    /// Whether it is remembered that a key has no rows.
    pub cache_missing_key: bool,
}

const CACHE: OptionDef = OptionDef::new(
    "lookup.cache",
    OptionKind::Enum(&["NONE", "PARTIAL", "FULL"]),
    "what lookup joins remember of the table; a table that is only scanned can be looked up when \
     this is set",
);
const EXPIRE_AFTER_ACCESS: OptionDef = OptionDef::new(
    "lookup.partial-cache.expire-after-access",
    OptionKind::Duration,
    "keys not asked for during so long are looked up again",
);
const EXPIRE_AFTER_WRITE: OptionDef = OptionDef::new(
    "lookup.partial-cache.expire-after-write",
    OptionKind::Duration,
    "keys looked up so long ago are looked up again",
);
const MAX_ROWS: OptionDef = OptionDef::new(
    "lookup.partial-cache.max-rows",
    OptionKind::Int,
    "rows that a partial cache keeps at most",
);
const CACHE_MISSING_KEY: OptionDef = OptionDef::new(
    "lookup.partial-cache.cache-missing-key",
    OptionKind::Bool,
    "whether it is remembered that a key has no rows",
)
.default("true");

const OLD_MAX_ROWS: OptionDef = OptionDef::new(
    "lookup.cache.max-rows",
    OptionKind::Int,
    "the old name of 'lookup.partial-cache.max-rows'; with 'lookup.cache.ttl' it makes the cache PARTIAL",
);
const OLD_TTL: OptionDef = OptionDef::new(
    "lookup.cache.ttl",
    OptionKind::Duration,
    "the old name of 'lookup.partial-cache.expire-after-write'",
);
const OLD_CACHE_MISSING_KEY: OptionDef = OptionDef::new(
    "lookup.cache.caching-missing-key",
    OptionKind::Bool,
    "the old name of 'lookup.partial-cache.cache-missing-key'",
)
.default("true");

/// The options that Flink had before `lookup.cache`, of connectors that keep them.
pub const OLD_LOOKUP_OPTIONS: &[OptionDef] = &[OLD_MAX_ROWS, OLD_TTL, OLD_CACHE_MISSING_KEY];

/// The options of tables that can be looked up.
pub const LOOKUP_OPTIONS: &[OptionDef] = &[
    CACHE,
    EXPIRE_AFTER_ACCESS,
    EXPIRE_AFTER_WRITE,
    MAX_ROWS,
    CACHE_MISSING_KEY,
    RELOAD[0],
    RELOAD[1],
    RELOAD[2],
    RELOAD[3],
    RELOAD[4],
];

impl LookupCache {
    /// What a table's options say; `None` when they say nothing.
    ///
    /// Fails on values that are none, and on a partial cache that nothing bounds.
    pub fn of(options: &Options) -> Result<Option<Self>, ConnectorError> {
        let Some(kind) = options.raw(CACHE.key) else { return Self::of_old(options) };
        CACHE.check(CACHE.key, kind)?;
        Ok(Some(match kind.to_ascii_uppercase().as_str() {
            "PARTIAL" => {
                let max_rows = options.int(&MAX_ROWS)?;
                let partial = PartialCache {
                    expire_after_access: options.duration(&EXPIRE_AFTER_ACCESS)?,
                    expire_after_write: options.duration(&EXPIRE_AFTER_WRITE)?,
                    max_rows: max_rows.and_then(|rows| u64::try_from(rows).ok()),
                    cache_missing_key: options.bool(&CACHE_MISSING_KEY)?,
                };
                let bounded = partial.expire_after_access.is_some()
                    || partial.expire_after_write.is_some()
                    || partial.max_rows.is_some();
                if !bounded {
                    return Err(ConnectorError::new(
                        "'lookup.cache' = 'PARTIAL' needs a bound of the cache",
                    )
                    .hint(
                        "set 'lookup.partial-cache.max-rows', '…expire-after-write' or \
                         '…expire-after-access'",
                    ));
                }
                Self::Partial(partial)
            }
            "FULL" => Self::Full { reload: Reload::of(options)? },
            _ => Self::None,
        }))
    }

    /// What the options say that Flink had before `lookup.cache`: both bounds make a partial cache.
    fn of_old(options: &Options) -> Result<Option<Self>, ConnectorError> {
        let (rows, ttl) = (options.int(&OLD_MAX_ROWS)?, options.duration(&OLD_TTL)?);
        let rows = rows.and_then(|rows| u64::try_from(rows).ok()).filter(|rows| *rows > 0);
        let (Some(rows), Some(ttl)) = (rows, ttl.filter(|ttl| !ttl.is_zero())) else {
            return Ok(None);
        };
        Ok(Some(Self::Partial(PartialCache {
            expire_after_access: None,
            expire_after_write: Some(ttl),
            max_rows: Some(rows),
            cache_missing_key: options.bool(&OLD_CACHE_MISSING_KEY)?,
        })))
    }
}
