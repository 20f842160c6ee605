//! Offsets of a time zone, as Java resolves them: a local time that a gap skips moves on by the length
//! of the gap, one that an overlap repeats is the earlier of the two.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// A time zone, asked for the seconds that its clocks are ahead of UTC.
#[derive(Debug, Clone)]
pub struct Zone {
    zone: TimeZone,
    fixed: Option<i64>,
}

impl Zone {
    /// The offsets of a time zone.
    pub fn new(zone: TimeZone) -> Self {
        let fixed = zone.to_fixed_offset().ok().map(|offset| i64::from(offset.seconds()));
        Self { zone, fixed }
    }

    /// Whether its clocks always show UTC.
    pub fn is_utc(&self) -> bool {
        self.fixed == Some(0)
    }

    /// The offset at an instant, both in seconds. Instants out of the calendar's range get that of
    /// its nearest end.
    #[inline]
    pub fn offset_at(&self, instant: i64) -> i64 {
        if let Some(offset) = self.fixed {
            return offset;
        }
        let range = Timestamp::MIN.as_second()..=Timestamp::MAX.as_second();
        let instant = instant.clamp(*range.start(), *range.end());
        match Timestamp::from_second(instant) {
            Ok(instant) => i64::from(self.zone.to_offset(instant).seconds()),
            Err(_) => 0,
        }
    }

    /// The offset to take from a local time, in seconds since 1970-01-01 00:00 on its clocks, to
    /// get the instant.
    #[inline]
    pub fn offset_of_local(&self, local: i64) -> i64 {
        if let Some(offset) = self.fixed {
            return offset;
        }
        // Within the range of jiff's calendar, less a day so that every offset stays inside.
        const FIRST: i64 = -377_705_023_201 + 86_400;
        const LAST: i64 = 253_402_207_200 - 86_400;
        let local = local.clamp(FIRST, LAST);
        let resolve = || -> Result<i64, jiff::Error> {
            let clock: DateTime = TimeZone::UTC.to_datetime(Timestamp::from_second(local)?);
            let instant = self.zone.to_ambiguous_timestamp(clock).compatible()?;
            Ok(local - instant.as_second())
        };
        resolve().unwrap_or(0)
    }
}
