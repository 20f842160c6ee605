//! IS, BETWEEN, LIKE, IN and the quantified comparisons.

use super::cursor::{Parsed, Parser};
use super::primary::Parenthesized;
use crate::ast::{BinaryOp, Expr, ExprKind, IsTest, LikeKind, QuantifiedTarget, Quantifier};
use crate::error::ParseErrorKind;
use crate::lexer::{Keyword, TokenKind};

impl Parser<'_> {
    /// `IS [NOT] test` or `IS [NOT] DISTINCT FROM right` behind `operand`.
    pub(super) fn is_test(&mut self, operand: Expr, distinct_power: u8) -> Parsed<ExprKind> {
        self.expect(Keyword::IS)?;
        let negated = self.eat(Keyword::NOT);
        let operand = Box::new(operand);
        if self.eat(Keyword::DISTINCT) {
            self.expect(Keyword::FROM)?;
            let right = Box::new(self.expr_above(distinct_power)?);
            return Ok(ExprKind::IsDistinctFrom { left: operand, right, negated });
        }
        let test = if self.eat(Keyword::NULL) {
            IsTest::Null
        } else if self.eat(Keyword::TRUE) {
            IsTest::True
        } else if self.eat(Keyword::FALSE) {
            IsTest::False
        } else if self.eat(Keyword::UNKNOWN) {
            IsTest::Unknown
        } else {
            self.expect(Keyword::JSON)?;
            self.json_test()
        };
        Ok(ExprKind::Is { operand, test, negated })
    }

    fn json_test(&mut self) -> IsTest {
        if self.eat(Keyword::OBJECT) {
            IsTest::JsonObject
        } else if self.eat(Keyword::ARRAY) {
            IsTest::JsonArray
        } else if self.eat(Keyword::SCALAR) {
            IsTest::JsonScalar
        } else {
            self.eat(Keyword::VALUE);
            IsTest::JsonValue
        }
    }

    /// `[NOT] BETWEEN [SYMMETRIC] low AND high` behind `operand`.
    pub(super) fn between(&mut self, operand: Expr, high_power: u8) -> Parsed<ExprKind> {
        let negated = self.eat(Keyword::NOT);
        self.expect(Keyword::BETWEEN)?;
        let symmetric = self.eat(Keyword::SYMMETRIC);
        if !symmetric {
            self.eat(Keyword::ASYMMETRIC);
        }
        // The lower bound reaches up to AND, whatever operators it has.
        let outer = std::mem::replace(&mut self.and_ends, true);
        let low = self.expr_above(0);
        self.and_ends = outer;
        let low = Box::new(low?);
        self.expect(Keyword::AND)?;
        let high = Box::new(self.expr_above(high_power)?);
        Ok(ExprKind::Between { operand: Box::new(operand), low, high, symmetric, negated })
    }

    /// `[NOT] {LIKE | SIMILAR TO} pattern [ESCAPE character]` behind `operand`.
    pub(super) fn like(&mut self, operand: Expr, kind: LikeKind, power: u8) -> Parsed<ExprKind> {
        let negated = self.eat(Keyword::NOT);
        match kind {
            LikeKind::Like => self.expect(Keyword::LIKE).map(drop)?,
            LikeKind::SimilarTo => self.expect_all([Keyword::SIMILAR, Keyword::TO])?,
        }
        let pattern = Box::new(self.expr_above(power)?);
        let escape = self.optional(Keyword::ESCAPE, |parser| parser.expr_above(power))?;
        let operand = Box::new(operand);
        Ok(ExprKind::Like { kind, operand, pattern, escape: escape.map(Box::new), negated })
    }

    /// `[NOT] IN (…)` behind `operand`.
    pub(super) fn in_list(&mut self, operand: Expr) -> Parsed<ExprKind> {
        let negated = self.eat(Keyword::NOT);
        self.expect(Keyword::IN)?;
        let operand = Box::new(operand);
        Ok(match self.parenthesized()?.0 {
            Parenthesized::Query(query) => ExprKind::InQuery { operand, query, negated },
            Parenthesized::Exprs(list) => ExprKind::InList { operand, list, negated },
        })
    }

    /// Whether ANY, SOME or ALL with its list or query stands behind the current token.
    pub(super) fn quantifier_ahead(&self) -> bool {
        let is_quantifier = [Keyword::ANY, Keyword::SOME, Keyword::ALL]
            .into_iter()
            .any(|quantifier| self.ahead(1, quantifier));
        is_quantifier && self.ahead(2, TokenKind::LeftParen)
    }

    /// `{ANY|SOME|ALL} (…)` behind `operand op`.
    pub(super) fn quantified(&mut self, operand: Expr, op: BinaryOp) -> Parsed<ExprKind> {
        let quantifier = if self.eat(Keyword::ALL) { Quantifier::All } else { Quantifier::Any };
        if quantifier == Quantifier::Any && !self.eat(Keyword::ANY) {
            self.expect(Keyword::SOME)?;
        }
        let target = match self.parenthesized()?.0 {
            Parenthesized::Query(query) => QuantifiedTarget::Query(query),
            Parenthesized::Exprs(list) => QuantifiedTarget::List(list),
        };
        Ok(ExprKind::Quantified { operand: Box::new(operand), op, quantifier, target })
    }

    /// `(left - right) unit`: the interval between two points, where `list` is in the parentheses.
    pub(super) fn difference(&mut self, mut list: Vec<Expr>) -> Parsed<ExprKind> {
        let only = if list.len() == 1 { list.pop() } else { None };
        match only.map(|expr| expr.kind) {
            Some(ExprKind::Binary { left, op: BinaryOp::Subtract, right }) => {
                let qualifier = self.interval_qualifier()?;
                Ok(ExprKind::Difference { left, right, qualifier })
            }
            _ => Err(self.error_here(ParseErrorKind::NoDifference)),
        }
    }
}
