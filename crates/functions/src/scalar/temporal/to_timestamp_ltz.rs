//! TO_TIMESTAMP_LTZ.

use arrow::datatypes::{Decimal128Type, Float64Type, Int32Type, Int64Type};
use flott_types::{DataType, Family, TypeRoot, Value};

use super::clock::{Clock, Overlap};
use super::compiled::{Compiled, Memo};
use super::formatter::{Failure, Formatter};
use super::is_text;
use super::reading::parse_with;
use super::stamps::{Stamp, StampBuilder};
use super::text_forms::DefaultForm;
use super::unit::NANOS_PER_SECOND;
use super::zone_id::zone_id;
use crate::read::{Primitives, Strings};
use crate::{
    CallArgs, Column, EvalError, FunctionDoc, Kernel, Resolved, ScalarFunction, SessionSettings,
    SignatureError, Volatility, kernel,
};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[ScalarFunction {
    name: "TO_TIMESTAMP_LTZ",
    aliases: &[],
    volatility: Volatility::Immutable,
    resolve,
    compile,
    doc: FunctionDoc {
        syntax: &[
            "TO_TIMESTAMP_LTZ(number[, precision])",
            "TO_TIMESTAMP_LTZ(string[, format[, zone]])",
        ],
        text: "The instant that is a number of units of 10^-precision seconds after 1970-01-01 \
               00:00:00 UTC, milliseconds by default; NULL outside of the years 0 to 9999. Or the \
               instant at which a zone, UTC by default, shows the time that a text names: \
               yyyy-MM-dd HH:mm:ss with a fraction, which else is an error, or a format of Java's \
               DateTimeFormatter, which else gives NULL. The precision of the result is that of the \
               number, or the number of S at the end of the format, but at least 3.",
        examples: &[
            ("TO_TIMESTAMP_LTZ(1709996645, 0)", "2024-03-09 15:04:05.000"),
            ("TO_TIMESTAMP_LTZ('2024-03-09 15:04:05')", "2024-03-09 15:04:05.000"),
        ],
    },
}];

const FORMS: &[&str] = &[
    "<NUMERIC>",
    "<NUMERIC>, <INTEGER>",
    "<CHARACTER>",
    "<CHARACTER>, <CHARACTER>",
    "<CHARACTER>, <CHARACTER>, <CHARACTER>",
];

fn resolve(args: &CallArgs) -> Result<Resolved, SignatureError> {
    let mut types = args.types();
    if types.iter().skip(1).any(|ty| ty.root == TypeRoot::Null) {
        return Err(SignatureError::UntypedNull);
    }
    if let [first, ..] = types.as_mut_slice()
        && first.root == TypeRoot::Null
    {
        *first = DataType::string();
    }
    let precision = match types.as_slice() {
        [number] if number.family() == Family::Numeric => 3,
        [number, precision] if number.family() == Family::Numeric => match precision.root {
            TypeRoot::Int => precision_of_number(args)?,
            _ => return Err(args.no_match(FORMS)),
        },
        [text] if is_text(text) => 3,
        [_, _] | [_, _, _] if types.iter().all(is_text) => {
            args.literal_str(1).map_or(3, precision_of_format)
        }
        _ => return Err(args.no_match(FORMS)),
    };
    let mut parameters = types.clone();
    let wide = match types[0].root {
        TypeRoot::TinyInt | TypeRoot::SmallInt | TypeRoot::Int => Some(TypeRoot::BigInt),
        TypeRoot::Float => Some(TypeRoot::Double),
        _ => None,
    };
    if let Some(root) = wide {
        parameters[0] = root.nullable().with_nullable(types[0].nullable);
    }
    if types[0].family() == Family::Numeric && types.len() == 2 {
        parameters[1] = DataType::int().with_nullable(types[1].nullable);
    }
    Ok(Resolved { parameters, returns: DataType::timestamp_ltz(precision) })
}

fn precision_of_number(args: &CallArgs) -> Result<u8, SignatureError> {
    match args.literal(1).and_then(Value::as_int) {
        None => Ok(3),
        Some(precision @ 0..=9) => Ok((precision as u8).max(3)),
        Some(other) => Err(SignatureError::Argument {
            name: args.name.clone(),
            position: 2,
            reason: format!("the precision must be from 0 to 9, not {other}"),
        }),
    }
}

/// The number of S that a format ends with, at least 3.
fn precision_of_format(format: &str) -> u8 {
    let trailing = format.bytes().rev().take_while(|byte| *byte == b'S').count();
    trailing.clamp(3, 9) as u8
}

fn compile(
    args: &CallArgs,
    returns: &DataType,
    _: &SessionSettings,
) -> Result<Box<dyn Kernel>, SignatureError> {
    let TypeRoot::TimestampLtz(precision) = returns.root else { return Err(args.no_match(FORMS)) };
    let root = args.data_type(0).root.clone();
    if root.family() == Family::Numeric {
        return Ok(of_numbers(root, precision));
    }
    match args.len() {
        1 => Ok(of_texts(precision)),
        _ => of_formatted(args, precision),
    }
}

