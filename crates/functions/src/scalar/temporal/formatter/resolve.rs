//! From the fields of a text to a local time, as Java's smart resolver does it.

use flott_types::text::{civil_from_days, days_from_civil};

use super::super::calendar::{day_of_week, days_in_month, first_of_year, is_leap};
use super::super::stamps::Stamp;
use super::super::unit::NANOS_PER_SECOND;
use super::parse::{Failure, Values};
use super::{DAY_PERIODS, Field};

/// The local time that fields make together; what is missing is taken from 1970-01-01 00:00:00.
pub fn resolve(mut values: Values) -> Result<Stamp, Failure> {
    let date = resolve_date(&mut values)?;
    let time = resolve_time(&mut values)?;
    if let Some(days) = date {
        check_others(&values, days, time.map(|time| time.nano_of_day))?;
    }
    let days = match date {
        Some(days) => days + time.map_or(0, |time| time.excess_days),
        None => default_date(&values)?,
    };
    let nano_of_day = match time {
        Some(time) => time.nano_of_day,
        None => {
            let part = |field: Field| values.get(field).unwrap_or(0);
            (part(Field::Hour) * 3_600 + part(Field::Minute) * 60 + part(Field::Second))
                * NANOS_PER_SECOND
                + part(Field::Nano)
        }
    };
    Ok(Stamp {
        second: days * 86_400 + nano_of_day / NANOS_PER_SECOND,
        nano: (nano_of_day % NANOS_PER_SECOND) as u32,
    })
}

fn conflict() -> Failure {
    Failure::Unparsable("the fields of the text contradict each other".into())
}

fn checked(field: Field, value: i64) -> Result<i64, Failure> {
    let (least, greatest) = field.range();
    if (least..=greatest).contains(&value) {
        Ok(value)
    } else {
        Err(Failure::Unparsable(format!(
            "{value} is not a value of {field:?}, which goes from {least} to {greatest}"
        )))
    }
}

/// The day, when the fields name one in full.
fn resolve_date(values: &mut Values) -> Result<Option<i64>, Failure> {
    resolve_year(values)?;
    if let Some(day) = values.take(Field::LocalDayOfWeek) {
        let iso = (checked(Field::LocalDayOfWeek, day)? + 5) % 7 + 1;
        if !values.set(Field::DayOfWeek, iso) {
            return Err(conflict());
        }
    }
    if let Some(day) = values.take(Field::ModifiedJulianDay) {
        return Ok(Some(checked(Field::ModifiedJulianDay, day)? - 40_587));
    }
    let all = |fields: [Field; 3]| -> Option<[i64; 3]> {
        Some([values.get(fields[0])?, values.get(fields[1])?, values.get(fields[2])?])
    };
    let mut days = None;
    let mut used: &[Field] = &[];
    if let Some([year, month, day]) = all([Field::Year, Field::Month, Field::DayOfMonth]) {
        let year = checked(Field::Year, year)? as i32;
        let month = checked(Field::Month, month)? as u32;
        let day = checked(Field::DayOfMonth, day)? as u32;
        days = Some(days_from_civil(year, month, day.min(days_in_month(year, month))));
        used = &[Field::Year, Field::Month, Field::DayOfMonth];
    } else if let Some((year, day)) = values.get(Field::Year).zip(values.get(Field::DayOfYear)) {
        let year = checked(Field::Year, year)? as i32;
        let day = checked(Field::DayOfYear, day)?;
        if day == 366 && !is_leap(year) {
            return Err(conflict());
        }
        days = Some(first_of_year(year) + day - 1);
        used = &[Field::Year, Field::DayOfYear];
    } else if let Some([year, week, day]) =
        all([Field::WeekYear, Field::WeekOfYear, Field::DayOfWeek])
    {
        let year = checked(Field::WeekYear, year)? as i32;
        // Week 53 of a year that has but 52 is its last.
        let last = first_of_year(year + 1) - 1;
        let weeks = (sunday_before(last - 6) - sunday_before(first_of_year(year))) / 7 + 1;
        let week = checked(Field::WeekOfYear, week)?.min(weeks);
        let day = checked(Field::DayOfWeek, day)?;
        days = Some(sunday_before(first_of_year(year)) + 7 * (week - 1) + day % 7);
        used = &[Field::WeekYear, Field::WeekOfYear, Field::DayOfWeek];
    } else if let Some([year, month, week]) = all([Field::Year, Field::Month, Field::WeekOfMonth])
        && let Some(day) = values.get(Field::DayOfWeek)
    {
        let year = checked(Field::Year, year)? as i32;
        let month = checked(Field::Month, month)? as u32;
        let week = checked(Field::WeekOfMonth, week)?;
        let first = days_from_civil(year, month, 1);
        days = Some(sunday_before(first) + 7 * (week - 1) + checked(Field::DayOfWeek, day)? % 7);
        used = &[Field::Year, Field::Month, Field::WeekOfMonth, Field::DayOfWeek];
    }
    for field in used {
        values.take(*field);
    }
    Ok(days)
}

/// The last Sunday that is not after a day.
fn sunday_before(days: i64) -> i64 {
    days - day_of_week(days) + 1
}

/// Turns era and year of era into the year; a year of era without an era counts from Christ.
fn resolve_year(values: &mut Values) -> Result<(), Failure> {
    let Some(of_era) = values.take(Field::YearOfEra) else { return Ok(()) };
    let of_era = checked(Field::YearOfEra, of_era)?;
    let year = match values.take(Field::Era) {
        Some(0) => 1 - of_era,
        None if values.get(Field::Year).is_some_and(|year| year <= 0) => 1 - of_era,
        _ => of_era,
    };
    if values.set(Field::Year, year) { Ok(()) } else { Err(conflict()) }
}

