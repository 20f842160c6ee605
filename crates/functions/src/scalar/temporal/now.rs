//! The current time, and the current watermark.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, Date32Array, Int64Array, Time32MillisecondArray, TimestampMillisecondArray,
    TimestampMillisecondBuilder,
};
use flott_types::{DataType, TypeRoot};

use super::clock::Clock;
use super::unit::MILLIS_PER_DAY;
use crate::{
    CallArgs, EvalContext, FunctionDoc, Kernel, Now, Resolved, ScalarFunction, SessionSettings,
    SignatureError, Volatility, total_kernel,
};

const STREAMING: &str = "When streaming it is taken anew for every record, for which all calls give the same; in \
                         batch mode once for the whole query. It does not change while time passes: \
                         `WHERE ts > NOW() - INTERVAL '1' HOUR` looks at a row once, when it comes.";

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
    let start = settings.query_start.div_euclid(1_000_000) as i64;
    let fixed = settings.batch && volatility == Volatility::Temporal;
    total_kernel(move |_, context| {
        let clock = Clock::new(&zone);
        Ok(match context.now {
            _ if fixed => reading.repeated(start, context.rows, &clock),
            Now::At(millis) => reading.repeated(millis, context.rows, &clock),
            Now::Records(times) if volatility == Volatility::Temporal => {
                let readings = times.readings();
                let of_row = |row| readings[context.row(row)];
                reading.of_each((0..context.rows).map(of_row), &clock)
            }
            Now::Records(times) => reading.of_each((0..context.rows).map(|_| times.read()), &clock),
        })
    })
}

impl Reading {
    /// One moment for all rows.
    fn repeated(self, millis: i64, rows: usize, clock: &Clock) -> ArrayRef {
        self.of_each(std::iter::repeat_n(millis, rows), clock)
    }

    /// Moments, in milliseconds since the epoch, as the clock of a zone shows them.
    fn of_each(self, moments: impl Iterator<Item = i64>, clock: &Clock) -> ArrayRef {
        let local = |millis: i64| {
            millis.wrapping_add(clock.offset(millis.div_euclid(1_000)).wrapping_mul(1_000))
        };
        match self {
            Self::Instant => Arc::new(TimestampMillisecondArray::from_iter_values(moments)),
            Self::Timestamp => {
                Arc::new(TimestampMillisecondArray::from_iter_values(moments.map(local)))
            }
            Self::Seconds => Arc::new(Int64Array::from_iter_values(
                moments.map(|millis| millis.div_euclid(1_000)),
            )),
            Self::Date => {
                let day = |millis| local(millis).div_euclid(MILLIS_PER_DAY) as i32;
                Arc::new(Date32Array::from_iter_values(moments.map(day)))
            }
            Self::Time => {
                let second = |millis| local(millis).rem_euclid(MILLIS_PER_DAY) as i32 / 1_000;
                let millis = moments.map(|millis| second(millis) * 1_000);
                Arc::new(Time32MillisecondArray::from_iter_values(millis))
            }
        }
    }
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
    for row in 0..context.rows {
        let row = context.row(row);
        while let Some((_, mark)) = marks.next_if(|(after, _)| (*after as usize) < row) {
            current = Some(*mark);
        }
        builder.append_option(current.filter(|mark| *mark != i64::MIN));
    }
    builder.finish()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use arrow::array::AsArray;
    use arrow::datatypes::{Date32Type, Time32MillisecondType, TimestampMillisecondType};
    use jiff::tz::TimeZone;

    use super::*;
    use crate::{RecordTimes, Watermarks};

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
    fn each_record_has_its_own_time_and_only_one() {
        let seconds = Rc::new(Cell::new(0));
        let times = RecordTimes::new(3, move || seconds.replace(seconds.get() + 1_000));
        let settings = SessionSettings::default();
        let of = |reading, volatility, context: &EvalContext| {
            let kernel = compile(&settings, reading, volatility);
            let array = kernel.evaluate(&[], context).unwrap();
            match reading {
                Reading::Time => array.as_primitive::<Time32MillisecondType>().values().to_vec(),
                _ => {
                    let instants = array.as_primitive::<TimestampMillisecondType>().values();
                    instants.iter().map(|instant| *instant as i32).collect()
                }
            }
        };
        let all = EvalContext::of_records(&times);
        assert_eq!(of(Reading::Instant, Volatility::Temporal, &all), [0, 1_000, 2_000]);
        assert_eq!(of(Reading::Time, Volatility::Temporal, &all), [0, 1_000, 2_000]);
        // A branch of CASE is evaluated for some records; they have the times that they had.
        let some = EvalContext { rows: 2, selection: Some(&[0, 2]), ..all };
        assert_eq!(of(Reading::Timestamp, Volatility::Temporal, &some), [0, 2_000]);
        assert_eq!(of(Reading::Instant, Volatility::Volatile, &some), [3_000, 4_000]);
        let kept = times.filter(&vec![false, true, true].into());
        let kept = EvalContext::of_records(&kept);
        assert_eq!(of(Reading::Instant, Volatility::Temporal, &kept), [1_000, 2_000]);
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
        let some = EvalContext { rows: 2, selection: Some(&[0, 4]), ..context };
        assert_eq!(watermarks(&some), TimestampMillisecondArray::from(vec![None, Some(30)]));
    }
}
