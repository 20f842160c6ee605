//! What JSON_EXISTS, JSON_VALUE and JSON_QUERY have in common: a path with a mode, looked up in a text.

use super::path::{Found, InvalidPath, Missing, Path, Step, Stop, walk};
use super::text::{Malformed, Node};
use crate::read::Strings;
use crate::{CallArgs, EvalError};

/// What becomes of what a path asks for and a text has not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// It is empty.
    Lax,
    /// It is an error.
    Strict,
}

/// A path as the functions take it: `lax $.a`, `strict $.a`; strict without a mode.
#[derive(Debug)]
pub struct Lookup {
    mode: Mode,
    path: Result<Path, InvalidPath>,
    /// The path, if it can be followed along the text.
    steps: Option<Vec<Step>>,
}

/// Why there is no value: the error that ON ERROR is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// The text is not JSON.
    Malformed(Malformed),
    /// The path is not one.
    Path,
    /// The text is `null`.
    NullDocument,
    /// The path leads to `null`, in strict mode.
    Null,
    /// The path leads nowhere, in strict mode.
    Stopped(Stop),
    /// The value is an array or object where a scalar is wanted, or the other way round, in strict mode.
    Kind(&'static str),
}

impl Lookup {
    /// Compiles a path. One that is wrong fails when it is used, as in Flink.
    pub fn new(text: &str) -> Self {
        let (mode, path) = split_mode(text);
        let path = Path::compile(path);
        let steps = path.as_ref().ok().and_then(Path::steps);
        Self { mode, path, steps }
    }

    /// The mode of the path.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The value that the path leads to in a text; `None` if there is nothing or `null`, which is a
    /// failure in strict mode.
    pub fn find<'a>(&'a self, text: &'a str) -> Result<Option<Found<'a>>, Failure> {
        let found = match &self.steps {
            Some(steps) => self.walk(text, steps),
            None => self.evaluate(text),
        };
        match found? {
            Found::Scalar(Node::Null) if self.mode == Mode::Strict => Err(Failure::Null),
            Found::Scalar(Node::Null) => Ok(None),
            found => Ok(Some(found)),
        }
    }

    fn walk<'a>(&self, text: &'a str, steps: &[Step]) -> Result<Found<'a>, Failure> {
        match walk(text, steps) {
            Ok(Some(Found::Scalar(Node::Null))) if steps.is_empty() => Err(Failure::NullDocument),
            Ok(Some(found)) => Ok(found),
            Ok(None) if is_null(text) => Err(Failure::NullDocument),
            Ok(None) if self.mode == Mode::Strict => Err(Failure::Stopped(Stop::NotFound)),
            Ok(None) => Ok(Found::Scalar(Node::Null)),
            Err(malformed) => self.malformed(malformed),
        }
    }

    fn evaluate<'a>(&'a self, text: &'a str) -> Result<Found<'a>, Failure> {
        let document = match Node::parse(text) {
            Ok(Node::Null) => return Err(Failure::NullDocument),
            Ok(document) => document,
            Err(malformed) => return self.malformed(malformed),
        };
        let path = self.path.as_ref().map_err(|_| Failure::Path)?;
        let missing = match self.mode {
            Mode::Lax => Missing::Ignored,
            Mode::Strict => Missing::Fails,
        };
        match path.read(&document, missing) {
            Ok(node) if node.is_scalar() => Ok(Found::Scalar(node)),
            Ok(node) => Ok(Found::Tree(node)),
            Err(stop) => Err(Failure::Stopped(stop)),
        }
    }

    fn malformed<'a>(&self, malformed: Malformed) -> Result<Found<'a>, Failure> {
        match self.mode {
            Mode::Lax => Ok(Found::Scalar(Node::Null)),
            Mode::Strict => Err(Failure::Malformed(malformed)),
        }
    }
}

/// Whether the value of a text is `null`.
fn is_null(text: &str) -> bool {
    text.trim_start_matches([' ', '\t', '\n', '\r']).starts_with("null")
}

