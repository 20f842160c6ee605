//! The decoder of `avro`.

use std::sync::Arc;

use flott_catalog::connector::{
    BadRecord, BadRecordHandler, ConnectorError, DecodeContext, Decoder,
};
use flott_types::ChangelogBatch;

use super::cursor::Cursor;
use super::derive::derive;
use super::json::JsonPlan;
use super::resolve::RowPlan;
use super::schema::AvroSchema;
use super::shape::Shape;
use super::{is_json, timestamps};
use crate::builders::Rows;
use crate::error::FormatError;

/// Makes the decoder of `avro`.
pub(super) fn decoder(context: &DecodeContext) -> Result<Box<dyn Decoder>, ConnectorError> {
    let text = derive(&context.schema, timestamps(&context.options)?)?;
    let schema = Arc::new(AvroSchema::parse(&text)?);
    let plan = if is_json(&context.options)? {
        let shape = Shape::of_table(&schema, &context.schema)?;
        Plan::Json(JsonPlan::new(shape, &context.projection))
    } else {
        let root = (&*schema, schema.root());
        let plan = RowPlan::new(&schema, root.1, root, &context.schema, &context.projection)?;
        Plan::Binary(plan)
    };
    Ok(Box::new(AvroDecoder {
        plan,
        rows: Rows::new(&crate::projected(context)),
        bad_records: context.bad_records.clone(),
    }))
}

enum Plan {
    Binary(RowPlan),
    Json(JsonPlan),
}

struct AvroDecoder {
    plan: Plan,
    rows: Rows,
    bad_records: Arc<dyn BadRecordHandler>,
}

impl AvroDecoder {
    fn record(&mut self, record: &[u8]) -> Result<(), Box<FormatError>> {
        match &mut self.plan {
            Plan::Binary(plan) => {
                let mut cursor = Cursor::new(record);
                plan.read(&mut cursor, &mut self.rows.columns)?;
                cursor.end()
            }
            Plan::Json(plan) => plan.read(record, &mut self.rows.columns),
        }
    }
}

impl Decoder for AvroDecoder {
    fn decode_stream(
        &mut self,
        _: &[u8],
        _: bool,
        _: usize,
        place: &dyn Fn(usize) -> String,
    ) -> Result<usize, ConnectorError> {
        Err(ConnectorError::from(FormatError::NoStream("avro")).at(place(0)))
    }

    fn decode_message(
        &mut self,
        message: &[u8],
        place: &dyn Fn() -> String,
    ) -> Result<(), ConnectorError> {
        match self.record(message) {
            Ok(()) => {
                self.rows.end_whole_row();
                Ok(())
            }
            Err(error) => {
                self.rows.truncate(self.rows.len());
                let error = ConnectorError::from(*error);
                self.bad_records.handle(BadRecord { raw: message, place: place(), error })
            }
        }
    }

    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn take(&mut self) -> Result<Option<ChangelogBatch>, ConnectorError> {
        self.rows.take()
    }
}
