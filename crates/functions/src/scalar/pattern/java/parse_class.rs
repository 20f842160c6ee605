//! Bracketed classes, and the escapes that stand for characters and sets anywhere.

use super::PatternError;
use super::class::CharSet;
use super::parser::{Escaped, Parser};
use super::property;

impl Parser {
    /// What follows `[`.
    pub(super) fn class(&mut self) -> Result<CharSet, PatternError> {
        let negated = self.raw(0) == Some('^') && !self.is_quoted();
        self.skip(usize::from(negated));
        let set = self.class_items(true)?;
        Ok(if negated { set.not() } else { set })
    }

    /// The items of a class up to its `]`, which is taken if it is `own`. `&&` intersects what is before
    /// it with all that follows.
    fn class_items(&mut self, own: bool) -> Result<CharSet, PatternError> {
        let mut set: Option<CharSet> = None;
        let mut last = CharSet::empty();
        loop {
            let Some(c) = self.peek() else {
                return Err(self.invalid("unclosed character class"));
            };
            let quoted = self.is_quoted();
            let item = match c {
                '[' if !quoted => {
                    self.skip(1);
                    self.nested(|parser| parser.class())?
                }
                '&' if !quoted && self.raw(1) == Some('&') => {
                    self.skip(2);
                    let right = self.class_right()?;
                    set = Some(match (set, right) {
                        (Some(left), Some(right)) => left.and(&right),
                        // As in Java, nothing on the right repeats the last item of the left.
                        (Some(left), None) => left.and(&last),
                        (None, Some(right)) => right,
                        (None, None) => return Err(self.invalid("bad class syntax")),
                    });
                    continue;
                }
                ']' if !quoted => match set {
                    Some(set) => {
                        self.skip(usize::from(own));
                        return Ok(set);
                    }
                    None => self.class_range()?,
                },
                _ => self.class_range()?,
            };
            last = item.clone();
            set = Some(match set {
                Some(set) => set.or(&item),
                None => item,
            });
        }
    }

    /// The right side of `&&`; `None` if there is nothing.
    fn class_right(&mut self) -> Result<Option<CharSet>, PatternError> {
        let mut right: Option<CharSet> = None;
        loop {
            let Some(c) = self.peek() else {
                return Err(self.invalid("unclosed character class"));
            };
            let item = match c {
                ']' | '&' if !self.is_quoted() => return Ok(right),
                '[' if !self.is_quoted() => {
                    self.skip(1);
                    self.nested(|parser| parser.class())?
                }
                _ => self.nested(|parser| parser.class_items(false))?,
            };
            right = Some(match right {
                Some(right) => right.or(&item),
                None => item,
            });
        }
    }

    /// A character, a range or an escape.
    fn class_range(&mut self) -> Result<CharSet, PatternError> {
        let first = match self.class_char()? {
            Escaped::Set(set) => return Ok(set),
            Escaped::Surrogate => return Ok(CharSet::empty()),
            Escaped::Char(c) => c,
        };
        let is_range = self.peek() == Some('-')
            && !self.is_quoted()
            && !matches!(self.raw(1), None | Some(']' | '['));
        if !is_range {
            return Ok(self.flags.fold(CharSet::one(first)));
        }
        self.skip(1);
        match self.class_char()? {
            Escaped::Char(last) if first <= last => {
                Ok(self.flags.fold(CharSet::range(first, last)))
            }
            _ => Err(self.invalid("illegal character range")),
        }
    }

    fn class_char(&mut self) -> Result<Escaped, PatternError> {
        self.peek();
        let quoted = self.is_quoted();
        match self.next() {
            Some('\\') if !quoted => self.escaped_set(),
            Some(c) => Ok(Escaped::Char(c)),
            None => Err(self.invalid("unclosed character class")),
        }
    }

