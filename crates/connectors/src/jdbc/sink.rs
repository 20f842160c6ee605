//! Tables that are written.

use std::sync::Arc;
use std::time::Duration;

use flott_catalog::connector::{
    ConnectorError, SinkWriter, TableContext, TableSink, WriterContext,
};
use flott_types::ChangelogMode;

use super::options::{BUFFER_INTERVAL, BUFFER_ROWS, SINK_RETRIES};
use super::table::{Table, TableRef, retries};
use super::writer::TableWriter;
use crate::common::{SINK_PARALLELISM, invalid, parallelism};

/// Checks the options of a table and makes a sink of it.
pub(super) fn sink(context: &TableContext) -> Result<Arc<dyn TableSink>, ConnectorError> {
    let table = Table::of(context)?;
    let options = &context.options;
    let rows = options.int(&BUFFER_ROWS)?.unwrap_or_default();
    let rows = usize::try_from(rows)
        .map_err(|_| invalid(BUFFER_ROWS.key, &rows.to_string(), "a number from 0"))?;
    Ok(Arc::new(JdbcSink {
        spec: SinkSpec {
            rows: Some(rows).filter(|rows| *rows > 0),
            interval: options.duration(&BUFFER_INTERVAL)?.filter(|interval| !interval.is_zero()),
            retries: retries(context, &SINK_RETRIES)?,
            table: Arc::new(table),
        },
        parallelism: parallelism(options, &SINK_PARALLELISM)?,
    }))
}

/// What the writers of a table share.
#[derive(Clone)]
pub(super) struct SinkSpec {
    pub(super) table: TableRef,
    /// `sink.buffer-flush.max-rows`
    pub(super) rows: Option<usize>,
    /// `sink.buffer-flush.interval`
    pub(super) interval: Option<Duration>,
    /// `sink.max-retries`
    pub(super) retries: u32,
}

struct JdbcSink {
    spec: SinkSpec,
    parallelism: Option<usize>,
}

impl TableSink for JdbcSink {
    /// Rows are found by their key; without one they can only be added.
    fn changelog_mode(&self, _: ChangelogMode) -> ChangelogMode {
        if self.spec.table.context.primary_key.is_empty() {
            ChangelogMode::INSERT_ONLY
        } else {
            ChangelogMode::UPSERT
        }
    }

    fn deletes_old_versions(&self) -> bool {
        true
    }

    fn parallelism(&self) -> Option<usize> {
        self.parallelism
    }

    fn writer(&self, context: &WriterContext) -> Result<Box<dyn SinkWriter>, ConnectorError> {
        if let Some((column, _)) = context.static_partitions.first() {
            return Err(ConnectorError::new(format!(
                "tables of databases have no partitions, such as '{column}'"
            )));
        }
        Ok(Box::new(TableWriter::new(self.spec.clone())?))
    }
}
