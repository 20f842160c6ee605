//! Aggregation: by group, or by window where the keys name one.

use std::sync::Arc;

use flott_functions::Expr;
use flott_sql::ast::Span;
use flott_types::{DataType, Schema, TypeRoot};

use super::{Lowering, by, column};
use crate::logical::{Aggregate, AggregateCall, LogicalOp, PlanRef, WindowAssignment, WindowKind};
use crate::physical::{
    AggregatePhase, ColumnAggregate, GroupAggregate, GroupWindow, NodeId, PhysicalOp, SplitStep,
    WindowAggregate, WindowOf, WindowOutput, WindowSource,
};
use crate::traits::window::{grouping_window, window_assignment};
use crate::{PlanError, Result};

/// Flink's batch plans may sort the rows to group them, and maps have no order.
fn refuse_maps(groups: &[Expr], span: Option<Span>) -> Result<()> {
    let is_map = |ty: &DataType| matches!(ty.root, TypeRoot::Map(..) | TypeRoot::Multiset(_));
    let Some(ty) = groups.iter().map(Expr::data_type).find(is_map) else { return Ok(()) };
    let error = PlanError::new(format!(
        "{} is not an orderable data type, it is not supported as a ORDER_BY/GROUP_BY/JOIN_EQUAL field",
        ty.summary()
    ))
    .hint("group by CAST(… AS STRING), or stream");
    Err(match span {
        Some(span) => error.at(span),
        None => error,
    })
}