/// The mode word before a path, in any case, and the path.
fn split_mode(text: &str) -> (Mode, &str) {
    const SPACE: [char; 6] = [' ', '\t', '\n', '\u{b}', '\u{c}', '\r'];
    let start = text.trim_start_matches(SPACE);
    for (word, mode) in [("lax", Mode::Lax), ("strict", Mode::Strict)] {
        let Some((head, rest)) = start.split_at_checked(word.len()) else { continue };
        if !head.eq_ignore_ascii_case(word) || !rest.starts_with(SPACE) {
            continue;
        }
        let path = rest.trim_start_matches(SPACE);
        // White space alone is a path, which leads nowhere.
        match (path, rest.len()) {
            ("", 1) => {}
            ("", length) => return (mode, &rest[length - 1..]),
            (path, _) => return (mode, path),
        }
    }
    (Mode::Strict, text)
}

impl Failure {
    /// The error that ends the job under ERROR ON ERROR.
    pub fn error(self, function: &'static str, text: &str) -> EvalError {
        let reason = match self {
            Self::Malformed(malformed) => format!("malformed JSON: {}", malformed.describe(text)),
            Self::Path => {
                "not a JSON path\nhint: write it as '$.name[0]', with 'lax' or 'strict' before it"
                    .into()
            }
            Self::NullDocument => "the JSON document is null".into(),
            Self::Null => "the path leads to null, which strict paths refuse\n\
                           hint: write 'lax' before the path"
                .into(),
            Self::Stopped(Stop::NotFound) => {
                "no results for the path\nhint: write 'lax' before the path".into()
            }
            Self::Stopped(stop) => stop.to_string(),
            Self::Kind(wanted) => {
                format!("the path leads to no {wanted}, which strict paths must lead to")
            }
        };
        EvalError::Argument { function, reason }
    }
}

/// The paths of a call: compiled once if literal, else whenever the text changes from row to row.
pub struct Lookups<'l> {
    literal: Option<&'l Lookup>,
    texts: Strings<'l>,
}

impl<'l> Lookups<'l> {
    /// The paths in a column; `literal` is their value, if they are constant.
    pub fn new(literal: Option<&'l Lookup>, texts: Strings<'l>) -> Self {
        Self { literal, texts }
    }

    /// Calls `each` with every row that has a path, and the path.
    pub fn for_each(
        &self,
        rows: usize,
        mut each: impl FnMut(usize, Option<&Lookup>) -> Result<(), EvalError>,
    ) -> Result<(), EvalError> {
        if let Some(lookup) = self.literal {
            return (0..rows).try_for_each(|row| each(row, Some(lookup)));
        }
        let mut compiled: Option<(&str, Lookup)> = None;
        for row in 0..rows {
            let Some(text) = self.texts.get(row) else {
                each(row, None)?;
                continue;
            };
            let lookup = match compiled.take() {
                Some((same, lookup)) if same == text => lookup,
                _ => Lookup::new(text),
            };
            each(row, Some(&lookup))?;
            compiled = Some((text, lookup));
        }
        Ok(())
    }
}

/// The compiled path of a call whose second argument is a literal.
pub fn literal_lookup(args: &CallArgs) -> Option<Lookup> {
    args.literal_str(1).map(Lookup::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_stand_before_paths() {
        for (text, mode, path) in [
            ("$.a", Mode::Strict, "$.a"),
            ("lax $.a", Mode::Lax, "$.a"),
            (" \n LAX\t $.a b ", Mode::Lax, "$.a b "),
            ("Strict $", Mode::Strict, "$"),
            ("lax", Mode::Strict, "lax"),
            ("lax ", Mode::Strict, "lax "),
            ("lax  ", Mode::Lax, " "),
            ("lax$.a", Mode::Strict, "lax$.a"),
            ("", Mode::Strict, ""),
        ] {
            assert_eq!(split_mode(text), (mode, path), "{text:?}");
        }
    }
}
