//! Columns from the options `fields.<name>.…`; those of nested types go on with the names of fields,
//! `element`, `key` and `value`.

use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use flott_catalog::connector::{ConnectorError, Options, parse_duration};
use flott_types::{DataType, TypeRoot, arrow_type};

use super::column::{Column, Values};
use super::nested::{Collection, Items, Record};
use super::numbers::{DecimalNumber, Digits, IntegerNumber, RealNumber};
use super::random::Stream;
use super::text::Text;
use crate::common::invalid;

const MAX_LENGTH: u32 = i32::MAX as u32;
const DEFAULT_TEXT_LENGTH: i64 = 100;
const DEFAULT_COLLECTION_LENGTH: i64 = 3;
/// Above this a batch of one row would be too much.
const MAX_VALUE_BYTES: u64 = 1 << 30;
/// The most months that Flink makes up.
const DEFAULT_MAX_MONTHS: i64 = 120_000;
/// How often an element of a MULTISET may occur in a value.
const MAX_MULTIPLICITY: i64 = 10;

/// Reads the options of columns and remembers which options there could be.
pub(super) struct Fields<'a> {
    options: &'a Options,
    supported: Vec<String>,
    shortest: Option<u64>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(options: &'a Options) -> Self {
        Self { options, supported: Vec::new(), shortest: None }
    }

    /// The column of a table.
    pub(super) fn column(
        &mut self,
        name: &str,
        data_type: &DataType,
        stream: Stream,
    ) -> Result<Column, ConnectorError> {
        let kind = self.raw(name, "kind").unwrap_or("random");
        let column = if kind.trim().eq_ignore_ascii_case("sequence") {
            self.sequence(name, data_type)?
        } else {
            self.random(name, data_type, stream)?
        };
        let bytes = column.value_bytes();
        if bytes > MAX_VALUE_BYTES {
            return Err(ConnectorError::new(format!(
                "a value of column '{name}' would take {bytes} bytes, {MAX_VALUE_BYTES} is the most"
            ))
            .hint("lower the length of the column, or of what is in it"));
        }
        Ok(column)
    }

    /// The length of the shortest sequence, with which the table ends.
    pub(super) fn shortest_sequence(&self) -> Option<u64> {
        self.shortest
    }

    /// Refuses options that belong to no column, or not to a column of its type.
    pub(super) fn finish(&self) -> Result<(), ConnectorError> {
        let stray = self.options.iter().map(|(key, _)| key).find(|key| {
            key.starts_with("fields.") && !self.supported.iter().any(|known| known == key)
        });
        match stray {
            None => Ok(()),
            Some(key) => Err(ConnectorError::new(format!(
                "unsupported option '{key}' for connector 'datagen'"
            ))
            .hint(format!("supported options of the columns: {}", self.supported.join(", ")))),
        }
    }

    fn random(
        &mut self,
        path: &str,
        data_type: &DataType,
        stream: Stream,
    ) -> Result<Column, ConnectorError> {
        let values = match &data_type.root {
            TypeRoot::Boolean => Values::Boolean(stream),
            TypeRoot::TinyInt
            | TypeRoot::SmallInt
            | TypeRoot::Int
            | TypeRoot::BigInt
            | TypeRoot::IntervalYearMonth
            | TypeRoot::IntervalDayTime => self.random_integer(path, &data_type.root, stream)?,
            TypeRoot::Float => self.random_real(path, f32::MAX.into(), stream)?,
            TypeRoot::Double => self.random_real(path, f64::MAX, stream)?,
            TypeRoot::Decimal { precision, scale } => {
                self.random_decimal(path, *precision, *scale, stream)?
            }
            TypeRoot::Char(n) => Values::Text(self.fixed_length(path, *n, stream)?),
            TypeRoot::Varchar(n) => Values::Text(self.bounded_length(path, *n, stream)?),
            TypeRoot::Binary(n) => Values::Bytes(self.fixed_length(path, *n, stream)?),
            TypeRoot::Varbinary(n) => Values::Bytes(self.bounded_length(path, *n, stream)?),
            TypeRoot::Date => Values::Today,
            TypeRoot::Time(_) => Values::TimeOfDay,
            TypeRoot::Timestamp(_) | TypeRoot::TimestampLtz(_) => {
                let max_past =
                    self.value(path, "max-past", "a duration such as '1 h'", duration)?;
                let millis = max_past.unwrap_or_default().as_millis();
                Values::Instant { max_past: u64::try_from(millis).unwrap_or(u64::MAX), stream }
            }
            TypeRoot::Array(element) => {
                let length = self.collection_length(path)?;
                let element = self.nested(path, "element", element, stream)?;
                Values::Collection(Collection { length, items: Items::Elements(element) })
            }
            TypeRoot::Multiset(element) => {
                let length = self.collection_length(path)?;
                let keys = self.nested(path, "element", element, stream)?;
                let count = IntegerNumber::random(1, MAX_MULTIPLICITY, stream.branch("count"));
                let values = Box::new(Column {
                    data_type: DataType::int(),
                    values: Values::Integer(count),
                    nulls: None,
                });
                Values::Collection(Collection { length, items: Items::Entries { keys, values } })
            }
            TypeRoot::Map(key, value) => {
                let length = self.collection_length(path)?;
                let keys = self.nested(path, "key", key, stream)?;
                let values = self.nested(path, "value", value, stream)?;
                Values::Collection(Collection { length, items: Items::Entries { keys, values } })
            }
            TypeRoot::Row(fields) => {
                let mut columns = Vec::with_capacity(fields.len());
                for field in fields.iter() {
                    columns.push(*self.nested(path, &field.name, &field.data_type, stream)?);
                }
                Values::Record(Record { columns, layout: arrow_type(data_type) })
            }
            _ => return Err(unsupported(path, data_type, "random values")),
        };
        let rate = self.value(path, "null-rate", "a number from 0 to 1", number)?.unwrap_or(0.0);
        let nulls = (rate > 0.0).then(|| (rate, stream.branch("null")));
        Ok(Column { data_type: data_type.clone(), values, nulls })
    }

    fn nested(
        &mut self,
        path: &str,
        name: &str,
        data_type: &DataType,
        stream: Stream,
    ) -> Result<Box<Column>, ConnectorError> {
        self.random(&format!("{path}.{name}"), data_type, stream.branch(name)).map(Box::new)
    }

    fn random_integer(
        &mut self,
        path: &str,
        root: &TypeRoot,
        stream: Stream,
    ) -> Result<Values, ConnectorError> {
        let (least, greatest) = integer_bounds(root);
        let default_low = if *root == TypeRoot::IntervalYearMonth { 0 } else { least };
        let default_high =
            if *root == TypeRoot::IntervalYearMonth { DEFAULT_MAX_MONTHS } else { greatest };
        let low = self.integer(path, "min", (least, greatest))?.unwrap_or(default_low);
        let high = self.integer(path, "max", (least, greatest))?.unwrap_or(default_high);
        ordered(path, low, high)?;
        Ok(Values::Integer(IntegerNumber::random(low, high, stream)))
    }

    fn random_real(
        &mut self,
        path: &str,
        greatest: f64,
        stream: Stream,
    ) -> Result<Values, ConnectorError> {
        let wanted = format!("a number from -{greatest:e} to {greatest:e}");
        let within = |text: &str| number(text).filter(|value: &f64| value.abs() <= greatest);
        let low = self.value(path, "min", &wanted, within)?.unwrap_or(0.0);
        let high = self.value(path, "max", &wanted, within)?.unwrap_or(greatest);
        ordered(path, low, high)?;
        Ok(Values::Real(RealNumber::Random { low, high, stream }))
    }

    fn random_decimal(
        &mut self,
        path: &str,
        precision: u8,
        scale: u8,
        stream: Stream,
    ) -> Result<Values, ConnectorError> {
        let greatest = greatest_digits(precision);
        let unit = 10f64.powi(scale.into());
        let low = self.value(path, "min", "a number", number)?;
        let high = self.value(path, "max", "a number", number)?;
        let low =
            low.map_or(0, |low: f64| ((low * unit).ceil() as i128).clamp(-greatest, greatest));
        let high = high.map_or(greatest, |high: f64| {
            ((high * unit).floor() as i128).clamp(-greatest, greatest)
        });
        ordered(path, low, high)?;
        let span = high.abs_diff(low) + 1;
        let digits = Digits::Random { low, span, stream };
        Ok(Values::Decimal(DecimalNumber { precision, scale, digits }))
    }

    fn fixed_length(
        &mut self,
        path: &str,
        length: u32,
        stream: Stream,
    ) -> Result<Text, ConnectorError> {
        for option in ["length", "var-len"] {
            if self.options.raw(&key(path, option)).is_some() {
                return Err(ConnectorError::new(format!(
                    "the option '{}' is set, but CHAR and BINARY have a fixed length",
                    key(path, option)
                ))
                .hint("declare the column as VARCHAR or VARBINARY, or remove the option"));
            }
        }
        Ok(Text::Random { length: length as usize, vary: false, stream })
    }

    fn bounded_length(
        &mut self,
        path: &str,
        declared: u32,
        stream: Stream,
    ) -> Result<Text, ConnectorError> {
        let default =
            if declared == MAX_LENGTH { DEFAULT_TEXT_LENGTH } else { i64::from(declared) };
        let wanted = format!("a length from 1 to {declared}, the column's own");
        let length = self
            .value(path, "length", &wanted, |text| {
                number(text).filter(|length| (1..=i64::from(declared)).contains(length))
            })?
            .unwrap_or(default);
        let vary = self.value(path, "var-len", "true or false", |text| {
            text.trim().to_ascii_lowercase().parse().ok()
        })?;
        Ok(Text::Random { length: length as usize, vary: vary.unwrap_or(false), stream })
    }

    fn collection_length(&mut self, path: &str) -> Result<u64, ConnectorError> {
        let length = self.value(path, "length", "a length from 0", |text| {
            number(text).filter(|length| (0..=i64::from(MAX_LENGTH)).contains(length))
        })?;
        Ok(length.unwrap_or(DEFAULT_COLLECTION_LENGTH) as u64)
    }

    fn sequence(&mut self, path: &str, data_type: &DataType) -> Result<Column, ConnectorError> {
        let bounds = integer_bounds(&data_type.root);
        let start = self.required(path, "start", bounds)?;
        let end = self.required(path, "end", bounds)?;
        let count = i128::from(end) - i128::from(start) + 1;
        let Ok(count) = u64::try_from(count) else {
            return Err(ConnectorError::new(format!(
                "the sequence of column '{path}' ends at {end}, before its start {start}"
            ))
            .hint(format!("swap '{}' and '{}'", key(path, "start"), key(path, "end"))));
        };
        let values = match data_type.root {
            TypeRoot::TinyInt | TypeRoot::SmallInt | TypeRoot::Int | TypeRoot::BigInt => {
                Values::Integer(IntegerNumber::Sequence { start })
            }
            TypeRoot::Float | TypeRoot::Double => Values::Real(RealNumber::Sequence { start }),
            TypeRoot::Decimal { precision, scale } => {
                let step = 10i128.pow(scale.into());
                let most = greatest_digits(precision) / step;
                if [start, end].iter().any(|bound| i128::from(*bound).abs() > most) {
                    return Err(ConnectorError::new(format!(
                        "the sequence of column '{path}' leaves the range of {}",
                        data_type.summary()
                    ))
                    .hint(format!("keep it between -{most} and {most}")));
                }
                let digits = Digits::Sequence { start: i128::from(start) * step, step };
                Values::Decimal(DecimalNumber { precision, scale, digits })
            }
            TypeRoot::Char(length) => Values::Text(Text::Sequence { start, pad: length as usize }),
            TypeRoot::Varchar(_) => Values::Text(Text::Sequence { start, pad: 0 }),
            TypeRoot::Binary(_) | TypeRoot::Varbinary(_) => {
                Values::Bytes(Text::Sequence { start, pad: 0 })
            }
            _ => return Err(unsupported(path, data_type, "a sequence")),
        };
        self.shortest = Some(self.shortest.map_or(count, |shortest| shortest.min(count)));
        Ok(Column { data_type: data_type.clone(), values, nulls: None })
    }

    fn required(
        &mut self,
        path: &str,
        option: &str,
        bounds: (i64, i64),
    ) -> Result<i64, ConnectorError> {
        self.integer(path, option, bounds)?.ok_or_else(|| {
            let key = key(path, option);
            ConnectorError::new(format!(
                "could not find required property '{key}' for sequence generator"
            ))
            .hint(format!("add '{key}' = '…' to the WITH clause"))
        })
    }

    fn integer(
        &mut self,
        path: &str,
        option: &str,
        (least, greatest): (i64, i64),
    ) -> Result<Option<i64>, ConnectorError> {
        let wanted = format!("a whole number from {least} to {greatest}");
        self.value(path, option, &wanted, |text| {
            number(text).filter(|value| (least..=greatest).contains(value))
        })
    }

    fn value<T>(
        &mut self,
        path: &str,
        option: &str,
        wanted: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, ConnectorError> {
        match self.raw(path, option) {
            None => Ok(None),
            Some(text) => {
                parse(text).map(Some).ok_or_else(|| invalid(&key(path, option), text, wanted))
            }
        }
    }

    fn raw(&mut self, path: &str, option: &str) -> Option<&'a str> {
        let key = key(path, option);
        let value = self.options.raw(&key);
        self.supported.push(key);
        value
    }
}

