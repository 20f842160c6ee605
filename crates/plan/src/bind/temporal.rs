//! `FOR SYSTEM_TIME AS OF`: joins with what a table held at the time of each left row.

use flott_functions::{Expr, Volatility};
use flott_sql::ast::{self, TableRefKind};
use flott_types::TimeAttribute;

use super::expr::Context;
use super::table::split_condition;
use super::{Binder, Bound, Scope};
use crate::logical::{AsOf, Join, JoinKind, LogicalOp, LogicalPlan};
use crate::{PlanError, Result};

impl Binder<'_> {
    /// Binds `left [LEFT] JOIN table FOR SYSTEM_TIME AS OF left.time ON …`.
    ///
    /// Whether the table has versions, or can be looked up, is seen when its traits are known.
    pub(super) fn bind_as_of_join(
        &mut self,
        join: &ast::Join,
        table: &ast::TableRef,
        period: &ast::Expr,
    ) -> Result<Bound> {
        let left = self.bind_table_ref(&join.left)?;
        let (time, attribute) = self.bind_period(period, &left.scope)?;
        let kind = match join.kind {
            ast::JoinKind::Inner | ast::JoinKind::Cross | ast::JoinKind::Comma => JoinKind::Inner,
            ast::JoinKind::Left => JoinKind::Left,
            ast::JoinKind::Right => return Err(unknown_kind("RIGHT", join)),
            ast::JoinKind::Full => return Err(unknown_kind("FULL", join)),
        };
        let aliased = ast::TableRef { alias: join.right.alias.clone(), ..table.clone() };
        let right = self.bind_table_ref(&aliased)?;
        let split = left.scope.fields.len();
        let is_rowtime = attribute == TimeAttribute::Rowtime;
        let version = right
            .scope
            .fields
            .iter()
            .position(|field| is_rowtime && field.time == Some(TimeAttribute::Rowtime));
        let mut scope = left.scope.join(right.scope);
        let condition = self.bind_join_condition(join, split, &mut scope)?;
        if kind == JoinKind::Left {
            scope.fields[split..].iter_mut().for_each(|field| field.data_type.nullable = true);
        }
        let (equal, rest) = split_condition(condition, split);
        let residual = (!rest.is_empty()).then(|| Expr::conjunction(rest));
        let join_of = Join {
            as_of: Some(AsOf { time, is_rowtime, version, is_function: false }),
            hints: self.join_hints(&join.left, &join.right),
            ..Join::new(kind, equal, residual)
        };
        let span = join.left.span.cover(join.right.span);
        let inputs = vec![left.plan, right.plan];
        let schema = scope.schema();
        let plan = LogicalPlan::spanned(LogicalOp::Join(join_of), inputs, schema, span);
        Ok(Bound { plan, scope })
    }

    /// The column of the left input that names the moment.
    fn bind_period(&mut self, period: &ast::Expr, left: &Scope) -> Result<(usize, TimeAttribute)> {
        let bound = self.bind_expr(period, &mut Context::new(left))?;
        if bound.columns().is_empty() {
            return Err(self.no_time_travel(period));
        }
        let column = match bound {
            Expr::Column { index, .. } => {
                left.fields.get(index).and_then(|field| field.time).map(|time| (index, time))
            }
            _ => None,
        };
        column.ok_or_else(|| {
            PlanError::new(
                "Temporal table join currently only supports 'FOR SYSTEM_TIME AS OF' left table's \
                 time attribute field",
            )
            .at(period.span)
            .hint(
                "name a column of the left table that has a WATERMARK or is PROCTIME(), without \
                 any computation",
            )
        })
    }

    /// Why a table cannot be read as it was at a constant time.
    pub(super) fn no_time_travel(&mut self, period: &ast::Expr) -> PlanError {
        let bound = match self.bind_expr(period, &mut Context::new(&Scope::default())) {
            Ok(bound) => bound,
            Err(error) => return error,
        };
        let message = if bound.volatility() == Volatility::Immutable {
            "tables of this catalog have no history to travel to".to_string()
        } else {
            format!(
                "Unsupported time travel expression: {bound} for the expression can not be reduced \
                 to a constant."
            )
        };
        PlanError::new(message).at(period.span).hint(
            "join the table instead: … JOIN t FOR SYSTEM_TIME AS OF o.time_attribute ON o.k = t.k",
        )
    }
}

fn unknown_kind(kind: &str, join: &ast::Join) -> PlanError {
    let clause = match &join.right.kind {
        TableRefKind::Snapshot { period, .. } => period.span,
        _ => join.right.span,
    };
    PlanError::new(format!("Unknown join type {kind} of a temporal join"))
        .at(clause)
        .hint("temporal joins are INNER and LEFT")
}
