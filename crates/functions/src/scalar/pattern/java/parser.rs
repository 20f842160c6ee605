//! Java's pattern syntax, read by the rules of `java.util.regex.Pattern` of Java 17.

use std::collections::HashMap;

use super::PatternError;
use super::ast::{Assertion, Greed, Node, Terminators};
use super::class::CharSet;
use super::property;

/// How deep groups and classes may be nested.
const MAX_DEPTH: usize = 60;

/// A pattern, and how many groups it captures.
pub struct Parsed {
    /// The pattern.
    pub node: Node,
    /// The number of capturing groups.
    pub groups: usize,
}

/// Reads a pattern.
pub fn parse(pattern: &str) -> Result<Parsed, PatternError> {
    let mut parser = Parser::new(pattern);
    let node = parser.choice()?;
    if parser.peek().is_some() {
        return Err(parser.invalid("unmatched closing ')'"));
    }
    Ok(Parsed { node, groups: parser.groups as usize })
}

/// A character of the pattern.
#[derive(Clone, Copy)]
struct Unit {
    c: char,
    /// It stands for itself: it was between `\Q` and `\E`.
    quoted: bool,
}

pub(super) struct Parser {
    units: Vec<Unit>,
    at: usize,
    pub(super) flags: Flags,
    depth: usize,
    groups: u32,
    names: HashMap<String, u32>,
}

/// The flags in force.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Flags {
    /// `i`
    pub insensitive: bool,
    /// `m`
    pub multiline: bool,
    /// `s`
    pub dot_all: bool,
    /// `d`
    pub unix_lines: bool,
    /// `u`, or implied by `U`.
    pub unicode_case: bool,
    /// `U`
    pub unicode_class: bool,
    /// `x`
    pub comments: bool,
}

impl Flags {
    /// A set with what the flags make equal to its members.
    pub fn fold(&self, set: CharSet) -> CharSet {
        match (self.insensitive, self.unicode_case) {
            (false, _) => set,
            (true, false) => set.fold_ascii(),
            (true, true) => set.fold_unicode(),
        }
    }

    fn terminators(&self) -> Terminators {
        if self.unix_lines { Terminators::Unix } else { Terminators::All }
    }
}

impl Parser {
    fn new(pattern: &str) -> Self {
        Self {
            units: unquote(pattern),
            at: 0,
            flags: Flags::default(),
            depth: 0,
            groups: 0,
            names: HashMap::new(),
        }
    }

    pub(super) fn invalid(&self, reason: &str) -> PatternError {
        PatternError::Invalid(format!("{reason} near index {}", self.at))
    }

    /// The next unit as it stands.
    pub(super) fn raw(&self, ahead: usize) -> Option<char> {
        self.units.get(self.at + ahead).map(|unit| unit.c)
    }

    /// The next character that means something: with flag `x`, behind white space and comments.
    pub(super) fn peek(&mut self) -> Option<char> {
        self.skip_comments();
        self.raw(0)
    }

