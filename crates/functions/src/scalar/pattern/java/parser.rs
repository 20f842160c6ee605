//! Java's pattern syntax, read by the rules of `java.util.regex.Pattern` of Java 17.

use std::collections::HashMap;

use super::PatternError;
use super::ast::{Assertion, Greed, Node};
use super::class::CharSet;
use super::cursor::{Flags, Unit, unquote};
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

/// A pattern being read.
pub(super) struct Parser {
    pub(super) units: Vec<Unit>,
    /// The next of `units`.
    pub(super) at: usize,
    pub(super) flags: Flags,
    /// The number of capturing groups opened.
    pub(super) groups: u32,
    /// The numbers of those with names.
    pub(super) names: HashMap<String, u32>,
    depth: usize,
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
    pub(super) fn choice(&mut self) -> Result<Node, PatternError> {
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

    /// A character, with what the flags make equal to it.
    pub(super) fn literal(&self, c: char) -> Node {
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
}
