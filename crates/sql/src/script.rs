//! Scripts: where one statement ends and the next begins.

use crate::ast::{Span, Statement};
use crate::error::ParseError;
use crate::lexer::{Keyword, Token, TokenKind, tokenize};
use crate::parser::parse_statement_at;

/// One statement of a script, not parsed yet.
#[derive(Clone, Copy, Debug)]
pub struct ScriptStatement<'s> {
    /// Its number; the first is 1.
    pub number: usize,
    /// Its text, without the semicolon.
    pub text: &'s str,
    /// Where the text stands in the script.
    pub span: Span,
}

impl ScriptStatement<'_> {
    /// Parses the statement; spans are those of the script.
    ///
    /// # Errors
    /// Where the text is no statement of Flink's SQL.
    pub fn parse(&self) -> Result<Statement, ParseError> {
        parse_statement_at(self.text, self.span.start)
    }
}

/// Splits a script at its semicolons, but not at those in strings, comments and statement sets
/// (`EXECUTE STATEMENT SET BEGIN … END`). What lies between two semicolons and holds nothing but
/// blanks and comments is no statement. A quote or comment that does not end takes the rest of
/// the script into its statement, which then fails to parse; splitting itself never fails.
pub fn split_script(script: &str) -> Vec<ScriptStatement<'_>> {
    let tokens = tokenize(script, 0);
    let mut statements = Vec::new();
    let mut current = 0..0;
    for (at, token) in tokens.iter().enumerate() {
        let ends = match token.kind {
            TokenKind::Semicolon => !is_open_statement_set(&tokens[current.clone()]),
            kind => kind == TokenKind::End,
        };
        if ends {
            push(&mut statements, script, &tokens[current]);
            current = at + 1..at + 1;
        } else {
            current.end = at + 1;
        }
    }
    statements
}

/// Whether `tokens` are a statement set that has begun and not ended: `[EXECUTE | EXPLAIN …]
/// STATEMENT SET BEGIN insert; …`. It ends with an END behind a semicolon.
fn is_open_statement_set(tokens: &[Token]) -> bool {
    const INTRODUCTIONS: [Keyword; 3] = [Keyword::EXECUTE, Keyword::EXPLAIN, Keyword::COMPILE];
    const BEGINNING: [Keyword; 3] = [Keyword::STATEMENT, Keyword::SET, Keyword::BEGIN];
    let is_introduced = tokens
        .first()
        .and_then(|token| token.keyword)
        .is_some_and(|keyword| INTRODUCTIONS.contains(&keyword));
    let is_beginning = |window: &[Token]| {
        window.iter().zip(BEGINNING).all(|(token, keyword)| token.keyword == Some(keyword))
    };
    let is_ended = matches!(
        tokens,
        [.., Token { kind: TokenKind::Semicolon, .. }, Token { keyword: Some(Keyword::END), .. }]
    );
    is_introduced && !is_ended && tokens.windows(BEGINNING.len()).any(is_beginning)
}

fn push<'s>(statements: &mut Vec<ScriptStatement<'s>>, script: &'s str, tokens: &[Token]) {
    let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else {
        return;
    };
    let end = match last.kind {
        TokenKind::OpenString | TokenKind::OpenComment => script.trim_end().len(),
        _ => last.span.end,
    };
    let span = Span::new(first.span.start, end);
    statements.push(ScriptStatement {
        number: statements.len() + 1,
        text: span.text(script),
        span,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(script: &str) -> Vec<&str> {
        split_script(script).iter().map(|statement| statement.text).collect()
    }

    #[test]
    fn semicolons_split() {
        assert_eq!(split("a; b ;\n c"), ["a", "b", "c"]);
        assert_eq!(split(" ;; -- x\n; /* ; */ a ';' `;` -- ; \n;"), ["a ';' `;`"]);
        assert_eq!(split(""), [""; 0]);
    }

    #[test]
    fn statement_sets_are_one() {
        let set = "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; INSERT INTO b SELECT \
                   CASE WHEN c THEN d END; END";
        assert_eq!(split(&format!("{set}; SELECT 1")), [set, "SELECT 1"]);
        let explained = "explain statement set begin a; end";
        assert_eq!(split(&format!("{explained};")), [explained]);
        assert_eq!(
            split("BEGIN STATEMENT SET; a; END; b"),
            ["BEGIN STATEMENT SET", "a", "END", "b"]
        );
    }

    #[test]
    fn what_is_no_sql_stays_in_its_statement() {
        assert_eq!(split("a # b; c ! d; e"), ["a # b", "c ! d", "e"]);
        assert_eq!(split("a; 'b; c"), ["a", "'b; c"]);
        assert_eq!(split("a; /* b; c"), ["a", "/* b; c"]);
    }

    #[test]
    fn numbers_and_places() {
        let script = "-- x\nSELECT 1;\n\nSELEC 2;";
        let statements = split_script(script);
        assert_eq!(statements[1].number, 2);
        assert!(statements[1].span.is_same_place(Span::new(16, 23)));
        let parsed = statements[0].parse().map(|statement| statement.span);
        assert!(parsed.is_ok_and(|span| span.is_same_place(Span::new(5, 13))));
        let error = statements[1].parse().map_err(|error| (error.span, error.position));
        assert!(error.is_err_and(|(span, position)| span.is_same_place(Span::new(16, 21))
            && position.line == 1
            && position.column == 1));
    }
}
