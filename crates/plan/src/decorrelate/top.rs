//! LIMIT of a correlated query: the first rows of each row around.

use std::sync::Arc;

use flott_functions::Expr;
use flott_types::{Field, Schema, TypeRoot, Value};

use super::substitute;
use crate::Result;
use crate::bind::outer::{as_outer, is_placeholder};
use crate::logical::{
    Frame, FrameUnit, LogicalOp, LogicalPlan, Over, OverCall, OverFunction, PlanRef,
    RankingFunction, Sort, SortKey,
};

/// Of the rows of `input` that agree in `partition` those that the LIMIT lets pass, with their number behind
/// their columns. `outputs` are what the sort's keys are over.
pub fn first_rows(
    input: PlanRef,
    partition: Vec<Expr>,
    sort: &Sort,
    outputs: &[Expr],
) -> Result<PlanRef> {
    let number = TypeRoot::BigInt.not_null();
    let order =
        sort.keys.iter().map(|key| SortKey { expr: substitute(&key.expr, outputs), ..key.clone() });
    let call = OverCall {
        function: OverFunction::Ranking(RankingFunction::RowNumber),
        data_type: number.clone(),
    };
    let over = Over {
        partition,
        order: order.collect(),
        frame: Frame::running(FrameUnit::Rows),
        calls: vec![call],
    };
    let rank = Expr::column(input.schema.len(), number.clone());
    let mut fields = input.schema.fields.clone();
    fields.push(Field::new("$rank", number.clone()));
    let schema = Schema::new(fields);
    let ranked = LogicalPlan::new(LogicalOp::Over(over), vec![input], schema.clone());
    let constant = |count: u64| {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        Expr::literal(Value::Int(count), number.clone())
    };
    let mut wanted = Vec::new();
    if sort.offset > 0 {
        wanted.push(Expr::builtin(">", vec![rank.clone(), constant(sort.offset)])?);
    }
    if let Some(fetch) = sort.fetch {
        wanted.push(Expr::builtin("<=", vec![rank, constant(sort.offset.saturating_add(fetch))])?);
    }
    let op = LogicalOp::Filter(Expr::conjunction(wanted));
    Ok(LogicalPlan::new(op, vec![ranked], schema))
}

/// Whether this is the one form of a correlated LIMIT that Flink plans: for each value of a column of a
/// table the first rows of the same table that have it.
///
/// `FROM (SELECT DISTINCT k FROM t) m, LATERAL (SELECT … FROM t WHERE k = m.k ORDER BY … LIMIT n)`
pub fn is_flinks(around: &PlanRef, plan: &PlanRef, level: usize) -> bool {
    let Some((table, column)) = limited_column(plan, level) else { return false };
    let Some((input, group)) = grouped_column(around) else { return false };
    // Below the grouping stands the table, or what it selects of it.
    let selected = match &input.op {
        LogicalOp::Project(exprs) => own_column(&exprs[group]).map(|c| (input.input(), c)),
        _ => None,
    };
    [Some((&input, group)), selected]
        .into_iter()
        .flatten()
        .any(|(same, grouped)| Arc::ptr_eq(same, &table) && grouped == column)
}

/// What `SELECT DISTINCT column FROM …` groups, and by which column.
fn grouped_column(plan: &PlanRef) -> Option<(PlanRef, usize)> {
    match &plan.op {
        LogicalOp::Project(exprs) if exprs.len() == 1 => {
            own_column(&exprs[0]).and_then(|_| grouped_column(plan.input()))
        }
        LogicalOp::Aggregate(aggregate) if aggregate.calls.is_empty() => {
            let [group] = aggregate.groups.as_slice() else { return None };
            Some((plan.input().clone(), own_column(group)?))
        }
        _ => None,
    }
}

/// The table and its column of `SELECT … FROM table WHERE column = around ORDER BY … LIMIT n`.
fn limited_column(plan: &PlanRef, level: usize) -> Option<(PlanRef, usize)> {
    let LogicalOp::Sort(sort) = &plan.op else { return None };
    if sort.keys.is_empty() || sort.fetch.is_none() || sort.offset > 0 {
        return None;
    }
    let mut below = plan.input();
    if let LogicalOp::Project(exprs) = &below.op {
        exprs.iter().all(|expr| own_column(expr).is_some()).then_some(())?;
        below = below.input();
    }
    let LogicalOp::Filter(condition) = &below.op else { return None };
    let Expr::Call { function, args, .. } = condition else { return None };
    if function.name != "=" {
        return None;
    }
    let [a, b] = args.as_slice() else { return None };
    let is_around = |expr: &Expr| match expr {
        Expr::Column { index, .. } => as_outer(*index).is_some_and(|(of, _)| of == level),
        _ => false,
    };
    let column = match (is_around(a), is_around(b)) {
        (true, false) => own_column(b)?,
        (false, true) => own_column(a)?,
        _ => return None,
    };
    Some((below.input().clone(), column))
}

fn own_column(expr: &Expr) -> Option<usize> {
    match expr {
        Expr::Column { index, .. } if !is_placeholder(*index) => Some(*index),
        _ => None,
    }
}
