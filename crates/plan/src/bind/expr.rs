//! Expressions.

use flott_functions::{Expr, SignatureError, coercion};
use flott_sql::ast::{
    self, BinaryOp, ExprKind, IsTest, LikeKind, LogicalOp, QuantifiedTarget, Quantifier,
    RoundDirection, TrimSide, UnaryOp,
};
use flott_types::{DataType, Family, TypeRoot};

use super::cast::{cast, interval_unit};
use super::interval::widen_timestamp;
use super::literal::{bind_literal, bind_negative};
use super::scope::dotted_field;
use super::{Binder, Scope, symbol};
use crate::bind::aggregate::AggregateContext;
use crate::bind::group_window::GroupWindow;
use crate::bind::matching::MatchContext;
use crate::bind::over::OverContext;
use crate::{PlanError, Result};

/// What an expression is bound in.
pub struct Context<'s> {
    /// The columns it sees.
    pub scope: &'s Scope,
    /// Where aggregates are collected; `None` where they are not allowed.
    pub aggregates: Option<&'s mut AggregateContext>,
    /// Where calls over windows are collected; `None` where they are not allowed.
    pub overs: Option<&'s mut OverContext>,
    /// Names that stand for expressions before columns do: those of the SELECT list, in QUALIFY.
    pub aliases: &'s [(String, Expr)],
    /// The group window of the SELECT, whose bounds the expression may name.
    pub window: Option<&'s GroupWindow>,
    /// The row pattern whose rows it sees, in MEASURES and DEFINE.
    pub matching: Option<MatchContext<'s>>,
}

impl<'s> Context<'s> {
    /// A context without aggregates.
    pub fn new(scope: &'s Scope) -> Self {
        Self { scope, aggregates: None, overs: None, aliases: &[], window: None, matching: None }
    }

    /// The same context without aggregates and OVER, for what they take as arguments.
    pub fn inner(&self) -> Context<'s> {
        Context { window: self.window, ..Context::new(self.scope) }
    }

    fn resolve(&self, name: &[ast::Ident], binder: &Binder) -> Result<Expr> {
        match name {
            [only] if self.aliases.iter().any(|(alias, _)| *alias == only.value) => {
                let mut found = self.aliases.iter().filter(|(alias, _)| *alias == only.value);
                match (found.next(), found.next()) {
                    (Some((_, expr)), None) => Ok(expr.clone()),
                    _ => Err(PlanError::new(format!("Column '{}' is ambiguous", only.value))),
                }
            }
            _ => binder.resolve(name, self.scope),
        }
    }
}

