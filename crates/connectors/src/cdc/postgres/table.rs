//! What a table's options say, checked.

use std::time::Duration;

use flott_catalog::connector::{ConnectorError, OptionDef, TableContext};

use super::POSTGRES_CDC;
use super::connection::ConnectionConfig;
use super::options::{
    CHANGELOG_MODE, COMMIT_DELAY, DATABASE, HEARTBEAT, PLACEHOLDER, PLUGIN, PORT, PUBLICATION,
    PUBLICATION_MODE, SCHEMA, SKIPPED, SLOT, STARTUP_MODE, TABLE,
};
use crate::cdc::names::NamePattern;
use crate::cdc::options::{
    CONNECT_TIMEOUT, FETCH_SIZE, HOSTNAME, KEY_COLUMN, MAX_RETRIES, PASSWORD, USERNAME,
    check_only_false, duration, number,
};
use crate::common::{invalid, validate};

/// A table that is read from PostgreSQL.
pub(super) struct Table {
    pub(super) context: TableContext,
    pub(super) connection: ConnectionConfig,
    pub(super) schemas: NamePattern,
    pub(super) tables: NamePattern,
    pub(super) slot: String,
    pub(super) publication: String,
    pub(super) publication_mode: PublicationMode,
    /// Whether only the row after a change is told, by key.
    pub(super) upsert: bool,
    pub(super) startup: Startup,
    pub(super) heartbeat: Duration,
    /// How many further checkpoints must be complete before the slot forgets.
    pub(super) commit_delay: usize,
    pub(super) key_column: Option<String>,
    pub(super) fetch_size: usize,
    pub(super) max_retries: u32,
    pub(super) skip_truncate: bool,
    /// What stands for a value that is not in the log.
    pub(super) placeholder: Option<String>,
}

/// What is read (`scan.startup.mode`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Startup {
    Initial,
    Latest,
    Committed,
    Snapshot,
}

/// What a missing publication is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PublicationMode {
    AllTables,
    Filtered,
    Disabled,
}

impl Table {
    /// Reads and checks the options.
    pub(super) fn of(context: &TableContext) -> Result<Self, ConnectorError> {
        refuse(context)?;
        validate(context, &POSTGRES_CDC)?;
        let options = &context.options;
        check_only_false(options)?;
        let text =
            |def: &OptionDef| options.raw(def.key).or(def.default).unwrap_or_default().to_string();
        let pattern = |def: &OptionDef| NamePattern::new(def.key, &text(def));
        let slot = text(&SLOT);
        let fine = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if slot.is_empty() || slot.len() > 63 || !slot.chars().all(fine) {
            let wanted = "a name of up to 63 lower-case letters, digits and underscores";
            return Err(invalid(SLOT.key, &slot, wanted));
        }
        let plugin = text(&PLUGIN);
        if plugin != "pgoutput" {
            return Err(ConnectorError::new(format!(
                "the decoding plugin '{plugin}' is not supported"
            ))
            .hint("set 'decoding.plugin.name' = 'pgoutput', which is part of PostgreSQL since version 10"));
        }
        let upsert = text(&CHANGELOG_MODE).eq_ignore_ascii_case("upsert");
        if upsert && context.primary_key.is_empty() {
            return Err(ConnectorError::new("'changelog-mode' = 'upsert' needs a PRIMARY KEY")
                .hint("declare PRIMARY KEY (…) NOT ENFORCED"));
        }
        let port = number(options, &PORT, 1)?;
        let connection = ConnectionConfig {
            host: text(&HOSTNAME),
            port: u16::try_from(port)
                .map_err(|_| invalid(PORT.key, &port.to_string(), "a number up to 65535"))?,
            user: text(&USERNAME),
            password: text(&PASSWORD),
            database: text(&DATABASE),
            timeout: duration(options, &CONNECT_TIMEOUT)?,
        };
        let startup = match text(&STARTUP_MODE).to_ascii_lowercase().as_str() {
            "latest-offset" => Startup::Latest,
            "committed-offset" => Startup::Committed,
            "snapshot" => Startup::Snapshot,
            _ => Startup::Initial,
        };
        let publication_mode = match text(&PUBLICATION_MODE).to_ascii_lowercase().as_str() {
            "filtered" => PublicationMode::Filtered,
            "disabled" => PublicationMode::Disabled,
            _ => PublicationMode::AllTables,
        };
        Ok(Self {
            connection,
            schemas: pattern(&SCHEMA)?,
            tables: pattern(&TABLE)?,
            slot,
            publication: text(&PUBLICATION),
            publication_mode,
            upsert,
            startup,
            heartbeat: duration(options, &HEARTBEAT)?,
            commit_delay: number(options, &COMMIT_DELAY, 0)? as usize,
            key_column: options.raw(KEY_COLUMN.key).map(str::to_string),
            fetch_size: number(options, &FETCH_SIZE, 1)? as usize,
            max_retries: number(options, &MAX_RETRIES, 0)? as u32,
            skip_truncate: text(&SKIPPED).eq_ignore_ascii_case("t"),
            placeholder: options.raw(PLACEHOLDER.key).map(str::to_string),
            context: context.clone(),
        })
    }

    /// Whether changes of a table are read.
    pub(super) fn wants(&self, schema: &str, name: &str) -> bool {
        self.schemas.matches(schema) && self.tables.matches(name)
    }
}

/// Options of Debezium are refused with the reason, but for those that have a meaning here.
fn refuse(context: &TableContext) -> Result<(), ConnectorError> {
    for (key, value) in context.options.iter() {
        let hint = match key {
            "debezium.database.sslmode"
                if value.starts_with("require") || value.starts_with("verify") =>
            {
                "connections are not encrypted; go through a tunnel, or use a private network"
            }
            "debezium.snapshot.mode" => "use 'scan.startup.mode'",
            _ if key.starts_with("debezium.")
                && !super::options::OPTIONS.iter().any(|def| def.key == key) =>
            {
                "this connector does not run Debezium; docs/cdc.md lists the options that have a meaning"
            }
            _ => continue,
        };
        return Err(ConnectorError::new(format!("'{key}' = '{value}' is not supported")).hint(hint));
    }
    Ok(())
}
