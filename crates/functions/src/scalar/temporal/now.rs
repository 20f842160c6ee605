//! The current time, and the current watermark.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, Date32Array, Int64Array, Time32MillisecondArray, TimestampMillisecondArray,
    TimestampMillisecondBuilder,
};
use flott_types::{DataType, TypeRoot};

use super::clock::Clock;
use super::unit::MILLIS_PER_DAY;
use crate::{
    CallArgs, EvalContext, FunctionDoc, Kernel, Resolved, ScalarFunction, SessionSettings,
    SignatureError, Volatility, total_kernel,
};

const STREAMING: &str = "When streaming it is taken anew for every record, in batch mode once for \
                         the whole query.";

/// A function without arguments that tells the time.
macro_rules! current {
    (
        $name:literal, $form:literal, $aliases:expr, $volatility:ident, $root:expr, $reading:expr,
        $text:expr
    ) => {
        ScalarFunction {
            name: $name,
            aliases: $aliases,
            volatility: Volatility::$volatility,
            resolve: |args| no_arguments(args, $root),
            compile: |_, _, settings| Ok(compile(settings, $reading, Volatility::$volatility)),
            doc: FunctionDoc {
                syntax: &[$form],
                text: $text,
                examples: &[(concat!($form, " IS NULL"), "FALSE")],
            },
        }
    };
}

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    current!(
        "CURRENT_DATE",
        "CURRENT_DATE",
        &[],
        Temporal,
        TypeRoot::Date,
        Reading::Date,
        STREAMING
    ),
    current!(
        "CURRENT_TIME",
        "CURRENT_TIME",
        &[],
        Temporal,
        TypeRoot::Time(0),
        Reading::Time,
        STREAMING
    ),
    current!("LOCALTIME", "LOCALTIME", &[], Temporal, TypeRoot::Time(0), Reading::Time, STREAMING),
    current!(
        "CURRENT_TIMESTAMP",
        "CURRENT_TIMESTAMP",
        &["NOW"],
        Temporal,
        TypeRoot::TimestampLtz(3),
        Reading::Instant,
        STREAMING
    ),
    current!(
        "LOCALTIMESTAMP",
        "LOCALTIMESTAMP",
        &[],
        Temporal,
        TypeRoot::Timestamp(3),
        Reading::Timestamp,
        STREAMING
    ),
    current!(
        "CURRENT_ROW_TIMESTAMP",
        "CURRENT_ROW_TIMESTAMP()",
        &[],
        Volatile,
        TypeRoot::TimestampLtz(3),
        Reading::Instant,
        "The current instant, taken anew for every record in both modes."
    ),
    current!(
        "PROCTIME",
        "PROCTIME()",
        &[],
        Volatile,
        TypeRoot::TimestampLtz(3),
        Reading::Instant,
        "The processing time attribute: in a computed column of a table it makes the column one."
    ),
    ScalarFunction {
        name: "CURRENT_WATERMARK",
        aliases: &[],
        volatility: Volatility::Volatile,
        resolve: resolve_watermark,
        compile: compile_watermark,
        doc: FunctionDoc {
            syntax: &["CURRENT_WATERMARK(rowtime)"],
            text: "The watermark at the operator, of the type of the event time attribute given; NULL \
                   before the first. Not available in batch mode.",
            examples: &[],
        },
    },
];

fn no_arguments(args: &CallArgs, returns: TypeRoot) -> Result<Resolved, SignatureError> {
    match args.is_empty() {
        true => Ok(Resolved { parameters: Vec::new(), returns: returns.not_null() }),
        false => Err(args.no_match(&["()"])),
    }
}

/// What is read off the clock.
#[derive(Clone, Copy)]
pub enum Reading {
    Date,
    Time,
    Timestamp,
    Instant,
    /// Whole seconds since the epoch.
    Seconds,
}

/// The kernel that reads the clock: in batch mode, unless it is volatile, as it was when the query
/// began.
pub fn compile(
    settings: &SessionSettings,
    reading: Reading,
    volatility: Volatility,
) -> Box<dyn Kernel> {
    let zone = settings.zone.clone();
    let start = settings.query_start;
    let fixed = settings.batch && volatility == Volatility::Temporal;
    total_kernel(move |_, context| {
        let nanos = if fixed { start } else { context.now };
        let millis = nanos.div_euclid(1_000_000) as i64;
        let rows = context.rows;
        let local =
            || millis.wrapping_add(Clock::new(&zone).offset(millis.div_euclid(1_000)) * 1_000);
        Ok(match reading {
            Reading::Instant => repeated(TimestampMillisecondArray::from_value(millis, rows)),
            Reading::Timestamp => repeated(TimestampMillisecondArray::from_value(local(), rows)),
            Reading::Seconds => repeated(Int64Array::from_value(millis.div_euclid(1_000), rows)),
            Reading::Date => {
                repeated(Date32Array::from_value(local().div_euclid(MILLIS_PER_DAY) as i32, rows))
            }
            Reading::Time => {
                let second = local().rem_euclid(MILLIS_PER_DAY) / 1_000;
                repeated(Time32MillisecondArray::from_value(second as i32 * 1_000, rows))
            }
        })
    })
}

