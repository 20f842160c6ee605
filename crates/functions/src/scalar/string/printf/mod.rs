//! PRINTF: Java's `Formatter` for the locale en-US.

mod argument;
mod float;
mod format;
mod spec;
mod time;

use arrow::array::{ArrayRef, AsArray};
use flott_types::{DataType, Family, TypeRoot};
use jiff::tz::TimeZone;

use super::rows::{MAX_VALUE, too_long, try_texts};
use super::signature::immutable;
use crate::read::Strings;
use crate::scalar::pattern::Patterns;
use crate::{
    CallArgs, Column, EvalContext, EvalError, FunctionDoc, Resolved, ScalarFunction,
    SignatureError, kernel,
};

use argument::Argument;
use spec::Format;

/// The function of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[immutable(
    "PRINTF",
    resolve_printf,
    |args, _, settings| {
        let formats = Patterns::new(args.literal_str(0), |format| Ok(Format::parse(format)))?;
        let types = args.types();
        let zone = settings.zone.clone();
        Ok(kernel(move |args, context| printf(args, context, &formats, &types, &zone)))
    },
    FunctionDoc {
        syntax: &["PRINTF(format[, obj, ...])"],
        text: "The objects by the rules of Java's `Formatter`: `%5d`, `%-10s`, `%,.2f`, `%x` and so \
               on. `%d` and `%x` take integers, `%f`, `%e` and `%g` FLOAT and DOUBLE but not DECIMAL, \
               `%t` a BIGINT of milliseconds since the epoch. A NULL object prints `null`. NULL if \
               the format is NULL, is invalid or does not fit the objects.",
        examples: &[("PRINTF('%05d|%-4s|%.2f', 42, 'ab', 2.5e0)", "00042|ab  |2.50")],
    },
)];

fn resolve_printf(args: &CallArgs) -> Result<Resolved, SignatureError> {
    let format = args.args.first().map(|arg| &arg.data_type);
    match format.map(|ty| ty.family()) {
        Some(Family::CharacterString) => Ok(Resolved::unchanged(args, DataType::string())),
        Some(Family::Null) => {
            let mut parameters = args.types();
            parameters[0] = DataType::string();
            Ok(Resolved { parameters, returns: DataType::string() })
        }
        _ => Err(args.no_match(&["PRINTF(<CHARACTER>, <ANY>...)"])),
    }
}

fn printf(
    args: &[Column],
    context: &EvalContext,
    formats: &Patterns<Option<Format>>,
    types: &[DataType],
    zone: &TimeZone,
) -> Result<ArrayRef, EvalError> {
    let format = Strings::new(&args[0]);
    let mut lookup = formats.lookup();
    try_texts(context.rows, |row, out| {
        let Some(text) = format.get(row) else { return Ok(None) };
        let Some(format) = lookup.of(text)? else { return Ok(None) };
        if format.width() > MAX_VALUE {
            return Err(too_long("PRINTF"));
        }
        let objects = args[1..].iter().zip(&types[1..]);
        let objects: Vec<Argument> =
            objects.map(|(column, ty)| object(column, row, ty, zone)).collect();
        Ok(format.write(&objects, zone, out))
    })
}

/// The object of a row as Java sees it: as Flink keeps it inside, so that a DATE is an int.
fn object<'a>(column: &'a Column, row: usize, ty: &DataType, zone: &TimeZone) -> Argument<'a> {
    let (array, index) = (column.array(), column.index(row));
    if ty.root == TypeRoot::Null || column.is_null(row) {
        return Argument::Null;
    }
    match ty.root {
        TypeRoot::Char(_) | TypeRoot::Varchar(_) => {
            Argument::Text(array.as_string::<i32>().value(index))
        }
        _ => Argument::of_value(&flott_types::Value::from_array(array, index, ty), ty, zone),
    }
}
