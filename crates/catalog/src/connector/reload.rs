//! When a table that is looked up from memory is read again (`lookup.full-cache.*`).

use std::time::Duration;

use jiff::civil::Time;
use jiff::tz::{Offset, TimeZone};
use jiff::{Span, Timestamp};

use super::{ConnectorError, OptionDef, OptionKind, Options};

/// When a full cache is read again after it was read first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reload {
    /// After so long.
    Periodic {
        /// `lookup.full-cache.periodic-reload.interval`
        interval: Duration,
        /// Whether the interval counts from the beginning of the last reading, not from its end.
        fixed_rate: bool,
    },
    /// At a time of the day.
    Timed {
        /// `lookup.full-cache.timed-reload.iso-time`
        time: Time,
        /// The offset of that time from UTC; `None`: it is one of the session's zone.
        offset: Option<Offset>,
        /// `lookup.full-cache.timed-reload.interval-in-days`
        days: i32,
    },
}

const STRATEGY: OptionDef = OptionDef::new(
    "lookup.full-cache.reload-strategy",
    OptionKind::Enum(&["PERIODIC", "TIMED"]),
    "when a full cache is read again: after an interval, or at a time of the day",
)
.default("PERIODIC");
const INTERVAL: OptionDef = OptionDef::new(
    "lookup.full-cache.periodic-reload.interval",
    OptionKind::Duration,
    "after how long a full cache is read again; never when absent",
);
const SCHEDULE: OptionDef = OptionDef::new(
    "lookup.full-cache.periodic-reload.schedule-mode",
    OptionKind::Enum(&["FIXED_DELAY", "FIXED_RATE"]),
    "whether the interval counts from the end of the last reading or from its beginning",
)
.default("FIXED_DELAY");
const ISO_TIME: OptionDef = OptionDef::new(
    "lookup.full-cache.timed-reload.iso-time",
    OptionKind::Text,
    "the time of the day at which a full cache is read again, such as 04:30 in the session's zone, or 04:30Z, \
     04:30+02:00",
);
const DAYS: OptionDef = OptionDef::new(
    "lookup.full-cache.timed-reload.interval-in-days",
    OptionKind::Int,
    "after how many days a full cache is read again at that time",
)
.default("1");

/// The options of full caches.
pub(super) const OPTIONS: [OptionDef; 5] = [STRATEGY, INTERVAL, SCHEDULE, ISO_TIME, DAYS];

impl Reload {
    /// What a table's options say; `None`: the table is read once. Fails on values that are none.
    pub(super) fn of(options: &Options) -> Result<Option<Self>, ConnectorError> {
        let word = |def: &OptionDef| -> Result<String, ConnectorError> {
            let word = options.text(def).unwrap_or_default();
            def.check(def.key, word)?;
            Ok(word.to_ascii_uppercase())
        };
        if word(&STRATEGY)? != "TIMED" {
            let fixed_rate = word(&SCHEDULE)? == "FIXED_RATE";
            let interval = options.duration(&INTERVAL)?;
            return Ok(interval.map(|interval| Self::Periodic { interval, fixed_rate }));
        }
        let Some(text) = options.text(&ISO_TIME) else {
            return Err(ConnectorError::new(format!(
                "'{}' = 'TIMED' needs the option '{}', which is missing",
                STRATEGY.key, ISO_TIME.key
            ))
            .hint(format!("add '{}' = '04:30'", ISO_TIME.key)));
        };
        let (time, offset) = parse(text.trim()).ok_or_else(|| {
            ConnectorError::new(format!("invalid value '{text}' for option '{}'", ISO_TIME.key))
                .hint("write a time such as 04:30, 04:30:15, 04:30Z or 04:30+02:00")
        })?;
        let days = options.int(&DAYS)?.unwrap_or(1);
        match i32::try_from(days) {
            Ok(days) if days > 0 => Ok(Some(Self::Timed { time, offset, days })),
            _ => Err(ConnectorError::new(format!(
                "invalid value '{days}' for option '{}'",
                DAYS.key
            ))
            .hint("use a number from 1")),
        }
    }

    /// When the table is to be read next, after it was read from `began` to `ended`, and the first time at
    /// `first`; all in milliseconds since the epoch. `zone` is that of the session.
    pub fn next(&self, first: i64, began: i64, ended: i64, zone: &TimeZone) -> i64 {
        match self {
            Self::Periodic { interval, fixed_rate } => {
                let since = if *fixed_rate { began } else { ended };
                let interval = i64::try_from(interval.as_millis()).unwrap_or(i64::MAX);
                since.saturating_add(interval)
            }
            Self::Timed { time, offset, days } => {
                let zone = offset.map_or_else(|| zone.clone(), TimeZone::fixed);
                timed(first, ended, *time, *days, &zone).unwrap_or(i64::MAX)
            }
        }
    }
}

