//! Function calls: arguments, and what stands behind the parentheses.

use super::cursor::{Parsed, Parser};
use crate::ast::{
    ExprKind, FunctionArg, FunctionArgValue, FunctionCall, NullTreatment, ObjectName, OrderItem,
    SetQuantifier, TableArg, TableArgInput,
};
use crate::error::ParseErrorKind;
use crate::lexer::{Keyword, TokenKind};

/// The aggregates that take an ORDER BY between their parentheses.
pub(crate) const ORDERED_AGGREGATES: [&str; 2] = ["ARRAY_AGG", "ARRAY_CONCAT_AGG"];

impl Parser<'_> {
    /// The call of `name`, from the opening parenthesis on.
    pub(super) fn call(&mut self, name: ObjectName) -> Parsed<FunctionCall> {
        let mut call = self.call_without_suffix(name)?;
        call.null_treatment = self.optional_null_treatment();
        if self.eat_all([Keyword::WITHIN, Keyword::GROUP]) {
            self.expect(TokenKind::LeftParen)?;
            call.within_group = self.order_by()?;
            self.expect(TokenKind::RightParen)?;
        }
        if self.eat(Keyword::FILTER) {
            self.expect(TokenKind::LeftParen)?;
            self.expect(Keyword::WHERE)?;
            call.filter = Some(Box::new(self.expr()?));
            self.expect(TokenKind::RightParen)?;
        }
        call.over = self.optional(Keyword::OVER, Self::window)?;
        call.span = self.span_from(call.span.start);
        Ok(call)
    }

    /// The call of `name` up to the closing parenthesis.
    fn call_without_suffix(&mut self, name: ObjectName) -> Parsed<FunctionCall> {
        let start = name.span.start;
        let mut call = FunctionCall::new(name, Vec::new(), self.span_from(start));
        self.expect(TokenKind::LeftParen)?;
        if !self.eat(TokenKind::RightParen) {
            if self.at(TokenKind::Star) {
                let span = self.advance().span;
                call.args = vec![FunctionArg { name: None, value: FunctionArgValue::Star, span }];
            } else {
                call.quantifier = self.optional_set_quantifier();
                call.args = self.arguments()?;
                call.within_group = self.argument_order(&call.name)?;
            }
            self.expect(TokenKind::RightParen)?;
        }
        call.span = self.span_from(start);
        Ok(call)
    }

    /// The call of `name` as a table or procedure: arguments and nothing else.
    pub(super) fn plain_call(&mut self, name: ObjectName) -> Parsed<FunctionCall> {
        let start = name.span.start;
        self.expect(TokenKind::LeftParen)?;
        let args = if self.at(TokenKind::RightParen) { Vec::new() } else { self.arguments()? };
        self.expect(TokenKind::RightParen)?;
        let mut call = FunctionCall::new(name, Vec::new(), self.span_from(start));
        call.args = args;
        Ok(call)
    }

    fn arguments(&mut self) -> Parsed<Vec<FunctionArg>> {
        let mut args = vec![self.argument(true)?];
        while self.eat(TokenKind::Comma) {
            args.push(self.argument(false)?);
        }
        Ok(args)
    }

    /// `ALL` or `DISTINCT`, if it is there.
    pub(super) fn optional_set_quantifier(&mut self) -> Option<SetQuantifier> {
        if self.eat(Keyword::DISTINCT) {
            Some(SetQuantifier::Distinct)
        } else if self.eat(Keyword::ALL) {
            Some(SetQuantifier::All)
        } else {
            None
        }
    }

    /// `value` or `name => value`. A query may stand without parentheses only where it cannot be
    /// taken for the rest of the argument before it.
    fn argument(&mut self, is_first: bool) -> Parsed<FunctionArg> {
        let start = self.start();
        let name = if self.ident_ahead(0) && self.ahead(1, TokenKind::Arrow) {
            let name = self.ident()?;
            self.expect(TokenKind::Arrow)?;
            Some(name)
        } else {
            None
        };
        let value = self.argument_value(is_first || name.is_some())?;
        Ok(FunctionArg { name, value, span: self.span_from(start) })
    }

    fn argument_value(&mut self, takes_query: bool) -> Parsed<FunctionArgValue> {
        if self.eat(Keyword::DEFAULT) {
            return Ok(FunctionArgValue::Default);
        }
        if self.at(Keyword::TABLE) {
            return self.table_argument();
        }
        if self.ahead(0, Keyword::MODEL) && self.ident_ahead(1) {
            self.advance();
            return self.object_name().map(FunctionArgValue::Model);
        }
        if takes_query && self.at_query_keyword() {
            return self.query().map(|query| FunctionArgValue::Query(Box::new(query)));
        }
        let start = self.start();
        let expr = self.expr()?;
        if !self.at_partitioning() {
            return Ok(FunctionArgValue::Expr(expr));
        }
        match expr.kind {
            ExprKind::Subquery(query) => self.table_clauses(TableArgInput::Query(query), start),
            _ => Ok(FunctionArgValue::Expr(expr)),
        }
    }

    /// `TABLE t [PARTITION BY …] [ORDER BY …]`
    fn table_argument(&mut self) -> Parsed<FunctionArgValue> {
        let start = self.expect(Keyword::TABLE)?.start;
        let input = TableArgInput::Table(self.object_name()?);
        self.table_clauses(input, start)
    }

    fn table_clauses(&mut self, input: TableArgInput, start: usize) -> Parsed<FunctionArgValue> {
        let partition_by = if self.eat_all([Keyword::PARTITION, Keyword::BY]) {
            self.bracketed_list(Self::expr)?
        } else {
            Vec::new()
        };
        let order_by = if self.eat_all([Keyword::ORDER, Keyword::BY]) {
            self.bracketed_list(Self::order_item)?
        } else {
            Vec::new()
        };
        let span = self.span_from(start);
        Ok(FunctionArgValue::Table(Box::new(TableArg { input, partition_by, order_by, span })))
    }

    fn at_partitioning(&self) -> bool {
        self.follows([Keyword::PARTITION, Keyword::BY])
            || self.follows([Keyword::ORDER, Keyword::BY])
    }

    /// `(a, b)`, or one element without parentheses: a comma would start the next argument.
    fn bracketed_list<T>(
        &mut self,
        mut element: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        if self.at(TokenKind::LeftParen) {
            self.paren_list(element)
        } else {
            Ok(vec![element(self)?])
        }
    }

    /// An ORDER BY behind the arguments of `name`.
    fn argument_order(&mut self, name: &ObjectName) -> Parsed<Vec<OrderItem>> {
        if !self.at(Keyword::ORDER) {
            return Ok(Vec::new());
        }
        if !ORDERED_AGGREGATES.iter().any(|aggregate| name.is_simple(aggregate)) {
            return Err(self
                .error_here(ParseErrorKind::OrderByUnexpected)
                .with_hint("write WITHIN GROUP (ORDER BY …) behind the call"));
        }
        self.order_by()
    }

    fn optional_null_treatment(&mut self) -> Option<NullTreatment> {
        if self.eat_all([Keyword::RESPECT, Keyword::NULLS]) {
            Some(NullTreatment::Respect)
        } else if self.eat_all([Keyword::IGNORE, Keyword::NULLS]) {
            Some(NullTreatment::Ignore)
        } else {
            None
        }
    }
}