fn key(path: &str, option: &str) -> String {
    format!("fields.{path}.{option}")
}

fn number<T: FromStr>(text: &str) -> Option<T> {
    text.trim().parse().ok()
}

fn duration(text: &str) -> Option<Duration> {
    parse_duration(text)
}

fn integer_bounds(root: &TypeRoot) -> (i64, i64) {
    match root {
        TypeRoot::TinyInt => (i8::MIN.into(), i8::MAX.into()),
        TypeRoot::SmallInt => (i16::MIN.into(), i16::MAX.into()),
        TypeRoot::Int | TypeRoot::IntervalYearMonth => (i32::MIN.into(), i32::MAX.into()),
        _ => (i64::MIN, i64::MAX),
    }
}

/// The greatest DECIMAL of a precision, without its point.
fn greatest_digits(precision: u8) -> i128 {
    10i128.pow(precision.into()) - 1
}

fn ordered<T: PartialOrd + Display>(path: &str, low: T, high: T) -> Result<(), ConnectorError> {
    if low <= high {
        return Ok(());
    }
    Err(ConnectorError::new(format!(
        "column '{path}' cannot have random values from {low} to {high}"
    ))
    .hint(format!("'{}' must not be greater than '{}'", key(path, "min"), key(path, "max"))))
}

fn unsupported(path: &str, data_type: &DataType, what: &str) -> ConnectorError {
    ConnectorError::new(format!(
        "unsupported type: {} cannot have {what} (column '{path}')",
        data_type.summary()
    ))
    .hint("declare the column as a computed column instead")
}
