//! Which columns change in one direction only as rows are updated, Flink's `ModifiedMonotonicity`.
//!
//! A Top-N over such a column need not keep the rows that are out of range: they come back by
//! themselves when they move up.

use std::cmp::Ordering;

use flott_functions::Expr;
use flott_types::Value;

use crate::physical::{
    ColumnAggregate, GroupAggregate, NodeId, PhysicalNode, PhysicalOp, PhysicalPlan, Rank,
    RankOrigin,
};

/// How the values of a column change when their row is updated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Monotonicity {
    /// Never.
    Constant,
    /// They only grow.
    Increasing,
    /// They only shrink.
    Decreasing,
    /// Either way.
    None,
}

/// The monotonicity of each column that a node gives, `None` if its rows may be deleted.
pub fn of_node(plan: &PhysicalPlan, id: NodeId) -> Option<Vec<Monotonicity>> {
    let node = plan.node(id);
    if node.changelog.is_insert_only() {
        return Some(vec![Monotonicity::Constant; node.schema.len()]);
    }
    match &node.op {
        PhysicalOp::Calc(calc) => {
            let input = plan.node(node.inputs[0].node);
            let below = of_node(plan, node.inputs[0].node)?;
            // A condition on what changes takes rows away that were there.
            let stays = |column: usize| below[column] == Monotonicity::Constant;
            let decided = calc.condition.iter().flat_map(Expr::columns).all(stays);
            let by_key = calc.condition.as_ref().is_none_or(|condition| {
                let columns = condition.columns();
                let whole = |key: &Vec<usize>| columns.iter().all(|column| key.contains(column));
                input.unique_keys.iter().any(whole)
            });
            (decided && by_key)
                .then(|| calc.projection.iter().map(|expr| of_expr(expr, &below)).collect())
        }
        PhysicalOp::DropUpdateBefore => of_node(plan, node.inputs[0].node),
        PhysicalOp::GroupAggregate(aggregate) => of_aggregate(plan, node, aggregate),
        PhysicalOp::Rank(rank) if rank.origin == RankOrigin::Rank => of_rank(plan, node, rank),
        PhysicalOp::Deduplicate(deduplicate) => Some(of_keys(&deduplicate.key, node.schema.len())),
        _ => None,
    }
}

fn of_expr(expr: &Expr, below: &[Monotonicity]) -> Monotonicity {
    match expr {
        Expr::Column { index, .. } => below[*index],
        Expr::Cast { input, .. } => of_expr(input, below),
        _ => Monotonicity::None,
    }
}

/// The columns of a key never change, others may do so either way.
fn of_keys(key: &[usize], width: usize) -> Vec<Monotonicity> {
    let mut columns = vec![Monotonicity::None; width];
    key.iter().for_each(|column| columns[*column] = Monotonicity::Constant);
    columns
}

/// At one rank of a partition only better rows replace one another.
fn of_rank(plan: &PhysicalPlan, node: &PhysicalNode, rank: &Rank) -> Option<Vec<Monotonicity>> {
    let below = of_node(plan, node.inputs[0].node)?;
    if rank.partition.iter().any(|column| below[*column] != Monotonicity::Constant) {
        return None;
    }
    let mut columns = of_keys(&rank.partition, node.schema.len());
    if !rank.with_number {
        // A single row is found by its partition, several only by their rank.
        let appends = below.iter().all(|column| *column == Monotonicity::Constant);
        return (appends && rank.range.is_top_1()).then_some(columns);
    }
    if let Some(number) = columns.last_mut() {
        *number = Monotonicity::Constant;
    }
    if let Some(first) = rank.order.columns.first() {
        columns[first.column] = match (below[first.column], first.descending) {
            (Monotonicity::Constant | Monotonicity::Increasing, true) => Monotonicity::Increasing,
            (Monotonicity::Constant | Monotonicity::Decreasing, false) => Monotonicity::Decreasing,
            _ => Monotonicity::None,
        };
    }
    Some(columns)
}

