//! The decoder and the encoder of `avro-confluent`.

use std::sync::Arc;

use flott_catalog::connector::{
    BadRecord, BadRecordHandler, ConnectorError, DecodeContext, Decoder, EncodeContext, Encoder,
    RecordBuffer,
};
use flott_types::{ChangelogBatch, Schema};

use super::super::cursor::Cursor;
use super::super::derive::{Timestamps, derive};
use super::super::encode::RowWriter;
use super::super::resolve::RowPlan;
use super::super::schema::AvroSchema;
use super::super::shape::Shape;
use super::client::Client;
use super::framing::{Trouble, Writers, split, write_head};
use super::options::Settings;
use crate::builders::Rows;
use crate::error::FormatError;

const FORMAT: &str = "avro-confluent";

pub(super) fn decoder(context: &DecodeContext) -> Result<Box<dyn Decoder>, ConnectorError> {
    let settings = Settings::of(&context.options, FORMAT);
    let reader = AvroSchema::parse(&schema_text(&settings, &context.schema)?)?;
    Shape::of_table(&reader, &context.schema)?;
    Ok(Box::new(ConfluentDecoder {
        writers: Writers::new(settings.client()?),
        reader,
        table: context.schema.clone(),
        projection: context.projection.clone(),
        rows: Rows::new(&crate::projected(context)),
        bad_records: context.bad_records.clone(),
    }))
}

/// The schema that was given, or else that of the columns.
fn schema_text(settings: &Settings, table: &Schema) -> Result<String, FormatError> {
    match settings.schema() {
        Some(text) => Ok(text.to_string()),
        None => derive(table, Timestamps::Legacy),
    }
}

struct ConfluentDecoder {
    writers: Writers<RowPlan>,
    reader: AvroSchema,
    table: Schema,
    projection: Vec<usize>,
    rows: Rows,
    bad_records: Arc<dyn BadRecordHandler>,
}

impl ConfluentDecoder {
    /// Reads a message into the row under way.
    fn message(&mut self, message: &[u8]) -> Result<(), Trouble> {
        let (id, record) = split(message)?;
        let plan = self.writers.plan(id, |writer| {
            let reader = (&self.reader, self.reader.root());
            RowPlan::new(&writer, writer.root(), reader, &self.table, &self.projection)
        })?;
        let mut cursor = Cursor::new(record);
        if !plan.read(&mut cursor, &mut self.rows.columns)? {
            return Err(cursor.broken("found null, not a record").into());
        }
        Ok(cursor.end()?)
    }
}

impl Decoder for ConfluentDecoder {
    fn decode_stream(
        &mut self,
        _: &[u8],
        _: bool,
        _: usize,
        place: &dyn Fn(usize) -> String,
    ) -> Result<usize, ConnectorError> {
        Err(ConnectorError::from(FormatError::NoStream(FORMAT)).at(place(0)))
    }

    fn decode_message(
        &mut self,
        message: &[u8],
        place: &dyn Fn() -> String,
    ) -> Result<(), ConnectorError> {
        match self.message(message) {
            Ok(()) => {
                self.rows.end_whole_row();
                Ok(())
            }
            Err(Trouble::Record(error)) => {
                self.rows.truncate(self.rows.len());
                let error = ConnectorError::from(*error);
                self.bad_records.handle(BadRecord { raw: message, place: place(), error })
            }
            Err(Trouble::Job(error)) => Err(error.at(place())),
        }
    }

    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn take(&mut self) -> Result<Option<ChangelogBatch>, ConnectorError> {
        self.rows.take()
    }
}

pub(super) fn encoder(context: &EncodeContext) -> Result<Box<dyn Encoder>, ConnectorError> {
    let settings = Settings::of(&context.options, FORMAT);
    let text = schema_text(&settings, &context.schema)?;
    Ok(Box::new(ConfluentEncoder {
        rows: RowWriter::new(&AvroSchema::parse(&text)?, &context.schema)?,
        registration: Registration {
            client: settings.client()?,
            subject: settings.subject()?,
            schema: text,
            id: None,
        },
    }))
}

/// The number that what is written has; asked for once.
pub(super) struct Registration {
    pub(super) client: Client,
    pub(super) subject: String,
    pub(super) schema: String,
    pub(super) id: Option<u32>,
}

impl Registration {
    pub(super) fn id(&mut self) -> Result<u32, ConnectorError> {
        match self.id {
            Some(id) => Ok(id),
            None => {
                let id = self.client.register(&self.subject, &self.schema)?;
                self.id = Some(id);
                Ok(id)
            }
        }
    }
}

struct ConfluentEncoder {
    rows: RowWriter,
    registration: Registration,
}

impl Encoder for ConfluentEncoder {
    fn encode(
        &mut self,
        batch: &ChangelogBatch,
        out: &mut RecordBuffer,
    ) -> Result<(), ConnectorError> {
        if out.is_delimited() {
            return Err(FormatError::NoStream(FORMAT).into());
        }
        if batch.is_empty() {
            return Ok(());
        }
        let id = self.registration.id()?;
        let columns = self.rows.columns(batch)?;
        for row in 0..batch.len() {
            write_head(&mut out.bytes, id);
            self.rows.write(&mut out.bytes, &columns, row)?;
            out.end_record();
        }
        Ok(())
    }
}
