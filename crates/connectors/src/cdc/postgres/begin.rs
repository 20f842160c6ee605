//! What must be there before rows are read: tables, publication, slot.

use flott_catalog::connector::ConnectorError;

use super::connection::{Connection, PgError};
use super::failure::failure;
use super::lsn::Lsn;
use super::position::Position;
use super::table::{PublicationMode, Startup, Table};
use super::tables::{self, TableInfo, literal, quote};
use crate::cdc::progress::TableProgress;

/// A connection, and the tables as they are now.
pub(super) struct Begun {
    pub(super) connection: Connection,
    pub(super) infos: Vec<TableInfo>,
}

/// Finds the tables, and makes or checks publication and slot. `position` is `None` at the very beginning, and then
/// the first one is found.
pub(super) fn begin(
    table: &Table,
    position: &mut Option<Position>,
) -> Result<Begun, ConnectorError> {
    let mut connection = Connection::open(&table.connection, false).map_err(failure)?;
    let infos = tables::find(&mut connection, table)?;
    let of = |info: &TableInfo| {
        let key = info.key.iter().map(|column| column.name.clone()).collect();
        TableProgress::new(info.schema.clone(), info.name.clone(), key)
    };
    if table.startup == Startup::Snapshot {
        if position.is_none() {
            let tables = infos.iter().map(of).collect();
            *position = Some(Position { tables, ..Position::default() });
        }
        return Ok(Begun { connection, infos });
    }
    check_wal_level(&mut connection)?;
    publication(&mut connection, table, &infos)?;
    let stands = slot(&mut connection, table, position.as_ref())?;
    if position.is_none() {
        let mut first = Position { lsn: stands, ..Position::default() };
        match table.startup {
            Startup::Latest => first.lsn = current(&mut connection)?.max(stands),
            Startup::Committed => {}
            Startup::Initial | Startup::Snapshot => first.tables = infos.iter().map(of).collect(),
        }
        for info in infos.iter().filter(|info| !table.upsert && !info.full_identity) {
            tracing::warn!(
                table = %format!("{}.{}", info.schema, info.name),
                "the table has no REPLICA IDENTITY FULL: its first update will fail the job"
            );
        }
        *position = Some(first);
    }
    Ok(Begun { connection, infos })
}

fn check_wal_level(connection: &mut Connection) -> Result<(), ConnectorError> {
    match one(connection, "SELECT pg_catalog.current_setting('wal_level')")?.as_deref() {
        Some("logical") => Ok(()),
        level => Err(ConnectorError::new(format!(
            "the server's wal_level is {}, which does not tell changes",
            level.unwrap_or("not known")
        ))
        .hint("ALTER SYSTEM SET wal_level = logical, and restart the server")),
    }
}

/// Makes the publication where it is missing and may be made, and checks that it has all tables.
fn publication(
    connection: &mut Connection,
    table: &Table,
    infos: &[TableInfo],
) -> Result<(), ConnectorError> {
    let name = &table.publication;
    let names: Vec<_> = infos.iter().map(TableInfo::sql_name).collect();
    let exists =
        format!("SELECT 1 FROM pg_catalog.pg_publication WHERE pubname = {}", literal(name));
    if one(connection, &exists)?.is_none() {
        let of = match table.publication_mode {
            PublicationMode::AllTables => "ALL TABLES".to_string(),
            PublicationMode::Filtered => format!("TABLE {}", names.join(", ")),
            PublicationMode::Disabled => {
                return Err(ConnectorError::new(format!(
                    "the publication '{name}' does not exist"
                ))
                .hint(format!(
                    "CREATE PUBLICATION {} FOR TABLE {}",
                    quote(name),
                    names.join(", ")
                )));
            }
        };
        let create = format!(
            "CREATE PUBLICATION {} FOR {of} WITH (publish_via_partition_root = true)",
            quote(name)
        );
        match connection.query(&create) {
            Ok(_) => {}
            // Another source made it meanwhile.
            Err(PgError::Server { code, .. }) if code == "42710" || code == "23505" => {}
            Err(PgError::Server { code, message, .. }) if code == "42501" => {
                return Err(ConnectorError::new(format!(
                    "the publication '{name}' does not exist and may not be made: {message}"
                ))
                .hint(format!(
                    "let a superuser CREATE PUBLICATION {} FOR TABLE {}, or set \
                     'debezium.publication.autocreate.mode' = 'filtered' if the user owns the tables",
                    quote(name),
                    names.join(", ")
                )));
            }
            Err(error) => return Err(failure(error)),
        }
    }
    let published = connection.query(&format!(
        "SELECT schemaname, tablename FROM pg_catalog.pg_publication_tables WHERE pubname = {}",
        literal(name)
    ));
    let published = published.map_err(failure)?;
    let is_published = |info: &TableInfo| {
        let named = |row: &Vec<Option<String>>| {
            row.first() == Some(&Some(info.schema.clone()))
                && row.get(1) == Some(&Some(info.name.clone()))
        };
        published.iter().any(named)
    };
    match infos.iter().find(|info| !is_published(info)) {
        None => Ok(()),
        Some(info) => Err(ConnectorError::new(format!(
            "the publication '{name}' does not have the table {}.{}",
            info.schema, info.name
        ))
        .hint(format!(
            "ALTER PUBLICATION {} ADD TABLE {}, or name another one in 'debezium.publication.name'; \
             partitioned tables need publish_via_partition_root = true",
            quote(name),
            info.sql_name()
        ))),
    }
}