fn of_aggregate(
    plan: &PhysicalPlan,
    node: &PhysicalNode,
    aggregate: &GroupAggregate,
) -> Option<Vec<Monotonicity>> {
    let rows = aggregate.rows(plan, node);
    let below = of_node(plan, rows.node)?;
    if rows.keys.iter().any(|key| below[*key] != Monotonicity::Constant) {
        return None;
    }
    let updated = below.iter().any(|column| *column != Monotonicity::Constant);
    let of_call = |call: &ColumnAggregate| {
        let by_itself = of_call(plan, rows.node, call);
        match (updated, call.args.as_slice()) {
            (false, _) | (true, []) => by_itself,
            (true, _) if call.function.name == "COUNT" => by_itself,
            (true, [arg]) if below[*arg] == by_itself => by_itself,
            (true, _) => Monotonicity::None,
        }
    };
    let keys = aggregate.keys.iter().map(|_| Monotonicity::Constant);
    Some(keys.chain(aggregate.calls.iter().map(of_call)).collect())
}

/// A result over rows that never change.
fn of_call(plan: &PhysicalPlan, rows: NodeId, call: &ColumnAggregate) -> Monotonicity {
    match call.function.name {
        "COUNT" | "MAX" => Monotonicity::Increasing,
        "MIN" => Monotonicity::Decreasing,
        "SUM" | "$SUM0" => match call.args.as_slice() {
            [arg] => match sign(plan, rows, *arg) {
                Some(Sign::NotNegative) => Monotonicity::Increasing,
                Some(Sign::NotPositive) => Monotonicity::Decreasing,
                None => Monotonicity::None,
            },
            _ => Monotonicity::None,
        },
        _ => Monotonicity::None,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    NotNegative,
    NotPositive,
}

/// The side of zero on which a condition below keeps a column.
fn sign(plan: &PhysicalPlan, id: NodeId, column: usize) -> Option<Sign> {
    let PhysicalOp::Calc(calc) = &plan.node(id).op else { return None };
    let (source, known) = match &calc.projection[column] {
        literal @ Expr::Literal { .. } => {
            return side(literal).map(|side| match side {
                Ordering::Less => Sign::NotPositive,
                _ => Sign::NotNegative,
            });
        }
        Expr::Column { index, .. } => (*index, calc.condition.clone()),
        _ => return None,
    };
    let conditions = known.map(Expr::conjuncts).unwrap_or_default();
    conditions
        .iter()
        .find_map(|condition| bounded(condition, source))
        .or_else(|| sign(plan, plan.node(id).inputs[0].node, source))
}

/// The side of zero to which `column > constant` and its like keep a column.
fn bounded(condition: &Expr, column: usize) -> Option<Sign> {
    let Expr::Call { function, args, .. } = condition else { return None };
    let is_column = |expr: &Expr| {
        let inner = if let Expr::Cast { input, .. } = expr { input } else { expr };
        matches!(inner, Expr::Column { index, .. } if *index == column)
    };
    let at_least = |expr: &Expr| (side(expr)? != Ordering::Less).then_some(Sign::NotNegative);
    let at_most = |expr: &Expr| (side(expr)? != Ordering::Greater).then_some(Sign::NotPositive);
    match (function.name, args.as_slice()) {
        (">" | ">=", [left, right]) if is_column(left) => at_least(right),
        ("<" | "<=", [left, right]) if is_column(left) => at_most(right),
        (">" | ">=", [left, right]) if is_column(right) => at_most(left),
        ("<" | "<=", [left, right]) if is_column(right) => at_least(left),
        ("=", [left, right]) if is_column(left) => at_least(right).or_else(|| at_most(right)),
        ("=", [left, right]) if is_column(right) => at_least(left).or_else(|| at_most(left)),
        ("BETWEEN", [value, low, high]) if is_column(value) => {
            at_least(low).or_else(|| at_most(high))
        }
        _ => None,
    }
}

/// Where a constant lies, seen from zero.
fn side(expr: &Expr) -> Option<Ordering> {
    let Expr::Literal { value, .. } = expr else { return None };
    match value {
        Value::Int(value) => Some(value.cmp(&0)),
        Value::Decimal(digits) => Some(digits.cmp(&0)),
        Value::Double(value) => value.partial_cmp(&0.0),
        Value::Float(value) => value.partial_cmp(&0.0),
        _ => None,
    }
}
