//! Records in Avro's JSON encoding into columns: values of unions stand in an object by the name of their
//! type, and bytes are text of one character each.

use super::cursor::Broken;
use super::decode::{Unit, push_decimal, push_number};
use super::shape::{Kind, Shape};
use crate::builders::{Column, Fault};
use crate::error::FormatError;
use crate::json::lexer::{Lexer, Number, SyntaxError};
use crate::text;

/// How JSON records become rows.
pub(super) struct JsonPlan {
    shape: Shape,
    /// For each field the column that it goes to.
    columns: Vec<Option<usize>>,
    reader: Reader,
}

/// Memory that is used again.
#[derive(Default)]
struct Reader {
    text: Vec<u8>,
    bytes: Vec<u8>,
    seen: Vec<bool>,
}

impl JsonPlan {
    pub(super) fn new(shape: Shape, projection: &[usize]) -> Self {
        let len = if let Kind::Record(fields) = &shape.kind { fields.len() } else { 0 };
        let column = |at: usize| projection.iter().position(|wanted| *wanted == at);
        Self { columns: (0..len).map(column).collect(), shape, reader: Reader::default() }
    }

    /// Reads a record into the columns. Where it fails, columns may hold more than before.
    pub(super) fn read(&mut self, record: &[u8], columns: &mut [Column]) -> Result<(), Broken> {
        if std::str::from_utf8(record).is_err() {
            return Err(Box::new(FormatError::Utf8));
        }
        let Kind::Record(fields) = &self.shape.kind else { return Ok(()) };
        let mut lexer = Lexer::new(record);
        let mut seen = std::mem::take(&mut self.reader.seen);
        seen.clear();
        seen.resize(fields.len(), false);
        let targets = &self.columns;
        let result = self.reader.record(&mut lexer, fields, &mut |reader, lexer, at| {
            match targets[at] {
                Some(column) if !seen[at] => {
                    reader.value(lexer, &fields[at].1, &mut columns[column])?;
                }
                _ => drop(skip(lexer)?),
            }
            seen[at] = true;
            Ok(())
        });
        let missing = seen.iter().position(|seen| !seen);
        self.reader.seen = seen;
        result?;
        match missing {
            Some(at) => Err(wrong(&lexer, format!("the field '{}' is missing", fields[at].0))),
            None => Ok(()),
        }
    }
}