/// The first moment after `now` that is the time of the day on a day of the schedule, which begins with the first
/// such moment after `first`; `None` beyond all calendars.
fn timed(first: i64, now: i64, time: Time, days: i32, zone: &TimeZone) -> Option<i64> {
    let day =
        |millis: i64| Some(zone.to_datetime(Timestamp::from_millisecond(millis).ok()?).date());
    let at = |date: jiff::civil::Date| {
        let moment = zone.to_ambiguous_timestamp(date.to_datetime(time)).compatible().ok()?;
        Some(moment.as_millisecond())
    };
    let mut date = day(first)?;
    if at(date)? <= first {
        date = date.tomorrow().ok()?;
    }
    // Whole rounds of the schedule that have gone by.
    let passed = date.until(day(now)?).ok()?.get_days().max(0) / days;
    date = date.checked_add(Span::new().try_days(i64::from(passed * days)).ok()?).ok()?;
    while at(date)? <= now {
        date = date.checked_add(Span::new().try_days(i64::from(days)).ok()?).ok()?;
    }
    at(date)
}

/// `04:30`, `04:30:15`, each with an offset or without.
fn parse(text: &str) -> Option<(Time, Option<Offset>)> {
    let (time, offset) = match text.find(['Z', 'z', '+', '-']) {
        None => (text, None),
        Some(at) => (&text[..at], Some(&text[at..])),
    };
    let offset = match offset {
        None => None,
        Some("Z" | "z") => Some(Offset::UTC),
        Some(offset) => {
            let (hours, minutes) = offset[1..].split_once(':').unwrap_or((&offset[1..], "0"));
            let seconds = hours.parse::<i32>().ok()? * 3600 + minutes.parse::<i32>().ok()? * 60;
            let sign = if offset.starts_with('-') { -1 } else { 1 };
            Some(Offset::from_seconds(sign * seconds).ok()?)
        }
    };
    let mut parts = time.split(':');
    let mut part = || parts.next().map(str::parse::<i8>);
    let (hour, minute) = (part()?.ok()?, part()?.ok()?);
    let second = part().unwrap_or(Ok(0)).ok()?;
    if part().is_some() {
        return None;
    }
    Some((Time::new(hour, minute, second, 0).ok()?, offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reload(pairs: &[(&str, &str)]) -> Result<Option<Reload>, ConnectorError> {
        let key = |key: &str| format!("lookup.full-cache.{key}");
        Reload::of(&Options::new(pairs.iter().map(|(k, v)| (key(k), v.to_string()))))
    }

    fn millis(text: &str) -> i64 {
        text.parse::<Timestamp>().unwrap().as_millisecond()
    }

    #[test]
    fn a_time_of_the_day_comes_again_after_so_many_days() {
        let timed = [("reload-strategy", "timed"), ("timed-reload.iso-time", "04:30")];
        let daily = reload(&timed).unwrap().unwrap();
        let berlin = TimeZone::get("Europe/Berlin").unwrap();
        let first = millis("2026-03-27T10:00:00Z");
        let next = |reload: Reload, now: i64| {
            let next = reload.next(first, now, now, &berlin);
            Timestamp::from_millisecond(next).unwrap().to_string()
        };
        assert_eq!(next(daily, first), "2026-03-28T03:30:00Z");
        // Summer time has begun.
        assert_eq!(next(daily, millis("2026-03-28T03:30:00Z")), "2026-03-29T02:30:00Z");
        let days = [
            timed[0],
            ("timed-reload.iso-time", "04:30+02:00"),
            ("timed-reload.interval-in-days", "3"),
        ];
        let third = reload(&days).unwrap().unwrap();
        assert_eq!(next(third, first), "2026-03-28T02:30:00Z");
        assert_eq!(next(third, millis("2026-03-28T02:30:00Z")), "2026-03-31T02:30:00Z");
        assert_eq!(next(third, millis("2026-04-05T00:00:00Z")), "2026-04-06T02:30:00Z");
    }

    #[test]
    fn intervals_count_from_the_end_or_the_beginning() {
        let interval = ("periodic-reload.interval", "1 s");
        let next = |pairs: &[_]| reload(pairs).unwrap().unwrap().next(0, 500, 700, &TimeZone::UTC);
        assert_eq!(next(&[interval]), 1700);
        assert_eq!(next(&[interval, ("periodic-reload.schedule-mode", "FIXED_RATE")]), 1500);
        assert_eq!(reload(&[]), Ok(None));
    }

    #[test]
    fn what_is_no_schedule_is_refused() {
        for pairs in [
            &[("reload-strategy", "SOMETIMES")][..],
            &[("reload-strategy", "TIMED")],
            &[("reload-strategy", "TIMED"), ("timed-reload.iso-time", "25:00")],
            &[("reload-strategy", "TIMED"), ("timed-reload.iso-time", "4 am")],
            &[
                ("reload-strategy", "TIMED"),
                ("timed-reload.iso-time", "04:30"),
                ("timed-reload.interval-in-days", "0"),
            ],
        ] {
            assert!(reload(pairs).unwrap_err().hint.is_some(), "{pairs:?}");
        }
    }
}
