//! Writing files, row group by row group.

use std::io::Write;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, StructArray};
use arrow::datatypes::{DataType as Arrow, Field, Schema as ArrowSchema};
use flott_catalog::connector::{ConnectorError, FileEncoder, FileFormatContext, FileFormatWriter};
use flott_types::ChangelogBatch;
use parquet::arrow::arrow_writer::{ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::basic::Type as Physical;
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterPropertiesPtr};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{SchemaDescriptor, TypePtr};

use super::clock::Clock;
use super::int96::Int96Column;
use super::levels::of_leaves;
use super::options::{TimestampUnit, block_bytes, writer_properties, written_unit, zone};
use super::schema::{check_types, file_schema, stored_field};
use super::timestamps;

/// Makes a writer of files.
pub(super) fn writer(
    context: &FileFormatContext,
) -> Result<Box<dyn FileFormatWriter>, ConnectorError> {
    check_types(&context.schema)?;
    let unit = written_unit(&context.options)?;
    let schema = file_schema(&context.schema, unit)?;
    let mut properties = writer_properties(&context.options)?;
    for column in SchemaDescriptor::new(schema.clone()).columns() {
        if column.physical_type() == Physical::INT96 {
            // Bytes of INT96 do not sort as the timestamps do.
            properties = properties
                .set_column_statistics_enabled(column.path().clone(), EnabledStatistics::None);
        }
    }
    let fields = context.schema.fields.iter();
    let fields = fields.map(|field| stored_field(&field.name, &field.data_type, unit));
    Ok(Box::new(ParquetWriter {
        schema,
        fields: Arc::new(ArrowSchema::new(fields.collect::<Vec<_>>())),
        properties: Arc::new(properties.build()),
        unit,
        clock: Clock::of(zone(&context.options)?),
        block_bytes: block_bytes(&context.options)?,
    }))
}

struct ParquetWriter {
    schema: TypePtr,
    fields: Arc<ArrowSchema>,
    properties: WriterPropertiesPtr,
    unit: TimestampUnit,
    clock: Option<Clock>,
    block_bytes: u64,
}

impl FileFormatWriter for ParquetWriter {
    fn create(&self, file: Box<dyn Write + Send>) -> Result<Box<dyn FileEncoder>, ConnectorError> {
        let file = SerializedFileWriter::new(file, self.schema.clone(), self.properties.clone());
        let file = file.map_err(failed)?;
        Ok(Box::new(ParquetFile {
            leaves: ArrowRowGroupWriterFactory::new(&file, self.fields.clone()),
            file,
            group: None,
            fields: self.fields.clone(),
            unit: self.unit,
            clock: self.clock.clone(),
            block_bytes: self.block_bytes,
        }))
    }
}

struct ParquetFile {
    file: SerializedFileWriter<Box<dyn Write + Send>>,
    leaves: ArrowRowGroupWriterFactory,
    group: Option<RowGroup>,
    fields: Arc<ArrowSchema>,
    unit: TimestampUnit,
    clock: Option<Clock>,
    block_bytes: u64,
}

/// The columns of the row group in the making.
struct RowGroup(Vec<Leaf>);

enum Leaf {
    Plain(Box<ArrowColumnWriter>),
    Int96(Box<Int96Column>),
}

impl ParquetFile {
    fn begin_group(&self) -> Result<RowGroup, ConnectorError> {
        let index = self.file.flushed_row_groups().len();
        let writers = self.leaves.create_column_writers(index).map_err(failed)?;
        let schema = self.file.schema_descr();
        let leaves = writers.into_iter().enumerate().map(|(at, writer)| {
            let column = schema.column(at);
            if column.physical_type() == Physical::INT96 {
                Leaf::Int96(Box::new(Int96Column::new(column, self.file.properties().clone())))
            } else {
                Leaf::Plain(Box::new(writer))
            }
        });
        Ok(RowGroup(leaves.collect()))
    }
}

impl FileEncoder for ParquetFile {
    fn write(&mut self, batch: &ChangelogBatch) -> Result<(), ConnectorError> {
        let mut group = match self.group.take() {
            Some(group) => group,
            None => self.begin_group()?,
        };
        let mut first = 0;
        for (field, column) in self.fields.fields().iter().zip(batch.rows.columns()) {
            let in_column = |error: ConnectorError| {
                let message = format!("column '{}': {}", field.name(), error.message);
                ConnectorError { message, ..error }
            };
            let stored = store(column, field, self.unit, &mut self.clock).map_err(in_column)?;
            first = group.write(first, field, &stored, &mut self.clock).map_err(in_column)?;
        }
        let full = group.bytes() >= self.block_bytes;
        self.group = Some(group);
        if full { self.flush() } else { Ok(()) }
    }

    fn bytes(&self) -> u64 {
        self.file.bytes_written() as u64
    }

