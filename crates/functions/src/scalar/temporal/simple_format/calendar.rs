//! Java's `GregorianCalendar`: Julian before 15 October 1582.

use flott_types::text::{civil_from_days, days_from_civil};

use super::super::calendar::{day_of_week, days_in_month};

/// Days from 1970-01-01 to 15 October 1582, the first Gregorian day.
const CUTOVER: i64 = -141_427;

/// A day with its name in the calendar of its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Day {
    /// Astronomical: 0 is 1 BC.
    pub year: i32,
    /// 1 to 12.
    pub month: u32,
    /// 1 to 31.
    pub day: u32,
}

/// The name of a day since 1970-01-01.
pub fn day(days: i64) -> Day {
    if days >= CUTOVER {
        let date = civil_from_days(days);
        return Day { year: date.year, month: date.month, day: date.day };
    }
    // Years start in March here, so that the leap day ends them: a cycle is four such years.
    let shifted = days + JULIAN_SHIFT;
    let cycle = shifted.div_euclid(1_461);
    let day_of_cycle = shifted.rem_euclid(1_461);
    let year_of_cycle = (day_of_cycle - day_of_cycle / 1_460) / 365;
    let day_of_year = day_of_cycle - 365 * year_of_cycle;
    let march_month = (5 * day_of_year + 2) / 153;
    let day = (day_of_year - (153 * march_month + 2) / 5 + 1) as u32;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 } as u32;
    Day { year: (cycle * 4 + year_of_cycle + i64::from(month <= 2)) as i32, month, day }
}

/// From 1 March of the Julian year 0 to 1970-01-01.
const JULIAN_SHIFT: i64 = 719_470;

/// Days from 1970-01-01 to a day that was counted from the first of a month, in the Gregorian
/// calendar if it lies in its time, else in the Julian.
pub fn days_by(year: i64, month: i64, count: impl Fn(i64, i64) -> i64) -> i64 {
    let total = year * 12 + month - 1;
    let year = total.div_euclid(12).clamp(i32::MIN.into(), i32::MAX.into()) as i32;
    let month = total.rem_euclid(12) as u32 + 1;
    let gregorian = count(days_from_civil(year, month, 1), days_in_month(year, month).into());
    if gregorian >= CUTOVER {
        return gregorian;
    }
    let leap = month == 2 && year % 4 == 0;
    count(julian_days(year, month), if leap { 29 } else { days_in_month(1, month).into() })
}

/// Days from 1970-01-01 to the first of a month of the Julian calendar.
fn julian_days(year: i32, month: u32) -> i64 {
    let year = i64::from(year) - i64::from(month <= 2);
    let march_month = i64::from((month + 9) % 12);
    year.div_euclid(4) * 1_461 + year.rem_euclid(4) * 365 + (153 * march_month + 2) / 5
        - JULIAN_SHIFT
}

/// The number of a day within its year, from 1.
pub fn day_of_year(days: i64) -> i64 {
    days - days_by(day(days).year.into(), 1, |first, _| first) + 1
}

/// Year and number of the week that begins on Sunday, week 1 being that with the first of January.
pub fn week(days: i64) -> (i32, i64) {
    let saturday = days - day_of_week(days) + 7;
    (day(saturday).year, (day_of_year(saturday) - 1) / 7 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calendar_changes_in_1582() {
        assert_eq!(day(CUTOVER), Day { year: 1582, month: 10, day: 15 });
        assert_eq!(day(CUTOVER - 1), Day { year: 1582, month: 10, day: 4 });
        // What FROM_UNIXTIME(-12345678901) falls on.
        assert_eq!(day(-142_890), Day { year: 1578, month: 10, day: 3 });
        for days in (-1_000_000..100_000).step_by(17) {
            let Day { year, month, day } = day(days);
            let back = days_by(year.into(), month.into(), |first, _| first + i64::from(day) - 1);
            assert_eq!(back, days);
        }
    }
}
