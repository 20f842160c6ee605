//! Reading container files.

use flott_catalog::connector::{
    ConnectorError, FileFormatContext, FileFormatReader, FilePart, FileRows,
};
use flott_types::{ChangelogBatch, Schema};

use super::super::cursor::Cursor;
use super::super::derive::derive;
use super::super::resolve::RowPlan;
use super::super::schema::AvroSchema;
use super::super::timestamps;
use super::blocks::{Block, Blocks, Input};
use super::header::Header;
use crate::builders::Rows;

/// Makes a reader of files.
pub(super) fn reader(
    context: &FileFormatContext,
) -> Result<Box<dyn FileFormatReader>, ConnectorError> {
    // As in Flink the columns that are not wanted need not be of types that Avro has.
    let wanted = context.projection.iter().map(|at| context.schema.fields[*at].clone());
    let table = Schema::new(wanted.collect());
    let schema = AvroSchema::parse(&derive(&table, timestamps(&context.options)?)?)?;
    Ok(Box::new(AvroReader { table, schema }))
}

struct AvroReader {
    /// The wanted columns.
    table: Schema,
    schema: AvroSchema,
}

impl FileFormatReader for AvroReader {
    fn open(&self, part: FilePart) -> Result<Box<dyn FileRows>, ConnectorError> {
        let mut input = Input::new(part.file, part.size)?;
        let header = Header::read(&mut input)?;
        let projection: Vec<_> = (0..self.table.len()).collect();
        let reader = (&self.schema, self.schema.root());
        let written = header.schema.root();
        let plan = RowPlan::new(&header.schema, written, reader, &self.table, &projection)?;
        let blocks = Blocks::new(input, &header, part.range)?;
        Ok(Box::new(AvroRows {
            plan,
            start: blocks.at(),
            blocks,
            block: Block { count: 0, records: Vec::new() },
            at: 0,
            skip: part.position.unwrap_or(0),
            position: part.position.unwrap_or(0),
            rows: Rows::new(&self.table),
            max_rows: part.max_rows.max(1),
        }))
    }
}

struct AvroRows {
    plan: RowPlan,
    blocks: Blocks,
    /// The block under way, how many of its records are left, and where the next of them is.
    block: Block,
    at: usize,
    /// How many records are still to be passed over.
    skip: u64,
    /// How many records of the part were read.
    position: u64,
    rows: Rows,
    max_rows: usize,
    start: u64,
}

impl AvroRows {
    /// Loads the next block that has rows to give; false at the end.
    fn load(&mut self) -> Result<bool, ConnectorError> {
        loop {
            let skip = self.skip;
            let Some(block) = self.blocks.next(|count| count > skip)? else { return Ok(false) };
            if block.count > skip {
                (self.block, self.at) = (block, 0);
                return Ok(true);
            }
            self.skip -= block.count;
        }
    }

    fn record(&mut self) -> Result<(), ConnectorError> {
        let bytes = &self.block.records[self.at..];
        let mut cursor = Cursor::new(bytes);
        if let Err(error) = self.plan.read(&mut cursor, &mut self.rows.columns) {
            self.rows.truncate(self.rows.len());
            return Err(ConnectorError::from(*error));
        }
        self.at += cursor.at();
        self.block.count -= 1;
        if self.skip > 0 {
            self.skip -= 1;
            self.rows.truncate(self.rows.len());
        } else {
            self.rows.end_whole_row();
            self.position += 1;
        }
        if self.block.count == 0 && self.at != self.block.records.len() {
            return Err(self.blocks.damaged("bytes follow the records of a block"));
        }
        Ok(())
    }
}

impl FileRows for AvroRows {
    fn next(&mut self) -> Result<Option<ChangelogBatch>, ConnectorError> {
        while self.rows.len() < self.max_rows {
            if self.block.count == 0 && !self.load()? {
                break;
            }
            self.record()?;
        }
        self.rows.take()
    }

    fn position(&self) -> u64 {
        self.position
    }

    fn bytes(&self) -> u64 {
        self.blocks.at() - self.start
    }
}
