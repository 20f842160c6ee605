//! A table of files to write.

mod committable;
mod committer;
mod compaction;
mod hidden;
mod output;
mod partition_commit;
mod partition_time;
mod pending;
mod records;
mod router;
mod time_format;
mod whole;
mod writer;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use flott_catalog::connector::{
    Committer, ConnectorError, OptionDef, Options, SinkWriter, TableContext, TableSink,
    WriterContext,
};
use flott_types::{ChangelogMode, DataType, Schema};

use super::FILESYSTEM;
use super::columns::record_schema;
use super::format::FileFormat;
use super::location::resolve;
use super::options::{
    AUTO_COMPACTION, COMPACTION_FILE_SIZE, PARTITION_DEFAULT_NAME, PATH, ROLL_CHECK,
    ROLL_FILE_SIZE, ROLL_INACTIVITY, ROLL_INTERVAL,
};
use crate::common::{
    SINK_PARALLELISM, changelog_mode_with, invalid, parallelism, record_columns, validate,
};
use committer::FileCommitter;
use partition_commit::PartitionCommit;
use records::RecordOutput;
use whole::WholeOutput;
use writer::FileWriter;

/// Checks the table's options and makes a sink of it.
pub(super) fn sink(context: &TableContext) -> Result<Arc<dyn TableSink>, ConnectorError> {
    validate(context, &FILESYSTEM)?;
    let table = Table::of(context, FileFormat::of(context)?)?;
    // Tells of types and options that the format cannot do, before anything runs.
    match &table.format {
        FileFormat::Records(format) => format.encoder(table.record_schema.clone()).map(drop)?,
        FileFormat::Whole(format) => format.writer(table.record_schema.clone()).map(drop)?,
    }
    Ok(Arc::new(FileSink {
        parallelism: parallelism(&context.options, &SINK_PARALLELISM)?,
        mode: changelog_mode_with(context, table.format.encodes())?,
        table: Arc::new(table),
    }))
}

/// What writers and committer know of the table.
struct Table {
    root: PathBuf,
    partition_columns: Vec<PartitionColumn>,
    /// The partition of NULL and of empty text.
    default_name: String,
    /// The positions and types of the columns that go into records.
    record_columns: Vec<usize>,
    record_schema: Schema,
    format: FileFormat,
    rolling: Rolling,
    commit: Option<PartitionCommit>,
    /// The size up to which files of a checkpoint are merged.
    compaction: Option<u64>,
    batch: bool,
}

/// A column whose values are in the names of directories.
struct PartitionColumn {
    position: usize,
    name: Arc<str>,
    data_type: DataType,
}

/// When an open file gets no more rows.
struct Rolling {
    /// Once it has more bytes than these.
    bytes: u64,
    /// Once it is so old.
    age: Duration,
    /// Once it had no new rows for so long.
    inactivity: Duration,
    /// How often ages are looked at.
    check: Duration,
}

impl Table {
    fn of(context: &TableContext, format: FileFormat) -> Result<Self, ConnectorError> {
        let options = &context.options;
        let rolling = Rolling {
            bytes: positive(options, &ROLL_FILE_SIZE, Options::memory_size)?,
            age: positive(options, &ROLL_INTERVAL, Options::duration)?,
            inactivity: positive(options, &ROLL_INACTIVITY, Options::duration)?,
            check: positive(options, &ROLL_CHECK, Options::duration)?,
        };
        let compaction = if options.bool(&AUTO_COMPACTION)? && !context.batch {
            Some(options.memory_size(&COMPACTION_FILE_SIZE)?.unwrap_or(rolling.bytes))
        } else {
            None
        };
        let partition_columns = context.partition_keys.iter().map(|position| {
            let field = &context.schema.fields[*position];
            PartitionColumn {
                position: *position,
                name: field.name.clone(),
                data_type: field.data_type.clone(),
            }
        });
        Ok(Self {
            root: resolve(options.text(&PATH).unwrap_or_default(), &context.working_directory)?,
            partition_columns: partition_columns.collect(),
            default_name: options.text(&PARTITION_DEFAULT_NAME).unwrap_or_default().into(),
            record_columns: record_columns(context),
            record_schema: record_schema(context),
            format,
            rolling,
            commit: PartitionCommit::of(context)?,
            compaction,
            batch: context.batch,
        })
    }
}

/// The value of an option that has a default and must not be zero.
fn positive<T: Default + PartialEq>(
    options: &Options,
    def: &OptionDef,
    read: impl Fn(&Options, &OptionDef) -> Result<Option<T>, ConnectorError>,
) -> Result<T, ConnectorError> {
    match read(options, def)? {
        Some(value) if value != T::default() => Ok(value),
        _ => Err(invalid(def.key, options.text(def).unwrap_or_default(), "a value above 0")),
    }
}

struct FileSink {
    table: Arc<Table>,
    parallelism: Option<usize>,
    mode: ChangelogMode,
}

impl TableSink for FileSink {
    /// As in Flink, several tasks may only append: changes of a row could overtake each other.
    fn changelog_mode(&self, requested: ChangelogMode) -> ChangelogMode {
        if self.parallelism.is_some() && !requested.is_insert_only() {
            ChangelogMode::INSERT_ONLY
        } else {
            self.mode
        }
    }

    fn supports_overwrite(&self) -> bool {
        self.table.batch
    }

    fn parallelism(&self) -> Option<usize> {
        self.parallelism
    }

    fn writer(&self, context: &WriterContext) -> Result<Box<dyn SinkWriter>, ConnectorError> {
        if context.overwrite && !self.table.batch {
            return Err(ConnectorError::new("streaming mode cannot overwrite")
                .hint("set 'execution.runtime-mode' = 'batch'"));
        }
        let (table, schema) = (self.table.clone(), self.table.record_schema.clone());
        Ok(match &self.table.format {
            FileFormat::Records(format) => {
                let output = RecordOutput::new(format.encoder(schema)?);
                Box::new(FileWriter::new(table, context, output)?)
            }
            FileFormat::Whole(format) => {
                let output = WholeOutput::new(format.writer(schema)?);
                Box::new(FileWriter::new(table, context, output)?)
            }
        })
    }

    fn committer(&self) -> Result<Option<Box<dyn Committer>>, ConnectorError> {
        Ok(Some(Box::new(FileCommitter::new(self.table.clone()))))
    }
}
