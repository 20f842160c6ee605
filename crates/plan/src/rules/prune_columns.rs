//! Columns that nobody reads are not computed, and not read from the source.
//!
//! Readers are visited before what they read, so that a shared node gives what any reader wants.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use flott_functions::{Expr, SessionSettings};
use flott_types::{ChangelogMode, Schema};

use super::keys::key_columns;
use super::map_exprs;
use crate::Result;
use crate::logical::{JoinKind, LogicalOp, LogicalPlan, Over, OverCall, PlanRef, RankEnd};

type Key = *const LogicalPlan;
type Columns = BTreeSet<usize>;

pub(super) fn apply(roots: Vec<PlanRef>, _: &SessionSettings) -> Result<Vec<PlanRef>> {
    let mut order = Vec::new();
    let mut seen = HashMap::new();
    for root in &roots {
        post_order(root, &mut seen, &mut order);
    }
    let mut wanted: HashMap<Key, Columns> = HashMap::new();
    for root in &roots {
        wanted.insert(Arc::as_ptr(root), (0..root.schema.len()).collect());
    }
    for plan in order.iter().rev() {
        let of_node = wanted.get(&Arc::as_ptr(plan)).cloned().unwrap_or_default();
        let kept = keep(plan, of_node);
        for (input, columns) in plan.inputs.iter().zip(input_columns(plan, &kept)) {
            wanted.entry(Arc::as_ptr(input)).or_default().extend(columns);
        }
        wanted.insert(Arc::as_ptr(plan), kept);
    }
    let mut done: HashMap<Key, PlanRef> = HashMap::new();
    for plan in &order {
        let pruned = Pruned::new(plan, &wanted, &done).plan();
        done.insert(Arc::as_ptr(plan), pruned);
    }
    Ok(roots.iter().map(|root| done[&Arc::as_ptr(root)].clone()).collect())
}

fn post_order(plan: &PlanRef, seen: &mut HashMap<Key, ()>, order: &mut Vec<PlanRef>) {
    if seen.insert(Arc::as_ptr(plan), ()).is_none() {
        for input in &plan.inputs {
            post_order(input, seen, order);
        }
        order.push(plan.clone());
    }
}

/// The columns that a node keeps when its readers want `wanted`.
fn keep(plan: &LogicalPlan, mut wanted: Columns) -> Columns {
    let all = || (0..plan.schema.len()).collect();
    match &plan.op {
        LogicalOp::Project(_) => wanted,
        LogicalOp::Match(pattern) => {
            wanted.extend(0..pattern.partition.len());
            wanted
        }
        LogicalOp::Filter(condition) => {
            wanted.extend(condition.columns());
            wanted
        }
        LogicalOp::Scan(scan) => {
            if let Some(watermark) = &scan.watermark {
                wanted.extend(watermark.columns());
            }
            if scan.source.changelog_mode() != ChangelogMode::INSERT_ONLY {
                let key = scan.table.primary_key.iter().flat_map(|key| &key.columns);
                wanted.extend(key.filter_map(|name| plan.schema.index_of(name)));
            }
            wanted
        }
        LogicalOp::Aggregate(aggregate) => {
            wanted.extend(0..aggregate.groups.len());
            wanted
        }
        LogicalOp::Window(window) => {
            wanted.insert(window.time_column);
            wanted.extend(&window.partition);
            let width = plan.input().schema.len();
            wanted.extend(width..width + 3);
            wanted
        }
        LogicalOp::Over(over) => {
            let width = plan.input().schema.len();
            let mut kept = over.clone();
            kept.calls = kept_calls(over, width, &wanted);
            if !kept.calls.is_empty() {
                wanted.extend(kept.exprs().flat_map(Expr::columns));
            }
            wanted
        }
        LogicalOp::Rank(rank) => {
            wanted.extend(&rank.partition);
            wanted.extend(rank.order.iter().flat_map(|key| key.expr.columns()));
            // By its unique key a Top-N finds the row that an update replaces.
            wanted.extend(key_columns(plan.input()));
            if let RankEnd::Column { column, .. } = rank.range.end {
                wanted.insert(column);
            }
            wanted
        }
        LogicalOp::Expand(_) | LogicalOp::Join(_) | LogicalOp::Correlate(_) => wanted,
        LogicalOp::Sort(sort) => {
            wanted.extend(sort.keys.iter().flat_map(|key| key.expr.columns()));
            wanted
        }
        LogicalOp::Union => wanted,
        LogicalOp::Values(_)
        | LogicalOp::ChangelogNormalize(_)
        | LogicalOp::ChangelogFunction(_)
        | LogicalOp::Sink(_) => all(),
    }
}

/// The calls of a node over an input of `width` columns whose results are kept.
fn kept_calls(over: &Over, width: usize, kept: &Columns) -> Vec<OverCall> {
    let calls = over.calls.iter().enumerate();
    calls.filter(|(i, _)| kept.contains(&(width + i))).map(|(_, call)| call.clone()).collect()
}

