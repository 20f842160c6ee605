//! DISTINCT aggregates in two steps: `table.optimizer.distinct-agg.split.enabled`.
//!
//! Values are spread over buckets. The first step aggregates by key and bucket, the second adds up the
//! buckets of a key, so that the work for a key of many values is done by many tasks.

use std::sync::Arc;

use flott_functions::aggregate::AggregateFunction;
use flott_functions::scalar::BUCKET;
use flott_functions::{CastMode, Expr, aggregate_function};
use flott_types::{DataType, Field, Schema, TypeRoot, Value};

use super::Lowering;
use crate::logical::{Aggregate, AggregateCall, PlanRef};
use crate::physical::{NodeId, SplitStep};
use crate::{PlanError, Result};

impl Lowering<'_> {
    /// An aggregation in two steps over `input`, if it is to be split and can be.
    ///
    /// It can where all DISTINCT calls have the same arguments and the results of buckets can be added
    /// up: COUNT, SUM, MIN, MAX. As in Flink the result is the same and its changelog has −D.
    pub(super) fn split_distinct(
        &mut self,
        plan: &PlanRef,
        aggregate: &Aggregate,
    ) -> Result<Option<NodeId>> {
        let Some(buckets) = self.config.distinct_buckets.filter(|_| !self.config.batch) else {
            return Ok(None);
        };
        let Some(values) = distinct_values(aggregate) else { return Ok(None) };
        let Some(combine) = aggregate.calls.iter().map(combining).collect::<Option<Vec<_>>>()
        else {
            return Ok(None);
        };
        let Some(bucket) = bucket_of(values, buckets)? else { return Ok(None) };
        let mut groups = aggregate.groups.clone();
        groups.push(bucket);
        let partial = Aggregate { groups, ..aggregate.clone() };
        let results = partial.calls.iter().map(|call| &call.data_type);
        let types = partial.groups.iter().map(Expr::data_type).chain(results.cloned());
        let fields: Vec<Field> =
            types.enumerate().map(|(i, ty)| Field::new(format!("$f{i}"), ty)).collect();
        let schema = Arc::new(Schema::new(fields));
        let input = self.node(plan.input())?;
        let input = self.group(input, &partial, Some(SplitStep::Partial), schema, plan.span)?;
        let of_key = |(i, key): (usize, &Expr)| Expr::column(i, key.data_type());
        let groups = aggregate.groups.iter().enumerate().map(of_key).collect();
        let first = partial.groups.len();
        let calls = aggregate
            .calls
            .iter()
            .zip(combine)
            .enumerate()
            .map(|(i, (call, function))| AggregateCall {
                function,
                args: vec![Expr::column(first + i, call.data_type.clone())],
                symbols: Vec::new(),
                distinct: false,
                filter: None,
                data_type: call.data_type.clone(),
            })
            .collect();
        let last = Aggregate { groups, calls, state_ttl: aggregate.state_ttl };
        self.group(input, &last, Some(SplitStep::Final), plan.schema.clone(), plan.span).map(Some)
    }
}

/// The arguments of the DISTINCT calls, if they agree in them.
fn distinct_values(aggregate: &Aggregate) -> Option<&[Expr]> {
    let mut distinct = aggregate.calls.iter().filter(|call| call.distinct);
    let first = distinct.next()?;
    (!first.args.is_empty() && distinct.all(|call| call.args == first.args))
        .then_some(first.args.as_slice())
}

/// What adds up the results of a call.
fn combining(call: &AggregateCall) -> Option<&'static AggregateFunction> {
    match call.function.name {
        "COUNT" | "$SUM0" => aggregate_function("$SUM0"),
        name @ ("SUM" | "MIN" | "MAX") => aggregate_function(name),
        _ => None,
    }
}

/// The bucket of values; `None` for values that have no text.
fn bucket_of(values: &[Expr], buckets: u32) -> Result<Option<Expr>> {
    let mut bucket: Option<Expr> = None;
    for value in values {
        let ty = value.data_type();
        if !has_text(&ty) {
            return Ok(None);
        }
        let text = Expr::Cast {
            input: Box::new(value.clone()),
            mode: CastMode::Strict,
            data_type: DataType::string().with_nullable(ty.nullable),
        };
        let count = Expr::literal(Value::Int(i64::from(buckets)), DataType::int().not_null());
        let one = Expr::call(&BUCKET, vec![text, count], Vec::new(), None)?;
        bucket = Some(match bucket {
            None => one,
            Some(others) => Expr::builtin("+", vec![others, one])?,
        });
    }
    bucket.map(Some).ok_or_else(|| PlanError::new("a DISTINCT aggregate without values"))
}

fn has_text(data_type: &DataType) -> bool {
    matches!(
        data_type.root,
        TypeRoot::Boolean
            | TypeRoot::TinyInt
            | TypeRoot::SmallInt
            | TypeRoot::Int
            | TypeRoot::BigInt
            | TypeRoot::Decimal { .. }
            | TypeRoot::Char(_)
            | TypeRoot::Varchar(_)
            | TypeRoot::Date
            | TypeRoot::Time(_)
            | TypeRoot::Timestamp(_)
    )
}
