//! Columns of INT96, the timestamps that Flink writes by default: the library below reads them only.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use flott_catalog::connector::ConnectorError;
use parquet::column::page::{CompressedPage, PageWriteSpec, PageWriter};
use parquet::column::writer::{
    ColumnCloseResult, ColumnWriterImpl, get_column_writer, get_typed_column_writer,
};
use parquet::data_type::{Int96, Int96Type};
use parquet::errors::Result;
use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::writer::{SerializedPageWriter, SerializedRowGroupWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

use super::clock::Clock;
use super::levels::LeafLevels;
use super::timestamps::day_and_nanos;

/// The Julian day of 1970-01-01.
const EPOCH: i64 = 2_440_588;

/// A column of a row group in the making.
pub(super) struct Int96Column {
    writer: ColumnWriterImpl<'static, Int96Type>,
    pages: Shared,
}

impl Int96Column {
    pub(super) fn new(column: ColumnDescPtr, properties: WriterPropertiesPtr) -> Self {
        let pages = Shared::default();
        let page_writer = Pages(TrackedWrite::new(pages.clone()));
        let writer = get_column_writer(column, properties, Box::new(page_writer));
        Self { writer: get_typed_column_writer(writer), pages }
    }

    /// Appends the timestamps of a leaf.
    pub(super) fn write(
        &mut self,
        levels: &LeafLevels,
        clock: &mut Option<Clock>,
    ) -> std::result::Result<(), ConnectorError> {
        let values = levels.rows.iter().map(|row| {
            let (day, nanos) = day_and_nanos(&levels.leaf, *row, clock.as_mut());
            int96(day, nanos).ok_or_else(|| {
                ConnectorError::new("a timestamp is beyond the years that INT96 counts")
            })
        });
        let values = values.collect::<std::result::Result<Vec<_>, _>>()?;
        self.writer
            .write_batch(&values, Some(&levels.definition), Some(&levels.repetition))
            .map(drop)
            .map_err(|error| ConnectorError::new(error.to_string()))
    }

    /// How many bytes the column has, but for the page in the making.
    pub(super) fn bytes(&self) -> u64 {
        self.writer.get_total_bytes_written()
    }

    /// Ends the column and puts it into its row group.
    pub(super) fn append_to<W: Write + Send>(
        self,
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<()> {
        let closed: ColumnCloseResult = self.writer.close()?;
        let bytes = bytes::Bytes::from(std::mem::take(&mut *self.pages.lock()));
        group.append_column(&bytes, closed)
    }
}

/// The 12 bytes of a timestamp: nanoseconds of the day, then the day.
fn int96(day: i64, nanos: i64) -> Option<Int96> {
    let julian = u32::try_from(day.checked_add(EPOCH)?).ok()?;
    let mut value = Int96::new();
    value.set_data(nanos as u32, (nanos >> 32) as u32, julian);
    Some(value)
}

/// Bytes that the column writer fills and the row group takes.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Writes pages as into a file of their own.
struct Pages(TrackedWrite<Shared>);

impl PageWriter for Pages {
    fn write_page(&mut self, page: CompressedPage) -> Result<PageWriteSpec> {
        let written = SerializedPageWriter::new(&mut self.0).write_page(page)?;
        self.0.flush()?;
        Ok(written)
    }

    fn close(&mut self) -> Result<()> {
        Ok(self.0.flush()?)
    }
}
