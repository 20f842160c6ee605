//! Compiled regular expressions that find what Java's `Matcher` finds.

use std::ops::Range;
use std::sync::OnceLock;

use crate::{EvalError, SignatureError};

use super::java::{self, PatternError, Translation, ends_with_terminator};

/// How many steps back an engine may go for one search. Where Java would run for ages, the job fails.
const BACKTRACK_LIMIT: usize = 2_000_000;

/// The most bytes of a compiled automaton.
const SIZE_LIMIT: usize = 32 << 20;

/// A compiled regular expression.
///
/// An engine that is linear in the text is used where the pattern allows it; else one that backtracks,
/// within [`BACKTRACK_LIMIT`].
pub struct Regexp {
    translation: Translation,
    plain: Engine,
    /// For texts that end with a line terminator; made when the first comes.
    terminated: OnceLock<Result<Engine, PatternError>>,
}

/// A match and one of its groups, as byte ranges of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The match.
    pub whole: Range<usize>,
    /// The group, if it took part.
    pub group: Option<Range<usize>>,
}

impl Regexp {
    /// Compiles a pattern in Java's syntax.
    pub fn new(pattern: &str) -> Result<Self, PatternError> {
        Self::compile(java::translate(pattern, false)?)
    }

    /// Compiles a pattern that must match whole texts.
    pub fn whole(pattern: &str) -> Result<Self, PatternError> {
        Self::compile(java::translate(pattern, true)?)
    }

    fn compile(translation: Translation) -> Result<Self, PatternError> {
        let plain = Engine::new(&translation.plain, translation.backtracks)?;
        Ok(Self { translation, plain, terminated: OnceLock::new() })
    }

    /// The number of capturing groups.
    pub fn groups(&self) -> usize {
        self.translation.groups
    }

    /// Whether the pattern matches somewhere.
    pub fn is_match(&self, text: &str) -> Result<bool, EvalError> {
        match self.engine(text)? {
            Engine::Linear(regex) => Ok(regex.is_match(text)),
            Engine::Backtracking(regex) => regex.is_match(text).map_err(failed),
        }
    }

    /// The first match.
    pub fn find(&self, text: &str) -> Result<Option<Range<usize>>, EvalError> {
        self.find_at(text, 0)
    }

    /// The first match at `start` or behind it.
    pub fn find_at(&self, text: &str, start: usize) -> Result<Option<Range<usize>>, EvalError> {
        match self.engine(text)? {
            Engine::Linear(regex) => Ok(regex.find_at(text, start).map(|found| found.range())),
            Engine::Backtracking(regex) => {
                let found = regex.find_from_pos(text, start).map_err(failed)?;
                Ok(found.map(|found| found.range()))
            }
        }
    }

    /// The first match at `start` or behind it, with a group, which must be one of the pattern's; 0 is
    /// the match itself.
    pub fn group_at(
        &self,
        text: &str,
        start: usize,
        group: usize,
    ) -> Result<Option<Found>, EvalError> {
        if group == 0 {
            let found = self.find_at(text, start)?;
            return Ok(found.map(|whole| Found { group: Some(whole.clone()), whole }));
        }
        match self.engine(text)? {
            Engine::Linear(regex) => {
                let mut places = regex.capture_locations();
                let found = regex.captures_read_at(&mut places, text, start);
                Ok(found.map(|found| Found {
                    whole: found.range(),
                    group: places.get(group).map(|(start, end)| start..end),
                }))
            }
            Engine::Backtracking(regex) => {
                let found = regex.captures_from_pos(text, start).map_err(failed)?;
                Ok(found.and_then(|places| {
                    Some(Found {
                        whole: places.get(0)?.range(),
                        group: places.get(group).map(|group| group.range()),
                    })
                }))
            }
        }
    }

    /// All matches from the left, one after the other; of a group, if it is not 0. An empty match may
    /// follow directly on another, as in Java.
    pub fn find_all(
        &self,
        text: &str,
        group: usize,
        mut each: impl FnMut(Found),
    ) -> Result<(), EvalError> {
        let mut start = 0;
        while let Some(found) = self.group_at(text, start, group)? {
            let end = found.whole.end;
            let step = if found.whole.is_empty() { next_char(text, end) } else { Some(0) };
            each(found);
            match step {
                Some(step) => start = end + step,
                None => break,
            }
        }
        Ok(())
    }