    /// Whether the next character is this one, with its special meaning; then it is taken.
    pub(super) fn eat(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c) && !self.is_quoted();
        self.at += usize::from(found);
        found
    }

    /// Takes the next character.
    pub(super) fn next(&mut self) -> Option<char> {
        let c = self.peek();
        self.at += usize::from(c.is_some());
        c
    }

    /// Takes the next unit as it stands.
    pub(super) fn next_raw(&mut self) -> Option<char> {
        let c = self.raw(0);
        self.at += usize::from(c.is_some());
        c
    }

    /// Goes over so many units.
    pub(super) fn skip(&mut self, units: usize) {
        self.at += units;
    }

    /// Goes back by so many units.
    pub(super) fn back(&mut self, units: usize) {
        self.at = self.at.saturating_sub(units);
    }

    /// Whether the next unit stands for itself.
    pub(super) fn is_quoted(&self) -> bool {
        self.units.get(self.at).is_some_and(|unit| unit.quoted)
    }

    fn skip_comments(&mut self) {
        while self.flags.comments && !self.is_quoted() {
            match self.raw(0) {
                Some('\t'..='\r' | ' ') => self.at += 1,
                Some('#') => {
                    let ends = property::terminators(self.flags.unix_lines);
                    while self.raw(0).is_some_and(|c| !ends.contains(c)) {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    /// Runs a part that nests, within the depth allowed.
    pub(super) fn nested<T>(
        &mut self,
        part: impl FnOnce(&mut Self) -> Result<T, PatternError>,
    ) -> Result<T, PatternError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(PatternError::Unsupported(format!(
                "groups and classes nested deeper than {MAX_DEPTH}"
            )));
        }
        let result = part(self);
        self.depth -= 1;
        result
    }

    /// Alternatives, up to a closing parenthesis or the end.
    fn choice(&mut self) -> Result<Node, PatternError> {
        let mut choices = vec![self.sequence()?];
        while self.eat('|') {
            choices.push(self.sequence()?);
        }
        Ok(if choices.len() == 1 { choices.remove(0) } else { Node::Choice(choices) })
    }

    fn sequence(&mut self) -> Result<Node, PatternError> {
        let mut nodes = Vec::new();
        while let Some(c) = self.peek() {
            if !self.is_quoted() && matches!(c, '|' | ')') {
                break;
            }
            let Some(node) = self.atom()? else { continue };
            let node = self.quantified(node)?;
            nodes.push(node);
        }
        Ok(match nodes.len() {
            0 => Node::Empty,
            1 => nodes.remove(0),
            _ => Node::Sequence(nodes),
        })
    }

    /// One thing that a quantifier may follow; `None` for a group that only sets flags.
    fn atom(&mut self) -> Result<Option<Node>, PatternError> {
        self.skip_comments();
        let quoted = self.is_quoted();
        let Some(c) = self.raw(0) else { return Ok(Some(Node::Empty)) };
        if quoted {
            self.at += 1;
            return Ok(Some(self.literal(c)));
        }
        // A brace here repeats nothing at all.
        if c == '{' {
            return Ok(Some(Node::Empty));
        }
        self.at += 1;
        Ok(Some(match c {
            '(' => return self.nested(Self::group),
            '[' => Node::Set(self.nested(|parser| parser.class())?),
            '\\' => self.escape()?,
            '.' => Node::Set(match self.flags.dot_all {
                true => CharSet::all(),
                false => property::terminators(self.flags.unix_lines).not(),
            }),
            '^' if self.flags.multiline => {
                Node::Assert(Assertion::LineStart(self.flags.terminators()))
            }
            '^' => Node::Assert(Assertion::TextStart),
            '$' if self.flags.multiline => {
                Node::Assert(Assertion::LineEnd(self.flags.terminators()))
            }
            '$' => Node::Assert(Assertion::LastLineEnd(self.flags.terminators())),
            '*' | '+' | '?' => {
                self.back(1);
                return Err(self.invalid(&format!("dangling meta character '{c}'")));
            }
            _ => self.literal(c),
        }))
    }

    fn literal(&self, c: char) -> Node {
        let set = self.flags.fold(CharSet::one(c));
        if set.as_one().is_some() { Node::Literal(c) } else { Node::Set(set) }
    }

    fn quantified(&mut self, node: Node) -> Result<Node, PatternError> {
        self.skip_comments();
        let quoted = self.is_quoted();
        let (min, max) = match self.raw(0) {
            Some('?') if !quoted => (0, Some(1)),
            Some('*') if !quoted => (0, None),
            Some('+') if !quoted => (1, None),
            Some('{') if !quoted => {
                self.at += 1;
                return self.counted(node);
            }
            _ => return Ok(node),
        };
        self.at += 1;
        Ok(self.repeat(node, min, max))
    }

    /// What follows `{`: `n}`, `n,}` or `n,m}`.
    fn counted(&mut self, node: Node) -> Result<Node, PatternError> {
        if !self.raw(0).is_some_and(|c| c.is_ascii_digit()) {
            return Err(self.invalid("illegal repetition"));
        }
        let min = self.count()?;
        let mut max = Some(min);
        if self.raw(0) == Some(',') {
            self.at += 1;
            max = match self.raw(0) {
                Some('}') => None,
                _ => Some(self.count()?),
            };
        }
        if self.next_raw() != Some('}') {
            return Err(self.invalid("unclosed counted closure"));
        }
        if max.is_some_and(|max| max < min) {
            return Err(self.invalid("illegal repetition range"));
        }
        Ok(self.repeat(node, min, max))
    }

    /// Digits as a number; none are 0.
    fn count(&mut self) -> Result<u32, PatternError> {
        let mut count = 0u32;
        while let Some(digit) = self.raw(0).and_then(|c| c.to_digit(10)) {
            self.at += 1;
            count = count
                .checked_mul(10)
                .and_then(|count| count.checked_add(digit))
                .filter(|count| *count <= i32::MAX as u32)
                .ok_or_else(|| self.invalid("illegal repetition range"))?;
        }
        Ok(count)
    }

    fn repeat(&mut self, node: Node, min: u32, max: Option<u32>) -> Node {
        let greed = if self.eat('?') {
            Greed::Lazy
        } else if self.eat('+') {
            Greed::Possessive
        } else {
            Greed::Greedy
        };
        match (node.is_zero_width(), min) {
            // A condition that need not hold says nothing, and holding once is holding many times.
            (true, 0) => Node::Empty,
            (true, _) => node,
            (false, _) => Node::Repeat { node: Box::new(node), min, max, greed },
        }
    }

    /// What follows `(`.
    fn group(&mut self) -> Result<Option<Node>, PatternError> {
        let outer = self.flags;
        if !self.eat('?') {
            self.groups += 1;
            let node = self.group_body(outer)?;
            return Ok(Some(Node::Group(Box::new(node))));
        }
        let (behind, negative) = match self.next_raw() {
            Some(':') => return self.group_body(outer).map(Some),
            Some('>') => {
                let node = self.group_body(outer)?;
                return Ok(Some(Node::Atomic(Box::new(node))));
            }
            Some('=') => (false, false),
            Some('!') => (false, true),
            Some('<') => match self.next_raw() {
                Some('=') => (true, false),
                Some('!') => (true, true),
                _ => {
                    self.back(1);
                    return self.named_group(outer).map(Some);
                }
            },
            _ => {
                self.back(1);
                return self.flag_group(outer);
            }
        };
        let node = Box::new(self.group_body(outer)?);
        Ok(Some(Node::Look { behind, negative, node }))
    }

    /// The rest of a group; flags set inside end with it.
    fn group_body(&mut self, outer: Flags) -> Result<Node, PatternError> {
        let node = self.choice()?;
        if !self.eat(')') {
            return Err(self.invalid("unclosed group"));
        }
        self.flags = outer;
        Ok(node)
    }

    fn named_group(&mut self, outer: Flags) -> Result<Node, PatternError> {
        let name = self.group_name()?;
        self.groups += 1;
        if self.names.insert(name.clone(), self.groups).is_some() {
            return Err(self.invalid(&format!("named capturing group <{name}> is already defined")));
        }
        let node = self.group_body(outer)?;
        Ok(Node::Group(Box::new(node)))
    }

    /// A name and `>`.
    fn group_name(&mut self) -> Result<String, PatternError> {
        let mut name = String::new();
        while let Some(c) = self.next_raw() {
            match c {
                '>' if !name.is_empty() => return Ok(name),
                _ if c.is_ascii_alphabetic() => name.push(c),
                _ if c.is_ascii_digit() && !name.is_empty() => name.push(c),
                _ => break,
            }
        }
        Err(self.invalid("a group name is letters and digits, a letter first, and then '>'"))
    }

    /// Flags that hold for the rest of the enclosing group, or for a group of their own.
    fn flag_group(&mut self, outer: Flags) -> Result<Option<Node>, PatternError> {
        let mut on = true;
        loop {
            match self.next() {
                Some('-') if on => on = false,
                Some(')') => return Ok(None),
                Some(':') => return self.group_body(outer).map(Some),
                Some('i') => self.flags.insensitive = on,
                Some('m') => self.flags.multiline = on,
                Some('s') => self.flags.dot_all = on,
                Some('d') => self.flags.unix_lines = on,
                Some('u') => self.flags.unicode_case = on,
                Some('x') => self.flags.comments = on,
                Some('U') => {
                    self.flags.unicode_class = on;
                    self.flags.unicode_case = on;
                }
                Some('c') => {
                    let reason = "canonical equivalence (flag c)".into();
                    return Err(PatternError::Unsupported(reason));
                }
                _ => return Err(self.invalid("unknown inline modifier")),
            }
        }
    }

    /// What follows a backslash outside of a class.
    fn escape(&mut self) -> Result<Node, PatternError> {
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
}

/// What an escape that may stand in a class means.
pub(super) enum Escaped {
    /// A set.
    Set(CharSet),
    /// A character.
    Char(char),
    /// Half a character, which no text has.
    Surrogate,
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

/// The characters of a pattern, those between `\Q` and `\E` marked.
fn unquote(pattern: &str) -> Vec<Unit> {
    let mut units = Vec::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        if let Some(quoted) = rest.strip_prefix("\\Q") {
            let (text, after) = quoted.split_once("\\E").unwrap_or((quoted, ""));
            units.extend(text.chars().map(|c| Unit { c, quoted: true }));
            rest = after;
            continue;
        }
        let length = if c == '\\' {
            1 + rest[1..].chars().next().map_or(0, char::len_utf8)
        } else {
            c.len_utf8()
        };
        units.extend(rest[..length].chars().map(|c| Unit { c, quoted: false }));
        rest = &rest[length..];
    }
    units
}
