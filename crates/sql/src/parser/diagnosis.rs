//! What to say of a token that does not fit.

use super::cursor::{Expected, Parser};
use crate::ast::Span;
use crate::error::{ParseError, ParseErrorKind};
use crate::lexer::{Token, TokenKind};

/// The error that `token` stands where one of `expected` should.
pub(super) fn unexpected(
    parser: &Parser<'_>,
    token: &Token,
    expected: &[Expected],
) -> Box<ParseError> {
    let text = parser.text(token.span);
    let name_expected = expected.contains(&Expected::Kind(TokenKind::Word));
    let kind = match token.kind {
        TokenKind::End => ParseErrorKind::Unexpected("<EOF>".to_owned()),
        TokenKind::Unknown => {
            ParseErrorKind::UnknownCharacter(text.chars().next().unwrap_or_default())
        }
        TokenKind::OpenString => ParseErrorKind::OpenQuote,
        TokenKind::OpenComment => ParseErrorKind::OpenComment,
        _ if name_expected && token.keyword.is_some_and(|word| word.is_reserved()) => {
            ParseErrorKind::ReservedWord(text.to_owned())
        }
        _ => ParseErrorKind::Unexpected(text.to_owned()),
    };
    let span = match token.kind {
        // The last character, as Flink has it.
        TokenKind::End => Span::new(token.span.start.saturating_sub(1), token.span.end),
        _ => token.span,
    };
    let mut error = parser.error(kind, span);
    error.expected = expected.iter().map(|&expected| describe(expected)).collect();
    error.hint = hint(token, text, expected);
    error
}

fn describe(expected: Expected) -> String {
    match expected {
        Expected::Keyword(keyword) => format!("\"{}\"", keyword.text()),
        Expected::Kind(kind) => kind.describe().to_owned(),
        Expected::Other(text) => text.to_owned(),
    }
}

fn hint(token: &Token, text: &str, expected: &[Expected]) -> Option<String> {
    let name_expected = expected.contains(&Expected::Kind(TokenKind::Word));
    match token.kind {
        TokenKind::DoubleQuote => {
            return Some("quote names with `back-quotes` and strings with 'single quotes'".into());
        }
        TokenKind::Question => {
            return Some("write the value itself; there are no dynamic parameters".into());
        }
        TokenKind::Word => {}
        _ => return None,
    }
    if let Some(keyword) = nearest_keyword(text, expected) {
        return Some(format!("did you mean {keyword}?"));
    }
    (name_expected && token.keyword.is_some_and(|word| word.is_reserved()))
        .then(|| format!("{text} is a reserved word; as a name it must be quoted: `{text}`"))
}

/// The expected keyword that `word` may be a misspelling of.
fn nearest_keyword(word: &str, expected: &[Expected]) -> Option<&'static str> {
    let word = word.to_ascii_uppercase();
    let allowed = match word.len() {
        0..=3 => return None,
        4..=5 => 1,
        _ => 2,
    };
    expected
        .iter()
        .filter_map(|expected| match expected {
            Expected::Keyword(keyword) => Some(keyword.text()),
            _ => None,
        })
        .map(|keyword| (distance(&word, keyword), keyword))
        .filter(|&(distance, _)| (1..=allowed).contains(&distance))
        .min()
        .map(|(_, keyword)| keyword)
}

/// How many characters must be inserted, removed, replaced or swapped with their neighbour to make
/// one text the other.
fn distance(left: &str, right: &str) -> usize {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    let width = right.len() + 1;
    let mut rows: Vec<Vec<usize>> = vec![(0..width).collect()];
    for (line, &character) in left.iter().enumerate() {
        let above = &rows[line];
        let mut row = vec![line + 1; width];
        for (column, &other) in right.iter().enumerate() {
            let replaced = above[column] + usize::from(character != other);
            row[column + 1] = replaced.min(row[column] + 1).min(above[column + 1] + 1);
            let swapped =
                line > 0 && column > 0 && character == right[column - 1] && other == left[line - 1];
            if swapped {
                row[column + 1] = row[column + 1].min(rows[line - 1][column - 1] + 1);
            }
        }
        rows.push(row);
    }
    rows[left.len()][right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer::Keyword;

    #[test]
    fn distances() {
        assert_eq!(distance("SELEC", "SELECT"), 1);
        assert_eq!(distance("FORM", "FROM"), 1);
        assert_eq!(distance("FOMR", "FROM"), 2);
        assert_eq!(distance("", "ABC"), 3);
        assert_eq!(distance("ABC", "ABC"), 0);
    }

    #[test]
    fn misspelt_keywords() {
        let expected = [Keyword::SELECT, Keyword::SET].map(Expected::Keyword);
        assert_eq!(nearest_keyword("selct", &expected), Some("SELECT"));
        assert_eq!(nearest_keyword("foo", &expected), None);
        assert_eq!(nearest_keyword("select", &expected), None);
    }
}