/// Makes the slot where it is missing at the beginning; where it stands.
fn slot(
    connection: &mut Connection,
    table: &Table,
    position: Option<&Position>,
) -> Result<Lsn, ConnectorError> {
    let name = &table.slot;
    let rows = connection.query(&format!(
        "SELECT plugin, database, confirmed_flush_lsn::text, restart_lsn::text
         FROM pg_catalog.pg_replication_slots WHERE slot_name = {}",
        literal(name)
    ));
    let rows = rows.map_err(failure)?;
    let Some(row) = rows.first() else {
        if position.is_some() {
            return Err(ConnectorError::new(format!(
                "the replication slot '{name}' is gone, and with it the changes since the checkpoint"
            ))
            .hint("start the job without its state, so that a new snapshot is read"));
        }
        if table.startup == Startup::Committed {
            return Err(ConnectorError::new(format!("the replication slot '{name}' does not exist"))
                .hint("'scan.startup.mode' = 'committed-offset' reads from where a slot stands; use 'initial' or 'latest-offset'"));
        }
        let made = one(
            connection,
            &format!(
                "SELECT lsn::text FROM pg_catalog.pg_create_logical_replication_slot({}, 'pgoutput')",
                literal(name)
            ),
        )?;
        return lsn(made.as_deref());
    };
    let [plugin, database, confirmed, restart] = row.as_slice() else {
        return Err(failure(PgError::Protocol("a slot of unknown form")));
    };
    if plugin.as_deref() != Some("pgoutput") {
        return Err(ConnectorError::new(format!(
            "the replication slot '{name}' is of the plugin {}, not pgoutput",
            plugin.as_deref().unwrap_or("of physical replication")
        ))
        .hint("name another slot in 'slot.name'; one that is missing is made"));
    }
    if database.as_deref() != Some(&table.connection.database) {
        return Err(ConnectorError::new(format!(
            "the replication slot '{name}' is of the database {}",
            database.as_deref().unwrap_or_default()
        ))
        .hint("name another slot in 'slot.name'; one that is missing is made"));
    }
    if restart.is_none() {
        return Err(ConnectorError::new(format!(
            "the replication slot '{name}' has lost its log, which the server has removed \
             (max_slot_wal_keep_size)"
        ))
        .hint(format!(
            "SELECT pg_drop_replication_slot({}), and start the job without its state, so that a new snapshot \
             is read",
            literal(name)
        )));
    }
    let stands = lsn(confirmed.as_deref())?;
    match position {
        Some(position) if position.lsn < stands => Err(ConnectorError::new(format!(
            "the replication slot '{name}' stands at {stands}, behind the checkpoint's {}: the changes between \
             are gone",
            position.lsn
        ))
        .hint("resume from a later checkpoint, or start the job without its state, so that a new snapshot is read")),
        _ => Ok(stands),
    }
}

fn current(connection: &mut Connection) -> Result<Lsn, ConnectorError> {
    lsn(one(connection, "SELECT pg_catalog.pg_current_wal_flush_lsn()::text")?.as_deref())
}

fn lsn(text: Option<&str>) -> Result<Lsn, ConnectorError> {
    text.and_then(Lsn::parse).ok_or_else(|| failure(PgError::Protocol("no place in the log")))
}

/// The first value of the first row.
fn one(connection: &mut Connection, sql: &str) -> Result<Option<String>, ConnectorError> {
    let rows = connection.query(sql).map_err(failure)?;
    Ok(rows.into_iter().flatten().flatten().next())
}
