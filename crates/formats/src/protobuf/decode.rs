//! The decoder of `protobuf`.

use std::sync::Arc;

use flott_catalog::connector::{
    BadRecord, BadRecordHandler, ConnectorError, DecodeContext, Decoder,
};
use flott_types::ChangelogBatch;

use super::plan::{MessagePlan, Rules};
use super::read::State;
use super::{IGNORE_PARSE_ERRORS, READ_DEFAULT_VALUES, descriptor};
use crate::builders::Rows;
use crate::error::FormatError;

/// Makes the decoder of `protobuf`.
pub(super) fn decoder(context: &DecodeContext) -> Result<Box<dyn Decoder>, ConnectorError> {
    let options = &context.options;
    let rules = Rules { read_defaults: options.bool(&READ_DEFAULT_VALUES)? };
    let columns = context.schema.fields.iter().enumerate().map(|(at, field)| {
        let column = context.projection.iter().position(|wanted| *wanted == at);
        (&*field.name, &field.data_type, column)
    });
    Ok(Box::new(ProtobufDecoder {
        plan: MessagePlan::new(&descriptor::message(options)?, columns, rules, 0)?,
        ignore_errors: options.bool(&IGNORE_PARSE_ERRORS)?,
        rows: Rows::new(&crate::projected(context)),
        state: State::default(),
        bad_records: context.bad_records.clone(),
    }))
}

struct ProtobufDecoder {
    plan: MessagePlan,
    ignore_errors: bool,
    rows: Rows,
    state: State,
    bad_records: Arc<dyn BadRecordHandler>,
}

impl Decoder for ProtobufDecoder {
    fn decode_stream(
        &mut self,
        _: &[u8],
        _: bool,
        _: usize,
        place: &dyn Fn(usize) -> String,
    ) -> Result<usize, ConnectorError> {
        Err(ConnectorError::from(FormatError::NoStream("protobuf")).at(place(0)))
    }

    fn decode_message(
        &mut self,
        message: &[u8],
        place: &dyn Fn() -> String,
    ) -> Result<(), ConnectorError> {
        match self.plan.read(message, &mut self.rows.columns, &mut self.state) {
            Ok(()) => {
                self.rows.end_whole_row();
                Ok(())
            }
            Err(error) => {
                self.rows.truncate(self.rows.len());
                self.state.clear();
                if self.ignore_errors {
                    return Ok(());
                }
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
