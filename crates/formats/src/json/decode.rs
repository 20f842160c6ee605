//! The decoder of `json`.

use std::sync::Arc;

use flott_catalog::connector::{
    BadRecord, BadRecordHandler, ConnectorError, DecodeContext, Decoder,
};
use flott_types::{ChangelogBatch, DataType, Schema, TypeRoot};

use super::lexer::Lexer;
use super::options::{
    DECODE_JSON_PARSER_ENABLED, FAIL_ON_MISSING_FIELD, IGNORE_PARSE_ERRORS, TimestampFormat,
};
use super::shape::Fields;
use super::stream::StreamDecoder;
use super::tree::TreeDecoder;
use super::{Flavor, Trouble, fast};
use crate::builders::{Column, Rows};
use crate::error::FormatError;
use crate::lines::LineDecoder;

/// Makes the decoder of `json`.
pub(super) fn decoder(context: &DecodeContext) -> Result<Box<dyn Decoder>, ConnectorError> {
    let options = &context.options;
    let (fail, ignore) =
        (options.bool(&FAIL_ON_MISSING_FIELD)?, options.bool(&IGNORE_PARSE_ERRORS)?);
    if fail && ignore {
        return Err(FormatError::Conflict(
            FAIL_ON_MISSING_FIELD.key.into(),
            IGNORE_PARSE_ERRORS.key.into(),
        )
        .into());
    }
    RowDecoder::check_types(&context.schema, "json")?;
    let schema = crate::projected(context);
    let flavor = Flavor {
        tree: !options.bool(&DECODE_JSON_PARSER_ENABLED)?,
        decimals: schema.fields.iter().any(|field| has_decimal(&field.data_type)),
        ignore_errors: ignore,
        fail_on_missing_field: fail,
        timestamps: TimestampFormat::of(options)?,
    };
    Ok(Box::new(JsonDecoder {
        decoder: RowDecoder::new(&schema, "json", flavor)?,
        rows: Rows::new(&schema),
        bad_records: context.bad_records.clone(),
    }))
}

/// Whether a type is or holds a DECIMAL.
pub(crate) fn has_decimal(data_type: &DataType) -> bool {
    match &data_type.root {
        TypeRoot::Decimal { .. } => true,
        TypeRoot::Array(inner) | TypeRoot::Multiset(inner) => has_decimal(inner),
        TypeRoot::Map(key, value) => has_decimal(key) || has_decimal(value),
        root => root
            .row_fields()
            .is_some_and(|fields| fields.iter().any(|field| has_decimal(&field.data_type))),
    }
}

/// Decodes objects into the columns of a table.
#[derive(Debug)]
pub(crate) struct RowDecoder {
    fields: Fields,
    flavor: Flavor,
    scratch: Vec<u8>,
}

impl RowDecoder {
    pub(crate) fn new(
        schema: &Schema,
        format: &'static str,
        flavor: Flavor,
    ) -> Result<Self, FormatError> {
        Ok(Self { fields: Fields::of_schema(schema, format)?, flavor, scratch: Vec::new() })
    }

    /// Fails for types that JSON does not know, whether or not a query reads their columns.
    pub(crate) fn check_types(schema: &Schema, format: &'static str) -> Result<(), FormatError> {
        Fields::of_schema(schema, format).map(drop)
    }

    /// The fields by name.
    pub(crate) fn fields(&self) -> &Fields {
        &self.fields
    }

    /// Decodes an object that is known to be sound into `columns`, which hold `row` values before.
    pub(crate) fn object(
        &mut self,
        lexer: &mut Lexer<'_>,
        columns: &mut [Column],
        row: usize,
    ) -> Result<(), Trouble> {
        let mut attempt = *lexer;
        if fast::row(&mut attempt, &self.fields, columns, row, self.flavor).is_some() {
            *lexer = attempt;
            return Ok(());
        }
        columns.iter_mut().for_each(|column| column.truncate(row));
        let mut tree = TreeDecoder { flavor: self.flavor, scratch: &mut self.scratch };
        tree.row(lexer, &self.fields, columns, row)
    }

    /// Decodes one value, known to be sound, into the column of the field at `field`.
    pub(crate) fn field(
        &mut self,
        lexer: &mut Lexer<'_>,
        field: usize,
        column: &mut Column,
    ) -> Result<(), Trouble> {
        let Some(field) = self.fields.get(field) else { return Ok(()) };
        let mut tree = TreeDecoder { flavor: self.flavor, scratch: &mut self.scratch };
        tree.value(lexer, &field.shape, column).map_err(|trouble| trouble.in_field(&field.name))
    }

    /// Decodes a record of one object or an array of objects.
    fn record(&mut self, record: &[u8], rows: &mut Rows) -> Result<(), Trouble> {
        let before = rows.len();
        if self.fast_record(record, rows).is_some() {
            return Ok(());
        }
        rows.truncate(before);
        let lexer = Lexer::new(record);
        if self.flavor.tree {
            self.tree_record(lexer, rows)
        } else {
            StreamDecoder::new(lexer, self.flavor)?.record(&self.fields, rows)
        }
    }

