//! Operands: literals, names, calls, constructors and what stands in parentheses.

use super::cursor::{Expected, Parsed, Parser};
use crate::ast::{
    CaseBranch, Expr, ExprKind, FunctionCall, Ident, Literal, ObjectName, Query, Span, UnaryOp,
};
use crate::lexer::{Keyword, TokenKind};

/// What stands between parentheses where both a query and expressions can.
pub(super) enum Parenthesized {
    Query(Box<Query>),
    /// One at least.
    Exprs(Vec<Expr>),
}

impl Parser<'_> {
    /// An operand without operators and accesses round it.
    pub(super) fn primary(&mut self) -> Parsed<Expr> {
        let start = self.start();
        if self.peek().kind == TokenKind::LeftParen {
            return self.parenthesized_operand();
        }
        let kind = match self.optional_literal()? {
            Some(literal) => ExprKind::Literal(literal),
            None if self.peek().kind == TokenKind::LeftBrace => self.braced_call()?,
            None => match self.peek().keyword {
                Some(keyword) => self.keyword_operand(keyword)?,
                None => self.name_or_call()?,
            },
        };
        Ok(Expr { kind, span: self.span_from(start) })
    }

    /// An operand that begins with a keyword.
    fn keyword_operand(&mut self, keyword: Keyword) -> Parsed<ExprKind> {
        let opens = self.ahead(1, TokenKind::LeftParen);
        match keyword {
            Keyword::CASE => self.case(),
            Keyword::CAST | Keyword::TRY_CAST => self.cast(),
            Keyword::EXISTS => self.exists(),
            Keyword::INTERVAL => self.interval_of(),
            Keyword::ROW => self.row(),
            Keyword::PERIOD if opens => {
                self.advance();
                let fields = self.paren_list(Self::expr)?;
                Ok(ExprKind::Row { fields })
            }
            Keyword::ARRAY | Keyword::MULTISET | Keyword::MAP
                if self.ahead(1, TokenKind::LeftBracket) =>
            {
                self.collection(keyword)
            }
            Keyword::ARRAY | Keyword::MULTISET | Keyword::MAP if opens => {
                self.collection_query(keyword)
            }
            _ if opens => match self.special_function(keyword)? {
                Some(kind) => Ok(kind),
                None if keyword.is_reserved_function() => self.reserved_call(keyword),
                None if keyword.is_nullary_function() => self.nullary_call(keyword),
                None => self.name_or_call(),
            },
            _ if keyword.is_nullary_function() => self.nullary_call(keyword),
            _ => self.name_or_call(),
        }
    }

    /// `a.b.c`, `a.b.*` or `a.b.f(…)`
    fn name_or_call(&mut self) -> Parsed<ExprKind> {
        if !self.at_ident() {
            self.note(Expected::Other("<EXPRESSION>"));
            return Err(self.unexpected());
        }
        let name = self.object_name()?;
        if name.is_simple("PI") && !name.parts[0].quoted && !self.at(TokenKind::LeftParen) {
            // Flink takes it for the function even where a column has that name.
            let span = name.span;
            let call = FunctionCall::new(name, Vec::new(), span);
            return Ok(ExprKind::Function(Box::new(call)));
        }
        if self.at(TokenKind::LeftParen) {
            return self.call(name).map(|call| ExprKind::Function(Box::new(call)));
        }
        if self.ahead(0, TokenKind::Dot) && self.ahead(1, TokenKind::Star) {
            self.advance();
            self.advance();
            return Ok(ExprKind::QualifiedStar(name.parts));
        }
        Ok(ExprKind::Identifier(name.parts))
    }

    /// A call of a function whose name is a reserved word.
    fn reserved_call(&mut self, keyword: Keyword) -> Parsed<ExprKind> {
        let span = self.advance().span;
        self.call(built_in(keyword, span)).map(|call| ExprKind::Function(Box::new(call)))
    }

    /// `CURRENT_DATE` and the like, as a call without arguments.
    fn nullary_call(&mut self, keyword: Keyword) -> Parsed<ExprKind> {
        let span = self.advance().span;
        let call = FunctionCall::new(built_in(keyword, span), Vec::new(), span);
        Ok(ExprKind::Function(Box::new(call)))
    }

    fn parenthesized_operand(&mut self) -> Parsed<Expr> {
        let (content, span) = self.parenthesized()?;
        let kind = match content {
            Parenthesized::Query(query) => ExprKind::Subquery(query),
            Parenthesized::Exprs(list) if self.interval_unit_ahead(0) => self.difference(list)?,
            Parenthesized::Exprs(list) => return Ok(group(list, span)),
        };
        Ok(Expr { kind, span: self.span_from(span.start) })
    }

    /// `(query)` or `(expr, …)`, and its span.
    pub(super) fn parenthesized(&mut self) -> Parsed<(Parenthesized, Span)> {
        self.nested(|parser| {
            let start = parser.expect(TokenKind::LeftParen)?.start;
            let content = parser.parenthesized_content()?;
            parser.expect(TokenKind::RightParen)?;
            Ok((content, parser.span_from(start)))
        })
    }

    fn parenthesized_content(&mut self) -> Parsed<Parenthesized> {
        if self.at_query_keyword() {
            return self.query().map(|query| Parenthesized::Query(Box::new(query)));
        }
        let first = if self.peek().kind == TokenKind::LeftParen {
            // Whether a query or an expression begins here shows only behind the inner
            // parentheses.
            match self.parenthesized()? {
                (Parenthesized::Query(query), span) => {
                    if self.ahead(0, TokenKind::RightParen) {
                        return Ok(Parenthesized::Query(query));
                    }
                    if self.at_query_continuation() {
                        let query = self.query_from(*query, span)?;
                        return Ok(Parenthesized::Query(Box::new(query)));
                    }
                    let kind = ExprKind::Subquery(query);
                    self.expr_from(Expr { kind, span })?
                }
                (Parenthesized::Exprs(list), span) if self.interval_unit_ahead(0) => {
                    let kind = self.difference(list)?;
                    let span = self.span_from(span.start);
                    self.expr_from(Expr { kind, span })?
                }
                (Parenthesized::Exprs(list), span) => self.expr_from(group(list, span))?,
            }
        } else {
            self.expr()?
        };
        let mut list = vec![first];
        while self.eat(TokenKind::Comma) {
            list.push(self.expr()?);
        }
        Ok(Parenthesized::Exprs(list))
    }

    fn case(&mut self) -> Parsed<ExprKind> {
        self.expect(Keyword::CASE)?;
        let operand = if self.at(Keyword::WHEN) { None } else { Some(Box::new(self.expr()?)) };
        let mut branches = Vec::new();
        while branches.is_empty() || self.at(Keyword::WHEN) {
            branches.push(self.case_branch(operand.is_some())?);
        }
        // ELSE NULL says what holds anyway.
        let otherwise = self
            .optional(Keyword::ELSE, Self::expr)?
            .filter(|expr| expr.kind != ExprKind::Literal(Literal::Null))
            .map(Box::new);
        self.expect(Keyword::END)?;
        Ok(ExprKind::Case { operand, branches, otherwise })
    }

    fn case_branch(&mut self, is_simple: bool) -> Parsed<CaseBranch> {
        let start = self.expect(Keyword::WHEN)?.start;
        let conditions = if is_simple { self.comma_list(Self::expr)? } else { vec![self.expr()?] };
        self.expect(Keyword::THEN)?;
        let result = self.expr()?;
        Ok(CaseBranch { conditions, result, span: self.span_from(start) })
    }

    /// `CAST(e AS t)`, `TRY_CAST(e AS t)`
    fn cast(&mut self) -> Parsed<ExprKind> {
        let is_try = self.advance().keyword == Some(Keyword::TRY_CAST);
        self.expect(TokenKind::LeftParen)?;
        let operand = Box::new(self.expr()?);
        self.expect(Keyword::AS)?;
        let target = Box::new(self.data_type()?);
        self.expect(TokenKind::RightParen)?;
        Ok(ExprKind::Cast { operand, target, is_try })
    }

    fn exists(&mut self) -> Parsed<ExprKind> {
        self.expect(Keyword::EXISTS)?;
        self.paren_query().map(|query| ExprKind::Exists(Box::new(query)))
    }

    /// `INTERVAL [+|-] {number | name | (expr)} unit`
    fn interval_of(&mut self) -> Parsed<ExprKind> {
        self.expect(Keyword::INTERVAL)?;
        let start = self.start();
        let negative = self.eat(TokenKind::Minus);
        if !negative {
            self.eat(TokenKind::Plus);
        }
        let number = self.start();
        let kind = if self.ahead(0, TokenKind::LeftParen) {
            let (content, span) = self.parenthesized()?;
            match content {
                Parenthesized::Query(query) => ExprKind::Subquery(query),
                Parenthesized::Exprs(list) => group(list, span).kind,
            }
        } else if self.at_ident() {
            ExprKind::Identifier(self.object_name()?.parts)
        } else {
            ExprKind::Literal(self.number()?)
        };
        let mut operand = Expr { kind, span: self.span_from(number) };
        if negative {
            let kind = ExprKind::Unary { op: UnaryOp::Minus, operand: Box::new(operand) };
            operand = Expr { kind, span: self.span_from(start) };
        }
        let qualifier = self.single_interval_qualifier()?;
        Ok(ExprKind::IntervalOf { operand: Box::new(operand), qualifier })
    }

    /// `ROW(a, b)`
    fn row(&mut self) -> Parsed<ExprKind> {
        self.expect(Keyword::ROW)?;
        let fields = self.paren_list(Self::expr)?;
        Ok(ExprKind::Row { fields })
    }

    /// `ARRAY[…]`, `MULTISET[…]`, `MAP[…]`
    fn collection(&mut self, keyword: Keyword) -> Parsed<ExprKind> {
        self.advance();
        self.expect(TokenKind::LeftBracket)?;
        let elements = if self.at(TokenKind::RightBracket) {
            Vec::new()
        } else {
            self.comma_list(Self::expr)?
        };
        self.expect(TokenKind::RightBracket)?;
        Ok(match keyword {
            Keyword::ARRAY => ExprKind::Array(elements),
            Keyword::MULTISET => ExprKind::Multiset(elements),
            _ => ExprKind::Map(elements),
        })
    }

    /// `ARRAY(query)`, `MULTISET(query)`, `MAP(query)`, or a call of a function of that name.
    fn collection_query(&mut self, keyword: Keyword) -> Parsed<ExprKind> {
        let start = self.advance().span.start;
        let name = built_in(keyword, self.span_from(start));
        match self.parenthesized()?.0 {
            Parenthesized::Query(query) => Ok(match keyword {
                Keyword::ARRAY => ExprKind::ArrayQuery(query),
                Keyword::MULTISET => ExprKind::MultisetQuery(query),
                _ => ExprKind::MapQuery(query),
            }),
            Parenthesized::Exprs(args) => {
                let call = FunctionCall::new(name, args, self.span_from(start));
                Ok(ExprKind::Function(Box::new(call)))
            }
        }
    }
}

/// What `(a)` or `(a, b)` is: the expression itself, or a row.
fn group(mut list: Vec<Expr>, span: Span) -> Expr {
    match list.pop() {
        Some(only) if list.is_empty() => Expr { kind: only.kind, span },
        last => {
            list.extend(last);
            Expr { kind: ExprKind::Row { fields: list }, span }
        }
    }
}

/// The name of a function that the grammar itself knows.
pub(super) fn built_in(keyword: Keyword, span: Span) -> ObjectName {
    let name = Ident { value: keyword.text().to_owned(), quoted: false, span };
    ObjectName { parts: vec![name], span }
}
