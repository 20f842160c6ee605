//! Temporal values as text: DATE_FORMAT, FROM_UNIXTIME and CONVERT_TZ.

use std::sync::Arc;

use arrow::array::{ArrayRef, StringBuilder};
use arrow::datatypes::Int64Type;
use flott_types::{DataType, TypeRoot};
use jiff::tz::TimeZone;

use super::clock::Clock;
use super::compiled::{Compiled, Memo};
use super::formatter::{Formatter, LocalTime};
use super::simple_format::{Century, SimpleFormat, Zone};
use super::stamps::{Stamp, Stamps};
use super::zone_id::time_zone;
use super::{century, is_text};
use crate::read::{Primitives, Strings};
use crate::{
    CallArgs, EvalContext, EvalError, FunctionDoc, Kernel, Resolved, ScalarFunction,
    SessionSettings, SignatureError, Volatility, kernel,
};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "DATE_FORMAT",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: |args| {
            args.refuse_untyped_null()?;
            let is_stamp = |root: &TypeRoot| {
                matches!(root, TypeRoot::Timestamp(_) | TypeRoot::TimestampLtz(_))
            };
            match args.types().as_slice() {
                [value, format] if is_text(format) && (is_text(value) || is_stamp(&value.root)) => {
                    Ok(Resolved::unchanged(args, DataType::string()))
                }
                _ => Err(args.no_match(DATE_FORMAT)),
            }
        },
        compile: compile_date_format,
        doc: FunctionDoc {
            syntax: &["DATE_FORMAT(timestamp, format)", "DATE_FORMAT(string, format)"],
            text: "The text of a timestamp in a format of Java's DateTimeFormatter; a TIMESTAMP_LTZ is \
                   shown in the session's time zone. A string must have the form yyyy-MM-dd HH:mm:ss, \
                   else the result is NULL, and the format is then one of SimpleDateFormat.",
            examples: &[
                (
                    "DATE_FORMAT(TIMESTAMP '2024-03-09 15:04:05', 'dd.MM.yyyy HH:mm')",
                    "09.03.2024 15:04",
                ),
                ("DATE_FORMAT('2024-03-09 15:04:05', 'EEE, d MMM yyyy')", "Sat, 9 Mar 2024"),
            ],
        },
    },
    ScalarFunction {
        name: "FROM_UNIXTIME",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: |args| {
            args.refuse_untyped_null()?;
            let fits = args.args.first().is_some_and(|arg| arg.data_type.root.is_integer());
            if !fits || args.len() > 2 || args.args[1..].iter().any(|arg| !is_text(&arg.data_type))
            {
                return Err(args.no_match(&["<INTEGER>", "<INTEGER>, <CHARACTER>"]));
            }
            let mut parameters = args.types();
            parameters[0] = DataType::bigint().with_nullable(args.data_type(0).nullable);
            Ok(Resolved { parameters, returns: DataType::string() })
        },
        compile: compile_from_unixtime,
        doc: FunctionDoc {
            syntax: &["FROM_UNIXTIME(seconds[, format])"],
            text: "The text of a point of time, given in seconds since 1970-01-01 00:00:00 UTC, in the \
                   session's time zone and a format of Java's SimpleDateFormat, yyyy-MM-dd HH:mm:ss \
                   by default.",
            examples: &[("FROM_UNIXTIME(44)", "1970-01-01 00:00:44")],
        },
    },
    ScalarFunction {
        name: "CONVERT_TZ",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: |args| {
            args.refuse_untyped_null()?;
            if args.len() == 3 && args.types().iter().all(is_text) {
                return Ok(Resolved::unchanged(args, DataType::string()));
            }
            Err(args.no_match(&["<CHARACTER>, <CHARACTER>, <CHARACTER>"]))
        },
        compile: compile_convert_tz,
        doc: FunctionDoc {
            syntax: &["CONVERT_TZ(string, from_zone, to_zone)"],
            text: "A time of the form yyyy-MM-dd HH:mm:ss in another time zone; NULL when it does not \
                   have the form. An unknown zone counts as UTC.",
            examples: &[(
                "CONVERT_TZ('1970-01-01 00:00:00', 'UTC', 'America/Los_Angeles')",
                "1969-12-31 16:00:00",
            )],
        },
    },
];

const DATE_FORMAT: &[&str] = &["<TIMESTAMP>, <CHARACTER>", "<CHARACTER>, <CHARACTER>"];

fn compile_date_format(
    args: &CallArgs,
    _: &DataType,
    settings: &SessionSettings,
) -> Result<Box<dyn Kernel>, SignatureError> {
    match args.data_type(0).root {
        TypeRoot::Timestamp(precision) => format_timestamps(args, precision, TimeZone::UTC),
        TypeRoot::TimestampLtz(precision) => {
            format_timestamps(args, precision, settings.zone.clone())
        }
        _ => reformat_strings(args, century(settings)),
    }
}