impl Binder<'_> {
    /// Binds an expression.
    pub fn bind_expr(&mut self, expr: &ast::Expr, context: &mut Context) -> Result<Expr> {
        self.bind_kind(expr, context).map_err(|error| error.at(expr.span))
    }

    fn bind_all(&mut self, exprs: &[ast::Expr], context: &mut Context) -> Result<Vec<Expr>> {
        exprs.iter().map(|expr| self.bind_expr(expr, context)).collect()
    }

    fn bind_kind(&mut self, expr: &ast::Expr, context: &mut Context) -> Result<Expr> {
        if let (ExprKind::Identifier(name), Some(matching)) = (&expr.kind, &mut context.matching) {
            return matching.resolve(name, context.scope);
        }
        match &expr.kind {
            ExprKind::Literal(literal) => bind_literal(literal, expr.span),
            ExprKind::Identifier(name) => context.resolve(name, self),
            ExprKind::Star | ExprKind::QualifiedStar(_) => {
                Err(PlanError::new("Unknown identifier '*'")
                    .hint("a star stands alone in the SELECT list, or in COUNT(*)"))
            }
            ExprKind::Unary { op, operand } => {
                if *op == UnaryOp::Minus
                    && let Some(constant) = bind_negative(operand, expr.span)
                {
                    return constant;
                }
                let operand = self.bind_expr(operand, context)?;
                match op {
                    UnaryOp::Plus => require_family(operand, Family::Numeric, "+"),
                    UnaryOp::Minus => builtin("NEGATE", vec![operand]),
                    UnaryOp::Not => builtin("NOT", vec![operand]),
                }
            }
            ExprKind::Binary { left, op: BinaryOp::Overlaps, right } => {
                let mut args = self.period(left, context)?;
                args.extend(self.period(right, context)?);
                builtin("OVERLAPS", args)
            }
            ExprKind::Binary { left, op, right } => {
                let args = [self.bind_expr(left, context)?, self.bind_expr(right, context)?];
                builtin(op.symbol(), widen_timestamp(*op, [left, right], args)?)
            }
            ExprKind::Logical { op, operands } => {
                let operands = operands
                    .iter()
                    .map(|operand| self.bind_condition(operand, context))
                    .collect::<Result<Vec<_>>>()?;
                Ok(match op {
                    LogicalOp::And => Expr::And(operands),
                    LogicalOp::Or => Expr::Or(operands),
                })
            }
            ExprKind::Is { operand, test, negated } => {
                let operand = self.bind_expr(operand, context)?;
                if matches!(test, IsTest::True | IsTest::False | IsTest::Unknown)
                    && operand.data_type().root == TypeRoot::Null
                {
                    return Err(illegal_null());
                }
                let name = match test {
                    IsTest::Null => "NULL",
                    IsTest::True => "TRUE",
                    IsTest::False => "FALSE",
                    IsTest::Unknown => "UNKNOWN",
                    IsTest::JsonValue => "JSON VALUE",
                    IsTest::JsonObject => "JSON OBJECT",
                    IsTest::JsonArray => "JSON ARRAY",
                    IsTest::JsonScalar => "JSON SCALAR",
                };
                let not = if *negated { "NOT " } else { "" };
                builtin(&format!("IS {not}{name}"), vec![operand])
            }
            ExprKind::IsDistinctFrom { left, right, negated } => {
                let args = vec![self.bind_expr(left, context)?, self.bind_expr(right, context)?];
                let not = if *negated { "NOT " } else { "" };
                builtin(&format!("IS {not}DISTINCT FROM"), args)
            }
            ExprKind::Between { operand, low, high, symmetric, negated } => {
                let args = vec![
                    self.bind_expr(operand, context)?,
                    self.bind_expr(low, context)?,
                    self.bind_expr(high, context)?,
                ];
                let name = if *symmetric { "BETWEEN SYMMETRIC" } else { "BETWEEN" };
                negate_if(*negated, builtin(name, args)?)
            }
            ExprKind::Like { kind, operand, pattern, escape, negated } => {
                let mut args =
                    vec![self.bind_expr(operand, context)?, self.bind_expr(pattern, context)?];
                if let Some(escape) = escape {
                    args.push(self.bind_expr(escape, context)?);
                }
                let name = match kind {
                    LikeKind::Like => "LIKE",
                    LikeKind::SimilarTo => "SIMILAR TO",
                };
                negate_if(*negated, builtin(name, args)?)
            }
            ExprKind::InList { operand, list, negated } => {
                let mut args = vec![self.bind_expr(operand, context)?];
                args.extend(self.bind_all(list, context)?);
                negate_if(*negated, builtin("IN", args)?)
            }
            ExprKind::Case { operand, branches, otherwise } => {
                self.bind_case(operand.as_deref(), branches, otherwise.as_deref(), context)
            }
            ExprKind::Cast { operand, target, is_try } => {
                let input = self.bind_expr(operand, context)?;
                cast(input, target, *is_try)
            }
            ExprKind::Function(call) => self.bind_call(call, context),
            ExprKind::Extract { unit, operand } => {
                let operand = self.bind_expr(operand, context)?;
                with_symbols("EXTRACT", vec![operand], &[unit.name()])
            }
            ExprKind::RoundTo { direction, operand, unit } => {
                let operand = self.bind_expr(operand, context)?;
                let name = match direction {
                    RoundDirection::Floor => "FLOOR",
                    RoundDirection::Ceil => "CEIL",
                };
                with_symbols(name, vec![operand], &[unit.name()])
            }
            ExprKind::TimestampAdd { unit, count, operand } => {
                let args = vec![self.bind_expr(count, context)?, self.bind_expr(operand, context)?];
                with_symbols("TIMESTAMPADD", args, &[unit.name()])
            }
            ExprKind::TimestampDiff { unit, start, end } => {
                let args = vec![self.bind_expr(start, context)?, self.bind_expr(end, context)?];
                with_symbols("TIMESTAMPDIFF", args, &[unit.name()])
            }
            ExprKind::Trim { side, characters, operand } => {
                let args =
                    vec![self.bind_expr(characters, context)?, self.bind_expr(operand, context)?];
                let side = match side {
                    TrimSide::Both => "BOTH",
                    TrimSide::Leading => "LEADING",
                    TrimSide::Trailing => "TRAILING",
                };
                with_symbols("TRIM", args, &[side])
            }
            ExprKind::Json(json) => self.bind_json(json, context),
            ExprKind::Row { fields, .. } => builtin("ROW", self.bind_all(fields, context)?),
            ExprKind::Array(items) => builtin("ARRAY", self.bind_all(items, context)?),
            ExprKind::Map(items) => builtin("MAP", self.bind_all(items, context)?),
            ExprKind::Multiset(items) => builtin("MULTISET", self.bind_all(items, context)?),
            ExprKind::Element { operand, index } => {
                let args = vec![self.bind_expr(operand, context)?, self.bind_expr(index, context)?];
                builtin("ITEM", args)
            }
            ExprKind::Field { operand, name } => {
                dotted_field(self.bind_expr(operand, context)?, &name.value)
            }
            ExprKind::IntervalOf { operand, qualifier } => {
                let amount = self.bind_expr(operand, context)?;
                builtin("*", vec![amount, interval_unit(qualifier)])
            }
            ExprKind::Difference { left, right, qualifier } => {
                let args = vec![self.bind_expr(left, context)?, self.bind_expr(right, context)?];
                with_symbols("MINUS_DATE", args, &[qualifier.start.name()])
            }
            ExprKind::Quantified { operand, op, quantifier, target } => match target {
                QuantifiedTarget::List(list) => {
                    let operand = self.bind_expr(operand, context)?;
                    let tests = self
                        .bind_all(list, context)?
                        .into_iter()
                        .map(|item| builtin(op.symbol(), vec![operand.clone(), item]))
                        .collect::<Result<Vec<_>>>()?;
                    Ok(match quantifier {
                        Quantifier::Any => Expr::Or(tests),
                        Quantifier::All => Expr::And(tests),
                    })
                }
                QuantifiedTarget::Query(_) => self.bind_subquery(expr, context),
            },
            ExprKind::InQuery { .. }
            | ExprKind::Exists(_)
            | ExprKind::Subquery(_)
            | ExprKind::ArrayQuery(_)
            | ExprKind::MapQuery(_)
            | ExprKind::MultisetQuery(_) => self.bind_subquery(expr, context),
            ExprKind::Descriptor(_) => {
                Err(PlanError::new("DESCRIPTOR is only an argument of table functions"))
            }
        }
    }

    /// Binds an expression that must be a condition.
    pub fn bind_condition(&mut self, expr: &ast::Expr, context: &mut Context) -> Result<Expr> {
        let bound = self.bind_expr(expr, context)?;
        match bound.data_type().family() {
            Family::Boolean => Ok(bound),
            Family::Null => Err(illegal_null().at(expr.span)),
            _ => Err(PlanError::new(format!(
                "a condition of type {} where a BOOLEAN is needed",
                bound.data_type().summary()
            ))
            .at(expr.span)
            .hint("compare it with something")),
        }
    }

    /// Binds a condition of CASE, for which NULL will do: it is never TRUE.
    fn bind_case_condition(&mut self, expr: &ast::Expr, context: &mut Context) -> Result<Expr> {
        if matches!(expr.kind, ExprKind::Literal(ast::Literal::Null)) {
            return Ok(Expr::null(DataType::boolean()));
        }
        self.bind_condition(expr, context)
    }

    fn bind_case(
        &mut self,
        operand: Option<&ast::Expr>,
        branches: &[ast::CaseBranch],
        otherwise: Option<&ast::Expr>,
        context: &mut Context,
    ) -> Result<Expr> {
        let operand = operand.map(|operand| self.bind_expr(operand, context)).transpose()?;
        let mut bound = Vec::new();
        for branch in branches {
            let mut tests = Vec::new();
            for condition in &branch.conditions {
                tests.push(match &operand {
                    None => self.bind_case_condition(condition, context)?,
                    Some(operand) => {
                        let value = self.bind_expr(condition, context)?;
                        builtin("=", vec![operand.clone(), value])?
                    }
                });
            }
            let condition = if tests.len() == 1 { tests.remove(0) } else { Expr::Or(tests) };
            bound.push((condition, self.bind_expr(&branch.result, context)?));
        }
        let otherwise = match otherwise {
            Some(otherwise) => self.bind_expr(otherwise, context)?,
            None => Expr::null(DataType::null()),
        };
        case(bound, otherwise)
    }

    fn period(&mut self, expr: &ast::Expr, context: &mut Context) -> Result<Vec<Expr>> {
        match &expr.kind {
            ExprKind::Row { fields, .. } if fields.len() == 2 => self.bind_all(fields, context),
            _ => Err(PlanError::new("OVERLAPS compares two periods")
                .at(expr.span)
                .hint("write (start, end) OVERLAPS (start, end)")),
        }
    }
}