    fn buffered(&self) -> usize {
        self.group.as_ref().map_or(0, |group| group.bytes() as usize)
    }

    fn flush(&mut self) -> Result<(), ConnectorError> {
        let Some(RowGroup(leaves)) = self.group.take() else { return Ok(()) };
        let mut group = self.file.next_row_group().map_err(failed)?;
        for leaf in leaves {
            match leaf {
                Leaf::Plain(leaf) => {
                    leaf.close().and_then(|chunk| chunk.append_to_row_group(&mut group))
                }
                Leaf::Int96(leaf) => leaf.append_to(&mut group),
            }
            .map_err(failed)?;
        }
        group.close().map_err(failed)?;
        self.file.flush().map_err(|error| failed(error.into()))
    }

    fn finish(mut self: Box<Self>) -> Result<u64, ConnectorError> {
        self.flush()?;
        let mut file = self.file;
        file.finish().map_err(failed)?;
        file.inner_mut().flush().map_err(|error| failed(error.into()))?;
        Ok(file.bytes_written() as u64)
    }
}

impl RowGroup {
    /// Appends a column, whose leaves begin at `first`, and returns where those of the next begin.
    fn write(
        &mut self,
        first: usize,
        field: &Field,
        column: &ArrayRef,
        clock: &mut Option<Clock>,
    ) -> Result<usize, ConnectorError> {
        let computed = compute_leaves(field, column).map_err(failed)?;
        let leaves = &mut self.0[first..first + computed.len()];
        let mut has_int96 = false;
        for (leaf, levels) in leaves.iter_mut().zip(&computed) {
            match leaf {
                Leaf::Plain(writer) => writer.write(levels).map_err(failed)?,
                Leaf::Int96(_) => has_int96 = true,
            }
        }
        if has_int96 {
            let is_int96: Vec<_> =
                leaves.iter().map(|leaf| matches!(leaf, Leaf::Int96(_))).collect();
            of_leaves(
                field,
                column,
                &|at| is_int96[at],
                &mut |at, levels| match &mut leaves[at] {
                    Leaf::Int96(leaf) => leaf.write(&levels, clock),
                    Leaf::Plain(_) => Ok(()),
                },
            )?;
        }
        Ok(first + computed.len())
    }

    /// About how many bytes the row group will have.
    fn bytes(&self) -> u64 {
        let bytes = self.0.iter().map(|leaf| match leaf {
            Leaf::Plain(writer) => writer.get_estimated_total_bytes() as u64,
            Leaf::Int96(column) => column.bytes(),
        });
        bytes.sum()
    }
}

/// A column in the types that the writer takes: timestamps of INT64 in their unit.
fn store(
    array: &ArrayRef,
    field: &Field,
    unit: TimestampUnit,
    clock: &mut Option<Clock>,
) -> Result<ArrayRef, ConnectorError> {
    match (field.data_type(), array.data_type()) {
        (Arrow::Timestamp(..), Arrow::Timestamp(..) | Arrow::Decimal128(..))
            if unit != TimestampUnit::Int96 =>
        {
            timestamps::write(array, unit, clock.as_mut()).map_err(|_| {
                ConnectorError::new("a timestamp is beyond the years that its unit counts in files")
                    .hint("set 'parquet.timestamp.time.unit' = 'micros'")
            })
        }
        (Arrow::Struct(fields), Arrow::Struct(_)) => {
            let row = array.as_struct();
            let columns = fields.iter().zip(row.columns());
            let columns = columns.map(|(field, column)| store(column, field, unit, clock));
            let columns = columns.collect::<Result<Vec<_>, _>>()?;
            let names = columns
                .iter()
                .zip(fields)
                .map(|(column, field)| Field::new(field.name(), column.data_type().clone(), true));
            StructArray::try_new_with_length(
                names.collect(),
                columns,
                row.nulls().cloned(),
                row.len(),
            )
            .map(|row| Arc::new(row) as ArrayRef)
            .map_err(|error| failed(error.into()))
        }
        (Arrow::List(item), Arrow::List(_)) => {
            let list = array.as_list::<i32>();
            let values = store(list.values(), item, unit, clock)?;
            let item = Arc::new(Field::new(item.name(), values.data_type().clone(), true));
            ListArray::try_new(item, list.offsets().clone(), values, list.nulls().cloned())
                .map(|list| Arc::new(list) as ArrayRef)
                .map_err(|error| failed(error.into()))
        }
        _ => Ok(array.clone()),
    }
}

fn failed(error: ParquetError) -> ConnectorError {
    let text = error.to_string();
    if text.contains("Found null") || text.contains("non-nullable") {
        return ConnectorError::new("NULL in a NOT NULL column, or as the key of a map")
            .hint("Parquet has no NULL keys in maps; leave such rows or entries out");
    }
    ConnectorError::new(format!("cannot write the file: {text}"))
}
