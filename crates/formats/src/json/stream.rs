//! The rules of decoding token by token, the default of `json`.
//!
//! Flink's decoder never goes back. Where a container stands in the place of a scalar and that is
//! forgiven (`ignore-parse-errors`, or a BOOLEAN, which takes any text), it has read only the
//! bracket and goes on inside: what follows is taken for fields of the row or items of the array
//! around. Only its own walk over the tokens gives its rows, so this is that walk.

use super::Flavor;
use super::compact;
use super::keys::Superseded;
use super::lexer::Lexer;
use super::scalar;
use super::shape::{Fields, Parts, Shape};
use super::tokens::{Token, Tokens};
use super::tree::check_missing;
use super::trouble::Trouble;
use super::variant;
use crate::builders::{Column, Fault, Lists};

/// Decodes the tokens of one record.
pub(super) struct StreamDecoder<'a> {
    tokens: Tokens<'a>,
    flavor: Flavor,
    scratch: Vec<u8>,
}

impl<'a> StreamDecoder<'a> {
    /// Starts at the first token of a record.
    pub(super) fn new(lexer: Lexer<'a>, flavor: Flavor) -> Result<Self, Trouble> {
        Ok(Self { tokens: Tokens::new(lexer)?, flavor, scratch: Vec::new() })
    }

    /// Decodes a record, telling `end_row` after each row.
    pub(super) fn record(
        &mut self,
        fields: &Fields,
        rows: &mut crate::builders::Rows,
    ) -> Result<(), Trouble> {
        match self.tokens.current {
            Token::StartObject => {
                let row = rows.len();
                self.row(fields, &mut rows.columns, row)?;
                rows.end_row();
                Ok(())
            }
            Token::StartArray => loop {
                self.tokens.advance()?;
                if self.tokens.current == Token::EndArray {
                    return Ok(());
                }
                let row = rows.len();
                self.row(fields, &mut rows.columns, row)?;
                rows.end_row();
            },
            _ => Err(Trouble::shape(self.tokens.first_byte(), "an object or an array of them")),
        }
    }

    fn row(&mut self, fields: &Fields, columns: &mut [Column], row: usize) -> Result<(), Trouble> {
        if self.tokens.current != Token::StartObject {
            return Err(Trouble::shape(self.tokens.first_byte(), "an object"));
        }
        let mut found = 0;
        self.tokens.advance()?;
        while self.tokens.current != Token::EndObject {
            if found >= fields.len() {
                self.skip_to_next_field()?;
                continue;
            }
            let Some(name) = self.tokens.scalar() else { return Err(self.ended()) };
            let at = fields.find(name.text(&mut self.scratch));
            self.tokens.advance()?;
            let target = at.and_then(|at| Some((fields.get(at)?, columns.get_mut(at)?)));
            match target {
                Some((field, column)) => {
                    column.truncate(row);
                    self.value(&field.shape, column)
                        .map_err(|trouble| trouble.in_field(&field.name))?;
                    self.tokens.advance()?;
                    found += 1;
                }
                None => self.skip_to_next_field()?,
            }
        }
        if found < fields.len() { check_missing(fields, columns, row, self.flavor) } else { Ok(()) }
    }

    fn skip_to_next_field(&mut self) -> Result<(), Trouble> {
        match self.tokens.current {
            Token::StartObject | Token::StartArray => {
                self.tokens.skip_container()?;
            }
            Token::End => return Err(self.ended()),
            _ => {}
        }
        Ok(self.tokens.advance()?)
    }

    fn ended(&self) -> Trouble {
        Trouble::Syntax(super::lexer::SyntaxError {
            what: "an object does not end",
            at: self.tokens.start,
        })
    }