/// A CASE whose results are brought to their common type.
pub fn case(branches: Vec<(Expr, Expr)>, otherwise: Expr) -> Result<Expr> {
    let types: Vec<DataType> = branches
        .iter()
        .map(|(_, result)| result.data_type())
        .chain([otherwise.data_type()])
        .collect();
    if types.iter().all(|ty| ty.root == TypeRoot::Null) {
        return Err(PlanError::new("ELSE clause or at least one THEN clause must be non-NULL")
            .hint("CAST(NULL AS …) gives a NULL of a type"));
    }
    let data_type = coercion::common_type(&types)
        .ok_or_else(|| PlanError::from(SignatureError::NoCommonType { types: types.clone() }))?;
    Ok(Expr::Case {
        branches: branches
            .into_iter()
            .map(|(condition, result)| Ok((condition, result.cast_to(&data_type)?)))
            .collect::<Result<_>>()?,
        otherwise: Box::new(otherwise.cast_to(&data_type)?),
        data_type,
    })
}

/// A call of a built-in.
pub fn builtin(name: &str, args: Vec<Expr>) -> Result<Expr> {
    Ok(Expr::builtin(name, args)?)
}

/// A call of a built-in with words of special syntax.
pub fn with_symbols(name: &str, args: Vec<Expr>, symbols: &[&str]) -> Result<Expr> {
    let function = flott_functions::scalar_function(name)
        .ok_or_else(|| PlanError::new(format!("no built-in function {name}")))?;
    let symbols = symbols.iter().map(|text| symbol(text)).collect();
    Ok(Expr::call(function, args, symbols, None)?)
}

/// An untyped NULL where its type would matter.
pub fn illegal_null() -> PlanError {
    PlanError::new("Illegal use of 'NULL'").hint("CAST(NULL AS …) gives a NULL of a type")
}

fn negate_if(negated: bool, expr: Expr) -> Result<Expr> {
    if negated { builtin("NOT", vec![expr]) } else { Ok(expr) }
}

fn require_family(expr: Expr, family: Family, operator: &str) -> Result<Expr> {
    let found = expr.data_type();
    if matches!(found.family(), f if f == family || f == Family::Interval) {
        return Ok(expr);
    }
    Err(PlanError::new(format!("cannot apply '{operator}' to a value of type {}", found.summary())))
}
