//! Text and numbers as temporal values: TO_DATE, TO_TIMESTAMP, TO_TIMESTAMP_LTZ and UNIX_TIMESTAMP.

use std::sync::Arc;

use arrow::array::{Date32Builder, Int64Builder};
use flott_types::{DataType, TypeRoot};
use jiff::tz::TimeZone;

use super::compiled::Compiled;
use super::formatter::{Failure, Formatter};
use super::now::{self, Reading};
use super::simple_format::{SimpleFormat, Zone};
use super::stamps::{Stamp, StampBuilder};
use super::text_forms::{self, DefaultForm};
use super::{century, is_text};
use crate::read::Strings;
use crate::{
    CallArgs, EvalError, FunctionDoc, Kernel, Resolved, ScalarFunction, SessionSettings,
    SignatureError, Volatility, kernel, total_kernel,
};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "TO_DATE",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: |args| one_or_two_texts(args, DataType::new(TypeRoot::Date)),
        compile: compile_to_date,
        doc: FunctionDoc {
            syntax: &["TO_DATE(string[, format])"],
            text: "The date that a text names: yyyy-MM-dd, possibly without day and month or with a \
                   time after it, or in a format of Java's SimpleDateFormat. NULL when it does not \
                   have the form.",
            examples: &[
                ("TO_DATE('2024-03-09')", "2024-03-09"),
                ("TO_DATE('09.03.24', 'dd.MM.yy')", "2024-03-09"),
            ],
        },
    },
    ScalarFunction {
        name: "TO_TIMESTAMP",
        aliases: &[],
        volatility: Volatility::Immutable,
        resolve: |args| one_or_two_texts(args, DataType::timestamp(3)),
        compile: compile_to_timestamp,
        doc: FunctionDoc {
            syntax: &["TO_TIMESTAMP(string[, format])"],
            text: "The TIMESTAMP(3) that a text names: yyyy-MM-dd HH:mm:ss with a fraction or without \
                   a time, or in a format of Java's DateTimeFormatter. What the format has no letter \
                   for is taken from 1970-01-01 00:00:00. NULL when the text does not have the form.",
            examples: &[
                ("TO_TIMESTAMP('2024-03-09 15:04:05.5')", "2024-03-09 15:04:05.500"),
                ("TO_TIMESTAMP('9 Mar 2024', 'd MMM yyyy')", "2024-03-09 00:00:00.000"),
                ("TO_TIMESTAMP('today')", "NULL"),
            ],
        },
    },
    ScalarFunction {
        name: "UNIX_TIMESTAMP",
        aliases: &[],
        volatility: Volatility::Volatile,
        resolve: |args| {
            if args.is_empty() {
                return Ok(Resolved { parameters: vec![], returns: DataType::bigint().not_null() });
            }
            one_or_two_texts(args, DataType::bigint().with_nullable(args.any_nullable()))
        },
        compile: compile_unix_timestamp,
        doc: FunctionDoc {
            syntax: &["UNIX_TIMESTAMP()", "UNIX_TIMESTAMP(string[, format])"],
            text: "The seconds since 1970-01-01 00:00:00 UTC, now or at the time that a text names in \
                   the session's time zone: yyyy-MM-dd HH:mm:ss or a format of Java's \
                   SimpleDateFormat. -9223372036854775808 when the text does not have the form.",
            examples: &[
                ("UNIX_TIMESTAMP('1970-01-01 08:00:00')", "28800"),
                ("UNIX_TIMESTAMP('09/03/2024', 'dd/MM/yyyy')", "1709942400"),
            ],
        },
    },
];

fn one_or_two_texts(args: &CallArgs, returns: DataType) -> Result<Resolved, SignatureError> {
    args.refuse_untyped_null()?;
    let types = args.types();
    if !(1..=2).contains(&types.len()) || !types.iter().all(is_text) {
        return Err(args.no_match(&["<CHARACTER>", "<CHARACTER>, <CHARACTER>"]));
    }
    Ok(Resolved::unchanged(args, returns))
}

