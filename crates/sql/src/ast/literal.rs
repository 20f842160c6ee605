//! Literals and the units of time.

use super::Span;
use std::fmt;

/// A constant as written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Literal {
    /// An unsigned number; a sign is a unary operator of its own.
    Number {
        /// The digits: `10`, `1.50`, `0.5`, `1E-3`; without needless leading zeros, with a capital E.
        text: String,
        /// Which of the three forms it has.
        kind: NumberKind,
    },
    /// `'text'`, `U&'\263A'`, `_UTF16'text'`; decoded.
    String(String),
    /// `X'0AFF'`; decoded.
    Binary(Vec<u8>),
    /// `TRUE` and `FALSE`
    Boolean(bool),
    /// `UNKNOWN`
    Unknown,
    /// `NULL`
    Null,
    /// `DATE 'text'`; the text is unchecked.
    Date(String),
    /// `TIME 'text'`; the text is unchecked.
    Time(String),
    /// `TIMESTAMP 'text'`; the text is unchecked.
    Timestamp(String),
    /// `TIMESTAMP WITH LOCAL TIME ZONE 'text'`; the text is unchecked.
    TimestampLtz(String),
    /// `INTERVAL -'1-2' YEAR TO MONTH`; the text is unchecked.
    Interval(IntervalLiteral),
}

/// The form of a number, which decides its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NumberKind {
    /// Digits only: INT, or BIGINT or DECIMAL when too large.
    Integer,
    /// With a point: DECIMAL.
    Decimal,
    /// With an exponent: DOUBLE.
    Approximate,
}

/// `INTERVAL [+|-] 'text' qualifier`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IntervalLiteral {
    /// Whether a minus stands before the text (the text may have a sign of its own).
    pub negative: bool,
    /// The text between the quotes.
    pub text: String,
    /// The units.
    pub qualifier: IntervalQualifier,
}

/// `DAY(3) TO SECOND(6)`: which fields an interval has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IntervalQualifier {
    /// The largest field.
    pub start: TimeUnit,
    /// Digits of the largest field, where given.
    pub start_precision: Option<u32>,
    /// The smallest field, where given.
    pub end: Option<TimeUnit>,
    /// Digits of the fraction of seconds, where given.
    pub fraction_precision: Option<u32>,
    /// Where it stands.
    pub span: Span,
}

/// A unit of time, as in `EXTRACT(unit FROM t)`, `FLOOR(t TO unit)` and intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)] // The names say it.
pub enum TimeUnit {
    Nanosecond,
    Microsecond,
    Millisecond,
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
    Decade,
    Century,
    Millennium,
    /// Day of the week, Sunday is 1.
    Dow,
    /// Day of the week, Monday is 1.
    IsoDow,
    /// Day of the year.
    Doy,
    /// The year that the ISO week belongs to.
    IsoYear,
    /// Seconds since 1970.
    Epoch,
}

impl TimeUnit {
    /// The keyword.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nanosecond => "NANOSECOND",
            Self::Microsecond => "MICROSECOND",
            Self::Millisecond => "MILLISECOND",
            Self::Second => "SECOND",
            Self::Minute => "MINUTE",
            Self::Hour => "HOUR",
            Self::Day => "DAY",
            Self::Week => "WEEK",
            Self::Month => "MONTH",
            Self::Quarter => "QUARTER",
            Self::Year => "YEAR",
            Self::Decade => "DECADE",
            Self::Century => "CENTURY",
            Self::Millennium => "MILLENNIUM",
            Self::Dow => "DOW",
            Self::IsoDow => "ISODOW",
            Self::Doy => "DOY",
            Self::IsoYear => "ISOYEAR",
            Self::Epoch => "EPOCH",
        }
    }
}

impl fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
