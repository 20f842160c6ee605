//! Operators of the plan to operators that run.

use std::sync::Arc;

use arrow::compute::SortOptions;
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use flott_catalog::connector::BadRecordHandler;
use flott_functions::{Evaluator, Expr, SessionSettings, SharedParts};
use flott_plan::logical::{ChangelogFunction, ConflictStrategy, FrameBound};
use flott_plan::physical::{
    Calc, NodeId, OverMode, PhysicalNode, PhysicalOp, PhysicalPlan, SinkMaterialize,
};
use flott_plan::traits::state::StateBound;
use flott_state::Ttl;
use flott_types::{ChangelogBatch, Schema, Value};

use super::Surroundings;
use crate::context::TaskInfo;
use crate::graph::OperatorFactory;
use crate::operator::Operator;
use crate::operators::{
    BatchOverOperator, BoundedOverOperator, TimedOverOperator, UpdatingOverOperator,
};
use crate::operators::{
    CalcOperator, Changelog, ChangelogNormalize, ConflictChecker, CorrelateOperator,
    DropUpdateBefore, ExpandOperator, FromChangelog, GroupAggregateOperator, GroupWindowOperator,
    IntervalJoinOperator, JoinOperator, LimitOperator, LocalGroupAggregateOperator,
    LookupJoinOperator, MiniBatchOperator, RankOperator, SinkUpsertMaterializer, SortOperator,
    TemporalJoinOperator, TemporalSortOperator, ToChangelog, UnionOperator,
    WindowAggregateOperator, WindowAssignOperator, WindowJoinOperator, WindowRankOperator,
    deduplicate,
};
use crate::{Result, RuntimeError};

/// Makes the operator of a node for each of its tasks.
pub(super) fn factory(
    plan: Arc<PhysicalPlan>,
    id: NodeId,
    around: &Surroundings,
) -> Result<OperatorFactory> {
    let settings = around.settings.clone();
    if let PhysicalOp::LookupJoin(join) = &plan.node(id).op {
        let bad_records = (around.bad_records)(&join.table)?;
        return Ok(Arc::new(move |_| lookup_join(plan.node(id), &settings, bad_records.clone())));
    }
    Ok(Arc::new(move |task| gathering(&plan, plan.node(id), &settings, task)))
}

/// The operator of a node, with what gathers rows for it where it does not do so itself.
fn gathering(
    plan: &PhysicalPlan,
    node: &PhysicalNode,
    settings: &SessionSettings,
    task: &TaskInfo,
) -> Result<Box<dyn Operator>> {
    let inner = operator(plan, node, settings, task)?;
    let gathers_itself =
        matches!(node.op, PhysicalOp::GroupAggregate(_) | PhysicalOp::LocalGroupAggregate(_));
    let Some(limits) = node.mini_batch.filter(|_| !gathers_itself) else { return Ok(inner) };
    let changelog = |node: &PhysicalNode| Changelog {
        schema: node.schema.clone(),
        mode: node.changelog,
        key: node.unique_keys.first().cloned(),
        repeats: state_ttl(node).is_some(),
    };
    // Ties of a Top-N go by arrival, and by processing time the last row counts: only a join's inputs
    // have no order.
    let fold = matches!(node.op, PhysicalOp::Join(_));
    let inputs = node.inputs.iter().map(|input| fold.then(|| changelog(plan.node(input.node))));
    let inputs: Vec<Option<Changelog>> = inputs.collect();
    Ok(MiniBatchOperator::around(inner, limits, &inputs, &changelog(node)))
}

