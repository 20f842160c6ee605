//! Casts among dates, times and timestamps.
//!
//! Finer precision is cut off, towards the past. TIMESTAMP_LTZ meets the other types on the clocks of
//! the session's time zone.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, Date32Array, Decimal128Array, Time32MillisecondArray,
    TimestampMicrosecondArray, TimestampMillisecondArray,
};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{
    Date32Type, Decimal128Type, Time32MillisecondType, TimestampMicrosecondType,
    TimestampMillisecondType,
};
use flott_types::{TimestampUnit, TypeRoot, timestamp_unit};
use jiff::tz::TimeZone;

use super::conversion::Conversion;
use crate::EvalError;
use crate::zone::Zone;

const SECONDS_PER_DAY: i64 = 86_400;

/// The conversion between two roots of these kinds; `None` if there is none.
pub(super) fn between(from: &TypeRoot, to: &TypeRoot, zone: TimeZone) -> Option<Conversion> {
    let (from, to) = (Kind::of(from)?, Kind::of(to)?);
    if matches!((from, to), (Kind::Date, Kind::Time(_)) | (Kind::Time(_), Kind::Date)) {
        return None;
    }
    let zone = Zone::new(zone);
    let shift = match (from.is_instant(), to.is_instant()) {
        _ if zone.is_utc() => Shift::None,
        (true, false) => Shift::ToLocal,
        (false, true) => Shift::ToInstant,
        _ => Shift::None,
    };
    let wide = from.is_wide() || to.is_wide();
    Some(Conversion::total(move |array| {
        if wide {
            run::<i128>(array, from, to, shift, &zone)
        } else {
            run::<i64>(array, from, to, shift, &zone)
        }
    }))
}

/// What the steps of a stored number are.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Date,
    Time(u8),
    Timestamp { precision: u8, instant: bool },
}

#[derive(Debug, Clone, Copy)]
enum Shift {
    None,
    ToLocal,
    ToInstant,
}

impl Kind {
    fn of(root: &TypeRoot) -> Option<Self> {
        Some(match root {
            TypeRoot::Date => Self::Date,
            TypeRoot::Time(precision) => Self::Time(*precision),
            TypeRoot::Timestamp(p) => Self::Timestamp { precision: *p, instant: false },
            TypeRoot::TimestampLtz(p) => Self::Timestamp { precision: *p, instant: true },
            _ => return None,
        })
    }

    fn is_instant(self) -> bool {
        matches!(self, Self::Timestamp { instant: true, .. })
    }

    fn is_wide(self) -> bool {
        self.unit() == Some(TimestampUnit::Nanos)
    }

    fn unit(self) -> Option<TimestampUnit> {
        match self {
            Self::Timestamp { precision, .. } => Some(timestamp_unit(precision)),
            _ => None,
        }
    }

    /// Steps in a second; those of a DATE are taken as seconds.
    fn per_second(self) -> i64 {
        match self.unit() {
            Some(unit) => (1_000_000_000 / unit.nanos()) as i64,
            None if matches!(self, Self::Date) => 1,
            None => 1000,
        }
    }

    /// The steps of which stored numbers are multiples.
    fn granule(self) -> i64 {
        match self {
            Self::Date => 1,
            Self::Time(precision) => 10i64.pow(3u32.saturating_sub(precision.into())),
            Self::Timestamp { precision, .. } => {
                self.per_second() / 10i64.pow(u32::from(precision.min(9)))
            }
        }
    }
}

fn run<S: Steps>(
    array: &ArrayRef,
    from: Kind,
    to: Kind,
    shift: Shift,
    zone: &Zone,
) -> Result<ArrayRef, EvalError> {
    let per_second = from.per_second();
    let mut steps: Vec<S> = read(array, from);
    match shift {
        Shift::None => {}
        Shift::ToLocal => steps.iter_mut().for_each(|step| {
            let offset = zone.offset_at(step.floor(per_second).low());
            *step = step.plus(offset * per_second);
        }),
        Shift::ToInstant => steps.iter_mut().for_each(|step| {
            let offset = zone.offset_of_local(step.floor(per_second).low());
            *step = step.plus(-offset * per_second);
        }),
    }
    let day = per_second * SECONDS_PER_DAY;
    match to {
        Kind::Date => steps.iter_mut().for_each(|step| *step = step.floor(day)),
        _ => {
            if matches!(to, Kind::Time(_)) {
                steps.iter_mut().for_each(|step| *step = step.modulo(day));
            }
            rescale(&mut steps, per_second, to.per_second());
            let granule = to.granule();
            if granule > 1 {
                steps.iter_mut().for_each(|step| *step = step.floor(granule).times(granule));
            }
        }
    }
    Ok(write(steps, array.logical_nulls(), to))
}

