//! Text as instants.

use super::super::names::{DAYS, MONTHS, short, strip_prefix_ignoring_case};
use super::super::zone_names::named;
use super::fields::{Field, Fields};
use super::print::Zone;
use super::{Letter, Piece, SimpleFormat, calendar};

/// Two-digit years fall into the hundred years that begin 80 years before `now`.
#[derive(Debug, Clone, Copy)]
pub struct Century {
    /// Milliseconds since the epoch.
    start: i64,
    year: i64,
}

impl Century {
    /// The century for a point of time, in nanoseconds since the epoch.
    pub fn around(now: i128) -> Self {
        let millis = now.div_euclid(1_000_000) as i64;
        let days = millis.div_euclid(86_400_000);
        let today = calendar::day(days);
        let year = i64::from(today.year) - 80;
        let start = calendar::days_by(year, today.month.into(), |first, _| {
            first + i64::from(today.day) - 1
        });
        Self { start: start * 86_400_000 + millis.rem_euclid(86_400_000), year }
    }
}

impl SimpleFormat {
    /// Reads the text from its beginning, ignoring what follows; `None` when it does not fit.
    pub fn parse(&self, text: &str, zone: &Zone, century: Century) -> Option<i64> {
        let fields = Fields::default();
        let mut reader = Reader { rest: text, fields, century, doubtful: None, zone };
        for (i, piece) in self.pieces.iter().enumerate() {
            match piece {
                Piece::Text(expected) => reader.rest = reader.rest.strip_prefix(&**expected)?,
                Piece::Field { letter, count } => {
                    let width = abuts(self.pieces.get(i + 1)).then_some(*count);
                    reader.read(*letter, *count, width)?;
                }
            }
        }
        if reader.rest.len() == text.len() {
            return None;
        }
        let millis = reader.fields.to_millis(zone);
        match reader.doubtful {
            Some((field, year)) if millis < century.start => {
                reader.fields.set(field, year + 100);
                Some(reader.fields.to_millis(zone))
            }
            _ => Some(millis),
        }
    }
}

/// Whether a number before this piece must stop after as many characters as it has letters.
fn abuts(next: Option<&Piece>) -> bool {
    match next {
        Some(Piece::Field { letter: Letter::Month, count }) => *count <= 2,
        Some(Piece::Field { letter, .. }) => !matches!(
            letter,
            Letter::Era
                | Letter::DayName
                | Letter::AmPm
                | Letter::ZoneName
                | Letter::ZoneOffset
                | Letter::IsoZone
        ),
        _ => false,
    }
}

struct Reader<'a> {
    rest: &'a str,
    fields: Fields,
    century: Century,
    /// A two-digit year that may lie before the century's beginning.
    doubtful: Option<(Field, i64)>,
    /// The zone at hand.
    zone: &'a Zone,
}

impl<'a> Reader<'a> {
    fn read(&mut self, letter: Letter, count: usize, width: Option<usize>) -> Option<()> {
        let from = self.rest;
        let start = from.trim_start_matches([' ', '\t']);
        if start.is_empty() {
            return None;
        }
        let skipped = from.len() - start.len();
        let field = match letter {
            Letter::Era => return self.name(["BC", "AD"].into_iter(), Field::Era, 0),
            Letter::Month if count >= 3 => {
                return self
                    .name(MONTHS.into_iter(), Field::Month, 1)
                    .or_else(|| self.name(MONTHS.iter().map(|name| short(name)), Field::Month, 1));
            }
            Letter::DayName => {
                // Sunday first, as the field counts.
                let names = || [DAYS[6]].into_iter().chain(DAYS[..6].iter().copied());
                return self
                    .name(names(), Field::DayOfWeek, 1)
                    .or_else(|| self.name(names().map(short), Field::DayOfWeek, 1));
            }
            Letter::AmPm => return self.name(["AM", "PM"].into_iter(), Field::AmPm, 0),
            Letter::ZoneName | Letter::ZoneOffset => return self.zone(start, skipped == 0),
            Letter::IsoZone => return self.iso_zone(start, count),
            Letter::Year => Field::Year,
            Letter::WeekYear => Field::WeekYear,
            Letter::Month => Field::Month,
            Letter::WeekOfYear => Field::WeekOfYear,
            Letter::WeekOfMonth => Field::WeekOfMonth,
            Letter::DayOfYear => Field::DayOfYear,
            Letter::DayOfMonth => Field::DayOfMonth,
            Letter::DayOfWeekInMonth => Field::DayOfWeekInMonth,
            Letter::IsoDayOfWeek => Field::DayOfWeek,
            Letter::Hour | Letter::HourFrom1 => Field::Hour,
            Letter::HalfDayHour | Letter::HalfDayHourFrom1 => Field::HalfDayHour,
            Letter::Minute => Field::Minute,
            Letter::Second => Field::Second,
            Letter::Millisecond => Field::Millisecond,
        };
        let limit = match width {
            // The width counts from before the blanks.
            Some(width) if from.chars().nth(width.saturating_sub(1)).is_none() => return None,
            Some(width) => width.checked_sub(skipped)?,
            None => usize::MAX,
        };
        let (value, rest) = number(start, limit)?;
        let digits = start.len() - rest.len();
        let value = match letter {
            Letter::Year | Letter::WeekYear if count <= 2 && digits == 2 && value >= 0 => {
                self.in_century(field, value)
            }
            Letter::HourFrom1 if value == 24 => 0,
            Letter::HalfDayHourFrom1 if value == 12 => 0,
            Letter::IsoDayOfWeek if (1..=7).contains(&value) => value % 7 + 1,
            _ => value,
        };
        self.fields.set(field, value);
        self.rest = rest;
        Some(())
    }