    /// Decodes a value; with `ignore-parse-errors` one that does not fit is NULL.
    fn value(&mut self, shape: &Shape, column: &mut Column) -> Result<(), Trouble> {
        if matches!(self.tokens.current, Token::Null | Token::End) {
            column.push_null();
            return Ok(());
        }
        let len = column.len();
        match self.convert(shape, column) {
            Err(Trouble::Ignored | Trouble::Value(_)) if self.flavor.ignore_errors => {
                column.truncate(len);
                column.push_null();
                Ok(())
            }
            result => result,
        }
    }

    fn convert(&mut self, shape: &Shape, column: &mut Column) -> Result<(), Trouble> {
        match (&shape.parts, self.tokens.current, column) {
            (Parts::Array(element), Token::StartArray, Column::Array(lists)) => {
                self.array(element, lists)?;
                lists.end_value().map_err(|fault| self.fault(fault, shape))
            }
            (Parts::Map(value), Token::StartObject, Column::Map(lists)) => {
                self.map(value, lists, shape)?;
                lists.end_value().map_err(|fault| self.fault(fault, shape))
            }
            (Parts::Row(fields), Token::StartObject, Column::Row(structs)) => {
                let len = structs.len();
                self.row(fields, &mut structs.columns, len)?;
                structs.end_value();
                Ok(())
            }
            (Parts::Variant, token, Column::Binary(values)) => {
                let raw = match token {
                    Token::StartObject | Token::StartArray => self.tokens.skip_container()?,
                    _ => &self.tokens.lexer.bytes[self.tokens.start..self.tokens.lexer.at],
                };
                variant::push(raw, values.open())?;
                values.end_value().map_err(|fault| self.fault(fault, shape))
            }
            (_, Token::StartObject | Token::StartArray, Column::Text(values)) => {
                let text = self.tokens.skip_container()?;
                let mut whole = Lexer { bytes: text, at: 0 };
                compact::write_value(&mut whole, values.open(), self.flavor.decimals)?;
                values.end_value().map_err(|fault| self.fault(fault, shape))
            }
            (_, _, column) => match self.tokens.scalar() {
                Some(value) => scalar::push(column, value, self.flavor, &mut self.scratch)
                    .map_err(|fault| self.fault(fault, shape)),
                None => Err(self.ended()),
            },
        }
    }

    fn array(&mut self, element: &Shape, lists: &mut Lists) -> Result<(), Trouble> {
        loop {
            self.tokens.advance()?;
            match self.tokens.current {
                Token::EndArray => return Ok(()),
                Token::End => return Err(self.ended()),
                _ => self.value(element, &mut lists.items)?,
            }
        }
    }

    fn map(&mut self, shape: &Shape, lists: &mut Lists, whole: &Shape) -> Result<(), Trouble> {
        let start = Lexer { at: self.tokens.start, ..self.tokens.lexer };
        let superseded = Superseded::find(start)?;
        let mut entry = 0;
        loop {
            self.tokens.advance()?;
            if self.tokens.current == Token::EndObject {
                return Ok(());
            }
            let Some(key) = self.tokens.scalar() else { return Err(self.ended()) };
            let before = lists.items.len();
            if let Column::Row(entries) = &mut *lists.items
                && let [keys, values] = entries.columns.as_mut_slice()
            {
                scalar::push(keys, key, self.flavor, &mut self.scratch)
                    .map_err(|fault| self.fault(fault, whole))?;
                self.tokens.advance()?;
                self.value(shape, values)?;
                entries.end_value();
            }
            if superseded.contains(entry) {
                lists.items.truncate(before);
            }
            entry += 1;
        }
    }

    fn fault(&self, _: Fault, shape: &Shape) -> Trouble {
        let lexer = &self.tokens.lexer;
        // Of a container only the bracket is read, which alone would say little.
        let end = match self.tokens.current {
            Token::StartObject | Token::StartArray => {
                let mut whole = Lexer { at: self.tokens.start, ..*lexer };
                if whole.skip_value().is_ok() { whole.at } else { lexer.bytes.len() }
            }
            _ => lexer.at,
        };
        Trouble::value(&lexer.bytes[self.tokens.start..end], shape, self.flavor)
    }
}
