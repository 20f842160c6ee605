//! Joins of FROM: which tables they pair, and by what condition.

use std::sync::Arc;

use flott_functions::Expr;
use flott_sql::ast::{self, JoinCondition, TableRefKind};
use flott_types::{Field, Schema};

use super::expr::Context;
use super::outer::is_placeholder;
use super::subquery::{Sides, apply_condition, numbers, place_in_sides};
use super::{Binder, Bound, Scope};
use crate::logical::{EquiPair, Join, JoinHints, JoinKind, LogicalOp, LogicalPlan, PlanRef};
use crate::{PlanError, Result};

impl Binder<'_> {
    /// Binds a join.
    pub(super) fn bind_join(&mut self, join: &ast::Join) -> Result<Bound> {
        if let TableRefKind::Snapshot { input, period } = &join.right.kind {
            return self.bind_as_of_join(join, input, period);
        }
        let left = self.bind_table_ref(&join.left)?;
        check_condition(join)?;
        if let Some(bound) = self.bind_temporal_function_join(join, &left)? {
            return Ok(bound);
        }
        if let Some(bound) = self.bind_correlate(join, &left)? {
            return Ok(bound);
        }
        if let Some(bound) = self.bind_lateral(join, &left)? {
            return Ok(bound);
        }
        let right = self.bind_table_ref(&join.right)?;
        let kind = match join.kind {
            ast::JoinKind::Inner | ast::JoinKind::Cross | ast::JoinKind::Comma => JoinKind::Inner,
            ast::JoinKind::Left => JoinKind::Left,
            ast::JoinKind::Right => JoinKind::Right,
            ast::JoinKind::Full => JoinKind::Full,
        };
        let split = left.scope.fields.len();
        let mut scope = left.scope.join(right.scope);
        let (condition, subqueries) =
            self.collecting(|binder| binder.bind_join_condition(join, split, &mut scope))?;
        let mut nullable = scope.fields.clone();
        for (i, field) in nullable.iter_mut().enumerate() {
            let padded = if i < split { kind.keeps_right() } else { kind.keeps_left() };
            if padded {
                field.data_type.nullable = true;
            }
        }
        scope.fields = nullable;
        let schema = scope.schema();
        let span = join.left.span.cover(join.right.span);
        if kind != JoinKind::Inner && !subqueries.is_empty() {
            let sides = (&left.plan, &right.plan);
            let sides = place_in_sides(self, sides, condition, subqueries, span)?;
            let hints = self.join_hints(&join.left, &join.right);
            let plan = outer_join(kind, hints, sides, split, schema, span);
            return Ok(Bound { plan, scope });
        }
        let (with_subqueries, condition): (Vec<Expr>, Vec<Expr>) =
            condition.into_iter().partition(|conjunct| !numbers(conjunct).is_empty());
        let (equal, rest) = split_condition(condition, split);
        let residual = (!rest.is_empty()).then(|| Expr::conjunction(rest));
        let hints = self.join_hints(&join.left, &join.right);
        let op = LogicalOp::Join(Join { hints, ..Join::new(kind, equal, residual) });
        let plan = LogicalPlan::spanned(op, vec![left.plan, right.plan], schema, span);
        if with_subqueries.is_empty() {
            return Ok(Bound { plan, scope });
        }
        let on = Expr::conjunction(with_subqueries);
        let plan = apply_condition(self, plan, on, subqueries, span)?;
        Ok(Bound { plan, scope })
    }

    /// The conditions of ON, USING or NATURAL over both sides, of which the left one has `split`
    /// columns.
    pub(super) fn bind_join_condition(
        &mut self,
        join: &ast::Join,
        split: usize,
        scope: &mut Scope,
    ) -> Result<Vec<Expr>> {
        let mut condition = Vec::new();
        match &join.condition {
            Some(JoinCondition::On(on)) => {
                condition = self.bind_condition(on, &mut Context::new(scope))?.conjuncts();
            }
            Some(JoinCondition::Using(columns)) => {
                let names: Vec<&str> = columns.iter().map(|name| name.value.as_str()).collect();
                merge_columns(&names, split, scope, &mut condition)?;
            }
            None if join.natural => {
                let (left, right) = scope.fields.split_at(split);
                let both = left.iter().filter(|field| right.iter().any(|r| r.name == field.name));
                let names: Vec<Arc<str>> = both.map(|field| field.name.clone()).collect();
                let names: Vec<&str> = names.iter().map(|name| &**name).collect();
                merge_columns(&names, split, scope, &mut condition)?;
            }
            None => {}
        }
        Ok(condition)
    }
}