/// The columns that a node which keeps `kept` wants of each input.
fn input_columns(plan: &LogicalPlan, kept: &Columns) -> Vec<Columns> {
    let of = |exprs: &mut dyn Iterator<Item = &Expr>| exprs.flat_map(Expr::columns).collect();
    match &plan.op {
        LogicalOp::Project(exprs) => vec![of(&mut kept.iter().map(|i| &exprs[*i]))],
        LogicalOp::Match(pattern) => vec![measured(pattern, kept).columns()],
        LogicalOp::Filter(_) | LogicalOp::Sort(_) => vec![kept.clone()],
        LogicalOp::Expand(rows) => {
            vec![of(&mut rows.iter().flat_map(|row| kept.iter().map(|i| &row[*i])))]
        }
        LogicalOp::Aggregate(aggregate) => {
            let groups = aggregate.groups.len();
            let calls = aggregate.calls.iter().enumerate();
            let calls = calls.filter(|(i, _)| kept.contains(&(groups + i))).map(|(_, call)| call);
            let exprs = calls.flat_map(|call| call.args.iter().chain(&call.filter));
            vec![of(&mut aggregate.groups.iter().chain(exprs))]
        }
        LogicalOp::Window(_) | LogicalOp::Over(_) | LogicalOp::Rank(_) => {
            let width = plan.input().schema.len();
            vec![kept.iter().copied().filter(|column| *column < width).collect()]
        }
        LogicalOp::Correlate(correlate) => {
            let passed = kept.iter().filter_map(|column| correlate.passed.get(*column)).copied();
            vec![passed.chain(correlate.args.iter().flat_map(Expr::columns)).collect()]
        }
        LogicalOp::Join(join) => {
            let split = plan.inputs[0].schema.len();
            let mut left: Columns = kept.iter().copied().filter(|c| *c < split).collect();
            let mut right: Columns =
                kept.iter().filter(|c| **c >= split).map(|c| c - split).collect();
            for pair in &join.equal {
                left.extend(pair.left.columns());
                right.extend(pair.right.columns());
            }
            for column in join.residual.iter().flat_map(Expr::columns) {
                if column < split {
                    left.insert(column);
                } else {
                    right.insert(column - split);
                }
            }
            if let Some(as_of) = &join.as_of {
                left.insert(as_of.time);
                right.extend(as_of.version);
                right.extend(as_of.function_key);
            }
            vec![left, right]
        }
        LogicalOp::ChangelogFunction(_) => vec![(0..plan.input().schema.len()).collect()],
        _ => plan.inputs.iter().map(|_| kept.clone()).collect(),
    }
}

/// A pattern with only the measures that are kept.
fn measured(pattern: &crate::matching::Match, kept: &Columns) -> crate::matching::Match {
    let mut pattern = pattern.clone();
    let mut column = pattern.partition.len();
    pattern.measures.retain(|_| {
        column += 1;
        kept.contains(&(column - 1))
    });
    pattern
}

/// A node about to lose columns.
struct Pruned<'p> {
    plan: &'p LogicalPlan,
    /// The columns it keeps.
    kept: Columns,
    /// Its inputs, pruned.
    inputs: Vec<PlanRef>,
    /// For each input, which of its old columns it still has.
    columns: Vec<Columns>,
}

impl<'p> Pruned<'p> {
    fn new(
        plan: &'p PlanRef,
        wanted: &HashMap<Key, Columns>,
        done: &HashMap<Key, PlanRef>,
    ) -> Self {
        let of = |plan: &PlanRef| wanted.get(&Arc::as_ptr(plan)).cloned().unwrap_or_default();
        let kept = of(plan);
        // Nodes that pass on all they read must read no more than they keep, though a shared
        // input gives what its other readers want, too.
        let passes_on = !matches!(
            plan.op,
            LogicalOp::Project(_)
                | LogicalOp::Expand(_)
                | LogicalOp::Aggregate(_)
                | LogicalOp::Correlate(_)
                | LogicalOp::Match(_)
        );
        let mut inputs = Vec::new();
        let mut columns = Vec::new();
        for (input, required) in plan.inputs.iter().zip(input_columns(plan, &kept)) {
            let given = of(input);
            let pruned = done[&Arc::as_ptr(input)].clone();
            if passes_on && given != required {
                inputs.push(narrow(pruned, &given, &required));
                columns.push(required);
            } else {
                inputs.push(pruned);
                columns.push(given);
            }
        }
        Self { plan, kept, inputs, columns }
    }

    /// Where an old column of an input stands now.
    fn position(&self, input: usize, column: usize) -> usize {
        self.columns[input].iter().position(|c| *c == column).unwrap_or(column)
    }

