//! Java's regular expressions, as users of Flink write them, translated to the Rust engines.

mod ast;
mod blocks;
mod class;
mod cursor;
mod parse_class;
mod parse_escape;
mod parse_group;
mod parser;
mod print;
mod property;

use ast::{Assertion, Greed, Node};

/// Why a pattern cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// Java refuses it too: what is wrong, and where.
    #[error("invalid regular expression: {0}")]
    Invalid(String),
    /// Java takes it; a limit or a gap of ours.
    #[error("regular expression not supported: {0}")]
    Unsupported(String),
}

/// A pattern translated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Translation {
    /// For texts that do not end with a line terminator.
    pub plain: String,
    /// For the others, where it differs.
    pub terminated: Option<String>,
    /// Whether `plain` needs an engine that backtracks.
    pub backtracks: bool,
    /// How many groups capture.
    pub groups: usize,
}

/// Translates a pattern, for a search in the text or, with `whole`, for a match of all of it.
pub fn translate(pattern: &str, whole: bool) -> Result<Translation, PatternError> {
    let parsed = parser::parse(pattern)?;
    let depends_on_end =
        parsed.node.any(&|node| matches!(node, Node::Assert(Assertion::LastLineEnd(_))));
    let print = |last_line_is_end| {
        let text = print::print(&parsed.node, last_line_is_end);
        if whole { format!(r"\A(?:{text})\z") } else { text }
    };
    Ok(Translation {
        plain: print(true),
        terminated: depends_on_end.then(|| print(false)),
        backtracks: parsed.node.any(&backtracks),
        groups: parsed.groups,
    })
}

/// Whether a text ends with what Java takes as the end of a line.
pub fn ends_with_terminator(text: &str) -> bool {
    text.ends_with(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'])
}

/// Whether a node is beyond finite automata.
fn backtracks(node: &Node) -> bool {
    match node {
        Node::Atomic(_) | Node::Look { .. } | Node::Backreference { .. } => true,
        Node::Repeat { greed, .. } => *greed == Greed::Possessive,
        Node::Assert(assertion) => matches!(
            assertion,
            Assertion::LineStart(_) | Assertion::LineEnd(_) | Assertion::LastMatchEnd
        ),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
