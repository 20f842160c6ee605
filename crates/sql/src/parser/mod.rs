//! Tokens to a syntax tree, by recursive descent; one file a family of statements or parts.

mod alter;
mod create;
mod cursor;
mod diagnosis;
mod dml;
mod expr;
mod function;
mod jdbc;
mod json;
mod literal;
mod matching;
mod materialized;
mod name;
mod object;
mod predicate;
mod primary;
mod query;
mod select;
mod session;
mod show;
mod special;
mod statement;
mod table;
mod table_ref;
mod types;
mod window;

use crate::ast::{Expr, Query, Statement, TypeName};
use crate::error::ParseError;
use crate::lexer::TokenKind;
use cursor::{Parsed, Parser};
pub(crate) use function::ORDERED_AGGREGATES;

/// Parses one statement; a semicolon may follow it.
///
/// ```
/// use flott_sql::ast::StatementKind;
///
/// let statement = flott_sql::parse_statement("SELECT a FROM t;")?;
/// assert!(matches!(statement.kind, StatementKind::Query(_)));
/// # Ok::<(), flott_sql::ParseError>(())
/// ```
///
/// # Errors
/// Where the text is no statement of Flink's SQL.
pub fn parse_statement(text: &str) -> Result<Statement, ParseError> {
    parse_statement_at(text, 0)
}

/// Parses one statement that is part of a larger text: all spans are shifted by `offset`, the
/// place where `text` starts there. The position in an error still counts from the start of `text`.
///
/// # Errors
/// Where the text is no statement of Flink's SQL.
pub fn parse_statement_at(text: &str, offset: usize) -> Result<Statement, ParseError> {
    whole(text, offset, |parser| {
        let statement = parser.statement()?;
        while parser.eat(TokenKind::Semicolon) {}
        Ok(statement)
    })
}

/// Parses a query, such as the stored text of a view.
///
/// # Errors
/// Where the text is no query.
pub fn parse_query(text: &str) -> Result<Query, ParseError> {
    whole(text, 0, Parser::query)
}

/// Parses an expression, such as that of a computed column.
///
/// # Errors
/// Where the text is no expression.
pub fn parse_expression(text: &str) -> Result<Expr, ParseError> {
    whole(text, 0, Parser::expr)
}

/// Parses a type name; `NOT NULL` may follow it.
///
/// # Errors
/// Where the text is no type name.
pub fn parse_type(text: &str) -> Result<TypeName, ParseError> {
    whole(text, 0, Parser::any_type)
}

/// Parses `part` and nothing behind it.
fn whole<'s, T>(
    text: &'s str,
    offset: usize,
    part: impl FnOnce(&mut Parser<'s>) -> Parsed<T>,
) -> Result<T, ParseError> {
    let mut parser = Parser::new(text, offset);
    part(&mut parser)
        .and_then(|parsed| parser.expect(TokenKind::End).map(|_| parsed))
        .map_err(|error| *error)
}