/// A time of day, complete.
#[derive(Clone, Copy)]
struct Time {
    nano_of_day: i64,
    /// 1 for 24:00.
    excess_days: i64,
}

/// The time of day, when the fields name one.
fn resolve_time(values: &mut Values) -> Result<Option<Time>, Failure> {
    // Both kinds of hours count from 1 for the last, and 0 is let through.
    for (from_1, from_0, length) in
        [(Field::HourFrom1, Field::Hour, 24), (Field::HalfDayHourFrom1, Field::HalfDayHour, 12)]
    {
        if let Some(hour) = values.take(from_1) {
            if hour != 0 {
                checked(from_1, hour)?;
            }
            if !values.set(from_0, hour % length) {
                return Err(conflict());
            }
        }
    }
    let mut period = values.take(Field::DayPeriod).map(|period| &DAY_PERIODS[period as usize]);
    if let Some((named, hour)) = period.zip(values.get(Field::HalfDayHour)) {
        let hour = checked(Field::HalfDayHour, hour)?;
        let minute = values.get(Field::Minute).unwrap_or(0).rem_euclid(60);
        values.take(Field::HalfDayHour);
        let is_early = named.includes(hour * 60 + minute);
        if !values.set(Field::Hour, if is_early { hour } else { hour + 12 }) {
            return Err(conflict());
        }
        period = None;
    }
    if let Some((half, hour)) = values.get(Field::AmPm).zip(values.get(Field::HalfDayHour)) {
        let hour = half * 12 + checked(Field::HalfDayHour, hour)?;
        values.take(Field::AmPm);
        values.take(Field::HalfDayHour);
        if !values.set(Field::Hour, hour) {
            return Err(conflict());
        }
    }
    for (field, per_second) in [(Field::NanoOfDay, NANOS_PER_SECOND), (Field::MilliOfDay, 1_000)] {
        if let Some(of_day) = values.take(field) {
            let second = checked(field, of_day)? / per_second;
            let nano = of_day % per_second * (NANOS_PER_SECOND / per_second);
            let fits = values.set(Field::Hour, second / 3_600)
                && values.set(Field::Minute, second / 60 % 60)
                && values.set(Field::Second, second % 60)
                && values.set(Field::Nano, nano);
            if !fits {
                return Err(conflict());
            }
        }
    }
    let [hour, minute, second, nano] =
        [Field::Hour, Field::Minute, Field::Second, Field::Nano].map(|field| values.get(field));
    if let Some(nano) = nano {
        checked(Field::Nano, nano)?;
    }
    // A part or half of the day alone is its middle.
    if let (None, None, None, None) = (hour, minute, second, nano) {
        let of_half = values.get(Field::AmPm).map(|half| half * 720 + 360);
        if let Some(minute) = period.map(|named| named.middle()).or(of_half) {
            let nano_of_day = minute * 60 * NANOS_PER_SECOND;
            return Ok(Some(Time { nano_of_day, excess_days: 0 }));
        }
    }
    let is_gap = match minute {
        None => second.is_some() || nano.is_some(),
        Some(_) => second.is_none() && nano.is_some(),
    };
    let (Some(hour), false) = (hour, is_gap) else {
        for field in [Field::Hour, Field::HalfDayHour, Field::Minute, Field::Second] {
            if let Some(value) = values.get(field) {
                checked(field, value)?;
            }
        }
        return Ok(None);
    };
    let [minute, second, nano] = [minute, second, nano].map(|part| part.unwrap_or(0));
    if period.is_some_and(|named| !named.includes(hour % 24 * 60 + minute)) {
        return Err(conflict());
    }
    if (hour, minute, second, nano) == (24, 0, 0, 0) {
        return Ok(Some(Time { nano_of_day: 0, excess_days: 1 }));
    }
    let seconds = checked(Field::Hour, hour)? * 3_600
        + checked(Field::Minute, minute)? * 60
        + checked(Field::Second, second)?;
    Ok(Some(Time { nano_of_day: seconds * NANOS_PER_SECOND + nano, excess_days: 0 }))
}

/// Fields that were not needed must agree with the date and time that the others made.
fn check_others(values: &Values, days: i64, nano_of_day: Option<i64>) -> Result<(), Failure> {
    const OTHERS: [Field; 12] = [
        Field::Year,
        Field::WeekYear,
        Field::Quarter,
        Field::Month,
        Field::WeekOfYear,
        Field::WeekOfMonth,
        Field::DayOfYear,
        Field::DayOfMonth,
        Field::DayOfWeek,
        Field::AlignedDay,
        Field::AmPm,
        Field::HalfDayHour,
    ];
    for field in OTHERS {
        let Some(value) = values.get(field) else { continue };
        let expected = match (field.is_of_date(), nano_of_day) {
            (true, _) => field.of(days, 0),
            (false, Some(nano)) => field.of(days, nano),
            (false, None) => continue,
        };
        if value != expected {
            return Err(conflict());
        }
    }
    Ok(())
}

/// The day of those fields that are there.
fn default_date(values: &Values) -> Result<i64, Failure> {
    let part = |field: Field, default: i64| {
        let value = values.get(field).unwrap_or(default);
        checked(field, value).map_err(|failure| match failure {
            Failure::Unparsable(reason) | Failure::Invalid(reason) => Failure::Invalid(reason),
        })
    };
    let year = part(Field::Year, 1970)? as i32;
    let month = part(Field::Month, 1)? as u32;
    let day = part(Field::DayOfMonth, 1)? as u32;
    let days = days_from_civil(year, month, day.min(days_in_month(year, month)));
    match civil_from_days(days).day == day {
        true => Ok(days),
        false => Err(Failure::Invalid(format!("month {month} of {year} has no day {day}"))),
    }
}
