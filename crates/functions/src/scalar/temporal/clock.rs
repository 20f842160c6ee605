//! Wall clocks of time zones: local time of instants and back.

use std::cell::Cell;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::{Decimal128Type, TimestampMicrosecondType, TimestampMillisecondType};
use flott_types::{TimestampUnit, timestamp_unit};
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{Span, Timestamp};

use super::stamps::NANOS_STORAGE;

/// Which of two instants a wall clock that is put back shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overlap {
    /// The first, in summer time: Java's `LocalDateTime.atZone`.
    Earlier,
    /// The second, in standard time: Java's `GregorianCalendar`.
    Later,
}

/// The offsets of a time zone, remembering the period that the last instant fell into.
pub struct Clock {
    zone: TimeZone,
    /// First second, second after the last, offset.
    period: Cell<(i64, i64, i64)>,
}

impl Clock {
    /// The clock of a zone.
    pub fn new(zone: &TimeZone) -> Self {
        let always = |offset: i32| (i64::MIN, i64::MAX, i64::from(offset));
        let period = match zone.to_fixed_offset() {
            Ok(offset) => always(offset.seconds()),
            Err(_) => (0, 0, 0),
        };
        Self { zone: zone.clone(), period: Cell::new(period) }
    }

    /// Whether it shows UTC.
    pub fn is_utc(&self) -> bool {
        self.period.get() == (i64::MIN, i64::MAX, 0)
    }

    /// The seconds that the clock is ahead of UTC at an instant, in seconds since the epoch.
    #[inline]
    pub fn offset(&self, second: i64) -> i64 {
        let (from, to, offset) = self.period.get();
        if (from..to).contains(&second) { offset } else { self.look_up(second) }
    }

    #[cold]
    fn look_up(&self, second: i64) -> i64 {
        let instant = clamped(second);
        let offset = i64::from(self.zone.to_offset(instant).seconds());
        let bound = |found: Option<jiff::tz::TimeZoneTransition<'_>>, none| {
            found.map_or(none, |transition| transition.timestamp().as_second())
        };
        // `preceding` looks strictly before its argument.
        let next = Timestamp::from_second(instant.as_second().saturating_add(1)).unwrap_or(instant);
        let from = bound(self.zone.preceding(next).next(), i64::MIN);
        let to = bound(self.zone.following(instant).next(), i64::MAX);
        self.period.set((from, to, offset));
        offset
    }

    /// The instant at which the clock shows a local time, both in seconds since the epoch. A time
    /// that a clock put forward skips is moved on by as much as was skipped.
    pub fn instant(&self, local: i64, overlap: Overlap) -> i64 {
        let (from, to, offset) = self.period.get();
        if (from, to) == (i64::MIN, i64::MAX) {
            return local.saturating_sub(offset);
        }
        let shown = DateTime::constant(1970, 1, 1, 0, 0, 0, 0)
            .saturating_add(Span::new().try_seconds(local).unwrap_or_default());
        let offset = match self.zone.to_ambiguous_timestamp(shown).offset() {
            AmbiguousOffset::Unambiguous { offset } => offset,
            AmbiguousOffset::Gap { before, .. } => before,
            AmbiguousOffset::Fold { before, after } => match overlap {
                Overlap::Earlier => before,
                Overlap::Later => after,
            },
        };
        local.saturating_sub(i64::from(offset.seconds()))
    }
}

/// The nearest instant that time zones have rules for: years -9999 to 9999.
pub fn clamped(second: i64) -> Timestamp {
    let bounds = Timestamp::MIN.as_second()..=Timestamp::MAX.as_second();
    Timestamp::from_second(second.clamp(*bounds.start(), *bounds.end())).unwrap_or_default()
}

/// The local times of instants, as TIMESTAMPs of the same precision.
pub fn to_local(instants: &ArrayRef, precision: u8, zone: &TimeZone) -> ArrayRef {
    let clock = Clock::new(zone);
    if clock.is_utc() {
        return instants.clone();
    }
    let shift = |steps: i64, per_second: i64| {
        steps.wrapping_add(clock.offset(steps.div_euclid(per_second)) * per_second)
    };
    match timestamp_unit(precision) {
        TimestampUnit::Millis => Arc::new(
            instants
                .as_primitive::<TimestampMillisecondType>()
                .unary::<_, TimestampMillisecondType>(|v| shift(v, 1_000)),
        ),
        TimestampUnit::Micros => Arc::new(
            instants
                .as_primitive::<TimestampMicrosecondType>()
                .unary::<_, TimestampMicrosecondType>(|v| shift(v, 1_000_000)),
        ),
        TimestampUnit::Nanos => Arc::new(
            instants
                .as_primitive::<Decimal128Type>()
                .unary::<_, Decimal128Type>(|v| {
                    let second = v.div_euclid(1_000_000_000) as i64;
                    v + i128::from(clock.offset(second)) * 1_000_000_000
                })
                .with_data_type(NANOS_STORAGE),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_put_forward_and_back() {
        let zone = TimeZone::get("America/New_York").unwrap();
        let clock = Clock::new(&zone);
        // 2024-03-10 07:00 UTC is when New York goes from 2:00 to 3:00.
        let forward = 1_710_054_000;
        assert_eq!(clock.offset(forward - 1), -18_000);
        assert_eq!(clock.offset(forward), -14_400);
        assert_eq!(clock.offset(forward - 1), -18_000);
        // 2:30 does not exist.
        let skipped = forward - 18_000 + 1_800;
        assert_eq!(clock.instant(skipped, Overlap::Earlier), forward + 1_800);
        // 2024-11-03 06:00 UTC is when it goes back from 2:00 to 1:00; 1:30 exists twice.
        let back = 1_730_613_600;
        let twice = back - 14_400 - 1_800;
        assert_eq!(clock.instant(twice, Overlap::Earlier), back - 1_800);
        assert_eq!(clock.instant(twice, Overlap::Later), back + 1_800);
    }

    #[test]
    fn years_without_rules_take_the_nearest() {
        let zone = TimeZone::get("Asia/Tokyo").unwrap();
        let clock = Clock::new(&zone);
        assert_eq!(clock.offset(400_000_000_000), 32_400);
        assert_eq!(clock.instant(400_000_000_000, Overlap::Earlier), 400_000_000_000 - 32_400);
    }
}
