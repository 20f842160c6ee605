//! From a pattern to its items.

use super::print::names;
use super::{Field, Formatter, Fraction, Item, Minutes, Number, Seconds, Sign, Style, ZonePart};

impl Formatter {
    /// Compiles a pattern; the error says what is wrong with it.
    pub fn compile(pattern: &str) -> Result<Self, String> {
        let mut compiler = Compiler { pattern, sections: vec![Section::default()] };
        compiler.run()?;
        // Sections that are left open end with the pattern.
        while compiler.sections.len() > 1 {
            compiler.close();
        }
        Ok(Self { items: compiler.sections.pop().map(|section| section.items).unwrap_or_default() })
    }

    /// The form that TO_TIMESTAMP without a format reads: `yyyy-MM-dd`, then possibly
    /// ` HH:mm:ss` and a fraction; months, days and so on of one or two digits.
    pub fn default_timestamp() -> Self {
        let mut compiler = Compiler {
            pattern: "yyyy-[MM][M]-[dd][d][ [HH][H]:[mm][m]:[ss][s]",
            sections: vec![Section::default()],
        };
        // The pattern is known to be well formed.
        let _ = compiler.run();
        compiler.push(Item::Fraction(Fraction { min: 0, max: 9, point: true }));
        compiler.close();
        Self { items: compiler.sections.pop().map(|section| section.items).unwrap_or_default() }
    }
}

/// The whole pattern, or an optional part of it.
#[derive(Default)]
struct Section {
    items: Vec<Item>,
    /// The number that must leave digits for those directly after it.
    adjacent: Option<usize>,
    /// The width that `p` gave for the next item.
    pad: Option<usize>,
}

struct Compiler<'a> {
    pattern: &'a str,
    sections: Vec<Section>,
}

