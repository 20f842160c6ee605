//! Local times as text.

use flott_types::text::{Civil, civil_from_days};

use super::super::names::{DAYS, MONTHS, short, write_padded};
use super::super::stamps::Stamp;
use super::super::unit::NANOS_PER_SECOND;
use super::{DAY_PERIODS, Field, Formatter, Fraction, Item, Number, Sign, Style};

/// A local time, taken apart.
#[derive(Debug, Clone, Copy)]
pub struct LocalTime {
    days: i64,
    civil: Civil,
    nano_of_day: i64,
}

impl From<Stamp> for LocalTime {
    fn from(local: Stamp) -> Self {
        let days = local.second.div_euclid(86_400);
        let second = local.second.rem_euclid(86_400);
        Self {
            days,
            civil: civil_from_days(days),
            nano_of_day: second * NANOS_PER_SECOND + i64::from(local.nano),
        }
    }
}

impl LocalTime {
    #[inline]
    fn value(&self, field: Field) -> i64 {
        match field.is_of_date() {
            true => field.of_date(self.days, self.civil),
            false => field.of_time(self.nano_of_day),
        }
    }
}

/// What could not be written.
enum Missing {
    /// A zone or offset, which local times have none of.
    Zone,
    /// A value wider than the pattern allows.
    Width(i64),
}

impl Formatter {
    /// For how many seconds of local time its text stays: times that lie between the same two
    /// multiples of that are written alike. `None` where fractions of a second are written.
    pub fn stays_for(&self) -> Option<i64> {
        let of = |item: &Item| match item {
            Item::Text(_) | Item::Zone(_) => Some(i64::MAX),
            Item::Number(number) => number.field.stays_for(),
            Item::Name { field, .. } => field.stays_for(),
            Item::Fraction(_) | Item::Optional(_) | Item::Padded { .. } => None,
        };
        self.items.iter().map(of).try_fold(86_400, |least, stays| Some(stays?.min(least)))
    }

    /// Writes a local time; the error says what it cannot write.
    pub fn print(&self, out: &mut String, time: &LocalTime) -> Result<(), String> {
        print_all(&self.items, out, time).map_err(|missing| match missing {
            Missing::Zone => {
                "the format asks for a time zone, which a timestamp has none of".into()
            }
            Missing::Width(value) => format!("the value {value} is wider than the format allows"),
        })
    }
}

fn print_all(items: &[Item], out: &mut String, time: &LocalTime) -> Result<(), Missing> {
    items.iter().try_for_each(|item| print_one(item, out, time))
}

fn print_one(item: &Item, out: &mut String, time: &LocalTime) -> Result<(), Missing> {
    match item {
        Item::Text(text) => out.push_str(text),
        Item::Number(number) => return print_number(number, out, time.value(number.field)),
        Item::Fraction(fraction) => print_fraction(*fraction, out, time.value(Field::Nano)),
        Item::Name { field, style, .. } => print_name(*field, *style, out, time.value(*field)),
        Item::Zone(_) => return Err(Missing::Zone),
        Item::Optional(items) => {
            let start = out.len();
            match print_all(items, out, time) {
                Err(Missing::Zone) => out.truncate(start),
                other => return other,
            }
        }
        Item::Padded { width, item } => {
            let start = out.len();
            print_one(item, out, time)?;
            let written = out[start..].chars().count();
            match width.checked_sub(written) {
                Some(missing) => out.insert_str(start, &" ".repeat(missing)),
                None => return Err(Missing::Width(time.value(Field::Nano))),
            }
        }
    }
    Ok(())
}

fn print_number(number: &Number, out: &mut String, value: i64) -> Result<(), Missing> {
    let magnitude = if number.reduced { value.unsigned_abs() % 100 } else { value.unsigned_abs() };
    if number.max < 19 && magnitude >= 10u64.pow(number.max as u32) {
        return Err(Missing::Width(value));
    }
    if value < 0 && !number.reduced {
        if number.sign == Sign::Never {
            return Err(Missing::Width(value));
        }
        out.push('-');
    } else if number.sign == Sign::ExceedsPad
        && number.min < 19
        && magnitude >= 10u64.pow(number.min as u32)
    {
        out.push('+');
    }
    write_padded(out, magnitude, number.min);
    Ok(())
}

fn print_fraction(fraction: Fraction, out: &mut String, nanos: i64) {
    let mut digits = [b'0'; 9];
    let mut rest = nanos;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    let significant = digits.iter().rposition(|digit| *digit != b'0').map_or(0, |last| last + 1);
    let length = significant.clamp(fraction.min, fraction.max);
    if length > 0 {
        if fraction.point {
            out.push('.');
        }
        out.push_str(std::str::from_utf8(&digits[..length]).unwrap_or_default());
    }
}

fn print_name(field: Field, style: Style, out: &mut String, value: i64) {
    match field {
        Field::Quarter => match style {
            Style::Short => out.extend(['Q', digit(value)]),
            Style::Full => {
                out.push_str(QUARTERS[(value - 1).clamp(0, 3) as usize]);
                out.push_str(" quarter");
            }
            Style::Narrow => out.push(digit(value)),
        },
        _ => out.push_str(name(field, style, value)),
    }
}

const QUARTERS: [&str; 4] = ["1st", "2nd", "3rd", "4th"];

fn digit(value: i64) -> char {
    char::from(b'0' + value.rem_euclid(10) as u8)
}

/// The name of a value of era, month, day of the week, half or part of the day.
fn name(field: Field, style: Style, value: i64) -> &'static str {
    let (full, abbreviated) = match field {
        Field::DayPeriod => {
            let period = &DAY_PERIODS[value.clamp(0, 5) as usize];
            return if style == Style::Narrow { period.narrow } else { period.name };
        }
        Field::Era if value == 0 => ("Before Christ", "BC"),
        Field::Era => ("Anno Domini", "AD"),
        Field::AmPm => {
            let name = if value == 0 { "AM" } else { "PM" };
            (name, name)
        }
        Field::Month => {
            let name = MONTHS[(value - 1).clamp(0, 11) as usize];
            (name, short(name))
        }
        _ => {
            let name = DAYS[(value - 1).clamp(0, 6) as usize];
            (name, short(name))
        }
    };
    match style {
        Style::Full => full,
        Style::Short => abbreviated,
        Style::Narrow => abbreviated.get(..1).unwrap_or(abbreviated),
    }
}

/// All names of a field in a style, each with its value.
pub(super) fn names(field: Field, style: Style) -> impl Iterator<Item = (String, i64)> {
    let (first, last) = field.range();
    (first..=last).map(move |value| {
        let mut text = String::new();
        print_name(field, style, &mut text, value);
        (text, value)
    })
}
