//! Statements: which family one belongs to.

use super::cursor::{Parsed, Parser, Terminal};
use crate::ast::{Statement, StatementKind};
use crate::error::{ParseError, ParseErrorKind};
use crate::lexer::{Keyword, TokenKind};

impl Parser<'_> {
    /// A statement, up to the end or the semicolon.
    pub(super) fn statement(&mut self) -> Parsed<Statement> {
        let start = self.start();
        let kind = self.statement_kind()?;
        Ok(Statement { kind, span: self.span_from(start) })
    }

    fn statement_kind(&mut self) -> Parsed<StatementKind> {
        if self.peek().kind == TokenKind::LeftParen || self.at_query_keyword() {
            return self.query().map(|query| StatementKind::Query(Box::new(query)));
        }
        let Some(keyword) = self.peek().keyword else {
            return Err(self.no_statement());
        };
        match keyword {
            Keyword::INSERT | Keyword::EXECUTE => self.execute(),
            Keyword::UPDATE => self.update(),
            Keyword::DELETE => self.delete(),
            Keyword::TRUNCATE => self.truncate(),
            Keyword::BEGIN => self.begin_statement_set(),
            Keyword::END => self.end_statement_set(),
            Keyword::CREATE => self.create(),
            Keyword::REPLACE => self.replace_table(),
            Keyword::ALTER => self.alter(),
            Keyword::DROP => self.drop_object(),
            Keyword::USE => self.use_object(),
            Keyword::LOAD => self.load_module(),
            Keyword::UNLOAD => self.unload_module(),
            Keyword::SHOW => self.show(),
            Keyword::DESCRIBE | Keyword::DESC => self.describe(),
            Keyword::EXPLAIN => self.explain(),
            Keyword::SET => self.set(),
            Keyword::RESET => self.reset(),
            Keyword::ANALYZE => self.analyze_table(),
            Keyword::CALL => self.call_procedure(),
            Keyword::COMPILE => self.compile_plan(),
            Keyword::ADD => self.add_jar(),
            Keyword::REMOVE => self.remove_jar(),
            Keyword::STOP => self.stop_job(),
            Keyword::MERGE => Err(self.error_here(ParseErrorKind::NotSupported("MERGE"))),
            Keyword::UPSERT => Err(self
                .error_here(ParseErrorKind::NotSupported("UPSERT"))
                .with_hint("write INSERT; a sink with a primary key updates by that key")),
            _ => Err(self.no_statement()),
        }
    }

    /// The error that no statement begins here; a value alone is called one.
    fn no_statement(&mut self) -> Box<ParseError> {
        for keyword in BEGINNINGS {
            self.note(keyword.expected());
        }
        let mut error = self.unexpected();
        let is_value = self.ident_ahead(0)
            || matches!(self.peek().kind, TokenKind::Integer | TokenKind::Decimal);
        if is_value {
            error.kind = ParseErrorKind::NonQuery;
        }
        error
    }
}

/// What statements begin with, but for queries.
const BEGINNINGS: [Keyword; 24] = [
    Keyword::INSERT,
    Keyword::UPDATE,
    Keyword::DELETE,
    Keyword::TRUNCATE,
    Keyword::EXECUTE,
    Keyword::BEGIN,
    Keyword::END,
    Keyword::CREATE,
    Keyword::REPLACE,
    Keyword::ALTER,
    Keyword::DROP,
    Keyword::USE,
    Keyword::LOAD,
    Keyword::UNLOAD,
    Keyword::SHOW,
    Keyword::DESCRIBE,
    Keyword::EXPLAIN,
    Keyword::SET,
    Keyword::RESET,
    Keyword::ANALYZE,
    Keyword::CALL,
    Keyword::COMPILE,
    Keyword::ADD,
    Keyword::STOP,
];