    fn plan(self) -> PlanRef {
        let plan = self.plan;
        let kept: Vec<usize> = self.kept.iter().copied().collect();
        let op = map_exprs(plan, &mut |expr| {
            if self.inputs.is_empty() {
                return expr;
            }
            expr.map_columns(&|column| self.position(0, column))
        });
        let op = match op {
            LogicalOp::Join(_) => return self.join(),
            LogicalOp::Project(exprs) => LogicalOp::Project(select(exprs, &kept)),
            LogicalOp::Expand(rows) => {
                LogicalOp::Expand(rows.into_iter().map(|row| select(row, &kept)).collect())
            }
            LogicalOp::Aggregate(mut aggregate) => {
                let mut index = aggregate.groups.len();
                aggregate.calls.retain(|_| {
                    index += 1;
                    self.kept.contains(&(index - 1))
                });
                LogicalOp::Aggregate(aggregate)
            }
            LogicalOp::Match(pattern) => {
                let pattern = measured(&pattern, &self.kept);
                LogicalOp::Match(pattern.map_columns(&|column| self.position(0, column)))
            }
            LogicalOp::Window(mut window) => {
                window.time_column = self.position(0, window.time_column);
                for column in &mut window.partition {
                    *column = self.position(0, *column);
                }
                LogicalOp::Window(window)
            }
            LogicalOp::Over(mut over) => {
                over.calls = kept_calls(&over, plan.input().schema.len(), &self.kept);
                if over.calls.is_empty() {
                    return self.inputs[0].clone();
                }
                LogicalOp::Over(over)
            }
            LogicalOp::Correlate(mut correlate) => {
                let width = correlate.passed.len();
                let (passed, given) = kept.split_at(kept.partition_point(|c| *c < width));
                let place = |column: &usize| self.position(0, correlate.passed[*column]);
                correlate.passed = passed.iter().map(place).collect();
                correlate.given = given.iter().map(|c| correlate.given[*c - width]).collect();
                LogicalOp::Correlate(correlate)
            }
            LogicalOp::Rank(mut rank) => {
                rank.with_number &= self.kept.contains(&plan.input().schema.len());
                for column in &mut rank.partition {
                    *column = self.position(0, *column);
                }
                if let RankEnd::Column { column, .. } = &mut rank.range.end {
                    *column = self.position(0, *column);
                }
                LogicalOp::Rank(rank)
            }
            LogicalOp::Scan(mut scan) => {
                scan.columns = kept.iter().map(|column| scan.columns[*column].clone()).collect();
                let at = |column: usize| kept.iter().position(|c| *c == column).unwrap_or(column);
                scan.watermark = scan.watermark.map(|watermark| watermark.map_columns(&at));
                LogicalOp::Scan(scan)
            }
            other => other,
        };
        let fields = kept.iter().map(|column| plan.schema.fields[*column].clone()).collect();
        Arc::new(LogicalPlan {
            op,
            inputs: self.inputs,
            schema: Arc::new(Schema::new(fields)),
            span: plan.span,
        })
    }

    /// Joins give all columns they read: those that only the condition needs go above.
    fn join(self) -> PlanRef {
        let LogicalOp::Join(join) = &self.plan.op else {
            return self.plan.with_inputs(self.inputs);
        };
        let split = self.plan.inputs[0].schema.len();
        let new_split = self.columns[0].len();
        let moved = |column: usize| {
            if column < split {
                self.position(0, column)
            } else {
                new_split + self.position(1, column - split)
            }
        };
        let mut join = join.clone();
        for pair in &mut join.equal {
            pair.left = pair.left.clone().map_columns(&|column| self.position(0, column));
            pair.right = pair.right.clone().map_columns(&|column| self.position(1, column));
        }
        join.residual = join.residual.map(|residual| residual.map_columns(&moved));
        if let Some(as_of) = &mut join.as_of {
            as_of.time = self.position(0, as_of.time);
            let right = |column: usize| self.position(1, column);
            as_of.version = as_of.version.map(right);
            as_of.function_key = as_of.function_key.map(right);
        }
        let one_sided = matches!(join.kind, JoinKind::Semi | JoinKind::Anti);
        let right = self.columns[1].iter().map(|column| column + split).filter(|_| !one_sided);
        let given: Columns = self.columns[0].iter().copied().chain(right).collect();
        let fields = given.iter().map(|column| self.plan.schema.fields[*column].clone()).collect();
        let node = Arc::new(LogicalPlan {
            op: LogicalOp::Join(join),
            inputs: self.inputs.clone(),
            schema: Arc::new(Schema::new(fields)),
            span: self.plan.span,
        });
        narrow(node, &given, &self.kept)
    }
}

/// The columns `required` of a plan that gives `given`, both as they were numbered before.
fn narrow(plan: PlanRef, given: &Columns, required: &Columns) -> PlanRef {
    if given == required {
        return plan;
    }
    let positions: Vec<usize> = required
        .iter()
        .filter_map(|column| given.iter().position(|known| known == column))
        .collect();
    let fields: Vec<_> = positions.iter().map(|p| plan.schema.fields[*p].clone()).collect();
    let exprs = positions
        .iter()
        .zip(&fields)
        .map(|(position, field)| Expr::column(*position, field.data_type.clone()))
        .collect();
    LogicalPlan::project(plan, exprs, Schema::new(fields))
}

/// The items at `positions`.
fn select<T: Clone>(items: Vec<T>, positions: &[usize]) -> Vec<T> {
    positions.iter().map(|position| items[*position].clone()).collect()
}
