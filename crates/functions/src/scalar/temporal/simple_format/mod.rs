//! The pattern language of Java's `SimpleDateFormat`, in which Flink writes and reads DATE_FORMAT of
//! strings, FROM_UNIXTIME, UNIX_TIMESTAMP, TO_DATE and CONVERT_TZ.
//!
//! It counts in milliseconds, reads leniently (`2024-13-45` is a date of 2025, text after the pattern
//! is ignored), and has the Julian calendar before 15 October 1582.

mod calendar;
mod fields;
mod parse;
mod print;

use calendar::Day;
pub use parse::Century;
pub use print::Zone;

/// A compiled pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimpleFormat {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Field { letter: Letter, count: usize },
}

/// What a pattern letter stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Letter {
    Era,
    Year,
    WeekYear,
    Month,
    WeekOfYear,
    WeekOfMonth,
    DayOfYear,
    DayOfMonth,
    DayOfWeekInMonth,
    DayName,
    IsoDayOfWeek,
    AmPm,
    Hour,
    HourFrom1,
    HalfDayHour,
    HalfDayHourFrom1,
    Minute,
    Second,
    Millisecond,
    ZoneName,
    ZoneOffset,
    IsoZone,
}

impl Letter {
    fn parse(letter: char) -> Option<Self> {
        Some(match letter {
            'G' => Self::Era,
            'y' => Self::Year,
            'Y' => Self::WeekYear,
            'M' | 'L' => Self::Month,
            'w' => Self::WeekOfYear,
            'W' => Self::WeekOfMonth,
            'D' => Self::DayOfYear,
            'd' => Self::DayOfMonth,
            'F' => Self::DayOfWeekInMonth,
            'E' => Self::DayName,
            'u' => Self::IsoDayOfWeek,
            'a' => Self::AmPm,
            'H' => Self::Hour,
            'k' => Self::HourFrom1,
            'K' => Self::HalfDayHour,
            'h' => Self::HalfDayHourFrom1,
            'm' => Self::Minute,
            's' => Self::Second,
            'S' => Self::Millisecond,
            'z' => Self::ZoneName,
            'Z' => Self::ZoneOffset,
            'X' => Self::IsoZone,
            _ => return None,
        })
    }
}

impl SimpleFormat {
    /// `yyyy-MM-dd HH:mm:ss`, the form that functions without a format use.
    pub fn standard() -> Self {
        // The pattern is known to be well formed.
        Self::compile("yyyy-MM-dd HH:mm:ss").unwrap_or(Self { pieces: Vec::new() })
    }

    /// Compiles a pattern; the error says what is wrong with it.
    pub fn compile(pattern: &str) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut chars = pattern.chars().peekable();
        let mut quoted = false;
        while let Some(c) = chars.next() {
            if c == '\'' {
                match chars.next_if_eq(&'\'') {
                    Some(quote) => push_text(&mut pieces, quote),
                    None => quoted = !quoted,
                }
            } else if quoted || !c.is_ascii_alphabetic() {
                push_text(&mut pieces, c);
            } else {
                let letter = Letter::parse(c)
                    .ok_or_else(|| format!("'{c}' is not a pattern letter in '{pattern}'"))?;
                let mut count = 1;
                while chars.next_if_eq(&c).is_some() {
                    count += 1;
                }
                if letter == Letter::IsoZone && count > 3 {
                    return Err(format!("'{pattern}' has more than three X in a row"));
                }
                pieces.push(Piece::Field { letter, count });
            }
        }
        match quoted {
            true => Err(format!("a quote is not closed in '{pattern}'")),
            false => Ok(Self { pieces }),
        }
    }
}

fn push_text(pieces: &mut Vec<Piece>, c: char) {
    match pieces.last_mut() {
        Some(Piece::Text(text)) => text.push(c),
        _ => pieces.push(Piece::Text(c.into())),
    }
}

#[cfg(test)]
mod tests;
