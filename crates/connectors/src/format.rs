//! The format of a table, found in the registry by the option `format`.

use std::sync::Arc;

use flott_catalog::connector::{
    BadRecordHandler, ConnectorError, DecodeContext, Decoder, EncodeContext, Encoder, FormatDef,
    Options, TableContext,
};
use flott_types::Schema;
use jiff::tz::TimeZone;

use crate::common::{FORMAT, record_columns};

/// A format with the options that a table gives it, checked.
#[derive(Clone)]
pub(crate) struct TableFormat {
    pub(crate) def: &'static FormatDef,
    pub(crate) options: Options,
    zone: TimeZone,
    /// The columns of the primary key that records hold.
    key: Vec<usize>,
}

impl TableFormat {
    /// The format that the table names.
    pub(crate) fn of(context: &TableContext) -> Result<Self, ConnectorError> {
        let Some(name) = context.options.raw(FORMAT.key) else {
            return Err(ConnectorError::new("the option 'format' is missing")
                .hint("add 'format' = '…' to the WITH clause, 'json' or 'csv' for example"));
        };
        let format = Self::named(context, name, &format!("{name}."))?;
        let columns = record_columns(context);
        let key = columns.iter().enumerate().filter(|(_, at)| context.primary_key.contains(at));
        let key = key.map(|(i, _)| i).collect();
        Ok(Self { key, ..format })
    }

    /// The format of this name, whose options begin with `prefix`, for records without a key.
    pub(crate) fn named(
        context: &TableContext,
        name: &str,
        prefix: &str,
    ) -> Result<Self, ConnectorError> {
        let def = context.registry.format(name)?;
        let options = context.options.with_prefix_removed(prefix);
        options
            .validate(&format!("format '{name}'"), def.options)
            .map_err(|error| error.at(format!("options '{prefix}*'")))?;
        Ok(Self { def, options, zone: context.zone.clone(), key: Vec::new() })
    }

    /// A decoder of records that have the columns of `schema`, of which it gives those at
    /// `projection`, and behind them columns of the format's own.
    pub(crate) fn decoder(
        &self,
        schema: Schema,
        projection: Vec<usize>,
        metadata: Vec<String>,
        bad_records: Arc<dyn BadRecordHandler>,
    ) -> Result<Box<dyn Decoder>, ConnectorError> {
        let Some(make) = self.def.decoder else {
            return Err(self.one_way("read"));
        };
        make(&DecodeContext {
            schema,
            projection,
            key: self.key.clone(),
            metadata,
            options: self.options.clone(),
            zone: self.zone.clone(),
            bad_records,
        })
    }

    /// An encoder of batches that have the columns of `schema`.
    pub(crate) fn encoder(&self, schema: Schema) -> Result<Box<dyn Encoder>, ConnectorError> {
        let Some(make) = self.def.encoder else {
            return Err(self.one_way("written"));
        };
        make(&EncodeContext {
            schema,
            key: self.key.clone(),
            options: self.options.clone(),
            zone: self.zone.clone(),
        })
    }

    fn one_way(&self, what: &str) -> ConnectorError {
        ConnectorError::new(format!("the format '{}' cannot be {what}", self.def.name))
    }
}