fn operator(
    plan: &PhysicalPlan,
    node: &PhysicalNode,
    settings: &SessionSettings,
    task: &TaskInfo,
) -> Result<Box<dyn Operator>> {
    let input = |i: usize| &plan.node(node.inputs[i].node).schema;
    Ok(match &node.op {
        PhysicalOp::Calc(calc) => Box::new(calc_operator(calc, input(0), node, settings)?),
        PhysicalOp::Match(pattern) => {
            let schema = node.schema.to_arrow();
            Box::new(crate::operators::MatchOperator::new(pattern, input(0), schema, settings)?)
        }
        PhysicalOp::Expand(rows) => {
            let rows = rows.iter().map(|row| compile(row, settings)).collect::<Result<Vec<_>>>()?;
            Box::new(ExpandOperator::new(rows, node.schema.to_arrow()))
        }
        PhysicalOp::Correlate(correlate) => {
            Box::new(CorrelateOperator::new(correlate, node.schema.to_arrow(), settings)?)
        }
        PhysicalOp::Union => Box::new(UnionOperator),
        PhysicalOp::Limit { offset, fetch } => Box::new(LimitOperator::new(*offset, *fetch)),
        PhysicalOp::Sort(sort) => {
            let keys = sort.keys.iter().map(|(column, descending, nulls_first)| {
                let options = SortOptions { descending: *descending, nulls_first: *nulls_first };
                (*column, options)
            });
            Box::new(SortOperator::new(keys.collect(), sort.offset, sort.fetch, &node.schema))
        }
        PhysicalOp::Over(spec) => {
            let schema = node.schema.to_arrow();
            match spec.mode {
                OverMode::Rowtime | OverMode::Proctime => {
                    Box::new(TimedOverOperator::new(spec, input(0), schema)?)
                }
                OverMode::Updating => match &spec.frame.start {
                    FrameBound::Preceding(Value::Int(rows)) => {
                        let rows = usize::try_from(*rows).unwrap_or(0);
                        Box::new(BoundedOverOperator::new(spec, rows, input(0), &node.schema)?)
                    }
                    _ => Box::new(UpdatingOverOperator::new(spec, input(0), &node.schema)?),
                },
                OverMode::Batch => Box::new(BatchOverOperator::new(spec.clone(), input(0), schema)),
            }
        }
        PhysicalOp::Join(join) => {
            let schema = node.schema.to_arrow();
            Box::new(JoinOperator::new(join, input(0), input(1), schema, settings)?)
        }
        PhysicalOp::IntervalJoin(join) => {
            let schema = node.schema.to_arrow();
            Box::new(IntervalJoinOperator::new(join, input(0), input(1), schema, settings)?)
        }
        PhysicalOp::WindowJoin(join) => {
            let schema = node.schema.to_arrow();
            Box::new(WindowJoinOperator::new(join, input(0), input(1), schema, settings, task)?)
        }
        PhysicalOp::TemporalJoin(join) => {
            let schema = node.schema.to_arrow();
            Box::new(TemporalJoinOperator::new(join, input(0), input(1), schema, settings)?)
        }
        PhysicalOp::LookupJoin(_) => {
            return Err(RuntimeError::internal("translate", "a lookup without its table"));
        }
        PhysicalOp::ChangelogNormalize { key, emit_update_before } => {
            let ttl = state_ttl(node);
            Box::new(ChangelogNormalize::new(key, *emit_update_before, &node.schema, ttl))
        }
        PhysicalOp::SinkMaterialize(spec) => sink_materialize(spec, node),
        PhysicalOp::ChangelogFunction(ChangelogFunction::From { op, codes }) => {
            Box::new(FromChangelog::new(*op, codes.clone(), node.schema.to_arrow()))
        }
        PhysicalOp::ChangelogFunction(ChangelogFunction::To { codes }) => {
            Box::new(ToChangelog::new(codes.clone(), node.schema.to_arrow()))
        }
        PhysicalOp::DropUpdateBefore => Box::new(DropUpdateBefore),
        PhysicalOp::GroupAggregate(spec) => {
            let schema = node.schema.to_arrow();
            Box::new(GroupAggregateOperator::new(spec, node.mini_batch, input(0), schema)?)
        }
        PhysicalOp::LocalGroupAggregate(spec) => {
            let limits = node.mini_batch.ok_or_else(|| {
                RuntimeError::internal("translate", "a first phase that gathers no rows")
            })?;
            let schema = node.schema.to_arrow();
            Box::new(LocalGroupAggregateOperator::new(spec, limits, input(0), schema)?)
        }
        PhysicalOp::WindowAggregate(spec) => {
            let schema = node.schema.to_arrow();
            match spec.group_window.as_ref().and_then(|window| window.emit) {
                Some(emit) => {
                    Box::new(GroupWindowOperator::new(spec, emit, input(0), schema, task)?)
                }
                None => Box::new(WindowAggregateOperator::new(spec, input(0), schema, task)?),
            }
        }
        PhysicalOp::WindowAssign(window) => {
            let schema = node.schema.to_arrow();
            Box::new(WindowAssignOperator::new(window, input(0), schema, task)?)
        }
        PhysicalOp::Rank(spec) => {
            Box::new(RankOperator::new(spec, input(0), node.schema.to_arrow())?)
        }
        PhysicalOp::Deduplicate(spec) => deduplicate(spec, input(0), node.schema.to_arrow())?,
        PhysicalOp::WindowRank(spec) => {
            let schema = node.schema.to_arrow();
            Box::new(WindowRankOperator::new(spec, input(0), schema, task)?)
        }
        PhysicalOp::TemporalSort(spec) => {
            Box::new(TemporalSortOperator::new(spec, input(0), node.schema.to_arrow())?)
        }
        PhysicalOp::Source(_) | PhysicalOp::Values(_) | PhysicalOp::Sink(_) => {
            return Err(RuntimeError::internal("translate", "a source or sink as an operator"));
        }
    })
}