    fn in_century(&mut self, field: Field, two_digits: i64) -> i64 {
        let first = self.century.year;
        let year = first.div_euclid(100) * 100
            + two_digits
            + if two_digits < first.rem_euclid(100) { 100 } else { 0 };
        if year == first {
            self.doubtful = Some((field, year));
        }
        year
    }

    /// Reads the longest of some names, in any case, and sets the field to its number. Blanks before
    /// it are not skipped.
    fn name(
        &mut self,
        names: impl Iterator<Item = &'static str>,
        field: Field,
        first: i64,
    ) -> Option<()> {
        let (index, rest) = names
            .enumerate()
            .filter_map(|(i, name)| Some((i, strip_prefix_ignoring_case(self.rest, name)?)))
            .min_by_key(|(_, rest)| rest.len())?;
        self.fields.set(field, index as i64 + first);
        self.rest = rest;
        Some(())
    }

    /// `+hhmm`, `GMT+hh:mm` if no blanks are before it, or a name.
    fn zone(&mut self, text: &'a str, directly: bool) -> Option<()> {
        if let Some((sign, digits)) = sign(text) {
            return self.offset(sign, digits, 0, false);
        }
        if directly
            && let Some(rest) = strip_prefix_ignoring_case(text, "GMT")
            && let Some((sign, digits)) = sign(rest)
        {
            return self.offset(sign, digits, 0, true);
        }
        let (zone, rest) = named(text, self.zone.zone())?;
        (self.fields.offset, self.fields.zone) = (None, Some(zone));
        self.rest = rest;
        Some(())
    }

    /// `Z`, `+hh`, `+hhmm` or `+hh:mm`.
    fn iso_zone(&mut self, text: &'a str, count: usize) -> Option<()> {
        if let Some(rest) = text.strip_prefix('Z') {
            return self.set_offset(0, rest);
        }
        let (sign, digits) = sign(text)?;
        self.offset(sign, digits, count, count == 3)
    }

    fn offset(&mut self, sign: i64, text: &'a str, count: usize, colon: bool) -> Option<()> {
        let digit = |at: usize| {
            text.as_bytes().get(at).filter(|b| b.is_ascii_digit()).map(|b| i64::from(b - b'0'))
        };
        let (hours, mut at) = match (digit(0)?, digit(1)) {
            (tens, Some(ones)) => (tens * 10 + ones, 2),
            // One digit will do only before a colon.
            (ones, None) if count == 0 && colon => (ones, 1),
            _ => return None,
        };
        let mut minutes = 0;
        if count != 1 {
            if colon {
                text[at..].starts_with(':').then_some(())?;
                at += 1;
            }
            minutes = digit(at)? * 10 + digit(at + 1)?;
            at += 2;
        }
        if hours > 23 || minutes > 59 {
            return None;
        }
        self.set_offset(sign * (hours * 3_600 + minutes * 60), &text[at..])
    }

    fn set_offset(&mut self, seconds: i64, rest: &'a str) -> Option<()> {
        (self.fields.offset, self.fields.zone) = (Some(seconds), None);
        self.rest = rest;
        Some(())
    }
}

fn sign(text: &str) -> Option<(i64, &str)> {
    let positive = text.strip_prefix('+').map(|rest| (1, rest));
    positive.or_else(|| text.strip_prefix('-').map(|rest| (-1, rest)))
}

/// A number of at most `limit` characters, its sign among them; it wraps to 32 bits as Java's does.
fn number(text: &str, limit: usize) -> Option<(i64, &str)> {
    let bytes = text.as_bytes();
    let negative = bytes.first() == Some(&b'-') && limit > 0;
    let start = usize::from(negative);
    let digits = bytes[start..]
        .iter()
        .take(limit.saturating_sub(start))
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    if digits == 0 {
        return None;
    }
    let end = start + digits;
    let magnitude = bytes[start..end]
        .iter()
        .try_fold(0i64, |n, b| n.checked_mul(10)?.checked_add(i64::from(b - b'0')));
    let value = match magnitude {
        Some(n) => (if negative { -n } else { n }) as i32,
        None if negative => i32::MIN,
        None => i32::MAX,
    };
    Some((value.into(), &text[end..]))
}
