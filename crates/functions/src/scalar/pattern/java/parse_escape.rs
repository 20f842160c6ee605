//! What a backslash means, outside of classes and in them.

use super::PatternError;
use super::ast::{Assertion, Greed, Node};
use super::class::CharSet;
use super::parser::Parser;
use super::property;

/// What an escape that may stand in a class means.
pub(super) enum Escaped {
    /// A set.
    Set(CharSet),
    /// A character.
    Char(char),
    /// Half a character, which no text has.
    Surrogate,
}

impl Parser {
    /// What follows a backslash outside of a class.
    pub(super) fn escape(&mut self) -> Result<Node, PatternError> {
        let Some(c) = self.raw(0) else {
            return Err(self.invalid("a backslash at the end"));
        };
        let assertion = match c {
            'A' => Some(Assertion::TextStart),
            'z' => Some(Assertion::TextEnd),
            'Z' => Some(Assertion::LastLineEnd(self.flags.terminators())),
            'B' => Some(Assertion::NotWordBoundary),
            'G' => Some(Assertion::LastMatchEnd),
            'b' if self.raw(1) == Some('{') => {
                return Err(PatternError::Unsupported(r"\b{g}".into()));
            }
            'b' => Some(Assertion::WordBoundary),
            _ => None,
        };
        if let Some(assertion) = assertion {
            self.at += 1;
            return Ok(Node::Assert(assertion));
        }
        match c {
            'R' => {
                self.at += 1;
                Ok(Node::Choice(vec![
                    Node::Sequence(vec![Node::Literal('\r'), Node::Literal('\n')]),
                    Node::Set(property::vertical_space()),
                ]))
            }
            'X' => {
                self.at += 1;
                Ok(grapheme())
            }
            'k' => {
                self.at += 1;
                if self.next_raw() != Some('<') {
                    return Err(self.invalid("\\k is not followed by '<' for a named group"));
                }
                let name = self.group_name()?;
                match self.names.get(&name) {
                    Some(group) => Ok(self.backreference(*group)),
                    None => Err(self.invalid(&format!("named group <{name}> does not exist"))),
                }
            }
            '1'..='9' => {
                self.at += 1;
                let mut group = c.to_digit(10).unwrap_or(0);
                // Further digits count only while there is such a group.
                while let Some(digit) = self.raw(0).and_then(|c| c.to_digit(10)) {
                    match group * 10 + digit {
                        longer if longer <= self.groups => group = longer,
                        _ => break,
                    }
                    self.at += 1;
                }
                Ok(self.backreference(group))
            }
            _ => match self.escaped_set()? {
                Escaped::Set(set) => Ok(Node::Set(set)),
                Escaped::Char(c) => Ok(self.literal(c)),
                Escaped::Surrogate => Ok(Node::Set(CharSet::empty())),
            },
        }
    }

    fn backreference(&self, group: u32) -> Node {
        // A group that is not there yet has matched nothing, so that this cannot match.
        if group > self.groups {
            return Node::Set(CharSet::empty());
        }
        Node::Backreference { group, insensitive: self.flags.insensitive }
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
            'N' if self.raw(0) == Some('{') => {
                return Err(PatternError::Unsupported(r"\N{name}".into()));
            }
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

/// A grapheme cluster, nearly: a line break, or a character and the marks on it.
fn grapheme() -> Node {
    let joiners = CharSet::ranges(&[('\u{200d}', '\u{200d}'), ('\u{fe00}', '\u{fe0f}')]);
    let marks = CharSet::unicode("gc=M").or(&joiners);
    let marks = Node::Repeat {
        node: Box::new(Node::Set(marks)),
        min: 0,
        max: None,
        greed: Greed::Possessive,
    };
    Node::Choice(vec![
        Node::Sequence(vec![Node::Literal('\r'), Node::Literal('\n')]),
        Node::Sequence(vec![Node::Set(CharSet::all()), marks]),
    ])
}
