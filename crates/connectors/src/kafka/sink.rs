//! Tables that are written.

use std::sync::Arc;
use std::time::Duration;

use flott_catalog::connector::{
    Committer, ConnectorError, MetadataColumn, ScanColumn, SinkWriter, TableContext, TableSink,
    WriterContext,
};
use flott_types::ChangelogMode;

use super::KAFKA;
use super::committer::TransactionCommitter;
use super::ids::TransactionalIds;
use super::metadata::RecordMetadata;
use super::options::{BUFFER_INTERVAL, BUFFER_ROWS, GUARANTEE, ID_PREFIX, KEY_FIELDS, PARTITIONER};
use super::source::refuse_key;
use super::table::{Table, Topics};
use super::writer::KafkaWriter;
use crate::common::{SINK_PARALLELISM, parallelism};

/// Checks the options of a `kafka` table and makes a sink of it.
pub(super) fn kafka(context: &TableContext) -> Result<Arc<dyn TableSink>, ConnectorError> {
    let table = Table::of(context, &KAFKA, false)?;
    refuse_key(&table, table.value.format.def.encodes)?;
    sink(table)
}

/// A sink of an `upsert-kafka` table whose options are checked but for those of writing.
pub(super) fn upsert(table: Table) -> Result<Arc<dyn TableSink>, ConnectorError> {
    sink(table)
}

fn sink(table: Table) -> Result<Arc<dyn TableSink>, ConnectorError> {
    let options = &table.context.options;
    let topic = topic(&table)?;
    let guarantee = guarantee(&table)?;
    if guarantee == Guarantee::ExactlyOnce && table.config.produce.acks != -1 {
        return Err(ConnectorError::new("exactly-once needs 'properties.acks' = 'all'")
            .hint("remove the option; 'all' is its default"));
    }
    let ids = match guarantee {
        Guarantee::ExactlyOnce => match options.raw(ID_PREFIX.key) {
            Some(prefix) => Some(TransactionalIds::of(&table.config.servers, prefix)),
            None => {
                return Err(ConnectorError::new(format!(
                    "{} must be specified when using DeliveryGuarantee.EXACTLY_ONCE.",
                    ID_PREFIX.key
                )));
            }
        },
        _ => None,
    };
    // Tells of types and options that the formats cannot do, before anything runs.
    table.value.encoder()?;
    table.key.as_ref().map(|key| key.encoder()).transpose()?;
    let spec = SinkSpec {
        topic,
        guarantee,
        ids,
        fixed: is_fixed(&table)?,
        buffer: buffer(&table)?,
        table,
    };
    let options = &spec.table.context.options;
    let parallelism = parallelism(options, &SINK_PARALLELISM)?;
    Ok(Arc::new(KafkaSink { parallelism, spec: Arc::new(spec) }))
}

/// What a table's writers and committer share.
pub(super) struct SinkSpec {
    pub(super) table: Table,
    /// The topic; `None` where each row names its own.
    pub(super) topic: Option<Arc<str>>,
    pub(super) guarantee: Guarantee,
    /// With exactly-once.
    pub(super) ids: Option<Arc<TransactionalIds>>,
    /// Whether each task writes to one partition.
    pub(super) fixed: bool,
    /// How many keys gather, and how long, before they are sent.
    pub(super) buffer: Option<(usize, Duration)>,
}

/// What holds after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Guarantee {
    None,
    AtLeastOnce,
    ExactlyOnce,
}

/// The topic to write; several only where each row says which.
fn topic(table: &Table) -> Result<Option<Arc<str>>, ConnectorError> {
    let named = |column: &ScanColumn| matches!(column, ScanColumn::Metadata(key) if key == "topic");
    let by_row = table.context.persisted.iter().any(named);
    match &table.topics {
        Topics::Named(names) if names.len() == 1 => Ok(names.first().cloned()),
        _ if by_row => Ok(None),
        Topics::Named(_) => Err(ConnectorError::new(
            "Flink Kafka sink currently doesn't support topic list.",
        )
        .hint("name one topic, or declare the column topic STRING METADATA to write to several")),
        Topics::Matching(_) => {
            Err(ConnectorError::new("Flink Kafka sink currently doesn't support 'topic-pattern'.")
                .hint(
                    "set 'topic', or declare the column topic STRING METADATA to write to several",
                ))
        }
    }
}

fn guarantee(table: &Table) -> Result<Guarantee, ConnectorError> {
    let options = &table.context.options;
    let text = options.raw("sink.semantic").or(options.text(&GUARANTEE)).unwrap_or_default();
    Ok(match text.trim().to_ascii_lowercase().as_str() {
        "none" => Guarantee::None,
        "exactly-once" => Guarantee::ExactlyOnce,
        _ => Guarantee::AtLeastOnce,
    })
}

fn is_fixed(table: &Table) -> Result<bool, ConnectorError> {
    let options = &table.context.options;
    match options.text(&PARTITIONER).unwrap_or_default().trim().to_ascii_lowercase().as_str() {
        "fixed" => Ok(true),
        "round-robin" if options.raw(KEY_FIELDS.key).is_some() => Err(ConnectorError::new(
            "Currently 'round-robin' partitioner only works when option 'key.fields' is not specified.",
        )),
        _ => Ok(false),
    }
}

/// Both options of the buffer or neither.
fn buffer(table: &Table) -> Result<Option<(usize, Duration)>, ConnectorError> {
    let options = &table.context.options;
    let rows = options.int(&BUFFER_ROWS)?.unwrap_or(0).max(0) as usize;
    let interval = options.duration(&BUFFER_INTERVAL)?.unwrap_or_default();
    match (rows > 0, !interval.is_zero()) {
        (true, true) => Ok(Some((rows, interval))),
        (false, false) => Ok(None),
        _ => Err(ConnectorError::new(format!(
            "'{}' and '{}' must be set to be greater than zero together to enable sink buffer flushing.",
            BUFFER_ROWS.key, BUFFER_INTERVAL.key
        ))),
    }
}

struct KafkaSink {
    spec: Arc<SinkSpec>,
    parallelism: Option<usize>,
}

impl TableSink for KafkaSink {
    fn changelog_mode(&self, _: ChangelogMode) -> ChangelogMode {
        let table = &self.spec.table;
        if table.upsert { ChangelogMode::UPSERT } else { table.value.format.def.encodes }
    }

    /// As a record without a value, which deletes the row of its key.
    fn deletes_old_versions(&self) -> bool {
        self.spec.table.upsert
    }

    fn metadata(&self) -> Vec<MetadataColumn> {
        RecordMetadata::columns(&self.spec.table)
    }

    fn parallelism(&self) -> Option<usize> {
        self.parallelism
    }

    fn writer(&self, context: &WriterContext) -> Result<Box<dyn SinkWriter>, ConnectorError> {
        Ok(Box::new(KafkaWriter::new(self.spec.clone(), context)?))
    }

    fn committer(&self) -> Result<Option<Box<dyn Committer>>, ConnectorError> {
        Ok(self.spec.ids.clone().map(|ids| {
            Box::new(TransactionCommitter::new(self.spec.table.config.clone(), ids))
                as Box<dyn Committer>
        }))
    }
}
