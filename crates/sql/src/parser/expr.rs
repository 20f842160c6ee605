//! Expressions: operators by precedence.
//!
//! Each operator has a left and a right power; an operand goes to the neighbour that binds it
//! with the greater power. The numbers are Calcite's precedences, doubled, plus one on the side
//! that equal operators do not associate to.

use super::cursor::{Parsed, Parser};
use crate::ast::{BinaryOp, Expr, ExprKind, LikeKind, LogicalOp, UnaryOp};
use crate::error::ParseErrorKind;
use crate::lexer::{Keyword, TokenKind};

const OR: u8 = 22;
const AND: u8 = 24;
const NOT: u8 = 26;
const IS: u8 = 28;
const COMPARISON: u8 = 30;
/// BETWEEN, IN, LIKE, SIMILAR TO and quantified comparisons.
const PREDICATE: u8 = 32;
const SUM: u8 = 40;
const PRODUCT: u8 = 60;
const SIGN: u8 = 80;

/// An operator that follows an operand.
#[derive(Clone, Copy)]
enum Infix {
    Binary(BinaryOp, u8),
    Logical(LogicalOp, u8),
    /// A comparison with ANY, SOME or ALL behind it.
    Quantified(BinaryOp),
    Is,
    Between,
    Like(LikeKind),
    In,
}

impl Infix {
    fn left_power(self) -> u8 {
        match self {
            Self::Binary(_, precedence) | Self::Logical(_, precedence) => 2 * precedence,
            Self::Is => 2 * IS,
            Self::Between | Self::In | Self::Quantified(_) => 2 * PREDICATE,
            // Associates to the right.
            Self::Like(_) => 2 * PREDICATE + 1,
        }
    }
}

