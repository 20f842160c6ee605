//! Time units: the words of EXTRACT, FLOOR … TO, TIMESTAMPADD and TIMESTAMPDIFF.

use std::fmt;

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
        WORDS.iter().find(|(known, _)| *known == word).map(|(_, unit)| *unit)
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

impl fmt::Display for Unit {
    /// The word of SQL.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = WORDS.iter().find(|(_, unit)| unit == self).map_or("", |(word, _)| word);
        f.write_str(word)
    }
}

const WORDS: &[(&str, Unit)] = &[
    ("MILLENNIUM", Unit::Millennium),
    ("CENTURY", Unit::Century),
    ("DECADE", Unit::Decade),
    ("YEAR", Unit::Year),
    ("ISOYEAR", Unit::IsoYear),
    ("QUARTER", Unit::Quarter),
    ("MONTH", Unit::Month),
    ("WEEK", Unit::Week),
    ("DAY", Unit::Day),
    ("DOW", Unit::DayOfWeek),
    ("ISODOW", Unit::IsoDayOfWeek),
    ("DOY", Unit::DayOfYear),
    ("HOUR", Unit::Hour),
    ("MINUTE", Unit::Minute),
    ("SECOND", Unit::Second),
    ("MILLISECOND", Unit::Millisecond),
    ("MICROSECOND", Unit::Microsecond),
    ("NANOSECOND", Unit::Nanosecond),
    ("EPOCH", Unit::Epoch),
];

/// Milliseconds in a day.
pub const MILLIS_PER_DAY: i64 = 86_400_000;
/// Nanoseconds in a second.
pub const NANOS_PER_SECOND: i64 = 1_000_000_000;
/// Nanoseconds in a day.
pub const NANOS_PER_DAY: i64 = 86_400 * NANOS_PER_SECOND;
