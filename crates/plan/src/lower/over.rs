//! OVER windows.

use std::sync::Arc;

use flott_functions::Expr;
use flott_types::{Field, Schema, TimeAttribute, Value};

use super::{Lowering, as_column, by};
use crate::bind::time_of;
use crate::logical::{
    FrameBound, FrameUnit, Over, OverCall, OverFunction, PlanRef, RankingFunction,
};
use crate::physical::{
    NodeId, Operand, OverMode, OverWindow, PhysicalOp, RowOffset, WindowFunction,
};
use crate::traits::changelog::first_cause;
use crate::traits::state::StateBound;
use crate::{PlanError, Result};

impl Lowering<'_> {
    pub(super) fn over(&mut self, plan: &PlanRef, over: &Over) -> Result<NodeId> {
        let mode = self.over_mode(plan, over)?;
        let input = self.node(plan.input())?;
        if matches!(mode, OverMode::Rowtime | OverMode::Proctime)
            && !self.plan.node(input).changelog.is_insert_only()
        {
            return Err(self.updating_input(input));
        }
        let mut columns = Columns::new(&self.plan.node(input).schema);
        let keys: Vec<&Expr> = over.partition.iter().filter(|key| !is_constant(key)).collect();
        let partition = keys.into_iter().map(|key| columns.of(key)).collect::<Vec<_>>();
        let order = over
            .order
            .iter()
            .filter(|key| !is_constant(&key.expr))
            .map(|key| (columns.of(&key.expr), key.descending, key.nulls_first))
            .collect();
        let functions = over.calls.iter().map(|call| self.window_function(call, &mut columns));
        let functions = functions.collect::<Result<Vec<_>>>()?;
        let (old, width) = (plan.input().schema.len(), columns.projection.len());
        let Columns { projection, fields } = columns;
        let mut schema = fields.clone();
        schema.extend(plan.schema.fields[old..].iter().cloned());
        let input = self.add_calc(input, None, projection, Arc::new(Schema::new(fields)), None)?;
        let op = PhysicalOp::Over(OverWindow {
            partition: partition.clone(),
            order,
            frame: over.frame.clone(),
            functions,
            mode,
            state_ttl: self.config.state_ttl,
        });
        let inputs = vec![by(input, &partition)];
        let computed = self.add(op, inputs, Arc::new(Schema::new(schema)), plan.span)?;
        // Columns that only the window looked at stand between the input's and the results.
        let outputs = plan.schema.fields.iter().enumerate().map(|(i, field)| {
            let column = if i < old { i } else { i - old + width };
            Expr::column(column, field.data_type.clone())
        });
        self.add_calc(computed, None, outputs.collect(), plan.schema.clone(), plan.span)
    }

    /// How the results come about; refuses what Flink refuses.
    fn over_mode(&self, plan: &PlanRef, over: &Over) -> Result<OverMode> {
        if self.config.batch {
            check_batch(over)?;
            return Ok(OverMode::Batch);
        }
        let time = over.order.first().and_then(|key| time_of(&key.expr, &plan.input().schema));
        check_streaming(over, time, self.config.general_over)?;
        Ok(match time {
            Some(TimeAttribute::Rowtime) => OverMode::Rowtime,
            Some(TimeAttribute::Proctime) => OverMode::Proctime,
            None => OverMode::Updating,
        })
    }

    fn updating_input(&self, input: NodeId) -> PlanError {
        let cause = first_cause(&self.plan, input, true);
        PlanError::new(format!(
            "OverAggregate doesn't support consuming update changes which is produced by node {}",
            crate::explain::describe(&self.plan, cause)
        ))
        .hint("order the window by a column that is no time attribute: CAST(… AS TIMESTAMP(3))")
    }

    fn window_function(&self, call: &OverCall, columns: &mut Columns) -> Result<WindowFunction> {
        Ok(match &call.function {
            OverFunction::Ranking(RankingFunction::RowNumber) => WindowFunction::RowNumber,
            OverFunction::Ranking(RankingFunction::Rank) => WindowFunction::Rank,
            OverFunction::Ranking(RankingFunction::DenseRank) => WindowFunction::DenseRank,
            OverFunction::Ranking(RankingFunction::PercentRank) => WindowFunction::PercentRank,
            OverFunction::Ranking(RankingFunction::CumeDist) => WindowFunction::CumeDist,
            OverFunction::Ranking(RankingFunction::Ntile(buckets)) => {
                WindowFunction::Ntile(self.operand(buckets, columns))
            }
            OverFunction::Offset(function) => WindowFunction::Offset(RowOffset {
                is_lead: function.is_lead,
                value: columns.of(&function.value),
                offset: match &function.offset {
                    Some(offset) => self.operand(offset, columns),
                    None => Operand::Constant(Value::Int(1)),
                },
                default: match &function.default {
                    Some(default) => self.operand(default, columns),
                    None => Operand::Constant(Value::Null),
                },
                data_type: call.data_type.clone(),
            }),
            OverFunction::Aggregate(call) => {
                let args: Vec<usize> = call.args.iter().map(|arg| columns.of(arg)).collect();
                let filter = call.filter.as_ref().map(|filter| columns.of(filter));
                WindowFunction::Aggregate(self.column_aggregate(call, &args, filter))
            }
        })
    }

    fn operand(&self, expr: &Expr, columns: &mut Columns) -> Operand {
        match self.constant(expr) {
            Some(value) => Operand::Constant(value),
            None => Operand::Column(columns.of(expr)),
        }
    }
}

