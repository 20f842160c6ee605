//! Time units: the words of EXTRACT, FLOOR … TO, TIMESTAMPADD and TIMESTAMPDIFF.

use crate::{CallArgs, SignatureError};

/// A unit that a temporal value is taken apart, rounded or moved by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Millennium,
    Century,
    Decade,
    Year,
    IsoYear,
    Quarter,
    Month,
    Week,
    Day,
    DayOfWeek,
    IsoDayOfWeek,
    DayOfYear,
    Hour,
    Minute,
    Second,
    Millisecond,
    Microsecond,
    Nanosecond,
    Epoch,
}

impl Unit {
    /// The unit that a word of SQL names, in upper case.
    pub fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "MILLENNIUM" => Self::Millennium,
            "CENTURY" => Self::Century,
            "DECADE" => Self::Decade,
            "YEAR" => Self::Year,
            "ISOYEAR" => Self::IsoYear,
            "QUARTER" => Self::Quarter,
            "MONTH" => Self::Month,
            "WEEK" => Self::Week,
            "DAY" => Self::Day,
            "DOW" => Self::DayOfWeek,
            "ISODOW" => Self::IsoDayOfWeek,
            "DOY" => Self::DayOfYear,
            "HOUR" => Self::Hour,
            "MINUTE" => Self::Minute,
            "SECOND" => Self::Second,
            "MILLISECOND" => Self::Millisecond,
            "MICROSECOND" => Self::Microsecond,
            "NANOSECOND" => Self::Nanosecond,
            "EPOCH" => Self::Epoch,
            _ => return None,
        })
    }

    /// The unit that stands in the first symbol of a call.
    pub fn of_call(args: &CallArgs) -> Result<Self, SignatureError> {
        let word = args.symbols.first().map(AsRef::as_ref).unwrap_or_default();
        let unit = word.strip_prefix("SQL_TSI_").unwrap_or(word);
        Self::parse(unit).ok_or_else(|| {
            SignatureError::Other(format!(
                "'{word}' is not a time unit\nhint: use SECOND, MINUTE, HOUR, DAY, WEEK, MONTH, QUARTER or YEAR"
            ))
        })
    }

    /// Whether the unit is a number of months.
    pub fn months(self) -> Option<i64> {
        Some(match self {
            Self::Month => 1,
            Self::Quarter => 3,
            Self::Year | Self::IsoYear => 12,
            Self::Decade => 120,
            Self::Century => 1_200,
            Self::Millennium => 12_000,
            _ => return None,
        })
    }

    /// Milliseconds in the unit, of those that are a whole number of them.
    pub fn millis(self) -> Option<i64> {
        Some(match self {
            Self::Week => 7 * MILLIS_PER_DAY,
            Self::Day => MILLIS_PER_DAY,
            Self::Hour => 3_600_000,
            Self::Minute => 60_000,
            Self::Second => 1_000,
            Self::Millisecond => 1,
            _ => return None,
        })
    }
}

/// Milliseconds in a day.
pub const MILLIS_PER_DAY: i64 = 86_400_000;
/// Nanoseconds in a second.
pub const NANOS_PER_SECOND: i64 = 1_000_000_000;
/// Nanoseconds in a day.
pub const NANOS_PER_DAY: i64 = 86_400 * NANOS_PER_SECOND;
