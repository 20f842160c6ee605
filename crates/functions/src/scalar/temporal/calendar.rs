//! Calendar arithmetic on days since 1970-01-01, proleptic Gregorian.

use flott_types::text::{Civil, civil_from_days, days_from_civil};

use super::unit::Unit;

/// Days from 1970-01-01 to the first of January of a year.
pub fn first_of_year(year: i32) -> i64 {
    days_from_civil(year, 1, 1)
}

/// The number of a day within its year, from 1.
pub fn day_of_year(days: i64) -> i64 {
    days - first_of_year(civil_from_days(days).year) + 1
}

/// Monday 1 … Sunday 7.
pub fn iso_day_of_week(days: i64) -> i64 {
    (days + 3).rem_euclid(7) + 1
}

/// Sunday 1 … Saturday 7.
pub fn day_of_week(days: i64) -> i64 {
    (days + 4).rem_euclid(7) + 1
}

/// Year and number of the ISO week, which belongs to the year of its Thursday.
pub fn iso_week(days: i64) -> (i32, i64) {
    let thursday = days - iso_day_of_week(days) + 4;
    let year = civil_from_days(thursday).year;
    (year, (thursday - first_of_year(year)) / 7 + 1)
}

/// Year and number of the week that begins on Sunday, week 1 being that with the first of January.
pub fn sunday_week(days: i64) -> (i32, i64) {
    let saturday = days - day_of_week(days) + 7;
    let year = civil_from_days(saturday).year;
    (year, (saturday - first_of_year(year)) / 7 + 1)
}

/// The number of the week within its month, weeks beginning on Sunday.
pub fn sunday_week_of_month(days: i64) -> i64 {
    let day = i64::from(civil_from_days(days).day);
    (day + day_of_week(days - day + 1) - 2) / 7 + 1
}

/// Whether a year has a 29th of February.
pub fn is_leap(year: i32) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// The number of days of a month (1 to 12).
pub fn days_in_month(year: i32, month: u32) -> u32 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The day some months later, or the last of its month where that is shorter.
pub fn add_months(days: i64, months: i64) -> i64 {
    let date = civil_from_days(days);
    let total = i64::from(date.year) * 12 + i64::from(date.month) - 1 + months;
    // Years past the range of 32 bits have no name; they stay where they are.
    let Ok(year) = i32::try_from(total.div_euclid(12)) else { return days };
    let month = total.rem_euclid(12) as u32 + 1;
    days_from_civil(year, month, date.day.min(days_in_month(year, month)))
}

/// How many whole months lie between two days: the largest number that can be added to `from` without
/// passing `to`; negative when `to` is before `from`.
pub fn months_between(from: i64, to: i64) -> i64 {
    if to < from {
        return -months_between(to, from);
    }
    let (start, end) = (civil_from_days(from), civil_from_days(to));
    let months =
        i64::from(end.year - start.year) * 12 + i64::from(end.month) - i64::from(start.month);
    if add_months(from, months) > to { months - 1 } else { months }
}

/// The first day of the unit that a day lies in; weeks begin on Sunday.
pub fn floor(days: i64, unit: Unit) -> i64 {
    let Civil { year, month, .. } = civil_from_days(days);
    match unit {
        Unit::Millennium => first_of_year((year - 1).div_euclid(1000) * 1000 + 1),
        Unit::Century => first_of_year((year - 1).div_euclid(100) * 100 + 1),
        Unit::Decade => first_of_year(year.div_euclid(10) * 10),
        Unit::Year => first_of_year(year),
        Unit::Quarter => days_from_civil(year, (month - 1) / 3 * 3 + 1, 1),
        Unit::Month => days_from_civil(year, month, 1),
        Unit::Week => days - day_of_week(days) + 1,
        _ => days,
    }
}

