//! A table of files to read.

use std::sync::Arc;
use std::time::Duration;

use fancy_regex::Regex;
use flott_catalog::connector::{
    Boundedness, ConnectorError, FailOnBadRecord, MetadataColumn, ReaderContext, ScanColumn,
    ScanRequest, SourceReader, SplitEnumerator, TableContext, TableSource,
};
use flott_types::{ChangelogMode, RowKind};

use super::FILESYSTEM;
use super::columns::{FileMetadata, ScanColumns, record_schema};
use super::enumerator::FileEnumerator;
use super::format::FileFormat;
use super::listing::Listing;
use super::location::resolve;
use super::options::{MONITOR_INTERVAL, PARTITION_DEFAULT_NAME, PATH, PATH_PATTERN};
use super::pruning::Pruning;
use super::reader::FileReader;
use super::whole::WholeReader;
use crate::bad_records::BadRecordPolicy;
use crate::common::{changelog_mode_with, invalid, validate};

/// Checks the table's options and makes a source of it.
pub(super) fn source(context: &TableContext) -> Result<Arc<dyn TableSource>, ConnectorError> {
    validate(context, &FILESYSTEM)?;
    BadRecordPolicy::of(&context.options)?;
    let format = FileFormat::of(context)?;
    let schema = record_schema(context);
    let all = (0..schema.len()).collect();
    // Tells of types and options that the format cannot do, before anything runs.
    match &format {
        FileFormat::Records(format) => {
            format.decoder(schema, all, Vec::new(), Arc::new(FailOnBadRecord)).map(drop)?;
        }
        FileFormat::Whole(format) => format.reader(schema, all).map(drop)?,
    }
    let mode = changelog_mode_with(context, format.decodes())?;
    Ok(Arc::new(FileSource {
        listing: listing(context)?,
        interval: interval(context)?,
        mode,
        // The changes of a row come in the order of the file, through one reader.
        divisible: mode.is_insert_only() && format.is_divisible(),
        format,
        context: context.clone(),
    }))
}

fn listing(context: &TableContext) -> Result<Listing, ConnectorError> {
    let options = &context.options;
    let pattern = match options.raw(PATH_PATTERN.key) {
        None => None,
        Some(text) => Some(Regex::new(&format!(r"\A(?:{text})\z")).map_err(|error| {
            invalid(PATH_PATTERN.key, text, &format!("a regular expression ({error})"))
        })?),
    };
    Ok(Listing {
        base: resolve(options.text(&PATH).unwrap_or_default(), &context.working_directory)?,
        partition_columns: context
            .partition_keys
            .iter()
            .map(|column| context.schema.fields[*column].name.to_string())
            .collect(),
        default_name: options.text(&PARTITION_DEFAULT_NAME).unwrap_or_default().into(),
        pattern,
        pruning: Pruning::default(),
    })
}

fn interval(context: &TableContext) -> Result<Option<Duration>, ConnectorError> {
    match context.options.duration(&MONITOR_INTERVAL)? {
        Some(interval) if interval.is_zero() => {
            Err(invalid(MONITOR_INTERVAL.key, "0", "a duration above 0 such as '10 s'"))
        }
        interval => Ok(interval),
    }
}

struct FileSource {
    context: TableContext,
    format: FileFormat,
    listing: Listing,
    interval: Option<Duration>,
    divisible: bool,
    mode: ChangelogMode,
}

impl TableSource for FileSource {
    fn changelog_mode(&self) -> ChangelogMode {
        self.mode
    }

    fn boundedness(&self) -> Boundedness {
        if self.interval.is_some() { Boundedness::Unbounded } else { Boundedness::Bounded }
    }

    fn metadata(&self) -> Vec<MetadataColumn> {
        FileMetadata::columns(self.format.metadata())
    }

    fn split_columns(&self) -> Vec<ScanColumn> {
        let partition = self.context.partition_keys.iter().map(|at| ScanColumn::Physical(*at));
        partition.chain(FileMetadata::scan_columns()).collect()
    }

    /// Files of changes are read one after the other, or the changes of a row could overtake each other.
    fn parallelism(&self) -> Option<usize> {
        (!self.mode.is_insert_only()).then_some(1)
    }

    fn enumerator(
        &self,
        request: &ScanRequest,
        state: Option<&[u8]>,
    ) -> Result<Box<dyn SplitEnumerator>, ConnectorError> {
        let pruning = Pruning::new(&self.context, &request.filters)?;
        let listing = Listing { pruning, ..self.listing.clone() };
        let by_age = self.interval.is_some() || !self.mode.is_insert_only();
        let whole = self.format.is_whole();
        let enumerator = FileEnumerator::new(listing, self.interval, by_age, state)?;
        Ok(Box::new(enumerator.dividing(self.divisible, whole)))
    }

    fn reader(
        &self,
        request: &ScanRequest,
        context: &ReaderContext,
    ) -> Result<Box<dyn SourceReader>, ConnectorError> {
        let columns = ScanColumns::new(&self.context, self.format.metadata(), request)?;
        // As in Flink the rows of a changelog are counted one by one, so that a limit may cut off
        // the deletion of a row; those of upserts become other rows.
        let complete = self.mode.is_insert_only() || self.mode.contains(RowKind::UpdateBefore);
        let limit = request.limit.filter(|_| complete);
        let (schema, projection) = (columns.record_schema.clone(), columns.projection.clone());
        let format = match &self.format {
            FileFormat::Records(format) => format,
            FileFormat::Whole(format) => {
                let reader = format.reader(schema, projection)?;
                return Ok(Box::new(WholeReader::new(columns, reader, context.max_rows, limit)));
            }
        };
        let metadata = columns.metadata.clone();
        let decoder = format.decoder(schema, projection, metadata, context.bad_records.clone())?;
        let reader = FileReader::new(columns, decoder, context.max_rows, limit);
        let drops = format.def.decodes.contains(RowKind::UpdateBefore)
            && !self.mode.contains(RowKind::UpdateBefore);
        Ok(Box::new(if drops { reader.without_update_before() } else { reader }))
    }
}
