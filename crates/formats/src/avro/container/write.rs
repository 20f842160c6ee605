//! Writing container files.

use std::hash::{BuildHasher, RandomState};
use std::io::Write;

use flott_catalog::connector::{ConnectorError, FileEncoder, FileFormatContext, FileFormatWriter};
use flott_types::{ChangelogBatch, Schema};

use super::super::defaults::write_long;
use super::super::derive::derive;
use super::super::encode::RowWriter;
use super::super::schema::AvroSchema;
use super::super::timestamps;
use super::codec::Codec;
use super::header::Header;
use super::{CODEC, Marker};

/// A block is written when its records have so many bytes, as in Java.
const BLOCK_BYTES: usize = 64_000;

/// Makes a writer of files.
pub(super) fn writer(
    context: &FileFormatContext,
) -> Result<Box<dyn FileFormatWriter>, ConnectorError> {
    let name = context.options.text(&CODEC).unwrap_or_default();
    CODEC.check(CODEC.key, name)?;
    let text = derive(&context.schema, timestamps(&context.options)?)?;
    // Tells of types that Avro has not.
    RowWriter::new(&AvroSchema::parse(&text)?, &context.schema)?;
    Ok(Box::new(AvroWriter {
        codec: Codec::named(&name.trim().to_ascii_lowercase()).unwrap_or(Codec::Snappy),
        table: context.schema.clone(),
        text,
    }))
}

struct AvroWriter {
    table: Schema,
    text: String,
    codec: Codec,
}

impl FileFormatWriter for AvroWriter {
    fn create(
        &self,
        mut file: Box<dyn Write + Send>,
    ) -> Result<Box<dyn FileEncoder>, ConnectorError> {
        let marker = random_marker();
        let header = Header::write(&self.text, self.codec, &marker);
        file.write_all(&header).map_err(failed)?;
        Ok(Box::new(AvroFile {
            rows: RowWriter::new(&AvroSchema::parse(&self.text)?, &self.table)?,
            codec: self.codec,
            marker,
            file,
            bytes: header.len() as u64,
            records: Vec::new(),
            count: 0,
        }))
    }
}

struct AvroFile {
    rows: RowWriter,
    codec: Codec,
    marker: Marker,
    file: Box<dyn Write + Send>,
    bytes: u64,
    /// The records of the block under way.
    records: Vec<u8>,
    count: i64,
}

impl AvroFile {
    fn end_block(&mut self) -> Result<(), ConnectorError> {
        if self.count == 0 {
            return Ok(());
        }
        let compressed = self.codec.compress(&self.records).map_err(failed)?;
        let mut block = Vec::with_capacity(compressed.len() + 40);
        write_long(&mut block, self.count);
        write_long(&mut block, compressed.len() as i64);
        block.extend_from_slice(&compressed);
        block.extend_from_slice(&self.marker);
        self.file.write_all(&block).map_err(failed)?;
        self.bytes += block.len() as u64;
        self.records.clear();
        self.count = 0;
        Ok(())
    }
}

impl FileEncoder for AvroFile {
    fn write(&mut self, batch: &ChangelogBatch) -> Result<(), ConnectorError> {
        let columns = self.rows.columns(batch)?;
        for row in 0..batch.len() {
            self.rows.write(&mut self.records, &columns, row)?;
            self.count += 1;
            if self.records.len() >= BLOCK_BYTES {
                self.end_block()?;
            }
        }
        Ok(())
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn buffered(&self) -> usize {
        self.records.len()
    }

    fn flush(&mut self) -> Result<(), ConnectorError> {
        self.end_block()?;
        self.file.flush().map_err(failed)
    }

    fn finish(mut self: Box<Self>) -> Result<u64, ConnectorError> {
        self.flush()?;
        Ok(self.bytes)
    }
}

/// A marker that no records hold by chance.
fn random_marker() -> Marker {
    let random = |seed: u8| RandomState::new().hash_one(seed).to_le_bytes();
    let mut marker = [0; 16];
    marker[..8].copy_from_slice(&random(1));
    marker[8..].copy_from_slice(&random(2));
    marker
}

fn failed(error: std::io::Error) -> ConnectorError {
    ConnectorError::new(format!("cannot write the file: {error}"))
}