/// The first day of the next unit, or the day itself when it is the first of its own.
///
/// As in Flink, only YEAR, MONTH and WEEK, and of the quarters only the first, know their own first
/// day: any other is rounded up from there too, a DAY included.
pub fn ceil(days: i64, unit: Unit) -> i64 {
    let Civil { year, month, day } = civil_from_days(days);
    match unit {
        Unit::Millennium => first_of_year((year - 1).div_euclid(1000) * 1000 + 1001),
        Unit::Century => first_of_year((year - 1).div_euclid(100) * 100 + 101),
        Unit::Decade => first_of_year(year.div_euclid(10) * 10 + 10),
        Unit::Year if month == 1 && day == 1 => days,
        Unit::Year => first_of_year(year + 1),
        Unit::Quarter if month == 1 && day == 1 => days,
        Unit::Quarter => add_months(floor(days, Unit::Quarter), 3),
        Unit::Month if day == 1 => days,
        Unit::Month => add_months(floor(days, Unit::Month), 1),
        Unit::Week => days + (8 - day_of_week(days)) % 7,
        Unit::Day => days + 1,
        _ => days,
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::{Date, Weekday, date};
    use jiff::{ToSpan, Unit as Span};
    use proptest::prelude::*;

    use super::*;

    const LAST: i64 = 2_932_896;
    const FIRST: i64 = -719_528;

    fn to_jiff(days: i64) -> Date {
        date(1970, 1, 1).checked_add((days as i32).days()).unwrap()
    }

    fn from_jiff(day: Date) -> i64 {
        i64::from(date(1970, 1, 1).until((Span::Day, day)).unwrap().get_days())
    }

    proptest! {
        #[test]
        fn parts_of_a_day_are_those_of_the_calendar(days in FIRST..=LAST) {
            let day = to_jiff(days);
            let civil = civil_from_days(days);
            prop_assert_eq!((civil.year, civil.month, civil.day),
                (day.year().into(), day.month() as u32, day.day() as u32));
            prop_assert_eq!(day_of_year(days), i64::from(day.day_of_year()));
            prop_assert_eq!(iso_day_of_week(days), i64::from(day.weekday().to_monday_one_offset()));
            prop_assert_eq!(day_of_week(days), i64::from(day.weekday().to_sunday_one_offset()));
            let week = day.iso_week_date();
            prop_assert_eq!(iso_week(days), (week.year().into(), week.week().into()));
            prop_assert_eq!(days_in_month(civil.year, civil.month), day.days_in_month() as u32);
            prop_assert_eq!(is_leap(civil.year), day.in_leap_year());
        }

        #[test]
        fn months_are_added_as_the_calendar_does(days in -700_000..2_900_000i64, months in -500..500i64) {
            let moved = to_jiff(days).checked_add((months as i32).months()).unwrap();
            prop_assert_eq!(add_months(days, months), from_jiff(moved));
        }

        #[test]
        fn months_between_is_the_most_that_fit(from in FIRST..=LAST, to in FIRST..=LAST) {
            let (low, high) = (from.min(to), from.max(to));
            let months = months_between(low, high);
            prop_assert!(add_months(low, months) <= high);
            prop_assert!(add_months(low, months + 1) > high);
            prop_assert_eq!(months_between(high, low), -months);
        }

        #[test]
        fn a_day_lies_within_its_unit(days in -600_000..2_800_000i64) {
            for unit in [Unit::Millennium, Unit::Century, Unit::Decade, Unit::Year, Unit::Quarter,
                Unit::Month, Unit::Week, Unit::Day] {
                prop_assert!(floor(days, unit) <= days);
                prop_assert!(ceil(days, unit) >= days);
                prop_assert_eq!(floor(floor(days, unit), unit), floor(days, unit));
            }
            prop_assert_eq!(to_jiff(floor(days, Unit::Week)).weekday(), Weekday::Sunday);
            prop_assert_eq!(from_jiff(to_jiff(days).first_of_month()), floor(days, Unit::Month));
        }
    }

    #[test]
    fn weeks_of_sunday_kind_contain_the_first_of_january() {
        for (year, month, day, week) in [
            (2024, 3, 9, (2024, 10)),
            (2000, 12, 31, (2001, 1)),
            (2000, 2, 28, (2000, 10)),
            (2022, 1, 1, (2022, 1)),
            (2022, 1, 2, (2022, 2)),
        ] {
            assert_eq!(sunday_week(days_from_civil(year, month, day)), week);
        }
        assert_eq!(sunday_week_of_month(days_from_civil(2000, 12, 31)), 6);
        assert_eq!(sunday_week_of_month(days_from_civil(2024, 3, 9)), 2);
    }
}