/// The columns of the input, and behind them those that a window computes.
struct Columns {
    projection: Vec<Expr>,
    fields: Vec<Field>,
}

impl Columns {
    fn new(schema: &Schema) -> Self {
        Self { projection: super::columns_of(schema), fields: schema.fields.clone() }
    }

    /// The column of an expression.
    fn of(&mut self, expr: &Expr) -> usize {
        if let Some(column) = as_column(expr) {
            return column;
        }
        self.projection.iter().position(|known| known == expr).unwrap_or_else(|| {
            self.fields.push(Field::new(format!("$w{}", self.fields.len()), expr.data_type()));
            self.projection.push(expr.clone());
            self.projection.len() - 1
        })
    }
}

/// What bounds the state of a window.
pub(super) fn state_bound(over: &OverWindow, bounded: bool, keys: String) -> StateBound {
    let kept = |what: &str| match keys.as_str() {
        "" => what.to_string(),
        keys => format!("{what} of each ({keys})"),
    };
    let keyed = |what: &str| StateBound::keyed(over.state_ttl, bounded, || kept(what));
    match (over.mode, &over.frame.start) {
        (OverMode::Batch, _) => StateBound::BoundedInput,
        (OverMode::Updating, _) => keyed("all rows"),
        (OverMode::Rowtime, FrameBound::Preceding(Value::Millis(_))) => StateBound::Watermark,
        (OverMode::Proctime, FrameBound::Preceding(Value::Millis(_))) => StateBound::ProcessingTime,
        _ if over.partition.is_empty() => StateBound::Constant,
        (_, FrameBound::Preceding(_)) => keyed("the last rows"),
        _ => keyed("the accumulators"),
    }
}

fn is_constant(expr: &Expr) -> bool {
    expr.columns().is_empty()
}

fn refuse<T>(message: &str, hint: &str) -> Result<T> {
    Err(PlanError::new(message).hint(hint))
}

/// What Flink's batch plans refuse.
fn check_batch(over: &Over) -> Result<()> {
    check_rank_order(over)?;
    let has_distinct = over.calls.iter().any(|call| match &call.function {
        OverFunction::Aggregate(call) => call.distinct,
        _ => false,
    });
    if has_distinct {
        return refuse(
            "Distinct not supported in Windowing function!",
            "aggregate the distinct values in a sub-query with GROUP BY, and join it",
        );
    }
    for bound in [&over.frame.start, &over.frame.end] {
        if let FrameBound::Preceding(Value::Months(_)) | FrameBound::Following(Value::Months(_)) =
            bound
        {
            return refuse_months();
        }
    }
    Ok(())
}

fn refuse_months<T>() -> Result<T> {
    refuse(
        "INTERVAL_YEAR_MONTH type is not allowed for window boundary",
        "write the distance in days or less: INTERVAL '30' DAY",
    )
}

fn check_rank_order(over: &Over) -> Result<()> {
    let is_ranking =
        over.calls.iter().any(|call| matches!(call.function, OverFunction::Ranking(_)));
    if is_ranking && over.order.iter().all(|key| is_constant(&key.expr)) {
        return refuse(
            "Over Agg: The window rank function requires order by clause with non-constant \
             fields. please re-check the over window statement.",
            "add ORDER BY",
        );
    }
    Ok(())
}

/// What Flink's streaming plans refuse; `general` lets some of it pass.
fn check_streaming(over: &Over, time: Option<TimeAttribute>, general: bool) -> Result<()> {
    let in_batch = "SET 'execution.runtime-mode' = 'batch', where every window is possible";
    for call in &over.calls {
        let needs_end = match &call.function {
            OverFunction::Offset(function) => function.is_lead,
            OverFunction::Ranking(function) => matches!(
                function,
                RankingFunction::Ntile(_)
                    | RankingFunction::PercentRank
                    | RankingFunction::CumeDist
            ),
            OverFunction::Aggregate(_) => false,
        };
        if needs_end {
            let problem = format!("{} Function is not supported in stream mode.", call.name());
            return refuse(
                &problem,
                "it needs rows that are still to come; use LAG, or batch mode",
            );
        }
    }
    check_rank_order(over)?;
    let [key] = over.order.as_slice() else {
        return refuse(
            "The window can only be ordered by a single time column.",
            "ORDER BY one column: a time attribute, or any other for a window from the first row on",
        );
    };
    if key.descending {
        return refuse("The window can only be ordered in ASCENDING mode.", in_batch);
    }
    if is_constant(&key.expr) && time.is_none() {
        return refuse("The window can only be ordered by a single time column.", in_batch);
    }
    if over.frame.end != FrameBound::CurrentRow || over.frame.start == FrameBound::CurrentRow {
        return refuse("OVER RANGE FOLLOWING windows are not supported yet.", in_batch);
    }
    let only_aggregates =
        over.calls.iter().all(|call| matches!(call.function, OverFunction::Aggregate(_)));
    match (&over.frame.start, over.frame.unit) {
        (FrameBound::Preceding(Value::Int(_)), FrameUnit::Rows)
            if general && time.is_none() && only_aggregates =>
        {
            Ok(())
        }
        (FrameBound::Preceding(_), _) if time.is_none() => refuse(
            "Non-time attribute sort is not supported for bounded OVER window.",
            "order by a time attribute, let the window start UNBOUNDED PRECEDING, or allow aggregates \
             over ROWS with SET 'flott.over' = 'general'",
        ),
        (FrameBound::Preceding(Value::Months(_)), FrameUnit::Range) => refuse_months(),
        _ => Ok(()),
    }
}
