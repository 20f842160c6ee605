//! Bracketed classes.

use super::PatternError;
use super::class::CharSet;
use super::parse_escape::Escaped;
use super::parser::Parser;

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
}
