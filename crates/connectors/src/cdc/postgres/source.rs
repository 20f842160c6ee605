//! The table source.

use std::sync::Arc;

use flott_catalog::connector::{
    Boundedness, ConnectorError, MetadataColumn, ReaderContext, ScanColumn, ScanRequest,
    SourceReader, SplitEnumerator, TableContext, TableSource,
};
use flott_types::ChangelogMode;

use super::reader::ChangeReader;
use super::table::{Startup, Table};
use crate::cdc::enumerator::OneSplit;
use crate::cdc::rows::{Metadata, Rows};

/// Checks a table's options and types and makes a source of it.
pub(super) fn source(context: &TableContext) -> Result<Arc<dyn TableSource>, ConnectorError> {
    let table = Table::of(context)?;
    let columns = (0..context.schema.len()).map(ScanColumn::Physical).collect();
    Rows::new(&context.schema, &ScanRequest { columns, ..ScanRequest::default() }, true)?;
    Ok(Arc::new(PostgresSource { table: Arc::new(table) }))
}

struct PostgresSource {
    table: Arc<Table>,
}

impl TableSource for PostgresSource {
    fn changelog_mode(&self) -> ChangelogMode {
        match (self.table.startup, self.table.upsert) {
            (Startup::Snapshot, _) => ChangelogMode::INSERT_ONLY,
            (_, true) => ChangelogMode::UPSERT,
            (_, false) => ChangelogMode::ALL,
        }
    }

    fn boundedness(&self) -> Boundedness {
        match self.table.startup {
            Startup::Snapshot => Boundedness::Bounded,
            _ => Boundedness::Unbounded,
        }
    }

    fn metadata(&self) -> Vec<MetadataColumn> {
        Metadata::columns(&[
            Metadata::TableName,
            Metadata::SchemaName,
            Metadata::DatabaseName,
            Metadata::OpTs,
            Metadata::RowKind,
        ])
    }

    fn enumerator(
        &self,
        _: &ScanRequest,
        state: Option<&[u8]>,
    ) -> Result<Box<dyn SplitEnumerator>, ConnectorError> {
        Ok(Box::new(OneSplit::new(self.table.slot.clone(), state)?))
    }

    fn reader(
        &self,
        request: &ScanRequest,
        context: &ReaderContext,
    ) -> Result<Box<dyn SourceReader>, ConnectorError> {
        let rows = Rows::new(&self.table.context.schema, request, true)?;
        Ok(Box::new(ChangeReader::new(self.table.clone(), rows, context.max_rows)))
    }
}