    /// What follows a backslash, where it means a character or a set.
    pub(super) fn escaped_set(&mut self) -> Result<Escaped, PatternError> {
        let unicode = self.flags.unicode_class;
        let Some(c) = self.next_raw() else {
            return Err(self.invalid("a backslash at the end"));
        };
        Ok(match c {
            'd' => Escaped::Set(property::digits(unicode)),
            'D' => Escaped::Set(property::digits(unicode).not()),
            'w' => Escaped::Set(property::word(unicode)),
            'W' => Escaped::Set(property::word(unicode).not()),
            's' => Escaped::Set(property::space(unicode)),
            'S' => Escaped::Set(property::space(unicode).not()),
            'h' => Escaped::Set(property::horizontal_space()),
            'H' => Escaped::Set(property::horizontal_space().not()),
            'v' => Escaped::Set(property::vertical_space()),
            'V' => Escaped::Set(property::vertical_space().not()),
            'p' => Escaped::Set(self.named_set()?),
            'P' => Escaped::Set(self.named_set()?.not()),
            't' => Escaped::Char('\t'),
            'n' => Escaped::Char('\n'),
            'r' => Escaped::Char('\r'),
            'f' => Escaped::Char('\x0c'),
            'a' => Escaped::Char('\x07'),
            'e' => Escaped::Char('\x1b'),
            '0' => self.octal()?,
            'x' => self.hex()?,
            'u' => self.utf16()?,
            'c' => match self.next_raw() {
                Some(c) => Escaped::Char(char::from_u32(c as u32 ^ 64).unwrap_or(c)),
                None => return Err(self.invalid("illegal control escape sequence")),
            },
            'N' => return Err(PatternError::Unsupported(r"\N{name}".into())),
            _ if c.is_ascii_alphanumeric() => {
                return Err(self.invalid(&format!("illegal escape sequence \\{c}")));
            }
            _ => Escaped::Char(c),
        })
    }

    /// What follows `\p`.
    fn named_set(&mut self) -> Result<CharSet, PatternError> {
        let name = match self.next() {
            Some('{') => {
                let mut name = String::new();
                loop {
                    match self.next() {
                        Some('}') => break name,
                        Some(c) => name.push(c),
                        None => return Err(self.invalid("unclosed character family")),
                    }
                }
            }
            Some(c) => c.into(),
            None => return Err(self.invalid("unknown character property")),
        };
        property::property(&name, self.flags.unicode_class, self.flags.insensitive)
            .ok_or_else(|| self.invalid(&format!("unknown character property {{{name}}}")))
    }

    /// Up to three octal digits, the first of three below 4.
    fn octal(&mut self) -> Result<Escaped, PatternError> {
        let mut code = None;
        for _ in 0..3 {
            let Some(digit) = self.raw(0).and_then(|c| c.to_digit(8)) else { break };
            let longer = code.unwrap_or(0) * 8 + digit;
            if longer > 0o377 {
                break;
            }
            code = Some(longer);
            self.skip(1);
        }
        code.and_then(char::from_u32)
            .map(Escaped::Char)
            .ok_or_else(|| self.invalid("illegal octal escape sequence"))
    }

    /// Two hexadecimal digits, or any number in braces.
    fn hex(&mut self) -> Result<Escaped, PatternError> {
        let error = "illegal hexadecimal escape sequence";
        if self.raw(0) != Some('{') {
            let code = self.hex_digits(2).ok_or_else(|| self.invalid(error))?;
            return Ok(escaped(code));
        }
        self.skip(1);
        let mut code: Option<u32> = None;
        loop {
            match self.next_raw() {
                Some('}') => break,
                Some(c) => {
                    let digit = c.to_digit(16).ok_or_else(|| self.invalid(error))?;
                    code = Some(code.unwrap_or(0).saturating_mul(16).saturating_add(digit));
                }
                None => return Err(self.invalid(error)),
            }
        }
        match code {
            Some(code @ ..=0x10ffff) => Ok(escaped(code)),
            _ => Err(self.invalid(error)),
        }
    }

    /// A UTF-16 unit of four digits, or two that make a character.
    fn utf16(&mut self) -> Result<Escaped, PatternError> {
        let error = "illegal Unicode escape sequence";
        let unit = self.hex_digits(4).ok_or_else(|| self.invalid(error))?;
        let is_high = (0xd800..0xdc00).contains(&unit);
        if is_high && self.raw(0) == Some('\\') && self.raw(1) == Some('u') {
            self.skip(2);
            let low = self.hex_digits(4);
            if let Some(low @ 0xdc00..0xe000) = low {
                return Ok(escaped(0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00)));
            }
            self.back(2 + if low.is_some() { 4 } else { 0 });
        }
        Ok(escaped(unit))
    }

    /// A number of exactly so many digits; nothing is taken if they are not there.
    fn hex_digits(&mut self, count: usize) -> Option<u32> {
        let mut code = 0;
        for i in 0..count {
            code = code * 16 + self.raw(i)?.to_digit(16)?;
        }
        self.skip(count);
        Some(code)
    }
}

fn escaped(code: u32) -> Escaped {
    char::from_u32(code).map_or(Escaped::Surrogate, Escaped::Char)
}
