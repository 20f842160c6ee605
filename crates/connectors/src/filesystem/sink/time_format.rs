//! Times as text, by a pattern of Java's letters.

use jiff::civil::{DateTime, date};

/// A pattern such as `yyyyMMdd HH:mm:ss`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TimeFormat(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Literal(char),
    /// A field of so many digits; of 1 stands for one or more.
    Field(char, usize),
}

/// The fields of a time, with what is taken for those that a text does not have.
struct Fields {
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    nanos: i64,
}

impl Fields {
    fn time(&self) -> Option<DateTime> {
        let day = date_of(self.year, self.month, self.day)?;
        let (hour, minute) = (i8::try_from(self.hour).ok()?, i8::try_from(self.minute).ok()?);
        let (second, nanos) = (i8::try_from(self.second).ok()?, i32::try_from(self.nanos).ok()?);
        let time = jiff::civil::Time::new(hour, minute, second, nanos).ok()?;
        Some(day.to_datetime(time))
    }
}

fn date_of(year: i64, month: i64, day: i64) -> Option<jiff::civil::Date> {
    let (year, month) = (i16::try_from(year).ok()?, i8::try_from(month).ok()?);
    jiff::civil::Date::new(year, month, i8::try_from(day).ok()?).ok()
}

impl Default for Fields {
    fn default() -> Self {
        let epoch = date(1970, 1, 1);
        Self {
            year: epoch.year().into(),
            month: 1,
            day: 1,
            hour: 0,
            minute: 0,
            second: 0,
            nanos: 0,
        }
    }
}

impl TimeFormat {
    /// Reads a pattern of the letters y, u, M, d, H, m, s and S, quoted text, and other characters for
    /// themselves; the error says what is allowed.
    pub(super) fn parse(pattern: &str) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut chars = pattern.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '\'' if chars.next_if_eq(&'\'').is_some() => pieces.push(Piece::Literal('\'')),
                '\'' => {
                    pieces.extend(chars.by_ref().take_while(|c| *c != '\'').map(Piece::Literal));
                }
                'y' | 'u' | 'M' | 'd' | 'H' | 'm' | 's' | 'S' => {
                    let mut digits = 1;
                    while chars.next_if_eq(&c).is_some() {
                        digits += 1;
                    }
                    let name = if c == 'M' && digits > 2 { return Err(allowed()) } else { c };
                    pieces.push(Piece::Field(if name == 'u' { 'y' } else { name }, digits));
                }
                c if c.is_ascii_alphabetic() || matches!(c, '[' | ']' | '{' | '}' | '#') => {
                    return Err(allowed());
                }
                c => pieces.push(Piece::Literal(c)),
            }
        }
        Ok(Self(pieces))
    }

    /// The time that a text tells; `None` when it has not the form of the pattern.
    pub(super) fn read(&self, text: &str) -> Option<DateTime> {
        let mut fields = Fields::default();
        let mut rest = text;
        for piece in &self.0 {
            match *piece {
                Piece::Literal(c) => rest = rest.strip_prefix(c)?,
                Piece::Field(name, width) => {
                    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
                    let digits = if width == 1 { digits } else { width.min(digits) };
                    if digits < width || digits > 9 {
                        return None;
                    }
                    let (number, after) = rest.split_at(digits);
                    rest = after;
                    let number: i64 = number.parse().ok()?;
                    match name {
                        'y' if width == 2 => fields.year = 2000 + number,
                        'y' => fields.year = number,
                        'M' => fields.month = number,
                        'd' => fields.day = number,
                        'H' => fields.hour = number,
                        'm' => fields.minute = number,
                        's' => fields.second = number,
                        _ => fields.nanos = number * 10i64.pow(9 - digits as u32),
                    }
                }
            }
        }
        if rest.is_empty() { fields.time() } else { None }
    }
}

/// Reads `yyyy-MM-dd[ HH:mm:ss[.f]]`, leading zeros being optional: what Flink reads without a pattern.
pub(super) fn parse_lenient(text: &str) -> Option<DateTime> {
    ["y-M-d", "y-M-d H:m:s", "y-M-d H:m:s.S"]
        .into_iter()
        .find_map(|pattern| TimeFormat::parse(pattern).ok()?.read(text))
}

fn allowed() -> String {
    "a pattern of yyyy, MM, dd, HH, mm, ss, SSS, text in quotes and punctuation".into()
}

#[cfg(test)]
mod tests {
    use jiff::civil::datetime;

    use super::*;

    #[test]
    fn texts_are_read_by_their_pattern() {
        let at = datetime(2024, 1, 2, 3, 4, 5, 600_000_000);
        for (pattern, text, expected) in [
            ("yyyy-MM-dd HH:mm:ss.SSS", "2024-01-02 03:04:05.600", Some(at)),
            ("yyyyMMdd'T'HHmm", "20240102T0304", Some(datetime(2024, 1, 2, 3, 4, 0, 0))),
            ("d/M/yy", "2/1/24", Some(datetime(2024, 1, 2, 0, 0, 0, 0))),
            ("yyyyMMdd", "2024010", None),
            ("yyyyMMdd", "202401022", None),
            ("yyyyMMdd", "20240231", None),
            ("HH:mm", "24:00", None),
        ] {
            assert_eq!(TimeFormat::parse(pattern).unwrap().read(text), expected, "{text}");
        }
        assert_eq!(parse_lenient("2024-1-2 3:4:5.6"), Some(at));
        assert!(TimeFormat::parse("yyyy MMM").is_err() && TimeFormat::parse("EEE").is_err());
    }
}