fn rescale<S: Steps>(steps: &mut [S], from: i64, to: i64) {
    if to > from {
        let factor = to / from;
        steps.iter_mut().for_each(|step| *step = step.times(factor));
    } else if from > to {
        let divisor = from / to;
        steps.iter_mut().for_each(|step| *step = step.floor(divisor));
    }
}

fn read<S: Steps>(array: &ArrayRef, kind: Kind) -> Vec<S> {
    match (kind, kind.unit()) {
        (Kind::Date, _) => {
            let days = array.as_primitive::<Date32Type>().values().iter();
            days.map(|days| S::of(i64::from(*days) * SECONDS_PER_DAY)).collect()
        }
        (_, None) => {
            let millis = array.as_primitive::<Time32MillisecondType>().values().iter();
            millis.map(|millis| S::of(i64::from(*millis))).collect()
        }
        (_, Some(TimestampUnit::Millis)) => {
            let steps = array.as_primitive::<TimestampMillisecondType>().values().iter();
            steps.map(|step| S::of(*step)).collect()
        }
        (_, Some(TimestampUnit::Micros)) => {
            let steps = array.as_primitive::<TimestampMicrosecondType>().values().iter();
            steps.map(|step| S::of(*step)).collect()
        }
        (_, Some(TimestampUnit::Nanos)) => {
            let steps = array.as_primitive::<Decimal128Type>().values().iter();
            steps.map(|step| S::of_wide(*step)).collect()
        }
    }
}

fn write<S: Steps>(steps: Vec<S>, nulls: Option<NullBuffer>, kind: Kind) -> ArrayRef {
    let narrow =
        |steps: Vec<S>| steps.into_iter().map(|step| step.low() as i32).collect::<Vec<_>>();
    let long = |steps: Vec<S>| steps.into_iter().map(Steps::low).collect::<Vec<_>>();
    match (kind, kind.unit()) {
        (Kind::Date, _) => Arc::new(Date32Array::new(narrow(steps).into(), nulls)),
        (_, None) => Arc::new(Time32MillisecondArray::new(narrow(steps).into(), nulls)),
        (_, Some(TimestampUnit::Millis)) => {
            Arc::new(TimestampMillisecondArray::new(long(steps).into(), nulls))
        }
        (_, Some(TimestampUnit::Micros)) => {
            Arc::new(TimestampMicrosecondArray::new(long(steps).into(), nulls))
        }
        (_, Some(TimestampUnit::Nanos)) => {
            let wide: Vec<i128> = steps.into_iter().map(Steps::wide).collect();
            let digits = Decimal128Array::new(wide.into(), nulls);
            Arc::new(digits.with_data_type(arrow::datatypes::DataType::Decimal128(38, 9)))
        }
    }
}

/// A number of steps; 128 bits where nanoseconds take part. Overflow wraps, as in Java.
trait Steps: Copy {
    fn of(value: i64) -> Self;
    fn of_wide(value: i128) -> Self;
    fn low(self) -> i64;
    fn wide(self) -> i128;
    fn plus(self, steps: i64) -> Self;
    fn times(self, factor: i64) -> Self;
    /// The quotient, rounded down; the divisor is positive.
    fn floor(self, divisor: i64) -> Self;
    /// The remainder of that quotient.
    fn modulo(self, divisor: i64) -> Self;
}

impl Steps for i64 {
    fn of(value: i64) -> Self {
        value
    }
    fn of_wide(value: i128) -> Self {
        value as i64
    }
    fn low(self) -> i64 {
        self
    }
    fn wide(self) -> i128 {
        self.into()
    }
    fn plus(self, steps: i64) -> Self {
        self.wrapping_add(steps)
    }
    fn times(self, factor: i64) -> Self {
        self.wrapping_mul(factor)
    }
    fn floor(self, divisor: i64) -> Self {
        self.div_euclid(divisor)
    }
    fn modulo(self, divisor: i64) -> Self {
        self.rem_euclid(divisor)
    }
}

impl Steps for i128 {
    fn of(value: i64) -> Self {
        value.into()
    }
    fn of_wide(value: i128) -> Self {
        value
    }
    fn low(self) -> i64 {
        self as i64
    }
    fn wide(self) -> i128 {
        self
    }
    fn plus(self, steps: i64) -> Self {
        self.wrapping_add(steps.into())
    }
    fn times(self, factor: i64) -> Self {
        self.wrapping_mul(factor.into())
    }
    fn floor(self, divisor: i64) -> Self {
        self.div_euclid(divisor.into())
    }
    fn modulo(self, divisor: i64) -> Self {
        self.rem_euclid(divisor.into())
    }
}