impl Parser<'_> {
    /// An expression.
    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        let and_ends = std::mem::replace(&mut self.and_ends, false);
        let expr = self.expr_above(0);
        self.and_ends = and_ends;
        expr
    }

    /// The rest of an expression that begins with `operand`.
    pub(super) fn expr_from(&mut self, operand: Expr) -> Parsed<Expr> {
        let and_ends = std::mem::replace(&mut self.and_ends, false);
        let expr = self.postfix(operand).and_then(|operand| self.infix(operand, 0));
        self.and_ends = and_ends;
        expr
    }

    /// An expression of operators whose left power is at least `power`.
    pub(super) fn expr_above(&mut self, power: u8) -> Parsed<Expr> {
        self.nested(|parser| {
            let operand = parser.prefix()?;
            parser.infix(operand, power)
        })
    }

    /// An operand with the operators before and the accesses behind it.
    fn prefix(&mut self) -> Parsed<Expr> {
        let start = self.start();
        let (op, power) = if self.ahead(0, Keyword::NOT) {
            (UnaryOp::Not, 2 * NOT + 1)
        } else if self.ahead(0, TokenKind::Minus) {
            (UnaryOp::Minus, 2 * SIGN)
        } else if self.ahead(0, TokenKind::Plus) {
            (UnaryOp::Plus, 2 * SIGN)
        } else {
            return self.operand();
        };
        self.advance();
        let operand = Box::new(self.expr_above(power)?);
        Ok(Expr { kind: ExprKind::Unary { op, operand }, span: self.span_from(start) })
    }

    /// An operand with the accesses behind it.
    pub(super) fn operand(&mut self) -> Parsed<Expr> {
        let operand = self.primary()?;
        self.postfix(operand)
    }

    /// `[index]` and `.field` behind an operand.
    fn postfix(&mut self, mut operand: Expr) -> Parsed<Expr> {
        let start = operand.span.start;
        loop {
            if self.eat(TokenKind::LeftBracket) {
                let index = Box::new(self.expr()?);
                self.expect(TokenKind::RightBracket)?;
                let kind = ExprKind::Element { operand: Box::new(operand), index };
                operand = Expr { kind, span: self.span_from(start) };
            } else if self.at(TokenKind::Dot) && self.ident_ahead(1) {
                self.advance();
                let name = self.advance_ident()?;
                let kind = ExprKind::Field { operand: Box::new(operand), name };
                operand = Expr { kind, span: self.span_from(start) };
            } else {
                return Ok(operand);
            }
            self.chained()?;
        }
    }

    /// The operators behind `left` whose left power is at least `power`.
    fn infix(&mut self, mut left: Expr, power: u8) -> Parsed<Expr> {
        let start = left.span.start;
        let mut tests = 0;
        while let Some(infix) = self.infix_operator()? {
            let left_power = infix.left_power();
            if left_power < power {
                break;
            }
            let kind = match infix {
                Infix::Logical(op, _) => {
                    self.advance();
                    let right = self.expr_above(left_power + 1)?;
                    logical(op, left, right)
                }
                Infix::Binary(op, _) => {
                    self.advance();
                    let right = Box::new(self.expr_above(left_power + 1)?);
                    ExprKind::Binary { left: Box::new(left), op, right }
                }
                Infix::Quantified(op) => {
                    self.advance();
                    self.quantified(left, op)?
                }
                Infix::Is => self.is_test(left, 2 * COMPARISON + 1)?,
                Infix::Between => self.between(left, 2 * PREDICATE + 1)?,
                Infix::Like(kind) => self.like(left, kind, 2 * PREDICATE)?,
                Infix::In => self.in_list(left)?,
            };
            match kind {
                ExprKind::Logical { .. } => {}
                ExprKind::Is { .. } => self.wrapped(&mut tests)?,
                _ => self.chained()?,
            }
            left = Expr { kind, span: self.span_from(start) };
        }
        Ok(left)
    }

    /// The operator at the current token. NOT belongs to BETWEEN, LIKE, IN or SIMILAR.
    fn infix_operator(&mut self) -> Parsed<Option<Infix>> {
        let token = *self.peek();
        let binary = |op, precedence| Ok(Some(Infix::Binary(op, precedence)));
        let comparison = |op| {
            let quantified = self.quantifier_ahead();
            Ok(Some(if quantified { Infix::Quantified(op) } else { Infix::Binary(op, COMPARISON) }))
        };
        match token.kind {
            TokenKind::Plus => binary(BinaryOp::Add, SUM),
            TokenKind::Minus => binary(BinaryOp::Subtract, SUM),
            TokenKind::Star => binary(BinaryOp::Multiply, PRODUCT),
            TokenKind::Slash => binary(BinaryOp::Divide, PRODUCT),
            TokenKind::Percent => binary(BinaryOp::Modulo, PRODUCT),
            TokenKind::Concat => binary(BinaryOp::Concat, PRODUCT),
            TokenKind::Eq => comparison(BinaryOp::Eq),
            TokenKind::NotEq => comparison(BinaryOp::NotEq),
            TokenKind::Lt => comparison(BinaryOp::Lt),
            TokenKind::LtEq => comparison(BinaryOp::LtEq),
            TokenKind::Gt => comparison(BinaryOp::Gt),
            TokenKind::GtEq => comparison(BinaryOp::GtEq),
            TokenKind::BangEq => {
                Err(self.error_here(ParseErrorKind::BangEqual).with_hint("write <>"))
            }
            TokenKind::Word => Ok(self.word_operator()),
            _ => Ok(None),
        }
    }

    fn word_operator(&self) -> Option<Infix> {
        let negation = usize::from(self.ahead(0, Keyword::NOT));
        match self.peek_ahead(negation).keyword? {
            Keyword::BETWEEN => Some(Infix::Between),
            Keyword::LIKE => Some(Infix::Like(LikeKind::Like)),
            Keyword::SIMILAR => Some(Infix::Like(LikeKind::SimilarTo)),
            Keyword::IN => Some(Infix::In),
            _ if negation > 0 => None,
            Keyword::AND if self.and_ends => None,
            Keyword::AND => Some(Infix::Logical(LogicalOp::And, AND)),
            Keyword::OR => Some(Infix::Logical(LogicalOp::Or, OR)),
            Keyword::IS => Some(Infix::Is),
            Keyword::OVERLAPS => Some(Infix::Binary(BinaryOp::Overlaps, COMPARISON)),
            _ => None,
        }
    }
}

/// `left op right`, as one chain if `left` is one already.
fn logical(op: LogicalOp, left: Expr, right: Expr) -> ExprKind {
    match left.kind {
        ExprKind::Logical { op: left_op, mut operands } if left_op == op => {
            operands.push(right);
            ExprKind::Logical { op, operands }
        }
        _ => ExprKind::Logical { op, operands: vec![left, right] },
    }
}
