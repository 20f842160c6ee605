//! `FOR SYSTEM_TIME AS OF`: joins with what a table held at the time of each left row.

use flott_functions::{Expr, Volatility};
use flott_sql::ast::{self, TableRefKind};
use flott_types::{TimeAttribute, Value};

use super::expr::Context;
use super::join::split_condition;
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
        if !matches!(table.kind, TableRefKind::Table { .. }) {
            return Err(PlanError::new("Incorrect syntax near the keyword 'FOR'")
                .at(table.span)
                .hint(
                    "FOR SYSTEM_TIME AS OF follows the name of a table or view: make it a view",
                ));
        }
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
        let is_rowtime = attribute == TimeAttribute::Rowtime;
        let version = right
            .scope
            .fields
            .iter()
            .position(|field| is_rowtime && field.time == Some(TimeAttribute::Rowtime));
        let as_of = AsOf { time, is_rowtime, version, function_key: None };
        self.as_of_join(join, left, right, kind, as_of)
    }

    /// Binds `left [LEFT] JOIN LATERAL TABLE(f(left.time)) …` of a temporal table function: a join with
    /// the version that its history had then. `None` when the right side is no such function.
    pub(super) fn bind_temporal_function_join(
        &mut self,
        join: &ast::Join,
        left: &Bound,
    ) -> Result<Option<Bound>> {
        let TableRefKind::Function { call, .. } = &join.right.kind else { return Ok(None) };
        let Some(name) = call.name.as_simple() else { return Ok(None) };
        let Some(function) = self.catalog.temporal_function(&name.value).cloned() else {
            return Ok(None);
        };
        let kind = match join.kind {
            ast::JoinKind::Inner | ast::JoinKind::Cross | ast::JoinKind::Comma => JoinKind::Inner,
            ast::JoinKind::Left => JoinKind::Left,
            ast::JoinKind::Right => return Err(unknown_kind("RIGHT", join)),
            ast::JoinKind::Full => return Err(unknown_kind("FULL", join)),
        };
        let one_argument = || {
            PlanError::new(format!("{} takes the time of the versions wanted", name.value))
                .at(call.span)
                .hint(format!("write LATERAL TABLE({}(o.time_attribute))", name.value))
        };
        let [argument] = call.args.as_slice() else { return Err(one_argument()) };
        let ast::FunctionArgValue::Expr(period) = &argument.value else {
            return Err(one_argument());
        };
        let (time, attribute) = self.bind_period(period, &left.scope)?;
        let parts = [&function.table.catalog, &function.table.database, &function.table.object];
        let table = ast::ObjectName {
            parts: parts.iter().map(|part| ast::Ident::new(part.as_str())).collect(),
            span: call.span,
        };
        let history = ast::TableRef {
            kind: TableRefKind::Table { name: table, hints: Vec::new() },
            alias: join.right.alias.clone(),
            span: join.right.span,
        };
        let right = self.bind_table_ref(&history)?;
        let column = |name: &str| {
            let found = right.plan.schema.index_of(name);
            found.ok_or_else(|| {
                PlanError::new(format!("the history {} has no column '{name}'", function.table))
                    .at(call.span)
            })
        };
        let (version, key) = (column(&function.time)?, column(&function.key)?);
        if right.plan.schema.fields[version].time != Some(attribute) {
            return Err(PlanError::new(
                "a temporal table function and its argument must both be event time or both \
                 processing time",
            )
            .at(period.span));
        }
        let is_rowtime = attribute == TimeAttribute::Rowtime;
        let as_of = AsOf {
            time,
            is_rowtime,
            version: is_rowtime.then_some(version),
            function_key: Some(key),
        };
        self.as_of_join(join, left.clone(), right, kind, as_of).map(Some)
    }

    fn as_of_join(
        &mut self,
        join: &ast::Join,
        left: Bound,
        right: Bound,
        kind: JoinKind,
        as_of: AsOf,
    ) -> Result<Bound> {
        let split = left.scope.fields.len();
        let mut scope = left.scope.join(right.scope);
        let condition = self.bind_join_condition(join, split, &mut scope)?;
        if kind == JoinKind::Left {
            scope.fields[split..].iter_mut().for_each(|field| field.data_type.nullable = true);
        }
        let is_true = |condition: &Expr| {
            matches!(condition, Expr::Literal { value: Value::Boolean(true), .. })
        };
        let condition = condition.into_iter().filter(|condition| !is_true(condition)).collect();
        let (equal, rest) = split_condition(condition, split);
        let residual = (!rest.is_empty()).then(|| Expr::conjunction(rest));
        let op = LogicalOp::Join(Join {
            as_of: Some(as_of),
            hints: self.join_hints(&join.left, &join.right),
            ..Join::new(kind, equal, residual)
        });
        let span = join.left.span.cover(join.right.span);
        let plan = LogicalPlan::spanned(op, vec![left.plan, right.plan], scope.schema(), span);
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
