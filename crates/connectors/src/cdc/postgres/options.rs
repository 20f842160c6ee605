//! The options of `postgres-cdc`, those of Flink CDC.

use flott_catalog::connector::{OptionDef, OptionKind};

use crate::cdc::options::{
    CONNECT_TIMEOUT, FETCH_SIZE, HOSTNAME, KEY_COLUMN, MAX_RETRIES, ONLY_FALSE, PASSWORD,
    SNAPSHOT_ENABLED, USERNAME, WITHOUT_EFFECT,
};
use crate::common::{COMMON, concat};

pub(super) const PORT: OptionDef =
    OptionDef::new("port", OptionKind::Int, "the server's port").default("5432");
pub(super) const DATABASE: OptionDef =
    OptionDef::new("database-name", OptionKind::Text, "the database").required();
pub(super) const SCHEMA: OptionDef = OptionDef::new(
    "schema-name",
    OptionKind::Text,
    "the schema, or a regular expression that the whole name must match",
)
.required();
pub(super) const TABLE: OptionDef = OptionDef::new(
    "table-name",
    OptionKind::Text,
    "the table, or a regular expression that the whole name must match",
)
.required();
pub(super) const SLOT: OptionDef = OptionDef::new(
    "slot.name",
    OptionKind::Text,
    "the replication slot, which must belong to this table alone; made where it is missing",
)
.required();
pub(super) const PLUGIN: OptionDef = OptionDef::new(
    "decoding.plugin.name",
    OptionKind::Text,
    "the plugin that decodes the log: pgoutput, which is part of PostgreSQL",
)
.default("pgoutput");
pub(super) const CHANGELOG_MODE: OptionDef = OptionDef::new(
    "changelog-mode",
    OptionKind::Enum(&["all", "upsert"]),
    "what is told of a change: the row before and after (the table needs REPLICA IDENTITY FULL), or the row \
     after, by PRIMARY KEY",
)
.default("all");
pub(super) const STARTUP_MODE: OptionDef = OptionDef::new(
    "scan.startup.mode",
    OptionKind::Enum(&["initial", "latest-offset", "committed-offset", "snapshot"]),
    "what is read: the rows there are and then changes, changes from now on, changes from where the slot stands, \
     or only the rows there are",
)
.default("initial");
pub(super) const HEARTBEAT: OptionDef = OptionDef::new(
    "heartbeat.interval.ms",
    OptionKind::Duration,
    "how often the server is told at least where reading stands",
)
.default("30 s");
pub(super) const COMMIT_DELAY: OptionDef = OptionDef::new(
    "scan.lsn-commit.checkpoints-num-delay",
    OptionKind::Int,
    "how many further checkpoints must be complete before the slot forgets what one has read, so that a job can \
     go back to it",
)
.default("3");
pub(super) const PUBLICATION: OptionDef = OptionDef::new(
    "debezium.publication.name",
    OptionKind::Text,
    "the publication that the log is read by",
)
.default("dbz_publication");
pub(super) const PUBLICATION_MODE: OptionDef = OptionDef::new(
    "debezium.publication.autocreate.mode",
    OptionKind::Enum(&["all_tables", "filtered", "disabled"]),
    "what a missing publication is made of: all tables (the user must be a superuser), those of this table, or \
     nothing, which is an error",
)
.default("all_tables");
pub(super) const SKIPPED: OptionDef = OptionDef::new(
    "debezium.skipped.operations",
    OptionKind::Enum(&["none", "t"]),
    "what is passed over: nothing, so that TRUNCATE fails the job, or t, so that its rows stay",
)
.default("none");
pub(super) const PLACEHOLDER: OptionDef = OptionDef::new(
    "debezium.unavailable.value.placeholder",
    OptionKind::Text,
    "what stands for a large value that did not change and is not in the log; without it such a change fails the \
     job",
);
pub(super) const SSL_MODE: OptionDef = OptionDef::new(
    "debezium.database.sslmode",
    OptionKind::Enum(&["disable", "allow", "prefer"]),
    "connections are not encrypted; values that demand it are refused",
)
.default("prefer");

const OWN: &[OptionDef] = &[
    HOSTNAME,
    PORT,
    USERNAME,
    PASSWORD,
    DATABASE,
    SCHEMA,
    TABLE,
    SLOT,
    PLUGIN,
    CHANGELOG_MODE,
    STARTUP_MODE,
    HEARTBEAT,
    COMMIT_DELAY,
    SNAPSHOT_ENABLED,
    KEY_COLUMN,
    FETCH_SIZE,
    CONNECT_TIMEOUT,
    MAX_RETRIES,
    PUBLICATION,
    PUBLICATION_MODE,
    SKIPPED,
    PLACEHOLDER,
    SSL_MODE,
];

const LEN: usize = OWN.len() + WITHOUT_EFFECT.len() + ONLY_FALSE.len() + COMMON.len();

/// All options of `postgres-cdc`.
pub(super) static OPTIONS: [OptionDef; LEN] = concat(&[OWN, WITHOUT_EFFECT, ONLY_FALSE, COMMON]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_option_is_there_once() {
        for (at, def) in OPTIONS.iter().enumerate() {
            assert!(OPTIONS[at + 1..].iter().all(|other| other.key != def.key), "{}", def.key);
        }
    }
}
