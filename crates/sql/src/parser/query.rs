//! Queries: WITH, set operations, ORDER BY, OFFSET and LIMIT.

use super::cursor::{Parsed, Parser};
use crate::ast::{
    Cte, Expr, ExprKind, Query, QueryBody, QueryBodyKind, SetOp, Span, ValuesRow, With,
};
use crate::error::ParseErrorKind;
use crate::lexer::{Keyword, TokenKind};

/// How tightly INTERSECT binds; UNION and EXCEPT bind with [`UNION`].
const INTERSECT: u8 = 2;
const UNION: u8 = 1;

impl Parser<'_> {
    /// Whether a keyword stands here that only a query begins with.
    pub(super) fn at_query_keyword(&mut self) -> bool {
        self.at(Keyword::SELECT)
            || self.at(Keyword::WITH)
            || self.at(Keyword::VALUES)
            || self.ahead(0, Keyword::VALUE)
            || self.ahead(0, Keyword::TABLE)
    }

    /// Whether what stands here goes on with a query whose beginning is in parentheses.
    pub(super) fn at_query_continuation(&self) -> bool {
        const CONTINUATIONS: [Keyword; 8] = [
            Keyword::UNION,
            Keyword::INTERSECT,
            Keyword::EXCEPT,
            Keyword::MINUS,
            Keyword::ORDER,
            Keyword::LIMIT,
            Keyword::OFFSET,
            Keyword::FETCH,
        ];
        CONTINUATIONS.into_iter().any(|keyword| self.ahead(0, keyword))
    }

    /// A query with its WITH, ORDER BY, OFFSET and LIMIT.
    pub(super) fn query(&mut self) -> Parsed<Query> {
        self.nested(|parser| {
            let start = parser.start();
            let with = parser.optional_with_clause()?;
            let body = parser.query_body(0)?;
            parser.query_tail(with, body, start)
        })
    }

    /// `(query)`
    pub(super) fn paren_query(&mut self) -> Parsed<Query> {
        self.expect(TokenKind::LeftParen)?;
        let query = self.query()?;
        self.expect(TokenKind::RightParen)?;
        Ok(query)
    }

    /// The rest of a query that begins with `(first)`, which stands at `span`.
    pub(super) fn query_from(&mut self, first: Query, span: Span) -> Parsed<Query> {
        let left = parenthesized_body(first, span);
        let body = self.set_operations(left, 0)?;
        self.query_tail(None, body, span.start)
    }

    fn query_tail(&mut self, with: Option<With>, body: QueryBody, start: usize) -> Parsed<Query> {
        let order_by = if self.at(Keyword::ORDER) { self.order_by()? } else { Vec::new() };
        let (offset, fetch) = self.offset_and_fetch()?;
        let span = self.span_from(start);
        Ok(Query { with, body, order_by, offset, fetch, span })
    }

    fn optional_with_clause(&mut self) -> Parsed<Option<With>> {
        let start = self.start();
        if !self.eat(Keyword::WITH) {
            return Ok(None);
        }
        let recursive = self.eat(Keyword::RECURSIVE);
        let ctes = self.comma_list(Self::cte)?;
        Ok(Some(With { recursive, ctes, span: self.span_from(start) }))
    }

    /// `name [(column, …)] AS (query)`
    fn cte(&mut self) -> Parsed<Cte> {
        let start = self.start();
        let name = self.ident()?;
        let columns = if self.at(TokenKind::LeftParen) { self.paren_idents()? } else { Vec::new() };
        self.expect(Keyword::AS)?;
        let query = self.paren_query()?;
        Ok(Cte { name, columns, query, span: self.span_from(start) })
    }

    /// Operands joined by set operators that bind at least as tightly as `power`.
    fn query_body(&mut self, power: u8) -> Parsed<QueryBody> {
        let operand = self.query_operand()?;
        self.set_operations(operand, power)
    }

    fn set_operations(&mut self, mut left: QueryBody, power: u8) -> Parsed<QueryBody> {
        loop {
            let (op, op_power) = if self.at(Keyword::UNION) {
                (SetOp::Union, UNION)
            } else if self.at(Keyword::EXCEPT) {
                (SetOp::Except, UNION)
            } else if self.at(Keyword::INTERSECT) {
                (SetOp::Intersect, INTERSECT)
            } else if self.ahead(0, Keyword::MINUS) {
                return Err(self.error_here(ParseErrorKind::Minus).with_hint("write EXCEPT"));
            } else {
                return Ok(left);
            };
            if op_power < power {
                return Ok(left);
            }
            self.advance();
            let all = self.eat(Keyword::ALL);
            if !all {
                self.eat(Keyword::DISTINCT);
            }
            let right = Box::new(self.query_body(op_power + 1)?);
            let span = left.span.cover(right.span);
            let kind = QueryBodyKind::SetOperation { left: Box::new(left), op, all, right };
            left = QueryBody { kind, span };
            self.chained()?;
        }
    }

    /// SELECT, VALUES, TABLE or a query in parentheses.
    fn query_operand(&mut self) -> Parsed<QueryBody> {
        let start = self.start();
        let kind = if self.at(Keyword::SELECT) {
            QueryBodyKind::Select(Box::new(self.select()?))
        } else if self.at(Keyword::VALUES) || self.ahead(0, Keyword::VALUE) {
            self.advance();
            QueryBodyKind::Values(self.comma_list(Self::values_row)?)
        } else if self.eat(Keyword::TABLE) {
            QueryBodyKind::Table(self.object_name()?)
        } else if self.at(TokenKind::LeftParen) {
            let query = self.paren_query()?;
            return Ok(parenthesized_body(query, self.span_from(start)));
        } else {
            return Err(self.unexpected());
        };
        Ok(QueryBody { kind, span: self.span_from(start) })
    }

    /// `(a, b)`, `ROW(a, b)` or `a`
    fn values_row(&mut self) -> Parsed<ValuesRow> {
        let expr = self.expr()?;
        let span = expr.span;
        let values = match expr.kind {
            ExprKind::Row { fields } => fields,
            _ => vec![expr],
        };
        Ok(ValuesRow { values, span })
    }

    /// `[LIMIT n] [OFFSET m]` or `[OFFSET m] [FETCH FIRST n ROWS ONLY]`
    fn offset_and_fetch(&mut self) -> Parsed<(Option<Expr>, Option<Expr>)> {
        if self.eat(Keyword::LIMIT) {
            let fetch = if self.eat(Keyword::ALL) { None } else { Some(self.row_count()?) };
            if self.ahead(0, TokenKind::Comma) {
                let error = self.error_here(ParseErrorKind::LimitStartCount);
                return Err(error.with_hint("write LIMIT count OFFSET start"));
            }
            let offset = self.optional(Keyword::OFFSET, Self::offset)?;
            return Ok((offset, fetch));
        }
        let offset = self.optional(Keyword::OFFSET, Self::offset)?;
        if offset.is_some() && self.ahead(0, Keyword::LIMIT) {
            let error = self.error_here(ParseErrorKind::OffsetLimit);
            return Err(error.with_hint("write LIMIT count OFFSET start"));
        }
        let fetch = self.optional(Keyword::FETCH, |parser| {
            if !parser.eat(Keyword::FIRST) {
                parser.expect(Keyword::NEXT)?;
            }
            let count = parser.row_count()?;
            parser.rows_keyword()?;
            parser.expect(Keyword::ONLY)?;
            Ok(count)
        })?;
        Ok((offset, fetch))
    }

    /// `n [ROW|ROWS]`
    fn offset(&mut self) -> Parsed<Expr> {
        let count = self.row_count()?;
        if self.at(Keyword::ROWS) || self.at(Keyword::ROW) {
            self.advance();
        }
        Ok(count)
    }

    fn rows_keyword(&mut self) -> Parsed<()> {
        if !self.eat(Keyword::ROW) {
            self.expect(Keyword::ROWS)?;
        }
        Ok(())
    }

    fn row_count(&mut self) -> Parsed<Expr> {
        let start = self.start();
        let kind = ExprKind::Literal(self.number()?);
        Ok(Expr { kind, span: self.span_from(start) })
    }
}

/// `(query)` as an operand: the parentheses matter only round a WITH, ORDER BY or LIMIT.
fn parenthesized_body(query: Query, span: Span) -> QueryBody {
    let is_plain = query.with.is_none()
        && query.order_by.is_empty()
        && query.offset.is_none()
        && query.fetch.is_none();
    if is_plain {
        return QueryBody { kind: query.body.kind, span };
    }
    QueryBody { kind: QueryBodyKind::Nested(Box::new(query)), span }
}
