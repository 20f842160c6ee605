//! FROM: tables, joins and what stands in parentheses.

use super::cursor::{Parsed, Parser};
use super::primary::Parenthesized;
use crate::ast::{
    Expr, ExprKind, Join, JoinCondition, JoinKind, Query, Span, TableAlias, TableRef, TableRefKind,
};
use crate::error::ParseErrorKind;
use crate::lexer::{Keyword, TokenKind};

/// What stands between parentheses in FROM.
#[allow(clippy::large_enum_variant)] // Short-lived.
enum ParenthesizedTable {
    Query(Query),
    Join(TableRef),
}

impl Parser<'_> {
    /// What stands behind FROM.
    pub(super) fn from(&mut self) -> Parsed<TableRef> {
        self.apart(|parser| {
            let first = parser.table_ref()?;
            parser.joins(first, true)
        })
    }

    /// The joins behind `left`; the comma is one of them if `commas`.
    fn joins(&mut self, mut left: TableRef, commas: bool) -> Parsed<TableRef> {
        while let Some((kind, natural)) = self.optional_join(commas)? {
            let right = self.table_ref()?;
            let condition = if kind == JoinKind::Comma {
                None
            } else if self.eat(Keyword::ON) {
                Some(JoinCondition::On(self.expr()?))
            } else if self.eat(Keyword::USING) {
                Some(JoinCondition::Using(self.paren_idents()?))
            } else {
                None
            };
            let span = self.span_from(left.span.start);
            let join = Join { left, right, kind, natural, condition };
            left = TableRef { kind: TableRefKind::Join(Box::new(join)), alias: None, span };
            self.chained()?;
        }
        Ok(left)
    }

    /// The kind of the join that stands here, and whether it is natural.
    fn optional_join(&mut self, commas: bool) -> Parsed<Option<(JoinKind, bool)>> {
        if commas && self.eat(TokenKind::Comma) {
            return Ok(Some((JoinKind::Comma, false)));
        }
        let apply = self.peek_ahead(1).span;
        let is_apply = (self.ahead(0, Keyword::CROSS) || self.ahead(0, Keyword::OUTER))
            && self.text(apply).eq_ignore_ascii_case("APPLY");
        if is_apply {
            let error = self.error(ParseErrorKind::Apply, apply);
            return Err(error.with_hint("write CROSS JOIN LATERAL or LEFT JOIN LATERAL … ON TRUE"));
        }
        let natural = self.eat(Keyword::NATURAL);
        let kind = if self.eat(Keyword::CROSS) {
            JoinKind::Cross
        } else if self.eat(Keyword::LEFT) {
            self.eat(Keyword::OUTER);
            JoinKind::Left
        } else if self.eat(Keyword::RIGHT) {
            self.eat(Keyword::OUTER);
            JoinKind::Right
        } else if self.eat(Keyword::FULL) {
            self.eat(Keyword::OUTER);
            JoinKind::Full
        } else if self.eat(Keyword::INNER) || natural || self.at(Keyword::JOIN) {
            JoinKind::Inner
        } else {
            return Ok(None);
        };
        self.expect(Keyword::JOIN)?;
        Ok(Some((kind, natural)))
    }

    /// A table with what belongs to it: versions, patterns, alias and sample.
    fn table_ref(&mut self) -> Parsed<TableRef> {
        if self.peek().kind == TokenKind::LeftParen {
            let (content, span) = self.parenthesized_table()?;
            return match content {
                ParenthesizedTable::Query(query) => self.derived_table(query, span),
                ParenthesizedTable::Join(join) => {
                    if self.at(Keyword::AS) || self.at_ident() {
                        let error = self.error_here(ParseErrorKind::AliasedJoin);
                        return Err(error.with_hint("write (SELECT * FROM …) AS alias"));
                    }
                    Ok(TableRef { span, ..join })
                }
            };
        }
        let start = self.start();
        let kind = self.table_primary()?;
        self.table_suffix(kind, start)
    }

    /// `(query)` in FROM, with what follows it.
    fn derived_table(&mut self, query: Query, span: Span) -> Parsed<TableRef> {
        let kind = TableRefKind::Subquery { lateral: false, query: Box::new(query) };
        self.table_suffix(kind, span.start)
    }

    /// `(query)` or `(table JOIN table …)`, and its span.
    fn parenthesized_table(&mut self) -> Parsed<(ParenthesizedTable, Span)> {
        self.nested(|parser| {
            let start = parser.expect(TokenKind::LeftParen)?.start;
            let content = parser.parenthesized_table_content()?;
            parser.expect(TokenKind::RightParen)?;
            Ok((content, parser.span_from(start)))
        })
    }

    fn parenthesized_table_content(&mut self) -> Parsed<ParenthesizedTable> {
        // TABLE( ) round a function call is no query, but TABLE t is one.
        let is_function = self.ahead(0, Keyword::TABLE) && self.ahead(1, TokenKind::LeftParen);
        if !is_function && self.at_query_keyword() {
            return self.query().map(ParenthesizedTable::Query);
        }
        let start = self.start();
        let first = if self.peek().kind == TokenKind::LeftParen {
            match self.parenthesized_table()? {
                (ParenthesizedTable::Query(query), span) => {
                    if self.ahead(0, TokenKind::RightParen) {
                        return Ok(ParenthesizedTable::Query(query));
                    }
                    if self.at_query_continuation() {
                        return self.query_from(query, span).map(ParenthesizedTable::Query);
                    }
                    self.derived_table(query, span)?
                }
                (ParenthesizedTable::Join(join), span) => TableRef { span, ..join },
            }
        } else {
            self.table_ref()?
        };
        let join = self.joins(first, false)?;
        if !matches!(join.kind, TableRefKind::Join(_)) {
            let error = self.error(ParseErrorKind::ParenthesizedTable, self.span_from(start));
            return Err(error.with_hint("leave out the parentheses"));
        }
        Ok(ParenthesizedTable::Join(join))
    }

    /// A table without its suffixes, but for one in parentheses.
    fn table_primary(&mut self) -> Parsed<TableRefKind> {
        let lateral = self.eat(Keyword::LATERAL);
        if self.eat(Keyword::UNNEST) {
            return self.unnest();
        }
        if self.eat(Keyword::TABLE) {
            self.expect(TokenKind::LeftParen)?;
            let name = self.object_name()?;
            let call = Box::new(self.plain_call(name)?);
            self.expect(TokenKind::RightParen)?;
            return Ok(TableRefKind::Function { lateral, call });
        }
        if lateral {
            let query = Box::new(self.lateral_query()?);
            return Ok(TableRefKind::Subquery { lateral, query });
        }
        let name = self.object_name()?;
        if self.at(TokenKind::LeftParen) {
            let call = Box::new(self.plain_call(name)?);
            return Ok(TableRefKind::Function { lateral, call });
        }
        let hints = self.optional_hints()?;
        Ok(TableRefKind::Table { name, hints })
    }

    /// `(query)` behind LATERAL
    fn lateral_query(&mut self) -> Parsed<Query> {
        let (content, span) = self.parenthesized_table()?;
        match content {
            ParenthesizedTable::Query(query) => Ok(query),
            ParenthesizedTable::Join(_) => Err(self.error(ParseErrorKind::AliasedJoin, span)),
        }
    }

    /// `(e, …) [WITH ORDINALITY]` behind UNNEST
    fn unnest(&mut self) -> Parsed<TableRefKind> {
        let collections = match self.parenthesized()? {
            (Parenthesized::Exprs(list), _) => list,
            (Parenthesized::Query(query), span) => {
                let kind = ExprKind::Subquery(query);
                vec![Expr { kind, span }]
            }
        };
        let with_ordinality = self.eat_all([Keyword::WITH, Keyword::ORDINALITY]);
        Ok(TableRefKind::Unnest { collections, with_ordinality })
    }

    /// Versions, pattern, alias and sample behind a table.
    fn table_suffix(&mut self, kind: TableRefKind, start: usize) -> Parsed<TableRef> {
        let is_function =
            matches!(kind, TableRefKind::Function { .. } | TableRefKind::Unnest { .. });
        let mut table = TableRef { kind, alias: None, span: self.span_from(start) };
        if !is_function && self.eat(Keyword::FOR) {
            self.expect_all([Keyword::SYSTEM_TIME, Keyword::AS, Keyword::OF])?;
            let period = Box::new(self.expr()?);
            let kind = TableRefKind::Snapshot { input: Box::new(table), period };
            table = TableRef { kind, alias: None, span: self.span_from(start) };
        }
        let takes_pattern = !is_function && !self.ident_ahead(0);
        table.alias = self.optional_table_alias()?;
        table.span = self.span_from(start);
        let takes_pattern =
            takes_pattern && table.alias.as_ref().is_none_or(|alias| alias.columns.is_empty());
        if takes_pattern && self.at(Keyword::MATCH_RECOGNIZE) {
            let clause = Box::new(self.match_recognize()?);
            let kind = TableRefKind::MatchRecognize { input: Box::new(table), clause };
            let alias = self.optional_table_alias()?;
            table = TableRef { kind, alias, span: self.span_from(start) };
        }
        if self.eat(Keyword::TABLESAMPLE) {
            let kind = self.table_sample(table)?;
            table = TableRef { kind, alias: None, span: self.span_from(start) };
        }
        Ok(table)
    }

    /// `[AS] name [(column, …)]`, if it is there.
    fn optional_table_alias(&mut self) -> Parsed<Option<TableAlias>> {
        let start = self.start();
        let named = self.eat(Keyword::AS);
        if !named && !self.at_ident() {
            return Ok(None);
        }
        let name = self.ident()?;
        let columns = if self.at(TokenKind::LeftParen) { self.paren_idents()? } else { Vec::new() };
        Ok(Some(TableAlias { name, columns, span: self.span_from(start) }))
    }

    /// `{BERNOULLI|SYSTEM} (percentage) [REPEATABLE (seed)]` behind `table`
    fn table_sample(&mut self, table: TableRef) -> Parsed<TableRefKind> {
        let is_bernoulli = self.eat(Keyword::BERNOULLI);
        if !is_bernoulli {
            self.expect(Keyword::SYSTEM)?;
        }
        self.expect(TokenKind::LeftParen)?;
        let percentage = self.number_text()?;
        self.expect(TokenKind::RightParen)?;
        let seed = self.optional(Keyword::REPEATABLE, |parser| {
            parser.expect(TokenKind::LeftParen)?;
            let seed = parser.number_text()?;
            parser.expect(TokenKind::RightParen)?;
            Ok(seed)
        })?;
        Ok(TableRefKind::Sample { input: Box::new(table), is_bernoulli, percentage, seed })
    }
}
