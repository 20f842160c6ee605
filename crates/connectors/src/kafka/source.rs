//! Tables that are read.

use std::sync::Arc;
use std::time::Duration;

use flott_catalog::connector::{
    Boundedness, ConnectorDef, ConnectorError, FailOnBadRecord, MetadataColumn, ReaderContext,
    ScanColumn, ScanRequest, SourceReader, SplitEnumerator, TableContext, TableSource,
};
use flott_types::ChangelogMode;

use super::KAFKA;
use super::enumerator::PartitionEnumerator;
use super::metadata::RecordMetadata;
use super::options::DISCOVERY;
use super::reader::PartitionReader;
use super::rows::RowBuilder;
use super::startup::{self, Places};
use super::table::Table;
use crate::common::{SCAN_PARALLELISM, parallelism};

/// Checks the options of a `kafka` table and makes a source of it.
pub(super) fn kafka(context: &TableContext) -> Result<Arc<dyn TableSource>, ConnectorError> {
    let table = Table::of(context, &KAFKA, false)?;
    refuse_key(&table, table.value.format.def.decodes)?;
    let start = startup::start(&context.options, &table.topics)?;
    source(table, &KAFKA, start)
}

/// A source of a table whose options are checked but for those of reading.
pub(super) fn source(
    table: Table,
    _: &ConnectorDef,
    start: Places,
) -> Result<Arc<dyn TableSource>, ConnectorError> {
    let options = &table.context.options;
    let end = startup::end(options, &table.topics)?;
    let interval = options.duration(&DISCOVERY)?.filter(|interval| !interval.is_zero());
    let source = KafkaSource {
        parallelism: parallelism(options, &SCAN_PARALLELISM)?,
        start,
        end,
        interval,
        table: Arc::new(table),
    };
    // Tells of types and options that the formats cannot do, before anything runs.
    let columns = (0..source.table.context.schema.len()).map(ScanColumn::Physical).collect();
    let all = ScanRequest { columns, ..ScanRequest::default() };
    let handler: Arc<dyn flott_catalog::connector::BadRecordHandler> = Arc::new(FailOnBadRecord);
    RowBuilder::new(&source.table, &all, &handler)?;
    Ok(Arc::new(source))
}

/// A primary key says nothing of records that only add rows.
pub(super) fn refuse_key(table: &Table, mode: ChangelogMode) -> Result<(), ConnectorError> {
    let context = &table.context;
    if context.primary_key.is_empty() || !mode.is_insert_only() {
        return Ok(());
    }
    Err(ConnectorError::new(format!(
        "The Kafka table '{}' with '{}' format doesn't support defining PRIMARY KEY constraint on the \
         table, because it can't guarantee the semantic of primary key.",
        context.identifier, table.value.format.def.name
    ))
    .hint("use the connector 'upsert-kafka', or a format for changes such as debezium-json"))
}

struct KafkaSource {
    table: Arc<Table>,
    start: Places,
    end: Option<Places>,
    interval: Option<Duration>,
    parallelism: Option<usize>,
}

impl TableSource for KafkaSource {
    fn changelog_mode(&self) -> ChangelogMode {
        if self.table.upsert { ChangelogMode::UPSERT } else { self.table.value.format.def.decodes }
    }

    fn boundedness(&self) -> Boundedness {
        if self.end.is_some() { Boundedness::Bounded } else { Boundedness::Unbounded }
    }

    fn metadata(&self) -> Vec<MetadataColumn> {
        RecordMetadata::columns(&self.table)
    }

    fn parallelism(&self) -> Option<usize> {
        self.parallelism
    }

    fn enumerator(
        &self,
        _: &ScanRequest,
        state: Option<&[u8]>,
    ) -> Result<Box<dyn SplitEnumerator>, ConnectorError> {
        let (start, end) = (self.start.clone(), self.end.clone());
        let table = self.table.clone();
        Ok(Box::new(PartitionEnumerator::new(table, start, end, self.interval, state)?))
    }

    fn reader(
        &self,
        request: &ScanRequest,
        context: &ReaderContext,
    ) -> Result<Box<dyn SourceReader>, ConnectorError> {
        let rows = RowBuilder::new(&self.table, request, &context.bad_records)?;
        Ok(Box::new(PartitionReader::new(self.table.clone(), rows, context.max_rows)))
    }
}