impl Compiler<'_> {
    fn run(&mut self) -> Result<(), String> {
        let pattern = self.pattern;
        let mut chars = pattern.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                'a'..='z' | 'A'..='Z' => {
                    let mut count = 1;
                    while chars.next_if_eq(&c).is_some() {
                        count += 1;
                    }
                    if c == 'p' {
                        if !chars.peek().is_some_and(char::is_ascii_alphabetic) {
                            return Err(format!("a letter must follow p in '{pattern}'"));
                        }
                        self.top().pad = Some(count);
                    } else {
                        self.letter(c, count)?;
                    }
                }
                '\'' => {
                    let mut text = String::new();
                    loop {
                        match chars.next() {
                            Some('\'') if chars.next_if_eq(&'\'').is_some() => text.push('\''),
                            Some('\'') => break,
                            Some(other) => text.push(other),
                            None => return Err(format!("a quote is not closed in '{pattern}'")),
                        }
                    }
                    self.push(Item::Text(if text.is_empty() { "'".into() } else { text }));
                }
                '[' => self.sections.push(Section::default()),
                ']' if self.sections.len() == 1 => {
                    return Err(format!("']' without '[' in '{pattern}'"));
                }
                ']' => self.close(),
                '{' | '}' | '#' => return Err(format!("'{c}' is reserved in '{pattern}'")),
                other => _ = self.push(Item::Text(other.into())),
            }
        }
        Ok(())
    }

    /// The section that is open. There always is one.
    fn top(&mut self) -> &mut Section {
        if self.sections.is_empty() {
            self.sections.push(Section::default());
        }
        let last = self.sections.len() - 1;
        &mut self.sections[last]
    }

    fn close(&mut self) {
        if let Some(section) = self.sections.pop() {
            self.top().adjacent = None;
            if !section.items.is_empty() {
                self.push(Item::Optional(section.items));
            }
        }
    }

    fn push(&mut self, item: Item) -> usize {
        let section = self.top();
        section.adjacent = None;
        section.items.push(match section.pad.take() {
            Some(width) => Item::Padded { width, item: Box::new(item) },
            None => item,
        });
        section.items.len() - 1
    }

    /// Adds a number. A number that stands directly before others leaves them their digits; if it
    /// has a fixed width itself, it keeps it.
    fn number(&mut self, item: Item, width: Option<usize>) {
        let before = self.top().adjacent;
        let index = self.push(item);
        let section = self.top();
        section.adjacent = Some(index);
        let Some(before) = before else { return };
        if let (Some(width), Some(Item::Number(number))) = (width, section.items.get_mut(before)) {
            number.reserved += width;
            section.adjacent = Some(before);
        }
    }

    fn digits(&mut self, field: Field, min: usize, max: usize, sign: Sign) {
        let fixed = (min == max && sign == Sign::Never).then_some(max);
        let number = Number { field, min, max, sign, reduced: false, reserved: 0 };
        self.number(Item::Number(number), fixed);
    }

    fn letter(&mut self, letter: char, count: usize) -> Result<(), String> {
        let too_many = || Err(format!("too many {letter} in a row in '{}'", self.pattern));
        let unknown = || Err(format!("'{letter}' is not a pattern letter in '{}'", self.pattern));
        let wrong =
            || Err(format!("{count} of {letter} in a row make no sense in '{}'", self.pattern));
        match letter {
            'u' | 'y' | 'Y' if count > 19 => return too_many(),
            'u' => self.year(Field::Year, count),
            'y' => self.year(Field::YearOfEra, count),
            'Y' => self.year(Field::WeekYear, count),
            'M' | 'L' => return self.name_or_number(Field::Month, letter, count),
            'Q' | 'q' => return self.name_or_number(Field::Quarter, letter, count),
            'e' => return self.name_or_number(Field::LocalDayOfWeek, letter, count),
            'c' if count == 2 => return wrong(),
            'c' => return self.name_or_number(Field::LocalDayOfWeek, letter, count),
            'E' => match style(count.max(3)) {
                Some(style) => _ = self.push(name(Field::DayOfWeek, style)),
                None => return too_many(),
            },
            'G' => match style(count.max(3)) {
                Some(style) => _ = self.push(name(Field::Era, style)),
                None => return too_many(),
            },
            'a' if count == 1 => {
                self.push(name(Field::AmPm, Style::Short));
            }
            'B' => match count {
                1 => _ = self.push(name(Field::DayPeriod, Style::Short)),
                4 => _ = self.push(name(Field::DayPeriod, Style::Full)),
                5 => _ = self.push(name(Field::DayPeriod, Style::Narrow)),
                _ => return wrong(),
            },
            'w' if count <= 2 => self.digits(Field::WeekOfYear, count, 2, Sign::Never),
            'W' if count == 1 => self.digits(Field::WeekOfMonth, 1, 1, Sign::Never),
            'F' if count == 1 => self.digits(Field::AlignedDay, 1, 19, Sign::Normal),
            'D' if count == 1 => self.digits(Field::DayOfYear, 1, 19, Sign::Normal),
            'D' if count <= 3 => self.digits(Field::DayOfYear, count, 3, Sign::Never),
            'd' => return self.one_or_two(Field::DayOfMonth, letter, count),
            'H' => return self.one_or_two(Field::Hour, letter, count),
            'k' => return self.one_or_two(Field::HourFrom1, letter, count),
            'K' => return self.one_or_two(Field::HalfDayHour, letter, count),
            'h' => return self.one_or_two(Field::HalfDayHourFrom1, letter, count),
            'm' => return self.one_or_two(Field::Minute, letter, count),
            's' => return self.one_or_two(Field::Second, letter, count),
            'S' if count <= 9 => {
                let fraction = Fraction { min: count, max: count, point: false };
                self.number(Item::Fraction(fraction), Some(count));
            }
            'A' if count <= 19 => self.digits(Field::MilliOfDay, count, 19, Sign::Never),
            'N' if count <= 19 => self.digits(Field::NanoOfDay, count, 19, Sign::Never),
            'n' if count <= 19 => self.digits(Field::Nano, count, 19, Sign::Never),
            'g' if count <= 19 => self.digits(Field::ModifiedJulianDay, count, 19, Sign::Normal),
            'X' | 'x' | 'Z' if count <= 5 => {
                self.push(Item::Zone(offset(letter, count)));
            }
            'O' if count == 1 || count == 4 => {
                self.push(Item::Zone(ZonePart::Localized { full: count == 4 }));
            }
            'z' if count <= 4 => _ = self.push(Item::Zone(ZonePart::Name)),
            'V' if count == 2 => _ = self.push(Item::Zone(ZonePart::Id)),
            'v' if count == 1 || count == 4 => _ = self.push(Item::Zone(ZonePart::Name)),
            'V' | 'v' | 'O' => return wrong(),
            'a' | 'w' | 'W' | 'F' | 'D' | 'S' | 'A' | 'N' | 'n' | 'g' | 'X' | 'x' | 'Z' | 'z' => {
                return too_many();
            }
            _ => return unknown(),
        }
        Ok(())
    }

    fn year(&mut self, field: Field, count: usize) {
        if count == 2 {
            let number =
                Number { field, min: 2, max: 2, sign: Sign::Never, reduced: true, reserved: 0 };
            self.number(Item::Number(number), Some(2));
        } else {
            let sign = if count < 4 { Sign::Normal } else { Sign::ExceedsPad };
            self.digits(field, count, 19, sign);
        }
    }

    fn one_or_two(&mut self, field: Field, letter: char, count: usize) -> Result<(), String> {
        match count {
            1 => self.digits(field, 1, 19, Sign::Normal),
            2 => self.digits(field, 2, 2, Sign::Never),
            _ => return Err(format!("too many {letter} in a row in '{}'", self.pattern)),
        }
        Ok(())
    }

    fn name_or_number(&mut self, field: Field, letter: char, count: usize) -> Result<(), String> {
        match style(count) {
            _ if count <= 2 && field == Field::LocalDayOfWeek => {
                self.digits(field, count, count, Sign::Never);
                Ok(())
            }
            _ if count <= 2 => self.one_or_two(field, letter, count),
            Some(style) => {
                // Names of days do not depend on where the week begins.
                let field = if field == Field::LocalDayOfWeek { Field::DayOfWeek } else { field };
                self.push(name(field, style));
                Ok(())
            }
            None => Err(format!("too many {letter} in a row in '{}'", self.pattern)),
        }
    }
}

