//! Sub-queries of expressions: binding here, their joins in [`apply`], LATERAL in [`lateral`].

mod apply;
mod lateral;
mod outer_join;

use flott_functions::Expr;
use flott_sql::ast::{self, BinaryOp, ExprKind, QuantifiedTarget, Quantifier, Span};
use flott_types::DataType;

use super::aggregate::Grouping;
use super::expr::{Context, builtin};
use super::outer::{as_subquery, outer_index, replace_outer, subquery_column};
use super::{Binder, Scope};
use crate::logical::PlanRef;
use crate::{PlanError, Result};

pub use apply::{apply_condition, apply_values};
pub use lateral::no_natural;
pub use outer_join::{Sides, place_in_sides};

/// A sub-query that an expression holds as a column with its number.
#[derive(Clone)]
pub struct SubQuery {
    number: usize,
    kind: Kind,
    plan: PlanRef,
    span: Span,
}

/// The sub-queries among the keys of a GROUP BY, by their text: where the SELECT repeats one it means the key.
#[derive(Default)]
pub struct KeyQueries {
    /// Whether the keys are being bound.
    recording: bool,
    known: Vec<(String, Expr)>,
}

/// What the expression asks of it.
#[derive(Clone)]
enum Kind {
    /// The value of its only row.
    Scalar,
    /// Whether it has rows.
    Exists,
    /// Whether a comparison is TRUE for some of its rows, or for all.
    Compared { operands: Vec<Expr>, op: Comparison, all: bool },
}

/// How values are compared with those of a sub-query.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Comparison(&'static str);

impl SubQuery {
    /// Where it stands in the text.
    pub fn span(&self) -> Span {
        self.span
    }

    /// Whether it stands for a value.
    pub fn is_scalar(&self) -> bool {
        matches!(self.kind, Kind::Scalar)
    }

    /// Whether an expression reads it.
    pub fn stands_in(&self, expr: &Expr) -> bool {
        numbers(expr).contains(&self.number)
    }

    /// The sub-query as one of a query that is over other columns: `rewrite` turns an expression over the
    /// old ones into one over the new ones.
    pub fn rewritten(
        mut self,
        level: usize,
        rewrite: &impl Fn(&Expr) -> Result<Expr>,
    ) -> Result<Self> {
        self.plan = replace_outer(&self.plan, level, &mut |column, data_type| {
            let own = rewrite(&Expr::column(column, data_type))?;
            Ok(own.map_columns(&|index| outer_index(level, index)))
        })?;
        if let Kind::Compared { operands, .. } = &mut self.kind {
            for operand in operands {
                *operand = rewrite(operand)?;
            }
        }
        Ok(self)
    }

    /// The expressions that it is compared with.
    fn operands(&self) -> &[Expr] {
        match &self.kind {
            Kind::Compared { operands, .. } => operands,
            _ => &[],
        }
    }
}

