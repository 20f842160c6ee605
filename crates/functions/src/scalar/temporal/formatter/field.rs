//! Fields of a date and time.

use flott_types::text::{Civil, civil_from_days};

use super::super::calendar::{
    day_of_week, day_of_year, iso_day_of_week, sunday_week, sunday_week_of_month,
};
use super::super::unit::NANOS_PER_SECOND;

/// What a number or name in a pattern stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    Era,
    YearOfEra,
    Year,
    WeekYear,
    Quarter,
    Month,
    WeekOfYear,
    WeekOfMonth,
    DayOfYear,
    DayOfMonth,
    /// Monday is 1.
    DayOfWeek,
    /// Sunday is 1.
    LocalDayOfWeek,
    /// The place within seven days counted from the first of the month.
    AlignedDay,
    ModifiedJulianDay,
    AmPm,
    Hour,
    HourFrom1,
    HalfDayHour,
    HalfDayHourFrom1,
    Minute,
    Second,
    Nano,
    MilliOfDay,
    NanoOfDay,
    /// A place in [`DAY_PERIODS`].
    DayPeriod,
}

/// A part of the day that has a name.
pub struct DayPeriod {
    pub name: &'static str,
    pub narrow: &'static str,
    /// Its first minute of the day.
    from: i64,
    /// The minute of the day that it ends before, or its only one.
    to: i64,
}

/// What English calls the parts of the day; those of a minute first.
pub const DAY_PERIODS: [DayPeriod; 6] = [
    DayPeriod { name: "midnight", narrow: "mi", from: 0, to: 0 },
    DayPeriod { name: "noon", narrow: "n", from: 720, to: 720 },
    DayPeriod { name: "in the morning", narrow: "in the morning", from: 360, to: 720 },
    DayPeriod { name: "in the afternoon", narrow: "in the afternoon", from: 720, to: 1_080 },
    DayPeriod { name: "in the evening", narrow: "in the evening", from: 1_080, to: 1_260 },
    DayPeriod { name: "at night", narrow: "at night", from: 1_260, to: 360 },
];

impl DayPeriod {
    /// Whether a minute of the day belongs to it.
    pub fn includes(&self, minute: i64) -> bool {
        match self.from.cmp(&self.to) {
            std::cmp::Ordering::Equal => minute == self.from,
            std::cmp::Ordering::Less => (self.from..self.to).contains(&minute),
            std::cmp::Ordering::Greater => minute >= self.from || minute < self.to,
        }
    }

    /// The minute of the day in its middle.
    pub fn middle(&self) -> i64 {
        let across_midnight = if self.from > self.to { 720 } else { 0 };
        ((self.from + self.to) / 2 + across_midnight) % 1_440
    }
}

impl Field {
    /// All, in the order of their numbers.
    pub const COUNT: usize = Self::DayPeriod as usize + 1;

    /// Whether it belongs to the date.
    pub fn is_of_date(self) -> bool {
        (self as usize) < Self::AmPm as usize
    }

    /// For how many seconds its value stays: times that lie between the same two multiples of that have
    /// the same one. `None` for what changes within a second.
    pub fn stays_for(self) -> Option<i64> {
        match self {
            date if date.is_of_date() => Some(86_400),
            Self::AmPm => Some(43_200),
            Self::Hour | Self::HourFrom1 | Self::HalfDayHour | Self::HalfDayHourFrom1 => {
                Some(3_600)
            }
            Self::Minute | Self::DayPeriod => Some(60),
            Self::Second => Some(1),
            _ => None,
        }
    }

    /// The least and greatest value.
    pub fn range(self) -> (i64, i64) {
        match self {
            Self::Era | Self::AmPm => (0, 1),
            Self::YearOfEra => (1, 999_999_999),
            Self::Year | Self::WeekYear => (-999_999_999, 999_999_999),
            Self::Quarter => (1, 4),
            Self::Month => (1, 12),
            Self::WeekOfYear => (1, 54),
            Self::WeekOfMonth => (0, 6),
            Self::DayOfYear => (1, 366),
            Self::DayOfMonth => (1, 31),
            Self::DayOfWeek | Self::LocalDayOfWeek | Self::AlignedDay => (1, 7),
            Self::ModifiedJulianDay => (-365_243_219_162, 365_241_780_471),
            Self::Hour => (0, 23),
            Self::HourFrom1 => (1, 24),
            Self::HalfDayHour => (0, 11),
            Self::HalfDayHourFrom1 => (1, 12),
            Self::Minute | Self::Second => (0, 59),
            Self::Nano => (0, 999_999_999),
            Self::MilliOfDay => (0, 86_399_999),
            Self::NanoOfDay => (0, 86_400 * NANOS_PER_SECOND - 1),
            Self::DayPeriod => (0, 5),
        }
    }

    /// The value on a day, of a field of the date.
    pub fn of_date(self, days: i64, civil: Civil) -> i64 {
        match self {
            Self::Era => i64::from(civil.year > 0),
            Self::YearOfEra if civil.year <= 0 => 1 - i64::from(civil.year),
            Self::YearOfEra | Self::Year => civil.year.into(),
            Self::WeekYear => sunday_week(days).0.into(),
            Self::Quarter => civil.month.div_ceil(3).into(),
            Self::Month => civil.month.into(),
            Self::WeekOfYear => sunday_week(days).1,
            Self::WeekOfMonth => sunday_week_of_month(days),
            Self::DayOfYear => day_of_year(days),
            Self::DayOfMonth => civil.day.into(),
            Self::DayOfWeek => iso_day_of_week(days),
            Self::LocalDayOfWeek => day_of_week(days),
            Self::AlignedDay => i64::from((civil.day - 1) % 7 + 1),
            _ => days + 40_587,
        }
    }

    /// The value at a nanosecond of the day, of a field of the time.
    pub fn of_time(self, nano_of_day: i64) -> i64 {
        let second = nano_of_day / NANOS_PER_SECOND;
        let hour = second / 3_600;
        match self {
            Self::AmPm => hour / 12,
            Self::Hour => hour,
            Self::HourFrom1 => (hour + 23) % 24 + 1,
            Self::HalfDayHour => hour % 12,
            Self::HalfDayHourFrom1 => (hour + 11) % 12 + 1,
            Self::Minute => second / 60 % 60,
            Self::Second => second % 60,
            Self::Nano => nano_of_day % NANOS_PER_SECOND,
            Self::MilliOfDay => nano_of_day / 1_000_000,
            Self::DayPeriod => {
                let minute = second / 60;
                let period = DAY_PERIODS.iter().position(|period| period.includes(minute));
                period.unwrap_or(0) as i64
            }
            _ => nano_of_day,
        }
    }

    /// The value at a local time.
    pub fn of(self, days: i64, nano_of_day: i64) -> i64 {
        match self.is_of_date() {
            true => self.of_date(days, civil_from_days(days)),
            false => self.of_time(nano_of_day),
        }
    }
}