fn format_timestamps(
    args: &CallArgs,
    precision: u8,
    zone: TimeZone,
) -> Result<Box<dyn Kernel>, SignatureError> {
    let formats = Compiled::new(args, 1, Formatter::compile);
    Ok(kernel(move |args, context| {
        let (values, texts) = (Stamps::new(&args[0], precision), Strings::new(&args[1]));
        let stays_for = formats.constant().and_then(|format| format.as_ref().ok()?.stays_for());
        let (clock, mut formats) = (Clock::new(&zone), formats.rows());
        // Rows that follow each other are often of the same day or minute.
        let mut last = (i64::MIN, String::new());
        write_rows("DATE_FORMAT", context, |row, out| {
            let Some((stamp, text)) = values.get(row).zip(texts.get(row)) else { return Ok(None) };
            let local = Stamp { second: stamp.second + clock.offset(stamp.second), ..stamp };
            let span = stays_for.map(|seconds| local.second.div_euclid(seconds));
            if span == Some(last.0) {
                out.push_str(&last.1);
                return Ok(Some(()));
            }
            let format = formats.get(text).as_ref().map_err(Clone::clone)?;
            format.print(out, &LocalTime::from(local))?;
            if let Some(span) = span {
                last.0 = span;
                last.1.clone_from(out);
            }
            Ok(Some(()))
        })
    }))
}

/// Flink reads and writes strings in UTC here.
fn reformat_strings(args: &CallArgs, century: Century) -> Result<Box<dyn Kernel>, SignatureError> {
    let formats = Compiled::new(args, 1, SimpleFormat::compile);
    let form = SimpleFormat::standard();
    Ok(kernel(move |args, context| {
        let (values, texts) = (Strings::new(&args[0]), Strings::new(&args[1]));
        let (zone, mut formats) = (Zone::new(&TimeZone::UTC), formats.rows());
        write_rows("DATE_FORMAT", context, |row, out| {
            let Some((value, text)) = values.get(row).zip(texts.get(row)) else { return Ok(None) };
            let format = formats.get(text).as_ref().map_err(Clone::clone)?;
            let Some(millis) = form.parse(value, &zone, century) else { return Ok(None) };
            format.print(out, millis, &zone);
            Ok(Some(()))
        })
    }))
}

fn compile_from_unixtime(
    args: &CallArgs,
    _: &DataType,
    settings: &SessionSettings,
) -> Result<Box<dyn Kernel>, SignatureError> {
    let formats = Compiled::new(args, 1, SimpleFormat::compile);
    let form = SimpleFormat::standard();
    let zone = settings.zone.clone();
    Ok(kernel(move |args, context| {
        let seconds = Primitives::<Int64Type>::new(&args[0]);
        let texts = args.get(1).map(Strings::new);
        let (zone, mut formats) = (Zone::new(&zone), formats.rows());
        write_rows("FROM_UNIXTIME", context, |row, out| {
            let Some(second) = seconds.get(row) else { return Ok(None) };
            let format = match &texts {
                None => &form,
                Some(texts) => match texts.get(row) {
                    Some(text) => formats.get(text).as_ref().map_err(Clone::clone)?,
                    None => return Ok(None),
                },
            };
            format.print(out, second.wrapping_mul(1_000), &zone);
            Ok(Some(()))
        })
    }))
}

fn compile_convert_tz(
    _: &CallArgs,
    _: &DataType,
    settings: &SessionSettings,
) -> Result<Box<dyn Kernel>, SignatureError> {
    let form = SimpleFormat::standard();
    let century = century(settings);
    Ok(kernel(move |args, context| {
        let [values, from_names, to_names] = [0, 1, 2].map(|index| Strings::new(&args[index]));
        let (mut from_zones, mut to_zones) = (Memo::default(), Memo::default());
        write_rows("CONVERT_TZ", context, |row, out| {
            let Some(value) = values.get(row) else { return Ok(None) };
            let Some((from, to)) = from_names.get(row).zip(to_names.get(row)) else {
                return Ok(None);
            };
            let zone = |name: &str| Zone::new(&time_zone(name));
            let from = from_zones.get(from, zone);
            let Some(millis) = form.parse(value, from, century) else { return Ok(None) };
            form.print(out, millis, to_zones.get(to, zone));
            Ok(Some(()))
        })
    }))
}

/// Collects one text a row: `write` appends it to an empty buffer, or answers `None` for NULL.
fn write_rows(
    function: &'static str,
    context: &EvalContext,
    mut write: impl FnMut(usize, &mut String) -> Result<Option<()>, String>,
) -> Result<ArrayRef, EvalError> {
    let mut builder = StringBuilder::with_capacity(context.rows, context.rows * 20);
    let mut buffer = String::new();
    for row in 0..context.rows {
        buffer.clear();
        match write(row, &mut buffer) {
            Ok(Some(())) => builder.append_value(&buffer),
            Ok(None) => builder.append_null(),
            Err(reason) => return Err(EvalError::Argument { function, reason }),
        }
    }
    Ok(Arc::new(builder.finish()))
}