impl Binder<'_> {
    /// Binds an expression that may hold sub-queries, and gives them beside it.
    pub fn collecting<T>(
        &mut self,
        bind: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<(T, Vec<SubQuery>)> {
        let outside = self.subqueries.replace(Vec::new());
        let bound = bind(self);
        let found = std::mem::replace(&mut self.subqueries, outside).unwrap_or_default();
        Ok((bound?, found))
    }

    /// Binds the keys of GROUP BY, which may hold sub-queries, and gives these beside them. What is bound after
    /// them knows the sub-queries again.
    pub fn bind_keys(
        &mut self,
        group_by: &ast::GroupBy,
        scope: &Scope,
    ) -> Result<(Grouping, Vec<SubQuery>)> {
        self.key_queries.recording = true;
        let bound = self.collecting(|binder| binder.bind_group_by(group_by, scope));
        self.key_queries.recording = false;
        bound
    }

    /// Binds a sub-query to the column that stands for it.
    pub fn bind_subquery(&mut self, expr: &ast::Expr, context: &mut Context) -> Result<Expr> {
        let text = expr.to_string();
        if let Some((_, key)) = self.key_queries.known.iter().find(|(known, _)| *known == text) {
            return Ok(key.clone());
        }
        let bound = self.bind_new_subquery(expr, context)?;
        if self.key_queries.recording {
            self.key_queries.known.push((text, bound.clone()));
        }
        Ok(bound)
    }

    fn bind_new_subquery(&mut self, expr: &ast::Expr, context: &mut Context) -> Result<Expr> {
        match &expr.kind {
            ExprKind::Subquery(query) => {
                let plan = self.bind_inside(query, context.scope)?;
                let [field] = plan.schema.fields.as_slice() else {
                    return Err(PlanError::new(
                        "Cannot apply '$SCALAR_QUERY': a sub-query that stands for a value must \
                         have one column",
                    )
                    .hint("select one column, or a ROW of them"));
                };
                let data_type = field.data_type.clone().with_nullable(true);
                self.add_subquery(Kind::Scalar, plan, data_type, expr.span)
            }
            ExprKind::Exists(query) => {
                let plan = self.bind_inside(query, context.scope)?;
                let data_type = DataType::boolean().not_null();
                self.add_subquery(Kind::Exists, plan, data_type, expr.span)
            }
            ExprKind::InQuery { operand, query, negated } => {
                let found = self.bind_compared(operand, query, "=", false, expr.span, context)?;
                if *negated { builtin("NOT", vec![found]) } else { Ok(found) }
            }
            ExprKind::Quantified { operand, op, quantifier, target } => {
                let QuantifiedTarget::Query(query) = target else {
                    return Err(PlanError::new("no sub-query to compare with"));
                };
                let all = *quantifier == Quantifier::All;
                match (op, all) {
                    // NOT IN, and the negation of = ALL.
                    (BinaryOp::NotEq, _) => {
                        let found =
                            self.bind_compared(operand, query, "=", !all, expr.span, context)?;
                        builtin("NOT", vec![found])
                    }
                    _ => self.bind_compared(operand, query, op.symbol(), all, expr.span, context),
                }
            }
            _ => Err(PlanError::new("a sub-query cannot make a collection")
                .hint("aggregate instead: ARRAY_AGG(…), COLLECT(…)")),
        }
    }

    fn bind_compared(
        &mut self,
        operand: &ast::Expr,
        query: &ast::Query,
        op: &'static str,
        all: bool,
        span: Span,
        context: &mut Context,
    ) -> Result<Expr> {
        let operands = match &operand.kind {
            ExprKind::Row { fields, .. } => fields
                .iter()
                .map(|field| self.bind_expr(field, context))
                .collect::<Result<Vec<_>>>()?,
            _ => vec![self.bind_expr(operand, context)?],
        };
        let plan = self.bind_inside(query, context.scope)?;
        if plan.schema.len() != operands.len() {
            return Err(PlanError::new("Values passed to IN operator must have compatible types")
                .hint(format!(
                    "the sub-query has {} columns, what is looked for has {}",
                    plan.schema.len(),
                    operands.len()
                )));
        }
        if op != "=" && operands.len() > 1 {
            return Err(PlanError::new("rows are compared with a sub-query by = only"));
        }
        let mut nullable = false;
        for (operand, field) in operands.iter().zip(&plan.schema.fields) {
            if operand.data_type().root == flott_types::TypeRoot::Null {
                return Err(super::expr::illegal_null());
            }
            check_comparable(operand, &field.data_type)?;
            nullable |= operand.data_type().nullable || field.data_type.nullable;
        }
        let data_type = DataType::boolean().with_nullable(nullable);
        let kind = Kind::Compared { operands, op: Comparison(op), all };
        self.add_subquery(kind, plan, data_type, span)
    }

    fn bind_inside(&mut self, query: &ast::Query, scope: &Scope) -> Result<PlanRef> {
        Ok(self.inside(scope, |binder| binder.bind_query(query))?.plan)
    }

    fn add_subquery(
        &mut self,
        kind: Kind,
        plan: PlanRef,
        data_type: DataType,
        span: Span,
    ) -> Result<Expr> {
        let number = self.subquery_count;
        let Some(found) = &mut self.subqueries else {
            return Err(PlanError::new("a sub-query cannot stand here")
                .hint("join the tables instead, or put it into a sub-query in FROM"));
        };
        found.push(SubQuery { number, kind, plan, span });
        self.subquery_count += 1;
        Ok(subquery_column(number, data_type))
    }
}

/// A join compares values of one kind only.
fn check_comparable(operand: &Expr, column: &DataType) -> Result<()> {
    let ty = operand.data_type();
    let family = |ty: &DataType| ty.family();
    if family(&ty) == family(column) {
        return Ok(());
    }
    Err(PlanError::new(format!(
        "implicit type conversion between {ty} and {column} is not supported on join's condition now"
    ))
    .hint("cast one of them"))
}

/// The numbers of the sub-queries in an expression.
pub fn numbers(expr: &Expr) -> Vec<usize> {
    expr.columns().into_iter().filter_map(as_subquery).collect()
}
