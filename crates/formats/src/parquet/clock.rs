//! Local time of a zone, for many timestamps one after the other.

use jiff::Timestamp;
use jiff::tz::TimeZone;

const DAY: i64 = 86_400;

/// Turns instants into local time and back. Times are in seconds since the epoch; the offset from UTC that
/// was found last is kept with the time in which it holds, since neighbours mostly share it.
#[derive(Debug, Clone)]
pub(super) struct Clock {
    zone: TimeZone,
    offset: i64,
    /// The instants at which the offset holds.
    from: i64,
    until: i64,
}

impl Clock {
    /// A clock of a zone; `None` for UTC, where there is nothing to do.
    pub(super) fn of(zone: TimeZone) -> Option<Self> {
        let is_utc = zone == TimeZone::UTC || zone.iana_name() == Some("UTC");
        (!is_utc).then_some(Self { zone, offset: 0, from: i64::MAX, until: i64::MIN })
    }

    /// How many seconds local time is ahead of UTC at an instant.
    #[inline]
    pub(super) fn offset_at(&mut self, instant: i64) -> i64 {
        if instant < self.from || instant >= self.until {
            self.find(instant);
        }
        self.offset
    }

    /// How many seconds a local time is ahead of UTC. As in Java, local times that do not exist are taken
    /// on with the offset before them, and of two with the same name the later is meant.
    #[inline]
    pub(super) fn offset_of_local(&mut self, local: i64) -> i64 {
        let instant = local.saturating_sub(self.offset);
        if instant >= self.from.saturating_add(DAY) && instant < self.until.saturating_sub(DAY) {
            return self.offset;
        }
        let instant = TimeZone::UTC.to_datetime(timestamp(local));
        match self.zone.to_ambiguous_timestamp(instant).later() {
            Ok(instant) => {
                self.find(instant.as_second());
                timestamp(local).as_second() - instant.as_second()
            }
            Err(_) => self.offset_at(local),
        }
    }

    fn find(&mut self, instant: i64) {
        let at = timestamp(instant);
        self.offset = self.zone.to_offset(at).seconds().into();
        // What precedes the next second is the change at this very second, if there is one.
        let next = timestamp(instant.saturating_add(1));
        let before = self.zone.preceding(next).next();
        let after = self.zone.following(at).next();
        self.from = before.map_or(i64::MIN, |change| change.timestamp().as_second());
        self.until = after.map_or(i64::MAX, |change| change.timestamp().as_second());
    }
}

/// The instant, or the nearest of those that a calendar knows.
fn timestamp(second: i64) -> Timestamp {
    let nearest = if second < 0 { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::from_second(second).unwrap_or(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(text: &str) -> i64 {
        text.parse::<Timestamp>().unwrap().as_second()
    }

    #[test]
    fn local_time_is_that_of_java() {
        let mut clock = Clock::of(TimeZone::get("America/New_York").unwrap()).unwrap();
        for (local, instant) in [
            ("2024-01-01T00:00:00Z", "2024-01-01T05:00:00Z"),
            ("2024-07-01T00:00:00Z", "2024-07-01T04:00:00Z"),
            // Neither time is one of a clock on the wall, or only one.
            ("2024-03-10T02:30:00Z", "2024-03-10T07:30:00Z"),
            ("2024-11-03T01:30:00Z", "2024-11-03T06:30:00Z"),
            ("1800-01-01T00:00:00Z", "1800-01-01T04:56:02Z"),
        ] {
            assert_eq!(second(local) - clock.offset_of_local(second(local)), second(instant));
        }
        for (instant, local) in [
            ("2024-03-10T06:59:59Z", "2024-03-10T01:59:59Z"),
            ("2024-03-10T07:00:00Z", "2024-03-10T03:00:00Z"),
            ("2024-11-03T06:30:00Z", "2024-11-03T01:30:00Z"),
        ] {
            assert_eq!(second(instant) + clock.offset_at(second(instant)), second(local));
        }
        assert!(Clock::of(TimeZone::UTC).is_none());
        for extreme in [i64::MIN, i64::MAX] {
            clock.offset_at(extreme);
            clock.offset_of_local(extreme);
        }
    }
}
