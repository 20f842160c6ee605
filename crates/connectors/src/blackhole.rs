//! `blackhole`: takes every row and keeps none. For measuring what comes before it.

use std::sync::Arc;

use flott_catalog::connector::{
    Committable, ConnectorDef, ConnectorError, OptionDef, SinkWriter, TableContext, TableSink,
    WriterContext,
};
use flott_types::{ChangelogBatch, ChangelogMode, RowKind};

use crate::common::{CHANGELOG_MODE, COMMON, changelog_mode, concat, validate};

static OPTIONS: [OptionDef; COMMON.len() + 1] = concat(&[COMMON, &[CHANGELOG_MODE]]);

/// The connector `blackhole`.
pub(crate) static BLACKHOLE: ConnectorDef = ConnectorDef {
    name: "blackhole",
    help: "swallows all rows",
    options: &OPTIONS,
    uses_format: false,
    source: None,
    sink: Some(sink),
};

fn sink(context: &TableContext) -> Result<Arc<dyn TableSink>, ConnectorError> {
    validate(context, &BLACKHOLE)?;
    Ok(Arc::new(BlackholeSink {
        table: context.identifier.as_str().into(),
        mode: changelog_mode(context)?,
    }))
}

struct BlackholeSink {
    table: Arc<str>,
    mode: Option<ChangelogMode>,
}

impl TableSink for BlackholeSink {
    /// As in Flink, −U rows are not asked for.
    fn changelog_mode(&self, requested: ChangelogMode) -> ChangelogMode {
        self.mode.unwrap_or(requested.without(RowKind::UpdateBefore))
    }

    fn writer(&self, context: &WriterContext) -> Result<Box<dyn SinkWriter>, ConnectorError> {
        Ok(Box::new(BlackholeWriter { table: self.table.clone(), task: context.task, rows: 0 }))
    }
}

struct BlackholeWriter {
    table: Arc<str>,
    task: usize,
    rows: u64,
}

impl SinkWriter for BlackholeWriter {
    fn write(&mut self, batch: &ChangelogBatch) -> Result<(), ConnectorError> {
        self.rows += batch.len() as u64;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ConnectorError> {
        Ok(())
    }

    fn prepare_commit(&mut self, end_of_input: bool) -> Result<Vec<Committable>, ConnectorError> {
        if end_of_input {
            tracing::debug!(table = %self.table, task = self.task, rows = self.rows, "swallowed");
        }
        Ok(Vec::new())
    }
}
