//! The rules of decoding by way of a tree: the change-log formats, and `json` with
//! `decode.json-parser.enabled` = false.
//!
//! The whole document must be sound before any of it counts, the last of repeated keys wins, and a
//! value that does not fit leaves its neighbours alone.

use super::Flavor;
use super::compact;
use super::keys::Superseded;
use super::lexer::Lexer;
use super::scalar::{self, Scalar};
use super::shape::{Fields, Parts, Shape};
use super::trouble::Trouble;
use super::variant;
use crate::builders::{Column, Lists};
use crate::error::FormatError;

/// Decodes trees, after [`Lexer::skip_value`] has found them sound.
pub(crate) struct TreeDecoder<'a> {
    pub(super) flavor: Flavor,
    pub(super) scratch: &'a mut Vec<u8>,
}

impl TreeDecoder<'_> {
    /// Decodes an object into `columns`, which hold `row` values before. Fields that are missing
    /// are left out.
    pub(super) fn row(
        &mut self,
        lexer: &mut Lexer<'_>,
        fields: &Fields,
        columns: &mut [Column],
        row: usize,
    ) -> Result<(), Trouble> {
        if !lexer.eat(b'{') {
            return Err(Trouble::shape(lexer.peek(), "an object"));
        }
        while !lexer.eat(b'}') {
            lexer.eat(b',');
            lexer.peek();
            let key = lexer.string()?;
            lexer.colon()?;
            self.scratch.clear();
            key.unescape(self.scratch);
            let found = fields.find(self.scratch);
            let target = found.and_then(|at| Some((fields.get(at)?, columns.get_mut(at)?)));
            let Some((field, column)) = target else {
                lexer.skip_value()?;
                continue;
            };
            column.truncate(row);
            self.value(lexer, &field.shape, column)
                .map_err(|trouble| trouble.in_field(&field.name))?;
        }
        check_missing(fields, columns, row, self.flavor)
    }

    /// Decodes a value; with `ignore-parse-errors` one that does not fit is NULL.
    pub(super) fn value(
        &mut self,
        lexer: &mut Lexer<'_>,
        shape: &Shape,
        column: &mut Column,
    ) -> Result<(), Trouble> {
        if lexer.peek() == b'n' {
            lexer.word(b"null")?;
            column.push_null();
            return Ok(());
        }
        let start = lexer.at;
        let len = column.len();
        match self.convert(lexer, shape, column) {
            Err(Trouble::Ignored | Trouble::Value(_)) if self.flavor.ignore_errors => {
                lexer.at = start;
                lexer.skip_value()?;
                column.truncate(len);
                column.push_null();
                Ok(())
            }
            result => result,
        }
    }

    fn convert(
        &mut self,
        lexer: &mut Lexer<'_>,
        shape: &Shape,
        column: &mut Column,
    ) -> Result<(), Trouble> {
        let first = lexer.peek();
        let start = lexer.at;
        let outcome = match (&shape.parts, first, column) {
            (Parts::Array(element), b'[', Column::Array(lists)) => {
                return self.array(lexer, element, lists, shape);
            }
            (Parts::Map(value), b'{', Column::Map(lists)) => {
                return self.map(lexer, value, lists, shape);
            }
            // A value that is no object has no entries.
            (Parts::Map(_), _, Column::Map(lists)) => {
                lexer.skip_value()?;
                lists.end_value()
            }
            (Parts::Row(fields), b'{', Column::Row(structs)) => {
                let len = structs.len();
                self.row(lexer, fields, &mut structs.columns, len)?;
                structs.end_value();
                return Ok(());
            }
            (Parts::Variant, _, Column::Binary(values)) => {
                variant::push(lexer.skip_value()?, values.open())?;
                values.end_value()
            }
            (Parts::Scalar, b'{' | b'[', column) => match column {
                Column::Text(values) => {
                    compact::write_value(lexer, values.open(), self.flavor.decimals)?;
                    values.end_value()
                }
                other => {
                    let raw = lexer.skip_value()?;
                    match other {
                        Column::Boolean(values) => values.push(false),
                        Column::Binary(_) | Column::Null(_) => other.push_null(),
                        _ => return Err(Trouble::value(raw, shape, self.flavor)),
                    }
                    Ok(())
                }
            },
            (Parts::Scalar, _, column) => {
                let value = Scalar::read(lexer, first)?;
                scalar::push(column, value, self.flavor, self.scratch)
            }
            _ => {
                let raw = lexer.skip_value()?;
                return Err(Trouble::value(raw, shape, self.flavor));
            }
        };
        outcome.map_err(|_| Trouble::value(&lexer.bytes[start..lexer.at], shape, self.flavor))
    }

    fn array(
        &mut self,
        lexer: &mut Lexer<'_>,
        element: &Shape,
        lists: &mut Lists,
        shape: &Shape,
    ) -> Result<(), Trouble> {
        lexer.eat(b'[');
        while !lexer.eat(b']') {
            lexer.eat(b',');
            self.value(lexer, element, &mut lists.items)?;
        }
        lists.end_value().map_err(|_| Trouble::value(b"", shape, self.flavor))
    }

    fn map(
        &mut self,
        lexer: &mut Lexer<'_>,
        shape: &Shape,
        lists: &mut Lists,
        whole: &Shape,
    ) -> Result<(), Trouble> {
        let superseded = Superseded::find(*lexer)?;
        lexer.eat(b'{');
        let mut entry = 0;
        while !lexer.eat(b'}') {
            lexer.eat(b',');
            lexer.peek();
            let key = lexer.string()?;
            lexer.colon()?;
            if superseded.contains(entry) {
                lexer.skip_value()?;
            } else if let Column::Row(entries) = &mut *lists.items
                && let [Column::Text(keys), values] = entries.columns.as_mut_slice()
            {
                key.unescape(keys.open());
                keys.end_value().map_err(|_| Trouble::value(key.raw, whole, self.flavor))?;
                self.value(lexer, shape, values)?;
                entries.end_value();
            }
            entry += 1;
        }
        lists.end_value().map_err(|_| Trouble::value(b"", whole, self.flavor))
    }
}

/// Fails for the first field without a value where `fail-on-missing-field` wants all.
pub(super) fn check_missing(
    fields: &Fields,
    columns: &[Column],
    row: usize,
    flavor: Flavor,
) -> Result<(), Trouble> {
    if !flavor.fail_on_missing_field {
        return Ok(());
    }
    match columns.iter().position(|column| column.len() <= row) {
        Some(at) => {
            let name = fields.get(at).map_or("", |field| &field.name);
            let missing = Trouble::Value(Box::new(FormatError::Missing(String::new())));
            Err(missing.in_field(name))
        }
        None => Ok(()),
    }
}
