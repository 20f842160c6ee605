//! Opening a file: its schema and the row groups of a part.

use std::collections::VecDeque;

use flott_catalog::connector::{
    ConnectorError, FileFormatContext, FileFormatReader, FilePart, FileRows,
};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::file::metadata::RowGroupMetaData;

use super::clock::Clock;
use super::columns::{FileColumns, in_micros};
use super::damage::{failed, guarded};
use super::options::zone;
use super::rows::{Group, ParquetRows, Reading};
use super::schema::check_types;
use super::source::SharedFile;

/// Makes a reader of files.
pub(super) fn reader(
    context: &FileFormatContext,
) -> Result<Box<dyn FileFormatReader>, ConnectorError> {
    check_types(&context.schema)?;
    let clock = Clock::of(zone(&context.options)?);
    Ok(Box::new(ParquetReader { context: context.clone(), clock }))
}

struct ParquetReader {
    context: FileFormatContext,
    clock: Option<Clock>,
}

impl FileFormatReader for ParquetReader {
    fn open(&self, part: FilePart) -> Result<Box<dyn FileRows>, ConnectorError> {
        guarded(|| self.open_file(part))
    }
}

impl ParquetReader {
    fn open_file(&self, part: FilePart) -> Result<Box<dyn FileRows>, ConnectorError> {
        let file = SharedFile::new(part.file, part.size);
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let nanos = ArrowReaderMetadata::load(&file, options.clone()).map_err(failed)?;
        let schema = nanos.parquet_schema();
        let columns = FileColumns::find(&self.context, schema)?;
        if columns.are_all_missing() {
            tracing::warn!("the file has none of the columns that are read; they are NULL");
        }
        let options = options.with_schema(in_micros(nanos.schema(), schema));
        let micros =
            ArrowReaderMetadata::try_new(nanos.metadata().clone(), options).map_err(failed)?;
        columns.check(micros.schema())?;
        let mask = |leaves: &[usize]| ProjectionMask::leaves(schema, leaves.iter().copied());
        let reading =
            Reading { metadata: micros.clone(), mask: mask(&columns.leaves), file: file.clone() };
        let finest = (!columns.finest.is_empty()).then(|| Reading {
            metadata: nanos.clone(),
            mask: mask(&columns.finest),
            file,
        });
        let groups = groups(nanos.metadata().row_groups(), part.range);
        let position = part.position.unwrap_or(0);
        Ok(Box::new(ParquetRows::new(
            reading,
            finest,
            columns,
            self.clock.clone(),
            groups,
            position,
            part.max_rows.max(1),
        )))
    }
}

/// The row groups whose middle is in a range of bytes, so that each is in one part of its file.
fn groups(all: &[RowGroupMetaData], range: Option<(u64, u64)>) -> VecDeque<Group> {
    let mut first_row = 0;
    let mut groups = VecDeque::new();
    for (index, group) in all.iter().enumerate() {
        let rows = u64::try_from(group.num_rows()).unwrap_or(0);
        let bytes = u64::try_from(group.compressed_size()).unwrap_or(0);
        let start = group.columns().iter().map(|column| column.byte_range().0).min().unwrap_or(0);
        let middle = start.saturating_add(bytes / 2);
        if range.is_none_or(|(from, until)| middle >= from && middle < until) {
            groups.push_back(Group { index, first_row, rows, bytes });
        }
        first_row += rows;
    }
    groups
}