fn of_numbers(root: TypeRoot, precision: u8) -> Box<dyn Kernel> {
    kernel(move |args, context| {
        let numbers = Numbers::new(&args[0], &root);
        let digits = args.get(1).map(Primitives::<Int32Type>::new);
        let mut builder = StampBuilder::new(precision, context.rows);
        for row in 0..context.rows {
            let digits = digits.as_ref().map_or(Some(3), |digits| digits.get(row));
            builder.append(match digits {
                None => None,
                Some(digits @ 0..=9) => numbers.get(row, digits as u32),
                Some(other) => {
                    return Err(EvalError::Argument {
                        function: "TO_TIMESTAMP_LTZ",
                        reason: format!("the precision must be from 0 to 9, not {other}"),
                    });
                }
            });
        }
        Ok(builder.finish())
    })
}

/// Counts of units since the epoch.
enum Numbers<'a> {
    Ints(Primitives<'a, Int64Type>),
    Doubles(Primitives<'a, Float64Type>),
    Decimals(Primitives<'a, Decimal128Type>, i128),
}

/// Seconds since the epoch at the ends of the years 0 and 9999.
const RANGE: std::ops::RangeInclusive<i64> = -62_167_219_200..=253_402_300_799;

impl<'a> Numbers<'a> {
    fn new(column: &'a Column, root: &TypeRoot) -> Self {
        match root {
            TypeRoot::Double => Self::Doubles(Primitives::new(column)),
            TypeRoot::Decimal { scale, .. } => {
                Self::Decimals(Primitives::new(column), 10i128.pow(u32::from(*scale)))
            }
            _ => Self::Ints(Primitives::new(column)),
        }
    }

    /// The instant of a count of units of 10^-digits seconds; `None` outside of the range.
    fn get(&self, row: usize, digits: u32) -> Option<Stamp> {
        match self {
            Self::Ints(ints) => of_units(ints.get(row)?, digits),
            Self::Decimals(decimals, unit) => of_units((decimals.get(row)? / unit) as i64, digits),
            Self::Doubles(doubles) => {
                let value = doubles.get(row)?;
                let seconds = value / 10f64.powi(digits as i32);
                // NaN passes, and is then 0, as in Java.
                if seconds < *RANGE.start() as f64 || seconds > *RANGE.end() as f64 {
                    return None;
                }
                of_units((value * 10f64.powi(9 - digits as i32)) as i64, 9)
            }
        }
    }
}

fn of_units(count: i64, digits: u32) -> Option<Stamp> {
    let per_second = 10i64.pow(digits);
    let second = count.div_euclid(per_second);
    let nano = count.rem_euclid(per_second) * (NANOS_PER_SECOND / per_second);
    RANGE.contains(&second).then_some(Stamp { second, nano: nano as u32 })
}

fn of_texts(precision: u8) -> Box<dyn Kernel> {
    let form = DefaultForm::new();
    kernel(move |args, context| {
        let values = Strings::new(&args[0]);
        let mut builder = StampBuilder::new(precision, context.rows);
        for row in 0..context.rows {
            let stamp = values.get(row).map(|value| form.parse(value)).transpose();
            builder.append(stamp.map_err(|failure| {
                let (Failure::Unparsable(reason) | Failure::Invalid(reason)) = failure;
                EvalError::Argument { function: "TO_TIMESTAMP_LTZ", reason }
            })?);
        }
        Ok(builder.finish())
    })
}

fn of_formatted(args: &CallArgs, precision: u8) -> Result<Box<dyn Kernel>, SignatureError> {
    let formats = Compiled::new(args, 1, Formatter::compile);
    // Unlike those of other functions a pattern is checked while planning.
    if let Some(Err(reason)) = formats.constant() {
        return Err(SignatureError::Argument {
            name: args.name.clone(),
            position: 2,
            reason: reason.clone(),
        });
    }
    if let Some(name) = args.literal_str(2)
        && zone_id(name).is_none()
    {
        return Err(SignatureError::Argument {
            name: args.name.clone(),
            position: 3,
            reason: format!("'{name}' is not the id of a time zone"),
        });
    }
    Ok(kernel(move |args, context| {
        let (values, texts) = (Strings::new(&args[0]), Strings::new(&args[1]));
        let names = args.get(2).map(Strings::new);
        let (mut formats, mut clocks) = (formats.rows(), Memo::default());
        let mut builder = StampBuilder::new(precision, context.rows);
        for row in 0..context.rows {
            let name = names.map_or(Some("UTC"), |names| names.get(row));
            let (Some(value), Some(text), Some(name)) = (values.get(row), texts.get(row), name)
            else {
                builder.append(None);
                continue;
            };
            let Ok(format) = formats.get(text) else {
                builder.append(None);
                continue;
            };
            let local = parse_with(format, value)
                .map_err(|reason| EvalError::Argument { function: "TO_TIMESTAMP_LTZ", reason })?;
            let clock = |name: &str| zone_id(name).map(|zone| Clock::new(&zone));
            builder.append(match (local, clocks.get(name, clock)) {
                (Some(local), Some(clock)) => {
                    Some(Stamp { second: clock.instant(local.second, Overlap::Earlier), ..local })
                }
                _ => None,
            });
        }
        Ok(builder.finish())
    }))
}
