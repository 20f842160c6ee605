//! A pattern in the syntax of the Rust engines, without flags.

use std::fmt::Write;

use super::ast::{Assertion, Greed, Node, Terminators};
use super::class::CharSet;

/// Writes a pattern. With `last_line_is_end`, `$` and `\Z` stand for the end of the text, which is what
/// they mean in a text that does not end with a line terminator.
pub fn print(node: &Node, last_line_is_end: bool) -> String {
    let mut printer = Printer { out: String::new(), last_line_is_end };
    printer.node(node, Place::Top);
    printer.out
}

/// What surrounds a node, and thus whether it needs parentheses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Top,
    Sequence,
    Repeat,
}

struct Printer {
    out: String,
    last_line_is_end: bool,
}

impl Printer {
    fn node(&mut self, node: &Node, place: Place) {
        match node {
            Node::Empty if place == Place::Repeat => self.out.push_str("(?:)"),
            Node::Empty => {}
            Node::Literal(c) => self.literal(*c),
            Node::Set(set) => self.set(set),
            Node::Sequence(nodes) => self.parenthesised(place == Place::Repeat, |printer| {
                nodes.iter().for_each(|node| printer.node(node, Place::Sequence));
            }),
            Node::Choice(nodes) => self.parenthesised(place != Place::Top, |printer| {
                for (i, node) in nodes.iter().enumerate() {
                    if i > 0 {
                        printer.out.push('|');
                    }
                    printer.node(node, Place::Sequence);
                }
            }),
            Node::Repeat { node, min, max, greed } => {
                self.repeat(node, (*min, *max), *greed, place);
            }
            Node::Group(node) => self.enclosed("(", node),
            Node::Atomic(node) => self.enclosed("(?>", node),
            Node::Look { behind, negative, node } => {
                let open = match (behind, negative) {
                    (false, false) => "(?=",
                    (false, true) => "(?!",
                    (true, false) => "(?<=",
                    (true, true) => "(?<!",
                };
                self.enclosed(open, node);
            }
            Node::Backreference { group, insensitive } => {
                let flags = if *insensitive { "i" } else { "" };
                let _ = write!(self.out, "(?{flags}:\\{group})");
            }
            Node::Assert(assertion) => {
                let text = self.assertion(*assertion);
                self.out.push_str(text);
            }
        }
    }

    fn enclosed(&mut self, open: &str, node: &Node) {
        self.out.push_str(open);
        self.node(node, Place::Top);
        self.out.push(')');
    }

    fn parenthesised(&mut self, needed: bool, write: impl FnOnce(&mut Self)) {
        if needed {
            self.out.push_str("(?:");
        }
        write(self);
        if needed {
            self.out.push(')');
        }
    }

    fn repeat(&mut self, node: &Node, (min, max): (u32, Option<u32>), greed: Greed, place: Place) {
        if greed == Greed::Possessive {
            self.out.push_str("(?>");
            self.repeat(node, (min, max), Greed::Greedy, Place::Top);
            self.out.push(')');
            return;
        }
        self.parenthesised(place == Place::Repeat, |printer| {
            printer.node(node, Place::Repeat);
            let _ = match (min, max) {
                (0, None) => printer.out.write_str("*"),
                (1, None) => printer.out.write_str("+"),
                (0, Some(1)) => printer.out.write_str("?"),
                (min, None) => write!(printer.out, "{{{min},}}"),
                (min, Some(max)) if min == max => write!(printer.out, "{{{min}}}"),
                (min, Some(max)) => write!(printer.out, "{{{min},{max}}}"),
            };
            if greed == Greed::Lazy {
                printer.out.push('?');
            }
        });
    }

    fn literal(&mut self, c: char) {
        if c.is_ascii_alphanumeric() || (!c.is_ascii() && !c.is_whitespace()) {
            self.out.push(c);
        } else {
            let _ = write!(self.out, "\\x{{{:X}}}", c as u32);
        }
    }

    fn set(&mut self, set: &CharSet) {
        if set.is_empty() {
            self.out.push_str(r"[^\x{0}-\x{10FFFF}]");
            return;
        }
        self.out.push('[');
        for (first, last) in set.iter() {
            let _ = write!(self.out, "\\x{{{:X}}}", first as u32);
            if last > first {
                let _ = write!(self.out, "-\\x{{{:X}}}", last as u32);
            }
        }
        self.out.push(']');
    }

    fn assertion(&self, assertion: Assertion) -> &'static str {
        match assertion {
            Assertion::TextStart => r"\A",
            Assertion::TextEnd => r"\z",
            Assertion::LastLineEnd(_) if self.last_line_is_end => r"\z",
            Assertion::LastLineEnd(Terminators::Unix) => r"(?=\n?\z)",
            // Between \r and \n is no end of a line.
            Assertion::LastLineEnd(Terminators::All) => {
                r"(?:\z|(?=(?:\r\n|[\r\x{85}\x{2028}\x{2029}])\z)|(?<!\r)(?=\n\z))"
            }
            Assertion::LineStart(Terminators::Unix) => r"(?!\z)(?:\A|(?<=\n))",
            Assertion::LineStart(Terminators::All) => {
                r"(?!\z)(?:\A|(?<=[\n\x{85}\x{2028}\x{2029}])|(?<=\r)(?!\n))"
            }
            Assertion::LineEnd(Terminators::Unix) => r"(?:\z|(?=\n))",
            Assertion::LineEnd(Terminators::All) => {
                r"(?:\z|(?=[\r\x{85}\x{2028}\x{2029}])|(?<!\r)(?=\n))"
            }
            Assertion::WordBoundary => r"\b",
            Assertion::NotWordBoundary => r"\B",
            Assertion::LastMatchEnd => r"\G",
        }
    }
}
