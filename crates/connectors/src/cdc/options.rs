//! Options that the connectors share, those of Flink CDC.

use std::time::Duration;

use flott_catalog::connector::{ConnectorError, OptionDef, OptionKind, Options};

use crate::common::invalid;

pub(super) const HOSTNAME: OptionDef =
    OptionDef::new("hostname", OptionKind::Text, "the name or address of the database server")
        .required();
pub(super) const USERNAME: OptionDef =
    OptionDef::new("username", OptionKind::Text, "the user of the database").required();
pub(super) const PASSWORD: OptionDef =
    OptionDef::new("password", OptionKind::Text, "the user's password").required();
pub(super) const SNAPSHOT_ENABLED: OptionDef = OptionDef::new(
    "scan.incremental.snapshot.enabled",
    OptionKind::Bool,
    "accepted: the snapshot is always read without locks, and goes on in the middle after a failure",
);
pub(super) const KEY_COLUMN: OptionDef = OptionDef::new(
    "scan.incremental.snapshot.chunk.key-column",
    OptionKind::Text,
    "a column by whose order the snapshot is read instead of the primary key's; it must be NOT NULL and UNIQUE",
);
pub(super) const FETCH_SIZE: OptionDef = OptionDef::new(
    "scan.snapshot.fetch.size",
    OptionKind::Int,
    "how many rows of a snapshot are fetched at a time",
)
.default("1024");
pub(super) const CONNECT_TIMEOUT: OptionDef = OptionDef::new(
    "connect.timeout",
    OptionKind::Duration,
    "how long connecting to the database may take",
)
.default("30 s");
pub(super) const MAX_RETRIES: OptionDef = OptionDef::new(
    "connect.max-retries",
    OptionKind::Int,
    "how often a connection that is lost or refused is tried again before the job fails",
)
.default("3");

/// Options of Flink CDC's parallel snapshot that mean nothing where one task reads in one order.
pub(super) const WITHOUT_EFFECT: &[OptionDef] = &[
    OptionDef::new(
        "scan.incremental.snapshot.chunk.size",
        OptionKind::Int,
        "accepted without effect: the snapshot is not cut into chunks",
    )
    .default("8096"),
    OptionDef::new(
        "chunk-meta.group.size",
        OptionKind::Int,
        "accepted without effect: the snapshot is not cut into chunks",
    )
    .default("1000"),
    OptionDef::new(
        "chunk-key.even-distribution.factor.upper-bound",
        OptionKind::Double,
        "accepted without effect: the snapshot is not cut into chunks",
    )
    .default("1000.0"),
    OptionDef::new(
        "chunk-key.even-distribution.factor.lower-bound",
        OptionKind::Double,
        "accepted without effect: the snapshot is not cut into chunks",
    )
    .default("0.05"),
    OptionDef::new(
        "scan.incremental.snapshot.unbounded-chunk-first.enabled",
        OptionKind::Bool,
        "accepted without effect: the snapshot is not cut into chunks",
    ),
    OptionDef::new(
        "scan.incremental.close-idle-reader.enabled",
        OptionKind::Bool,
        "accepted without effect: tasks without anything to read always end",
    ),
    OptionDef::new(
        "connection.pool.size",
        OptionKind::Int,
        "accepted without effect: a table takes two connections at most",
    )
    .default("20"),
];

/// Flink CDC's options that would change what is read in a way that is not supported.
pub(super) const ONLY_FALSE: &[OptionDef] = &[
    OptionDef::new(
        "scan.incremental.snapshot.backfill.skip",
        OptionKind::Bool,
        "must be false: it would give changes twice",
    )
    .default("false"),
    OptionDef::new(
        "scan.newly-added-table.enabled",
        OptionKind::Bool,
        "must be false: the rows that a table has when it comes to match later are not read",
    )
    .default("false"),
    OptionDef::new(
        "scan.read-changelog-as-append-only.enabled",
        OptionKind::Bool,
        "must be false: use the function TO_CHANGELOG or the metadata column row_kind",
    )
    .default("false"),
];

/// Checks those that take one value only.
pub(super) fn check_only_false(options: &Options) -> Result<(), ConnectorError> {
    for def in ONLY_FALSE {
        if options.bool(def)? {
            return Err(ConnectorError::new(format!("'{}' = 'true' is not supported", def.key))
                .hint(def.help));
        }
    }
    Ok(())
}

/// A number from `least` that fits.
pub(super) fn number(
    options: &Options,
    def: &OptionDef,
    least: u64,
) -> Result<u64, ConnectorError> {
    let number = options.int(def)?.unwrap_or(0);
    match u64::try_from(number) {
        Ok(number) if number >= least => Ok(number),
        _ => Err(invalid(def.key, &number.to_string(), &format!("a number from {least}"))),
    }
}

/// A duration that has a default.
pub(super) fn duration(options: &Options, def: &OptionDef) -> Result<Duration, ConnectorError> {
    Ok(options.duration(def)?.unwrap_or_default())
}
