//! `upsert-kafka`: the newest row of each key, in a topic that is best compacted.

use std::sync::Arc;

use flott_catalog::connector::{ConnectorError, TableContext, TableSink, TableSource};

use super::UPSERT_KAFKA;
use super::options::{KEY_FORMAT, VALUE_FORMAT};
use super::startup::Places;
use super::table::Table;

/// Checks the options of an `upsert-kafka` table and makes a source of it. It is read from its beginning.
pub(super) fn source(context: &TableContext) -> Result<Arc<dyn TableSource>, ConnectorError> {
    super::source::source(table(context)?, &UPSERT_KAFKA, Places::Earliest)
}

/// Checks the options of an `upsert-kafka` table and makes a sink of it.
pub(super) fn sink(context: &TableContext) -> Result<Arc<dyn TableSink>, ConnectorError> {
    super::sink::upsert(table(context)?)
}

fn table(context: &TableContext) -> Result<Table, ConnectorError> {
    if context.primary_key.is_empty() {
        return Err(ConnectorError::new(
            "'upsert-kafka' tables require to define a PRIMARY KEY constraint. The PRIMARY KEY \
             specifies which columns should be read from or write to the Kafka message key. The PRIMARY \
             KEY also defines records in the 'upsert-kafka' table should update or delete which keys.",
        )
        .hint("declare PRIMARY KEY (…) NOT ENFORCED on the table"));
    }
    let table = Table::of(context, &UPSERT_KAFKA, true)?;
    let parts =
        [(table.key.as_ref(), "key", &KEY_FORMAT), (Some(&table.value), "value", &VALUE_FORMAT)];
    for (part, what, option) in parts {
        let Some(def) = part.map(|part| part.format.def) else { continue };
        if !def.decodes.is_insert_only() {
            return Err(ConnectorError::new(format!(
                "'upsert-kafka' connector doesn't support '{0}' as {what} format, because '{0}' is not \
                 in insert-only mode.",
                def.name
            ))
            .hint(format!("set '{}' to 'json' or 'csv'", option.key)));
        }
    }
    Ok(table)
}