fn compile_to_date(
    args: &CallArgs,
    _: &DataType,
    settings: &SessionSettings,
) -> Result<Box<dyn Kernel>, SignatureError> {
    if args.len() == 1 {
        return Ok(total_kernel(|args, context| {
            let values = Strings::new(&args[0]);
            let mut builder = Date32Builder::with_capacity(context.rows);
            for row in 0..context.rows {
                builder.append_option(values.get(row).and_then(text_forms::date));
            }
            Ok(Arc::new(builder.finish()))
        }));
    }
    let formats = Compiled::new(args, 1, SimpleFormat::compile);
    let century = century(settings);
    Ok(kernel(move |args, context| {
        let (values, texts) = (Strings::new(&args[0]), Strings::new(&args[1]));
        let (zone, mut formats) = (Zone::new(&TimeZone::UTC), formats.rows());
        let mut builder = Date32Builder::with_capacity(context.rows);
        for row in 0..context.rows {
            let days = match values.get(row).zip(texts.get(row)) {
                None => None,
                Some((value, text)) => {
                    let format = formats.get(text).as_ref().map_err(|reason| {
                        EvalError::Argument { function: "TO_DATE", reason: reason.clone() }
                    })?;
                    let millis = format.parse(value, &zone, century);
                    millis.map(|millis| millis.div_euclid(86_400_000) as i32)
                }
            };
            builder.append_option(days);
        }
        Ok(Arc::new(builder.finish()))
    }))
}

fn compile_to_timestamp(
    args: &CallArgs,
    _: &DataType,
    _: &SessionSettings,
) -> Result<Box<dyn Kernel>, SignatureError> {
    if args.len() == 1 {
        let form = DefaultForm::new();
        return Ok(total_kernel(move |args, context| {
            let values = Strings::new(&args[0]);
            let mut builder = StampBuilder::new(3, context.rows);
            for row in 0..context.rows {
                builder.append(values.get(row).and_then(|value| form.parse(value).ok()));
            }
            Ok(builder.finish())
        }));
    }
    let formats = Compiled::new(args, 1, Formatter::compile);
    Ok(total_kernel(move |args, context| {
        let (values, texts) = (Strings::new(&args[0]), Strings::new(&args[1]));
        let mut formats = formats.rows();
        let mut builder = StampBuilder::new(3, context.rows);
        for row in 0..context.rows {
            builder.append(values.get(row).zip(texts.get(row)).and_then(|(value, text)| {
                parse_with(formats.get(text).as_ref().ok()?, value).ok()?
            }));
        }
        Ok(builder.finish())
    }))
}

/// Reads a text in a format, or failing that in the form that Java's `Timestamp.valueOf` reads;
/// `None` when it fits neither. The error is that of a date that does not exist.
pub fn parse_with(format: &Formatter, text: &str) -> Result<Option<Stamp>, String> {
    match format.parse(text) {
        Ok(stamp) => Ok(Some(stamp)),
        Err(Failure::Unparsable(_)) => Ok(text_forms::jdbc_timestamp(text)),
        Err(Failure::Invalid(reason)) => Err(reason),
    }
}

fn compile_unix_timestamp(
    args: &CallArgs,
    _: &DataType,
    settings: &SessionSettings,
) -> Result<Box<dyn Kernel>, SignatureError> {
    if args.is_empty() {
        return Ok(now::compile(settings, Reading::Seconds, Volatility::Volatile));
    }
    let formats = Compiled::new(args, 1, SimpleFormat::compile);
    let form = SimpleFormat::standard();
    let (zone, century) = (settings.zone.clone(), century(settings));
    Ok(kernel(move |args, context| {
        let values = Strings::new(&args[0]);
        let texts = args.get(1).map(Strings::new);
        let (zone, mut formats) = (Zone::new(&zone), formats.rows());
        let mut builder = Int64Builder::with_capacity(context.rows);
        for row in 0..context.rows {
            let text = texts.as_ref().map_or(Some(""), |texts| texts.get(row));
            let Some((value, text)) = values.get(row).zip(text) else {
                builder.append_null();
                continue;
            };
            let format = match &texts {
                None => &form,
                Some(_) => formats.get(text).as_ref().map_err(|reason| EvalError::Argument {
                    function: "UNIX_TIMESTAMP",
                    reason: reason.clone(),
                })?,
            };
            let millis = format.parse(value, &zone, century);
            builder.append_value(millis.map_or(i64::MIN, |millis| millis / 1_000));
        }
        Ok(Arc::new(builder.finish()))
    }))
}