impl Lowering<'_> {
    pub(super) fn aggregate(&mut self, plan: &PlanRef, aggregate: &Aggregate) -> Result<NodeId> {
        if grouping_window(plan.input(), &aggregate.groups).is_some() {
            return self.window_aggregate(plan, aggregate);
        }
        if self.config.batch {
            refuse_maps(&aggregate.groups, plan.span)?;
        }
        if let Some(split) = self.split_distinct(plan, aggregate)? {
            return Ok(split);
        }
        let input = self.node(plan.input())?;
        self.group(input, aggregate, None, plan.schema.clone(), plan.span)
    }

    /// Groups the rows of an operator.
    pub(super) fn group(
        &mut self,
        input: NodeId,
        aggregate: &Aggregate,
        split: Option<SplitStep>,
        schema: Arc<Schema>,
        span: Option<Span>,
    ) -> Result<NodeId> {
        let (input, columns) = self.columns(input, &operands(aggregate))?;
        let (keys, calls) = self.assign(aggregate, &aggregate.groups, &columns);
        let mut unique = self.plan.node(input).unique_keys.iter();
        // Rows that differ in these columns are their own groups already.
        if calls.is_empty() && unique.any(|key| key.iter().all(|column| keys.contains(column))) {
            let below = self.plan.node(input).schema.clone();
            let given =
                keys.iter().map(|key| Expr::column(*key, below.fields[*key].data_type.clone()));
            return self.add_calc(input, None, given.collect(), schema, span);
        }
        let input_retracts = !self.plan.node(input).changelog.is_insert_only();
        let (input, keys, phase) = match self.local_phase(input, &keys, &calls, split, span)? {
            Some(local) => (local, (0..keys.len()).collect(), AggregatePhase::Global),
            None => (input, keys, AggregatePhase::Complete),
        };
        let op = PhysicalOp::GroupAggregate(GroupAggregate {
            input_retracts,
            emit_update_before: true,
            final_only: self.config.batch,
            state_ttl: aggregate.state_ttl.unwrap_or(self.config.state_ttl),
            keys: keys.clone(),
            calls,
            phase,
            split,
        });
        self.add(op, vec![by(input, &keys)], schema, span)
    }

    /// Splits the columns of [`operands`] into keys and calls.
    fn assign(
        &self,
        aggregate: &Aggregate,
        groups: &[Expr],
        columns: &[usize],
    ) -> (Vec<usize>, Vec<ColumnAggregate>) {
        let (keys, mut rest) = columns.split_at(groups.len());
        let calls = aggregate
            .calls
            .iter()
            .map(|call| {
                let (args, tail) = rest.split_at(call.args.len());
                let (filter, tail) = tail.split_at(usize::from(call.filter.is_some()));
                rest = tail;
                self.column_aggregate(call, args, filter.first().copied())
            })
            .collect();
        (keys.to_vec(), calls)
    }

    pub(super) fn column_aggregate(
        &self,
        call: &AggregateCall,
        args: &[usize],
        filter: Option<usize>,
    ) -> ColumnAggregate {
        ColumnAggregate {
            function: call.function,
            args: args.to_vec(),
            literals: call.args.iter().map(|arg| self.constant(arg)).collect(),
            arg_types: call.args.iter().map(Expr::data_type).collect(),
            symbols: call.symbols.clone(),
            distinct: call.distinct,
            filter,
            data_type: call.data_type.clone(),
        }
    }

    fn window_aggregate(&mut self, plan: &PlanRef, aggregate: &Aggregate) -> Result<NodeId> {
        if let Some(below) = below_window(plan.input(), aggregate) {
            self.check_window(below.window)?;
            return self.sliced(plan, aggregate, below);
        }
        let Some(columns) = grouping_window(plan.input(), &aggregate.groups) else {
            return Err(PlanError::new("the window of a window aggregate was lost"));
        };
        let window = window_assignment(plan.input())
            .ok_or_else(|| PlanError::new("the window of a window aggregate was lost"))?;
        self.check_window(window)?;
        let group_window = self.group_window(window)?;
        let (is_rowtime, is_ltz) = (window.is_rowtime, window.is_ltz);
        let outputs = outputs(&aggregate.groups, |index| {
            if Some(index) == columns.start {
                Some(WindowOutput::Start)
            } else if Some(index) == columns.end {
                Some(WindowOutput::End)
            } else if Some(index) == columns.time {
                Some(WindowOutput::Time)
            } else {
                None
            }
        });
        let keys: Vec<Expr> = key_exprs(&aggregate.groups, &outputs);
        let bound = |column: Option<usize>| {
            let index = column.unwrap_or_default();
            Expr::column(index, plan.input().schema.fields[index].data_type.clone())
        };
        let mut operands: Vec<Expr> = keys.clone();
        operands.extend(call_operands(aggregate));
        operands.push(bound(columns.start));
        operands.push(bound(columns.end));
        let input = self.node(plan.input())?;
        let (input, mut positions) = self.columns(input, &operands)?;
        let end = positions.pop().unwrap_or_default();
        let start = positions.pop().unwrap_or_default();
        let source = WindowSource::Attached { start, end, is_rowtime, is_ltz };
        self.add_window(plan, aggregate, input, (source, group_window), &keys, &positions, outputs)
    }

    /// The aggregate cuts the time column into windows itself, so that windows that overlap can
    /// share their parts.
    fn sliced(
        &mut self,
        plan: &PlanRef,
        aggregate: &Aggregate,
        below: BelowWindow,
    ) -> Result<NodeId> {
        let width = below.input.schema.len();
        let outputs = outputs(&below.groups, |index| match index.checked_sub(width) {
            Some(0) => Some(WindowOutput::Start),
            Some(1) => Some(WindowOutput::End),
            Some(2) => Some(WindowOutput::Time),
            _ => None,
        });
        let keys = key_exprs(&below.groups, &outputs);
        let mut operands = keys.clone();
        operands.extend(below.operands);
        let field = &below.input.schema.fields[below.window.time_column];
        operands.push(Expr::column(below.window.time_column, field.data_type.clone()));
        let partition = below.window.partition.iter();
        let partition = partition.map(|column| {
            Expr::column(*column, below.input.schema.fields[*column].data_type.clone())
        });
        let partitions = below.window.partition.len();
        operands.extend(partition);
        let mut input = self.node(&below.input)?;
        if !below.conditions.is_empty() {
            let schema = self.plan.node(input).schema.clone();
            let all = super::columns_of(&schema);
            let condition = Some(Expr::conjunction(below.conditions));
            input = self.add_calc(input, condition, all, schema, None)?;
        }
        let (input, mut positions) = self.columns(input, &operands)?;
        let partition = positions.split_off(positions.len() - partitions);
        let time_column = positions.pop().unwrap_or_default();
        let source = WindowSource::Assign(WindowOf {
            kind: below.window.kind,
            time_column,
            is_rowtime: below.window.is_rowtime,
            is_ltz: below.window.is_ltz,
            partition,
        });
        let group_window = self.group_window(below.window)?;
        self.add_window(plan, aggregate, input, (source, group_window), &keys, &positions, outputs)
    }

    #[allow(clippy::too_many_arguments)] // The last step of two ways to the same operator.
    fn add_window(
        &mut self,
        plan: &PlanRef,
        aggregate: &Aggregate,
        input: NodeId,
        (window, group_window): (WindowSource, Option<GroupWindow>),
        keys: &[Expr],
        positions: &[usize],
        outputs: Vec<WindowOutput>,
    ) -> Result<NodeId> {
        let (keys, calls) = self.assign(aggregate, keys, positions);
        let op = PhysicalOp::WindowAggregate(WindowAggregate {
            window,
            keys: keys.clone(),
            calls,
            outputs,
            input_retracts: !self.plan.node(input).changelog.is_insert_only(),
            group_window,
        });
        self.add(op, vec![by(input, &keys)], plan.schema.clone(), plan.span)
    }
}