/// An outer join whose sides have columns behind their own for its condition, which it does not give; the left
/// side has `split` columns of its own, `schema` is that of the own ones.
fn outer_join(
    kind: JoinKind,
    hints: JoinHints,
    sides: Sides,
    split: usize,
    schema: Schema,
    span: ast::Span,
) -> PlanRef {
    let Sides { left, right, condition } = sides;
    let wide = left.schema.len();
    let (equal, rest) = split_condition(condition, wide);
    let residual = (!rest.is_empty()).then(|| Expr::conjunction(rest));
    let op = LogicalOp::Join(Join { hints, ..Join::new(kind, equal, residual) });
    let padded = |side: &PlanRef, is_padded: bool| -> Vec<Field> {
        let fields = side.schema.fields.iter().cloned();
        fields
            .map(|mut field| {
                field.data_type.nullable |= is_padded;
                field
            })
            .collect()
    };
    let mut fields = padded(&left, kind.keeps_right());
    fields.extend(padded(&right, kind.keeps_left()));
    let joined = LogicalPlan::spanned(op, vec![left, right], Schema::new(fields), span);
    let own = (0..schema.len()).map(|i| if i < split { i } else { i - split + wide });
    let exprs =
        own.zip(&schema.fields).map(|(i, f)| Expr::column(i, f.data_type.clone())).collect();
    LogicalPlan::project(joined, exprs, schema)
}

/// Joins other than CROSS JOIN and the comma say what rows they pair; those say nothing.
fn check_condition(join: &ast::Join) -> Result<()> {
    let takes_none = matches!(join.kind, ast::JoinKind::Cross | ast::JoinKind::Comma);
    let has_one = join.natural || join.condition.is_some();
    if takes_none && has_one {
        return Err(PlanError::new(
            "Cannot specify condition (NATURAL keyword, or ON or USING clause) following CROSS JOIN",
        )
        .at(join.right.span)
        .hint("write JOIN … ON …, or put the condition into WHERE"));
    }
    if !takes_none && !has_one {
        return Err(PlanError::new(
            "INNER, LEFT, RIGHT or FULL join requires a condition (NATURAL keyword or ON or USING \
             clause)",
        )
        .at(join.right.span)
        .hint("to pair all rows, write CROSS JOIN"));
    }
    Ok(())
}

/// Equalities between the two sides, and the rest.
pub fn split_condition(conjuncts: Vec<Expr>, split: usize) -> (Vec<EquiPair>, Vec<Expr>) {
    let mut equal = Vec::new();
    let mut rest = Vec::new();
    for conjunct in conjuncts {
        match equi_pair(&conjunct, split) {
            Some(pair) => equal.push(pair),
            None => rest.push(conjunct),
        }
    }
    (equal, rest)
}

fn equi_pair(condition: &Expr, split: usize) -> Option<EquiPair> {
    let Expr::Call { function, args, .. } = condition else { return None };
    let null_safe = match function.name {
        "=" => false,
        "IS NOT DISTINCT FROM" => true,
        _ => return None,
    };
    let [a, b] = args.as_slice() else { return None };
    let side = |expr: &Expr| {
        let columns = expr.columns();
        // What stands for a column of a query around belongs to neither side.
        if columns.last().is_none_or(|last| is_placeholder(*last)) {
            None
        } else if columns.iter().all(|column| *column < split) {
            Some(false)
        } else if columns.iter().all(|column| *column >= split) {
            Some(true)
        } else {
            None
        }
    };
    let (left, right) = match (side(a)?, side(b)?) {
        (false, true) => (a, b),
        (true, false) => (b, a),
        _ => return None,
    };
    // Keys are compared by value: both sides must have one type.
    if !left.data_type().same_root(&right.data_type()) {
        return None;
    }
    Some(EquiPair {
        left: left.clone(),
        right: right.clone().map_columns(&|column| column - split),
        null_safe,
    })
}

/// USING and NATURAL: equality of columns of one name, of which `*` shows the left one.
fn merge_columns(
    names: &[&str],
    split: usize,
    scope: &mut Scope,
    condition: &mut Vec<Expr>,
) -> Result<()> {
    for name in names {
        let find = |range: std::ops::Range<usize>| {
            range.into_iter().find(|i| &*scope.fields[*i].name == *name)
        };
        let (Some(left), Some(right)) = (find(0..split), find(split..scope.fields.len())) else {
            return Err(PlanError::new(format!("Column '{name}' not found in any table")));
        };
        let column = |i: usize| Expr::column(i, scope.fields[i].data_type.clone());
        condition.push(Expr::builtin("=", vec![column(left), column(right)])?);
        for relation in &mut scope.relations {
            if (relation.start..relation.end).contains(&right) {
                relation.hidden.push(right);
            }
        }
    }
    Ok(())
}
