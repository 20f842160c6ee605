//! The wall clock that windows are cut by.
//!
//! Windows over TIMESTAMP_LTZ align to the session's time zone: an instant is turned into what the
//! clocks of the zone show, and windows are cut from that as if it were UTC. A day is then 23 or 25
//! hours long when the zone changes to or from daylight-saving time.

use std::cell::Cell;

use jiff::Timestamp;
use jiff::tz::TimeZone;

const HOUR: i64 = 3_600_000;

/// Turns instants into wall-clock time and back, both in milliseconds since the epoch.
#[derive(Debug, Clone)]
pub(crate) struct WallClock(Option<Zone>);

#[derive(Debug, Clone)]
struct Zone {
    zone: TimeZone,
    /// The span of instants whose offset was looked up last.
    cached: Cell<Span>,
}

#[derive(Debug, Clone, Copy)]
struct Span {
    from: i64,
    to: i64,
    offset: i64,
}

impl WallClock {
    /// The clock of a time column: that of `zone` for TIMESTAMP_LTZ, else the column itself.
    pub fn new(is_ltz: bool, zone: &TimeZone) -> Self {
        let zoned = is_ltz && *zone != TimeZone::UTC;
        let cached = Cell::new(Span { from: 0, to: 0, offset: 0 });
        Self(zoned.then(|| Zone { zone: zone.clone(), cached }))
    }

    /// The clock of times that are wall-clock times already.
    pub fn plain() -> Self {
        Self(None)
    }

    /// What the clock shows at an instant.
    #[inline]
    pub fn local(&self, instant: i64) -> i64 {
        match &self.0 {
            None => instant,
            Some(zone) => instant.saturating_add(zone.offset_at(instant)),
        }
    }

    /// The instant at which the clock shows a time: the earlier one of two, and as much after the
    /// gap as the time is into it where there is none.
    pub fn instant(&self, local: i64) -> i64 {
        self.0.as_ref().map_or(local, |zone| zone.instant(local))
    }

    /// The instant at which a window fires whose last millisecond is `local`: the later one where the
    /// clock shows it twice, the end of the gap where it never does. Flink's `toEpochMillsForTimer`.
    pub fn firing(&self, local: i64) -> i64 {
        let Some(zone) = self.0.as_ref().filter(|_| local != i64::MAX) else { return local };
        let (now, hour_later) = (zone.instant(local), zone.instant(local.saturating_add(HOUR)));
        if hour_later - now > HOUR {
            hour_later - HOUR
        } else if hour_later == now {
            now - now.rem_euclid(HOUR)
        } else {
            now
        }
    }
}

impl Zone {
    fn offset_at(&self, instant: i64) -> i64 {
        let cached = self.cached.get();
        if cached.from <= instant && instant < cached.to {
            return cached.offset;
        }
        let Ok(at) = Timestamp::from_millisecond(instant) else { return 0 };
        let offset = i64::from(self.zone.to_offset(at).seconds()) * 1000;
        let next = self.zone.following(at).next().map(|next| next.timestamp().as_millisecond());
        // The offset holds at least from here to the next change.
        self.cached.set(Span { from: instant, to: next.unwrap_or(i64::MAX), offset });
        offset
    }

    fn instant(&self, local: i64) -> i64 {
        let Ok(shown) = Timestamp::from_millisecond(local) else { return local };
        let shown = TimeZone::UTC.to_datetime(shown);
        match self.zone.to_ambiguous_timestamp(shown).compatible() {
            Ok(instant) => instant.as_millisecond(),
            Err(_) => local,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(text: &str) -> i64 {
        text.parse::<Timestamp>().unwrap().as_millisecond()
    }

    #[test]
    fn clocks_of_los_angeles() {
        let clock = WallClock::new(true, &TimeZone::get("America/Los_Angeles").unwrap());
        // Leaving daylight-saving time, 01:00 to 02:00 is shown twice.
        for (instant, shown) in [
            ("2021-11-07T07:30:00Z", "2021-11-07T00:30:00Z"),
            ("2021-11-07T08:30:00Z", "2021-11-07T01:30:00Z"),
            ("2021-11-07T09:30:00Z", "2021-11-07T01:30:00Z"),
            ("2021-11-07T10:30:00Z", "2021-11-07T02:30:00Z"),
            ("2021-11-07T08:30:00Z", "2021-11-07T01:30:00Z"),
        ] {
            assert_eq!(clock.local(millis(instant)), millis(shown));
        }
        let (first, second) = (millis("2021-11-07T08:30:00Z"), millis("2021-11-07T09:30:00Z"));
        assert_eq!(clock.instant(millis("2021-11-07T01:30:00Z")), first);
        assert_eq!(clock.firing(millis("2021-11-07T01:30:00Z")), second);
        // Entering it, 02:00 to 03:00 is never shown.
        let gap = millis("2021-03-14T02:30:00Z");
        assert_eq!(clock.instant(gap), millis("2021-03-14T10:30:00Z"));
        assert_eq!(clock.firing(gap), millis("2021-03-14T10:00:00Z"));
        assert_eq!(
            clock.firing(millis("2021-03-14T01:59:59.999Z")),
            millis("2021-03-14T09:59:59.999Z")
        );
    }

    #[test]
    fn timestamps_without_zone_are_their_own_clock() {
        let zone = TimeZone::get("Asia/Tokyo").unwrap();
        let plain = WallClock::new(false, &zone);
        assert_eq!((plain.local(5), plain.instant(5), plain.firing(5)), (5, 5, 5));
        assert_eq!(WallClock::new(true, &zone).local(0), 9 * HOUR);
    }
}
