//! CAST and TRY_CAST between all types.
//!
//! A cast is planned once for a pair of types: into a tree of conversions of whole arrays that follows
//! the nesting of the types. Values that have no counterpart are collected on the way, so that an
//! element that cannot be cast makes TRY_CAST give NULL for the whole value, as in Flink.

mod bytes;
mod conversion;
mod date_time;
mod digits;
mod nested;
mod number;
mod parse;
mod rules;
mod temporal;
mod text;
mod to_number;

use arrow::array::ArrayRef;
use flott_types::{DataType, Family, TypeRoot};

use crate::{Column, EvalContext, EvalError, Kernel, SessionSettings, SignatureError};
use conversion::{Conversion, Failures};

pub(crate) use date_time::{parse_date, parse_time, parse_timestamp};
pub(crate) use digits::with_ascii_digits;
pub use parse::{parse_boolean, parse_decimal, parse_double, parse_float, parse_integer};
pub use rules::{check, takes_null};
pub(crate) use rules::{explicit, implicit};

/// Whether a character is a decimal digit, of any script within 16 bits.
pub(crate) fn is_digit(character: char) -> bool {
    digits::digit_value(character).is_some()
}

/// The length from which CHAR and BINARY are too long to fill values up to.
const MAX_PADDED: u32 = 1 << 28;

/// Compiles a cast of one argument. With `lenient` (TRY_CAST) a value that cannot be cast gives NULL.
pub fn compile(
    from: &DataType,
    to: &DataType,
    lenient: bool,
    settings: &SessionSettings,
) -> Result<Box<dyn Kernel>, SignatureError> {
    check(from, to)?;
    Ok(Box::new(CastKernel { conversion: plan(from, to, settings)?, lenient }))
}

struct CastKernel {
    conversion: Conversion,
    lenient: bool,
}

impl Kernel for CastKernel {
    fn evaluate(&self, args: &[Column], context: &EvalContext) -> Result<ArrayRef, EvalError> {
        let mut failures = Failures::new(self.lenient);
        let array = self.conversion.apply(args[0].array(), &mut failures)?;
        if let Some(error) = failures.into_error() {
            return Err(error);
        }
        let result =
            if args[0].is_constant() { Column::constant(array) } else { Column::rows(array) };
        result.into_array(context.rows)
    }

    fn can_fail(&self) -> bool {
        !self.lenient && self.conversion.can_fail()
    }
}

/// The conversion between two types for which [`check`] holds.
fn plan(
    from: &DataType,
    to: &DataType,
    settings: &SessionSettings,
) -> Result<Conversion, SignatureError> {
    use Family::*;
    let refused = || SignatureError::Cast { from: from.clone(), to: to.clone() };
    if conversion::same_layout_and_values(from, to) {
        return Ok(Conversion::identity());
    }
    // Every value would be filled up to this length.
    if let TypeRoot::Char(length @ MAX_PADDED..) | TypeRoot::Binary(length @ MAX_PADDED..) = to.root
    {
        let reason = format!("values cannot be filled up to a length of {length}");
        return Err(SignatureError::Other(format!("{reason}\nhint: use VARCHAR or VARBINARY")));
    }
    match (from.family(), to.family()) {
        (Null, _) => Ok(Conversion::nulls(to.clone())),
        (_, CharacterString) => Ok(text::to_text(from, &to.root, settings)),
        (Boolean | Numeric, Boolean | Numeric) => {
            number::between_numbers(&from.root, &to.root).ok_or_else(refused)
        }
        (CharacterString, Boolean | Numeric) => to_number::from_text(to).ok_or_else(refused),
        (Interval, Numeric) | (Numeric, Interval) | (Interval, Interval) => {
            number::between_numbers(&from.root, &to.root).ok_or_else(refused)
        }
        (CharacterString, Date | Time | Timestamp) => {
            Ok(date_time::from_text(to, settings.zone.clone()))
        }
        (Date | Time | Timestamp, Date | Time | Timestamp) => {
            temporal::between(&from.root, &to.root, settings.zone.clone()).ok_or_else(refused)
        }
        (CharacterString | BinaryString | Other, BinaryString) => {
            bytes::to_bytes(&from.root, &to.root).ok_or_else(refused)
        }
        (Collection | Row, Collection | Row) => {
            nested::between(from, to, settings)?.ok_or_else(refused)
        }
        _ if from.root == to.root && !matches!(from.root, TypeRoot::Null) => {
            Ok(Conversion::identity())
        }
        _ => Err(refused()),
    }
}