fn lookup_join(
    node: &PhysicalNode,
    settings: &SessionSettings,
    bad_records: Arc<dyn BadRecordHandler>,
) -> Result<Box<dyn Operator>> {
    let PhysicalOp::LookupJoin(join) = &node.op else {
        return Err(RuntimeError::internal("translate", "another operator as a lookup join"));
    };
    let schema = node.schema.to_arrow();
    Ok(Box::new(LookupJoinOperator::new(join, schema, settings, bad_records)?))
}

fn sink_materialize(spec: &SinkMaterialize, node: &PhysicalNode) -> Box<dyn Operator> {
    let (key, upsert_key, ttl) = (&spec.key, &spec.upsert_key, state_ttl(node));
    if spec.conflict == ConflictStrategy::Deduplicate {
        return Box::new(SinkUpsertMaterializer::new(key, upsert_key, &node.schema, ttl));
    }
    let fail = spec.conflict == ConflictStrategy::Error;
    Box::new(ConflictChecker::new(key, upsert_key, fail, &node.schema, ttl))
}

/// How long the node keeps idle state; `None`: for ever.
fn state_ttl(node: &PhysicalNode) -> Option<Ttl> {
    match node.state {
        StateBound::Ttl(millis) => Ttl::from_millis(i64::try_from(millis).unwrap_or(i64::MAX)),
        _ => None,
    }
}

fn calc_operator(
    calc: &Calc,
    input: &Schema,
    node: &PhysicalNode,
    settings: &SessionSettings,
) -> Result<CalcOperator> {
    let mut reads_watermark = false;
    for expr in calc.projection.iter().chain(&calc.condition) {
        expr.visit(&mut |e| match e {
            Expr::Call { function, .. } if function.name == "CURRENT_WATERMARK" => {
                reads_watermark = true;
            }
            _ => {}
        });
    }
    let parts = SharedParts::of(calc.condition.as_ref(), &calc.projection, input.len());
    let filtered = input.len() + parts.before.len();
    let mut reads = vec![false; filtered];
    for column in parts.after.iter().chain(&parts.projection).flat_map(Expr::columns) {
        if column < filtered {
            reads[column] = true;
        }
    }
    Ok(CalcOperator {
        before: compile(&parts.before, settings)?,
        condition: parts.condition.map(|expr| Evaluator::new(&expr, settings)).transpose()?,
        after: compile(&parts.after, settings)?,
        projection: compile(&parts.projection, settings)?,
        reads,
        schema: node.schema.to_arrow(),
        reads_watermark,
    })
}

fn compile(exprs: &[Expr], settings: &SessionSettings) -> Result<Vec<Evaluator>> {
    Ok(exprs.iter().map(|expr| Evaluator::new(expr, settings)).collect::<Result<_, _>>()?)
}

/// Constant rows as a batch.
pub(super) fn values(rows: &[Vec<Value>], schema: &Schema) -> Result<ChangelogBatch> {
    let columns = schema
        .fields
        .iter()
        .enumerate()
        .map(|(i, field)| {
            let column: Vec<Value> = rows.iter().map(|row| row[i].clone()).collect();
            Value::to_array(&column, &field.data_type).map_err(RuntimeError::operator)
        })
        .collect::<Result<Vec<_>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    let batch = RecordBatch::try_new_with_options(schema.to_arrow(), columns, &options)?;
    Ok(ChangelogBatch::inserts(batch))
}