fn repeated(array: impl Array + 'static) -> ArrayRef {
    Arc::new(array)
}

fn resolve_watermark(args: &CallArgs) -> Result<Resolved, SignatureError> {
    let returns = match args.args.as_slice() {
        [arg] => match arg.data_type.root {
            TypeRoot::Timestamp(0..=3) => TypeRoot::Timestamp(3),
            TypeRoot::TimestampLtz(0..=3) => TypeRoot::TimestampLtz(3),
            TypeRoot::Timestamp(p) | TypeRoot::TimestampLtz(p) => {
                return Err(SignatureError::Argument {
                    name: args.name.clone(),
                    position: 1,
                    reason: format!(
                        "an event time attribute has a precision of at most 3, not {p}"
                    ),
                });
            }
            _ => return Err(args.no_match(&["<ROWTIME>"])),
        },
        _ => return Err(args.no_match(&["<ROWTIME>"])),
    };
    Ok(Resolved::unchanged(args, returns.nullable()))
}

fn compile_watermark(
    _: &CallArgs,
    _: &DataType,
    settings: &SessionSettings,
) -> Result<Box<dyn Kernel>, SignatureError> {
    if settings.batch {
        return Err(SignatureError::Other(
            "CURRENT_WATERMARK is not available in batch mode\nhint: SET 'execution.runtime-mode' = 'streaming'"
                .into(),
        ));
    }
    Ok(total_kernel(|_, context| Ok(Arc::new(watermarks(context)))))
}

/// The watermark before each row. One that is still at its minimum is none.
fn watermarks(context: &EvalContext) -> TimestampMillisecondArray {
    let mut builder = TimestampMillisecondBuilder::with_capacity(context.rows);
    let mut marks = context.watermarks.marks.iter().peekable();
    let mut current = context.watermarks.initial;
    for row in 0..context.rows as u32 {
        builder.append_option(current.filter(|mark| *mark != i64::MIN));
        while let Some((_, mark)) = marks.next_if(|(after, _)| *after <= row) {
            current = Some(*mark);
        }
    }
    builder.finish()
}

#[cfg(test)]
mod tests {
    use arrow::array::AsArray;
    use arrow::datatypes::{Date32Type, Time32MillisecondType, TimestampMillisecondType};
    use jiff::tz::TimeZone;

    use super::*;
    use crate::Watermarks;

    fn read(settings: &SessionSettings, reading: Reading, now: i128) -> ArrayRef {
        let kernel = compile(settings, reading, Volatility::Temporal);
        kernel.evaluate(&[], &EvalContext::new(2, now)).unwrap()
    }

    #[test]
    fn the_clock_is_read_in_the_zone_of_the_session() {
        let tokyo = SessionSettings {
            zone: TimeZone::get("Asia/Tokyo").unwrap(),
            ..SessionSettings::default()
        };
        // 1970-01-01 20:00:00.123456 UTC, in Tokyo 5 o'clock of the next day.
        let now = 72_000_123_456_000;
        assert_eq!(read(&tokyo, Reading::Date, now).as_primitive::<Date32Type>().value(1), 1);
        let time = read(&tokyo, Reading::Time, now);
        assert_eq!(time.as_primitive::<Time32MillisecondType>().value(0), 18_000_000);
        let instant = read(&tokyo, Reading::Instant, now);
        assert_eq!(instant.as_primitive::<TimestampMillisecondType>().value(0), 72_000_123);
        let batch = SessionSettings { batch: true, query_start: 5_000_000, ..tokyo };
        let instant = read(&batch, Reading::Instant, now);
        assert_eq!(instant.as_primitive::<TimestampMillisecondType>().value(0), 5);
    }

    #[test]
    fn a_watermark_holds_from_the_next_row_on() {
        let marks = [(0, 10), (2, 20), (2, 30)];
        let context = EvalContext {
            watermarks: Watermarks { initial: None, marks: &marks },
            ..EvalContext::new(5, 0)
        };
        let expected = [None, Some(10), Some(10), Some(30), Some(30)];
        assert_eq!(watermarks(&context), TimestampMillisecondArray::from(expected.to_vec()));
    }
}