impl Reader {
    /// Reads an object; `field` reads the value of a known field.
    fn record(
        &mut self,
        lexer: &mut Lexer<'_>,
        fields: &[(Box<str>, Shape)],
        field: &mut dyn FnMut(&mut Self, &mut Lexer<'_>, usize) -> Result<(), Broken>,
    ) -> Result<(), Broken> {
        if !lexer.eat(b'{') {
            return Err(wrong(lexer, "a record is missing"));
        }
        let mut first = true;
        while !lexer.eat(b'}') {
            if !std::mem::take(&mut first) && !lexer.eat(b',') {
                return Err(wrong(lexer, "a comma or a closing brace is missing"));
            }
            self.key(lexer)?;
            match fields.iter().position(|(name, _)| name.as_bytes() == self.text) {
                Some(at) => field(self, lexer, at)?,
                None => drop(skip(lexer)?),
            }
        }
        Ok(())
    }

    /// Reads a key and its colon; the text is in `text`.
    fn key(&mut self, lexer: &mut Lexer<'_>) -> Result<(), Broken> {
        self.text.clear();
        lexer.string().map_err(syntax)?.unescape(&mut self.text);
        lexer.colon().map_err(syntax)
    }

    fn value(
        &mut self,
        lexer: &mut Lexer<'_>,
        shape: &Shape,
        column: &mut Column,
    ) -> Result<(), Broken> {
        if shape.branches.is_none() {
            return self.plain(lexer, &shape.kind, column);
        }
        if lexer.peek() == b'n' {
            lexer.word(b"null").map_err(syntax)?;
            column.push_null();
            return Ok(());
        }
        if !lexer.eat(b'{') {
            return Err(wrong(
                lexer,
                format!("null or {{\"{}\": …}} is missing", shape.branch_name),
            ));
        }
        self.key(lexer)?;
        if self.text != shape.branch_name.as_bytes() {
            return Err(wrong(
                lexer,
                format!("the union has no branch '{}'", String::from_utf8_lossy(&self.text)),
            ));
        }
        self.plain(lexer, &shape.kind, column)?;
        while lexer.eat(b',') {
            self.key(lexer)?;
            skip(lexer)?;
        }
        if lexer.eat(b'}') { Ok(()) } else { Err(wrong(lexer, "a closing brace is missing")) }
    }

    fn plain(
        &mut self,
        lexer: &mut Lexer<'_>,
        kind: &Kind,
        column: &mut Column,
    ) -> Result<(), Broken> {
        match (kind, column) {
            (Kind::Null, column) => {
                lexer.peek();
                lexer.word(b"null").map_err(syntax)?;
                column.push_null();
            }
            (Kind::Boolean, Column::Boolean(values)) => {
                let truth = lexer.peek() == b't';
                lexer.word(if truth { b"true" } else { b"false" }).map_err(syntax)?;
                values.push(truth);
            }
            (Kind::Int, column) => {
                let whole = integer(lexer, i32::MIN.into(), i32::MAX.into())?;
                push_number(column, whole, Unit::Same).map_err(|fault| unfit(lexer, fault))?;
            }
            (Kind::Long(per_second), column) => {
                let whole = integer(lexer, i64::MIN, i64::MAX)?;
                let unit = Unit::to_column(*per_second, column);
                push_number(column, whole, unit).map_err(|fault| unfit(lexer, fault))?;
            }
            (Kind::Float, Column::Float(values)) => {
                let value = text::parse_float(self.number(lexer)?);
                values.push(value.map_err(|fault| unfit(lexer, fault))?);
            }
            (Kind::Double, Column::Double(values)) => {
                let value = text::parse_double(self.number(lexer)?);
                values.push(value.map_err(|fault| unfit(lexer, fault))?);
            }
            (Kind::String, Column::Text(values)) => {
                lexer.string().map_err(syntax)?.unescape(values.open());
                values.end_value().map_err(|fault| unfit(lexer, fault))?;
            }
            (Kind::Enum(symbols), Column::Text(values)) => {
                let start = values.open().len();
                lexer.string().map_err(syntax)?.unescape(values.open());
                let symbol = &values.open()[start..];
                if !symbols.iter().any(|known| known.as_bytes() == symbol) {
                    return Err(wrong(lexer, "the text is no symbol of the enum"));
                }
                values.end_value().map_err(|fault| unfit(lexer, fault))?;
            }
            (Kind::Bytes, Column::Binary(values)) => {
                self.latin(lexer, None)?;
                values.push(&self.bytes).map_err(|fault| unfit(lexer, fault))?;
            }
            (Kind::Fixed(size), Column::Binary(values)) => {
                self.latin(lexer, Some(*size))?;
                values.push(&self.bytes).map_err(|fault| unfit(lexer, fault))?;
            }
            (Kind::Decimal(size), Column::Decimal { values, precision, .. }) => {
                self.latin(lexer, *size)?;
                if !push_decimal(values, &self.bytes, *precision, 0) {
                    return Err(wrong(lexer, "a decimal has no bytes"));
                }
            }
            (Kind::Array(item), Column::Array(lists)) => {
                if !lexer.eat(b'[') {
                    return Err(wrong(lexer, "an array is missing"));
                }
                let mut first = true;
                while !lexer.eat(b']') {
                    if !std::mem::take(&mut first) && !lexer.eat(b',') {
                        return Err(wrong(lexer, "a comma or a closing bracket is missing"));
                    }
                    self.value(lexer, item, &mut lists.items)?;
                }
                lists.end_value().map_err(|fault| unfit(lexer, fault))?;
            }
            (Kind::Map(value), Column::Map(lists)) => self.map(lexer, value, lists)?,
            (Kind::Record(fields), Column::Row(structs)) => {
                let row = structs.len();
                let columns = &mut structs.columns;
                self.record(lexer, fields, &mut |reader, lexer, at| {
                    if columns[at].len() > row {
                        return skip(lexer).map(drop);
                    }
                    reader.value(lexer, &fields[at].1, &mut columns[at])
                })?;
                if let Some(at) = structs.columns.iter().position(|column| column.len() == row) {
                    return Err(wrong(lexer, format!("the field '{}' is missing", fields[at].0)));
                }
                structs.end_value();
            }
            _ => return Err(unfit(lexer, Fault::Form)),
        }
        Ok(())
    }

    fn map(
        &mut self,
        lexer: &mut Lexer<'_>,
        value: &Shape,
        lists: &mut crate::builders::Lists,
    ) -> Result<(), Broken> {
        if !lexer.eat(b'{') {
            return Err(wrong(lexer, "a map is missing"));
        }
        let mut first = true;
        while !lexer.eat(b'}') {
            if !std::mem::take(&mut first) && !lexer.eat(b',') {
                return Err(wrong(lexer, "a comma or a closing brace is missing"));
            }
            self.key(lexer)?;
            let others = lists.open_items();
            let Column::Row(entries) = &mut *lists.items else {
                return Err(unfit(lexer, Fault::Form));
            };
            let [Column::Text(keys), values] = &mut entries.columns[..] else {
                return Err(unfit(lexer, Fault::Form));
            };
            keys.push(&self.text).map_err(|fault| unfit(lexer, fault))?;
            if keys.last_repeats(others) {
                return Err(wrong(lexer, "a map has the same key twice"));
            }
            self.value(lexer, value, values)?;
            entries.end_value();
        }
        lists.end_value().map_err(|fault| unfit(lexer, fault))
    }

    /// The text of a number; those that JSON does not know are written as strings.
    fn number<'b>(&'b mut self, lexer: &mut Lexer<'_>) -> Result<&'b [u8], Broken> {
        self.text.clear();
        if lexer.peek() == b'"' {
            lexer.string().map_err(syntax)?.unescape(&mut self.text);
            if !matches!(&self.text[..], b"NaN" | b"Infinity" | b"-Infinity") {
                return Err(wrong(lexer, "a number is missing"));
            }
        } else {
            let number = lexer.number().map_err(syntax)?;
            self.text.extend_from_slice(number.text);
        }
        Ok(&self.text)
    }

    /// Reads bytes into `bytes`; what is no byte is `?`, as in Java.
    fn latin(&mut self, lexer: &mut Lexer<'_>, size: Option<usize>) -> Result<(), Broken> {
        self.text.clear();
        self.bytes.clear();
        lexer.string().map_err(syntax)?.unescape(&mut self.text);
        let text = String::from_utf8_lossy(&self.text);
        self.bytes.extend(text.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')));
        match size {
            Some(size) if size != self.bytes.len() => {
                Err(wrong(lexer, format!("there are {} bytes, not {size}", self.bytes.len())))
            }
            _ => Ok(()),
        }
    }
}

/// A whole number; the fraction of others is cut off.
fn integer(lexer: &mut Lexer<'_>, min: i64, max: i64) -> Result<i64, Broken> {
    if !matches!(lexer.peek(), b'-' | b'0'..=b'9') {
        return Err(wrong(lexer, "a number is missing"));
    }
    let Number { text, whole } = lexer.number().map_err(syntax)?;
    let value = match whole {
        true => text::parse_integer(text),
        false => text::parse_double(text).and_then(|value| {
            let fits = value >= min as f64 && value <= max as f64;
            if fits { Ok(value as i64) } else { Err(Fault::Range) }
        }),
    };
    match value {
        Ok(value) if (min..=max).contains(&value) => Ok(value),
        Ok(_) => Err(unfit(lexer, Fault::Range)),
        Err(fault) => Err(unfit(lexer, fault)),
    }
}

fn skip<'a>(lexer: &mut Lexer<'a>) -> Result<&'a [u8], Broken> {
    lexer.skip_value().map_err(syntax)
}

#[cold]
fn syntax(error: SyntaxError) -> Broken {
    Box::new(FormatError::Json { what: error.what, at: error.at })
}

#[cold]
fn wrong(lexer: &Lexer<'_>, what: impl Into<String>) -> Broken {
    Box::new(FormatError::Avro { what: what.into(), at: lexer.at })
}

#[cold]
fn unfit(lexer: &Lexer<'_>, fault: Fault) -> Broken {
    wrong(lexer, super::decode::reason(fault))
}