    #[inline]
    fn fast_record(&mut self, record: &[u8], rows: &mut Rows) -> Option<()> {
        let mut lexer = Lexer::new(record);
        if lexer.peek() == b'{' {
            return self.fast_row(&mut lexer, rows);
        }
        if !lexer.eat(b'[') {
            return None;
        }
        if lexer.eat(b']') {
            return Some(());
        }
        loop {
            self.fast_row(&mut lexer, rows)?;
            if !lexer.eat(b',') {
                return lexer.eat(b']').then_some(());
            }
        }
    }

    #[inline]
    fn fast_row(&mut self, lexer: &mut Lexer<'_>, rows: &mut Rows) -> Option<()> {
        let row = rows.len();
        let all = fast::row(lexer, &self.fields, &mut rows.columns, row, self.flavor)?;
        if all {
            rows.end_whole_row()
        } else {
            rows.end_row()
        }
        Some(())
    }

    fn tree_record(&mut self, mut lexer: Lexer<'_>, rows: &mut Rows) -> Result<(), Trouble> {
        let first = lexer.peek();
        if first == 0 && lexer.at == lexer.bytes.len() {
            return Ok(());
        }
        {
            let mut whole = lexer;
            whole.skip_value()?;
        }
        if first != b'[' {
            return self.tree_row(&mut lexer, rows);
        }
        lexer.eat(b'[');
        while !lexer.eat(b']') {
            lexer.eat(b',');
            self.tree_row(&mut lexer, rows)?;
        }
        Ok(())
    }

    /// A row, or none for `null`; with `ignore-parse-errors` none for what is no object either.
    fn tree_row(&mut self, lexer: &mut Lexer<'_>, rows: &mut Rows) -> Result<(), Trouble> {
        let first = lexer.peek();
        let start = lexer.at;
        if first == b'n' {
            lexer.skip_value()?;
            return Ok(());
        }
        let row = rows.len();
        let mut tree = TreeDecoder { flavor: self.flavor, scratch: &mut self.scratch };
        match tree.row(lexer, &self.fields, &mut rows.columns, row) {
            Ok(()) => rows.end_row(),
            Err(Trouble::Value(_) | Trouble::Ignored) if self.flavor.ignore_errors => {
                rows.truncate(row);
                lexer.at = start;
                lexer.skip_value()?;
            }
            Err(trouble) => return Err(trouble),
        }
        Ok(())
    }
}

struct JsonDecoder {
    decoder: RowDecoder,
    rows: Rows,
    bad_records: Arc<dyn BadRecordHandler>,
}

impl JsonDecoder {
    /// Decodes a record of which is known whether it is UTF-8.
    #[inline]
    fn decode(
        &mut self,
        record: &[u8],
        sound: bool,
        place: &dyn Fn() -> String,
    ) -> Result<(), ConnectorError> {
        if record.is_empty() {
            return Ok(());
        }
        let before = self.rows.len();
        let error = match sound {
            true => match self.decoder.record(record, &mut self.rows) {
                Ok(()) => return Ok(()),
                Err(trouble) => trouble.into_error(),
            },
            false => FormatError::Utf8,
        };
        if self.decoder.flavor.ignore_errors {
            // The rows of an array before the broken one have already gone out in Flink.
            self.rows.truncate(self.rows.len());
            return Ok(());
        }
        self.rows.truncate(before);
        self.bad_records.handle(BadRecord { raw: record, place: place(), error: error.into() })
    }
}

impl LineDecoder for JsonDecoder {
    fn decode_record(
        &mut self,
        record: &[u8],
        place: &dyn Fn() -> String,
    ) -> Result<(), ConnectorError> {
        self.decode(record, std::str::from_utf8(record).is_ok(), place)
    }

    #[inline]
    fn decode_line(
        &mut self,
        line: &[u8],
        sound: impl FnOnce() -> bool,
        place: &dyn Fn() -> String,
    ) -> Result<(), ConnectorError> {
        self.decode(line, sound(), place)
    }

    fn rows(&self) -> usize {
        self.rows.len()
    }
}

impl Decoder for JsonDecoder {
    fn decode_stream(
        &mut self,
        bytes: &[u8],
        last: bool,
        max_rows: usize,
        place: &dyn Fn(usize) -> String,
    ) -> Result<usize, ConnectorError> {
        self.decode_lines(bytes, last, max_rows, place)
    }

    fn decode_message(
        &mut self,
        message: &[u8],
        place: &dyn Fn() -> String,
    ) -> Result<(), ConnectorError> {
        self.decode_record(message, place)
    }

    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn take(&mut self) -> Result<Option<ChangelogBatch>, ConnectorError> {
        self.rows.take()
    }
}