/// A name; of narrow names only those that stand for one value can be read.
fn name(field: Field, style: Style) -> Item {
    let mut names: Vec<(String, i64)> = names(field, style).collect();
    if style == Style::Narrow {
        let texts: Vec<String> = names.iter().map(|(text, _)| text.clone()).collect();
        names.retain(|(text, _)| texts.iter().filter(|other| *other == text).count() == 1);
    }
    names.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
    Item::Name { field, style, names }
}

fn style(count: usize) -> Option<Style> {
    match count {
        3 => Some(Style::Short),
        4 => Some(Style::Full),
        5 => Some(Style::Narrow),
        _ => None,
    }
}

fn offset(letter: char, count: usize) -> ZonePart {
    let part = |minutes, seconds, colon, zero| ZonePart::Offset { minutes, seconds, colon, zero };
    let zero = |digits| if letter == 'X' { "Z" } else { digits };
    match (letter, count) {
        ('Z', 4) => ZonePart::Localized { full: true },
        ('Z', 5) => part(Minutes::Required, Seconds::Optional, true, "Z"),
        ('Z', _) => part(Minutes::Required, Seconds::Never, false, "+0000"),
        (_, 1) => part(Minutes::Optional, Seconds::Never, false, zero("+00")),
        (_, 2) => part(Minutes::Required, Seconds::Never, false, zero("+0000")),
        (_, 3) => part(Minutes::Required, Seconds::Never, true, zero("+00:00")),
        (_, 4) => part(Minutes::Required, Seconds::Optional, false, zero("+0000")),
        _ => part(Minutes::Required, Seconds::Optional, true, zero("+00:00")),
    }
}
