//! Instants as text.

use super::super::calendar::day_of_week;
use super::super::clock::{Clock, Overlap, clamped};
use super::super::names::{DAYS, MONTHS, short, write_padded};
use super::super::unit::MILLIS_PER_DAY;
use super::super::zone_names::{ZoneNames, is_summer};
use super::{Day, Letter, Piece, SimpleFormat, calendar};
use jiff::tz::TimeZone;

/// A time zone and its clock.
pub struct Zone {
    zone: TimeZone,
    clock: Clock,
}

/// 1900-01-01, before which Java's older classes know no changes of offsets.
const FIRST_RULES: i64 = -2_208_988_800;

impl Zone {
    /// A zone to print and read in.
    pub fn new(zone: &TimeZone) -> Self {
        Self { zone: zone.clone(), clock: Clock::new(zone) }
    }

    /// The zone itself.
    pub fn zone(&self) -> &TimeZone {
        &self.zone
    }

    fn offset(&self, second: i64) -> i64 {
        match second < 0 {
            true => self.offset_before_rules(second).unwrap_or_else(|| self.clock.offset(second)),
            false => self.clock.offset(second),
        }
    }

    /// Before the first change that Java's older classes know, they take the zone's standard
    /// offset of today.
    #[cold]
    fn offset_before_rules(&self, second: i64) -> Option<i64> {
        let first = self.zone.following(clamped(FIRST_RULES)).next()?;
        if second >= first.timestamp().as_second() {
            return None;
        }
        const WINTER_AND_SUMMER: [i64; 2] = [4_102_444_800, 4_118_083_200];
        let seasons = WINTER_AND_SUMMER.map(|at| self.zone.to_offset_info(clamped(at)));
        let standard = seasons.iter().find(|season| !season.dst().is_dst())?;
        Some(standard.offset().seconds().into())
    }

    /// The instant at which the zone's clocks show a local time, the later of two; both in seconds
    /// since the epoch.
    pub fn instant(&self, local: i64) -> i64 {
        let before_rules = if local < 0 { self.offset_before_rules(local) } else { None };
        match before_rules {
            Some(offset) => local.saturating_sub(offset),
            None => self.clock.instant(local, Overlap::Later),
        }
    }
}

impl SimpleFormat {
    /// Writes an instant, in milliseconds since the epoch, as a zone shows it.
    pub fn print(&self, out: &mut String, millis: i64, zone: &Zone) {
        let second = millis.div_euclid(1_000);
        let offset = zone.offset(second);
        let local = millis.saturating_add(offset * 1_000);
        let days = local.div_euclid(MILLIS_PER_DAY);
        let moment = Moment {
            days,
            date: calendar::day(days),
            millis: local.rem_euclid(MILLIS_PER_DAY) as u64,
            offset,
        };
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Field { letter, count } => moment.print(out, *letter, *count, || {
                    zone_name(&zone.zone, second, offset, *count >= 4)
                }),
            }
        }
    }
}

/// A local time, taken apart.
struct Moment {
    days: i64,
    date: Day,
    /// Milliseconds since midnight.
    millis: u64,
    /// Seconds ahead of UTC.
    offset: i64,
}

impl Moment {
    fn print(
        &self,
        out: &mut String,
        letter: Letter,
        count: usize,
        zone_name: impl FnOnce() -> String,
    ) {
        let hour = self.millis / 3_600_000;
        let number = match letter {
            Letter::Era => return out.push_str(if self.date.year > 0 { "AD" } else { "BC" }),
            Letter::Year => {
                let year = self.date.year;
                let of_era = if year > 0 { year } else { 1 - year };
                return print_year(out, of_era.unsigned_abs().into(), count);
            }
            Letter::WeekYear => {
                let year = calendar::week(self.days).0;
                return print_year(out, year.unsigned_abs().into(), count);
            }
            Letter::Month if count >= 3 => {
                let name = MONTHS[self.date.month as usize - 1];
                return out.push_str(if count > 3 { name } else { short(name) });
            }
            Letter::DayName => {
                let name = DAYS[(self.days + 3).rem_euclid(7) as usize];
                return out.push_str(if count > 3 { name } else { short(name) });
            }
            Letter::AmPm => return out.push_str(if hour < 12 { "AM" } else { "PM" }),
            Letter::ZoneName => return out.push_str(&zone_name()),
            Letter::ZoneOffset => return print_offset(out, self.offset, true, false),
            Letter::IsoZone if self.offset == 0 => return out.push('Z'),
            Letter::IsoZone => return print_offset(out, self.offset, count > 1, count == 3),
            Letter::Month => self.date.month.into(),
            Letter::WeekOfYear => calendar::week(self.days).1 as u64,
            Letter::WeekOfMonth => {
                let day = i64::from(self.date.day);
                ((day + day_of_week(self.days - day + 1) - 2) / 7 + 1) as u64
            }
            Letter::DayOfYear => calendar::day_of_year(self.days) as u64,
            Letter::DayOfMonth => self.date.day.into(),
            Letter::DayOfWeekInMonth => u64::from((self.date.day - 1) / 7 + 1),
            Letter::IsoDayOfWeek => (self.days + 3).rem_euclid(7) as u64 + 1,
            Letter::Hour => hour,
            Letter::HourFrom1 => (hour + 23) % 24 + 1,
            Letter::HalfDayHour => hour % 12,
            Letter::HalfDayHourFrom1 => (hour + 11) % 12 + 1,
            Letter::Minute => self.millis / 60_000 % 60,
            Letter::Second => self.millis / 1_000 % 60,
            Letter::Millisecond => self.millis % 1_000,
        };
        write_padded(out, number, count);
    }
}

/// Two letters are the last two digits, any other number is the least number of digits.
fn print_year(out: &mut String, year: u64, count: usize) {
    if count == 2 {
        write_padded(out, year % 100, 2);
    } else {
        write_padded(out, year, count);
    }
}

/// `+hh`, `+hhmm` or `+hh:mm`.
fn print_offset(out: &mut String, seconds: i64, minutes: bool, colon: bool) {
    out.push(if seconds < 0 { '-' } else { '+' });
    let total = seconds.unsigned_abs() / 60;
    write_padded(out, total / 60, 2);
    if colon {
        out.push(':');
    }
    if minutes {
        write_padded(out, total % 60, 2);
    }
}

/// A zone's short or long name; `GMT+hh:mm` for one that has none.
fn zone_name(zone: &TimeZone, second: i64, offset: i64, long: bool) -> String {
    if let Some(names) = ZoneNames::of(zone) {
        return names.name(is_summer(zone, second), long).into();
    }
    if offset == 0 && long {
        return "Greenwich Mean Time".into();
    }
    let mut text = "GMT".to_string();
    if offset != 0 {
        print_offset(&mut text, offset, true, true);
    }
    text
}