/// Keys, then arguments and filter of each call.
fn operands(aggregate: &Aggregate) -> Vec<Expr> {
    aggregate.groups.iter().cloned().chain(call_operands(aggregate)).collect()
}

fn call_operands(aggregate: &Aggregate) -> impl Iterator<Item = Expr> + '_ {
    aggregate.calls.iter().flat_map(|call| call.args.iter().chain(&call.filter)).cloned()
}

/// Which output column is which: bounds of the window, or keys in their order.
fn outputs(groups: &[Expr], bound: impl Fn(usize) -> Option<WindowOutput>) -> Vec<WindowOutput> {
    let mut keys = 0;
    groups
        .iter()
        .map(|group| {
            let window = column(group).ok().and_then(&bound);
            window.unwrap_or_else(|| {
                keys += 1;
                WindowOutput::Key(keys - 1)
            })
        })
        .collect()
}

fn key_exprs(groups: &[Expr], outputs: &[WindowOutput]) -> Vec<Expr> {
    let keys = groups.iter().zip(outputs).filter(|(_, o)| matches!(o, WindowOutput::Key(_)));
    keys.map(|(group, _)| group.clone()).collect()
}

/// A window table function below an aggregate, with everything between them written over its input.
struct BelowWindow<'p> {
    window: &'p WindowAssignment,
    input: PlanRef,
    /// Over the input and, behind it, the window's columns.
    groups: Vec<Expr>,
    /// Arguments and filters, over the input alone.
    operands: Vec<Expr>,
    conditions: Vec<Expr>,
}

/// Finds the window table function, if only projections and filters lie between, and only keys look
/// at the window's columns.
fn below_window<'p>(plan: &'p PlanRef, aggregate: &Aggregate) -> Option<BelowWindow<'p>> {
    let mut groups = aggregate.groups.clone();
    let mut operands: Vec<Expr> = call_operands(aggregate).collect();
    let mut conditions: Vec<Expr> = Vec::new();
    let mut at = plan;
    loop {
        match &at.op {
            LogicalOp::Project(exprs) => {
                for expr in groups.iter_mut().chain(&mut operands).chain(&mut conditions) {
                    *expr = crate::bind::inline(expr, exprs);
                }
                at = at.input();
            }
            LogicalOp::Filter(condition) => {
                conditions.push(condition.clone());
                at = at.input();
            }
            LogicalOp::Window(window) => {
                let input = at.input().clone();
                let width = input.schema.len();
                let plain = |expr: &Expr| expr.columns().iter().all(|column| *column < width);
                let keys = groups.iter().all(|key| column(key).is_ok() || plain(key));
                // Sessions are told apart by their partition, which must be the keys then.
                let partition_is_key = match window.kind {
                    WindowKind::Session { .. } => {
                        let keys: Vec<usize> = groups
                            .iter()
                            .filter_map(|key| column(key).ok())
                            .filter(|key| *key < width)
                            .collect();
                        groups.iter().all(|key| column(key).is_ok())
                            && keys.len() == window.partition.len()
                            && window.partition.iter().all(|c| keys.contains(c))
                    }
                    _ => true,
                };
                let fits = keys
                    && partition_is_key
                    && operands.iter().all(plain)
                    && conditions.iter().all(plain)
                    && (conditions.is_empty()
                        || !matches!(window.kind, WindowKind::Session { .. }));
                return fits.then_some(BelowWindow { window, input, groups, operands, conditions });
            }
            _ => return None,
        }
    }
}