    /// The parts of a text between matches as Java's `String.split` gives them: no empty part before an
    /// empty match at the start, and none at the end.
    pub fn split<'a>(&self, text: &'a str) -> Result<Vec<&'a str>, EvalError> {
        let mut parts = Vec::new();
        let mut start = 0;
        self.find_all(text, 0, |found| {
            if found.whole.end > 0 {
                parts.push(&text[start..found.whole.start]);
                start = found.whole.end;
            }
        })?;
        if parts.is_empty() {
            return Ok(vec![text]);
        }
        parts.push(&text[start..]);
        while parts.last() == Some(&"") {
            parts.pop();
        }
        Ok(parts)
    }

    /// The two parts of a text around the first match, as Java's `String.split` with limit 2 gives
    /// them; `None` when it gives one.
    pub fn split_once<'a>(&self, text: &'a str) -> Result<Option<(&'a str, &'a str)>, EvalError> {
        let mut found = self.find(text)?;
        if found == Some(0..0) {
            found = match next_char(text, 0) {
                Some(step) => self.find_at(text, step)?,
                None => None,
            };
        }
        Ok(found.map(|found| (&text[..found.start], &text[found.end..])))
    }

    fn engine(&self, text: &str) -> Result<&Engine, EvalError> {
        let Some(pattern) = &self.translation.terminated else { return Ok(&self.plain) };
        if !ends_with_terminator(text) {
            return Ok(&self.plain);
        }
        let engine = self.terminated.get_or_init(|| Engine::new(pattern, true));
        engine.as_ref().map_err(|error| error.clone().of("regular expression"))
    }
}

/// The length of the character at `offset`; `None` at the end.
fn next_char(text: &str, offset: usize) -> Option<usize> {
    text[offset..].chars().next().map(char::len_utf8)
}

enum Engine {
    Linear(regex::Regex),
    Backtracking(fancy_regex::Regex),
}

impl Engine {
    fn new(pattern: &str, backtracks: bool) -> Result<Self, PatternError> {
        if backtracks {
            fancy_regex::RegexBuilder::new(pattern)
                .backtrack_limit(BACKTRACK_LIMIT)
                .delegate_size_limit(SIZE_LIMIT)
                .build()
                .map(Self::Backtracking)
                .map_err(|error| PatternError::Unsupported(error.to_string()))
        } else {
            regex::RegexBuilder::new(pattern)
                .size_limit(SIZE_LIMIT)
                .build()
                .map(Self::Linear)
                .map_err(|error| PatternError::Unsupported(error.to_string()))
        }
    }
}

fn failed(error: fancy_regex::Error) -> EvalError {
    let reason = format!(
        "{error}\nhint: nested repetitions such as (a+)+ can be tried in too many ways; write them \
         without nesting, or possessively as in (a++)+"
    );
    EvalError::Argument { function: "regular expression", reason }
}

impl PatternError {
    /// The error of a function that cannot work without the pattern.
    pub fn of(&self, function: &'static str) -> EvalError {
        EvalError::Argument { function, reason: self.to_string() }
    }
}

impl From<PatternError> for SignatureError {
    fn from(error: PatternError) -> Self {
        Self::Other(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn regexp(pattern: &str) -> Regexp {
        Regexp::new(pattern).expect(pattern)
    }

    fn all<'a>(pattern: &str, text: &'a str) -> Vec<&'a str> {
        let mut found = Vec::new();
        regexp(pattern).find_all(text, 0, |f| found.push(&text[f.whole])).expect("no limit hit");
        found
    }

    #[test]
    fn an_empty_match_may_follow_another() {
        assert_eq!(all("a*", "baac"), ["", "aa", "", ""]);
        assert_eq!(all("a*", "aaa"), ["aaa", ""]);
        assert_eq!(all("", "a中"), ["", "", ""]);
        assert_eq!(all(r"\G[a-z]", "abXc"), ["a", "b"]);
    }

    #[test]
    fn the_end_of_the_last_line_depends_on_the_text() {
        let end = regexp("a$");
        for (text, wanted) in
            [("ba", true), ("a\n", true), ("a\r\n", true), ("a\u{85}", true), ("a\n\n", false)]
        {
            assert_eq!(end.is_match(text), Ok(wanted), "{text:?}");
        }
        assert!(matches!(end.plain, Engine::Linear(_)));
    }

    #[test]
    fn groups_are_found_by_both_engines() {
        for pattern in ["(a)|(b)", "(?>(a)|(b))"] {
            let found = regexp(pattern).group_at("xay", 0, 1).expect("no limit hit");
            assert_eq!(found, Some(Found { whole: 1..2, group: Some(1..2) }), "{pattern}");
            let found = regexp(pattern).group_at("xay", 0, 2).expect("no limit hit");
            assert_eq!(found, Some(Found { whole: 1..2, group: None }), "{pattern}");
        }
    }

    #[test]
    fn endless_backtracking_is_an_error() {
        let text = "a".repeat(40);
        assert_eq!(regexp("(a|a)*b").is_match(&text), Ok(false));
        assert!(regexp(r"(?:(a+)\1?)+b").is_match(&text).is_err());
    }

    #[test]
    fn splitting_follows_java() {
        for (pattern, text, wanted) in [
            (",", "a,b,,", &["a", "b"][..]),
            ("", "abc", &["a", "b", "c"]),
            (",", ",a", &["", "a"]),
            (",", "a", &["a"]),
            (".", "abc", &[]),
        ] {
            assert_eq!(regexp(pattern).split(text).as_deref(), Ok(wanted), "{pattern} {text}");
        }
        assert_eq!(regexp("$").split_once("k"), Ok(Some(("k", ""))));
        assert_eq!(regexp("").split_once("ab"), Ok(Some(("a", "b"))));
        assert_eq!(regexp("=").split_once("ab"), Ok(None));
    }
}
