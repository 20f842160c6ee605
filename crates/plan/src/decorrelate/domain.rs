//! The values that a correlated query reads are joined into it and carried along.

use std::sync::Arc;

use flott_functions::Expr;
use flott_types::{DataType, Field, Schema};

use super::pull::{condition_of, empty_value};
use super::top::first_rows;
use super::{columns, ground, shift};
use crate::bind::outer::{outer_columns, reads_outer};
use crate::bind::split_condition;
use crate::logical::{
    Aggregate, AggregateCall, Correlate, EquiPair, Join, JoinKind, LogicalOp, LogicalPlan, Over,
    PlanRef, WindowAssignment,
};
use crate::{PlanError, Result};

/// The combinations of values that a query is computed for.
pub struct Domain<'a> {
    /// Gives each combination once.
    pub plan: PlanRef,
    /// Which columns of the query around they are, in order.
    pub read: &'a [(usize, DataType)],
    /// The level of the query around.
    pub level: usize,
    /// Whether an aggregate without groups has a row for a combination without rows.
    pub fill: bool,
}

impl Domain<'_> {
    fn width(&self) -> usize {
        self.read.len()
    }

    /// The expression with the values read found behind `width` columns.
    fn ground(&self, expr: &Expr, width: usize) -> Expr {
        let position = |column: usize| {
            width + self.read.iter().position(|(known, _)| *known == column).unwrap_or_default()
        };
        ground(expr.clone(), self.level, &position)
    }

    fn ground_all(&self, exprs: &[Expr], width: usize) -> Vec<Expr> {
        exprs.iter().map(|expr| self.ground(expr, width)).collect()
    }

    /// The columns of the domain where they stand behind `width` others.
    fn columns(&self, width: usize) -> Vec<Expr> {
        columns(&self.plan.schema.fields).into_iter().map(|c| shift(c, width)).collect()
    }

    fn is_read(&self, plan: &PlanRef) -> bool {
        !outer_columns(plan, self.level).is_empty()
    }
}

/// The query for every combination of the domain, whose columns stand behind its own.
pub fn tag(plan: &PlanRef, domain: &Domain) -> Result<PlanRef> {
    if !domain.is_read(plan) {
        return Ok(cross(plan, domain));
    }
    match &plan.op {
        LogicalOp::Filter(condition) => {
            let below = tag(plan.input(), domain)?;
            let condition = domain.ground(condition, plan.schema.len());
            let schema = (*below.schema).clone();
            Ok(LogicalPlan::new(LogicalOp::Filter(condition), vec![below], schema))
        }
        LogicalOp::Project(exprs) => {
            let below = tag(plan.input(), domain)?;
            let width = plan.input().schema.len();
            let mut all = domain.ground_all(exprs, width);
            all.extend(domain.columns(width));
            Ok(project(below, all, plan, domain))
        }
        LogicalOp::Values(rows) => {
            let parts = rows.iter().map(|row| {
                let mut all = domain.ground_all(row, 0);
                all.extend(domain.columns(0));
                project(domain.plan.clone(), all, plan, domain)
            });
            Ok(union(parts.collect(), plan, domain))
        }
        LogicalOp::Union => {
            let parts = plan.inputs.iter().map(|input| tag(input, domain));
            Ok(union(parts.collect::<Result<_>>()?, plan, domain))
        }
        LogicalOp::Sort(sort) if sort.fetch.is_none() && sort.offset == 0 => {
            tag(plan.input(), domain)
        }
        LogicalOp::Sort(sort) => {
            let below = tag(plan.input(), domain)?;
            let width = plan.schema.len();
            let outputs = columns(&below.schema.fields);
            let mut sort = sort.clone();
            for key in &mut sort.keys {
                key.expr = domain.ground(&key.expr, width);
            }
            let ranked = first_rows(below, domain.columns(width), &sort, &outputs)?;
            Ok(project(ranked, outputs, plan, domain))
        }
        LogicalOp::Aggregate(aggregate) => tag_aggregate(plan, aggregate, domain),
        LogicalOp::Join(join) if join.as_of.is_none() => tag_join(plan, join, domain),
        LogicalOp::Over(over) => tag_over(plan, over, domain),
        LogicalOp::Window(window) => tag_window(plan, window, domain),
        LogicalOp::Correlate(correlate) => tag_correlate(plan, correlate, domain),
        _ => Err(PlanError::new("the correlated sub-query cannot be planned as a join")
            .hint("write it as a join, or move what reads the outer row into WHERE")),
    }
}

fn fields(plan: &PlanRef, domain: &Domain) -> Vec<Field> {
    let own = plan.schema.fields.iter().chain(&domain.plan.schema.fields);
    own.map(|field| Field { time: None, ..field.clone() }).collect()
}

fn project(input: PlanRef, exprs: Vec<Expr>, plan: &PlanRef, domain: &Domain) -> PlanRef {
    let schema = Schema::new(fields(plan, domain));
    LogicalPlan::new(LogicalOp::Project(exprs), vec![input], schema)
}

fn union(parts: Vec<PlanRef>, plan: &PlanRef, domain: &Domain) -> PlanRef {
    LogicalPlan::new(LogicalOp::Union, parts, Schema::new(fields(plan, domain)))
}

/// A query that reads nothing, for every combination.
fn cross(plan: &PlanRef, domain: &Domain) -> PlanRef {
    if let LogicalOp::Values(rows) = &plan.op
        && rows.len() == 1
        && rows[0].is_empty()
    {
        return domain.plan.clone();
    }
    let op = LogicalOp::Join(Join::new(JoinKind::Inner, Vec::new(), None));
    let inputs = vec![plan.clone(), domain.plan.clone()];
    LogicalPlan::new(op, inputs, Schema::new(fields(plan, domain)))
}

fn tag_aggregate(plan: &PlanRef, aggregate: &Aggregate, domain: &Domain) -> Result<PlanRef> {
    let below = tag(plan.input(), domain)?;
    let width = plan.input().schema.len();
    let mut groups = domain.ground_all(&aggregate.groups, width);
    let own = groups.len();
    groups.extend(domain.columns(width));
    let calls: Vec<AggregateCall> = aggregate
        .calls
        .iter()
        .map(|call| AggregateCall {
            args: domain.ground_all(&call.args, width),
            filter: call.filter.as_ref().map(|filter| domain.ground(filter, width)),
            ..call.clone()
        })
        .collect();
    let mut given: Vec<Field> = plan.schema.fields[..own].to_vec();
    given.extend(domain.plan.schema.fields.iter().cloned());
    given.extend(plan.schema.fields[own..].iter().cloned());
    given.iter_mut().for_each(|field| field.time = None);
    let op = LogicalOp::Aggregate(Aggregate::new(groups, calls));
    let grouped = LogicalPlan::new(op, vec![below], Schema::new(given));
    if own == 0 && domain.fill {
        return for_every_value(grouped, plan, aggregate, domain);
    }
    // Keys, domain, results become keys, results, domain.
    let behind = own + domain.width();
    let mut all = columns(&plan.schema.fields[..own]);
    for (i, field) in plan.schema.fields[own..].iter().enumerate() {
        all.push(Expr::column(behind + i, field.data_type.clone()));
    }
    all.extend(domain.columns(own));
    Ok(project(grouped, all, plan, domain))
}

/// An aggregate without groups has a row for values without rows, too.
fn for_every_value(
    grouped: PlanRef,
    plan: &PlanRef,
    aggregate: &Aggregate,
    domain: &Domain,
) -> Result<PlanRef> {
    let k = domain.width();
    let mut marked = columns(&grouped.schema.fields);
    marked.push(Expr::boolean(true));
    let mut marked_fields = grouped.schema.fields.clone();
    marked_fields.push(Field::new("$found", DataType::boolean().not_null()));
    let grouped =
        LogicalPlan::new(LogicalOp::Project(marked), vec![grouped], Schema::new(marked_fields));
    let equal = (0..k)
        .map(|i| {
            let column = Expr::column(i, domain.read[i].1.clone());
            EquiPair { left: column.clone(), right: column, null_safe: true }
        })
        .collect();
    let nullable = grouped.schema.fields.iter().map(|field| {
        let data_type = field.data_type.clone().with_nullable(true);
        Field { data_type, time: None, ..field.clone() }
    });
    let joined: Vec<Field> = domain.plan.schema.fields.iter().cloned().chain(nullable).collect();
    let found = Expr::column(joined.len() - 1, DataType::boolean());
    let op = LogicalOp::Join(Join::new(JoinKind::Left, equal, None));
    let inputs = vec![domain.plan.clone(), grouped];
    let joined = LogicalPlan::new(op, inputs, Schema::new(joined));
    let mut all = Vec::new();
    for (i, call) in aggregate.calls.iter().enumerate() {
        let value = Expr::column(2 * k + i, call.data_type.clone().with_nullable(true));
        let default = empty_value(call).ok_or_else(|| {
            PlanError::new(format!("{} has no value for no rows", call.function.name))
        })?;
        all.push(or_default(&found, value, default, call.data_type.clone())?);
    }
    all.extend(domain.columns(0));
    Ok(project(joined, all, plan, domain))
}

/// A value where a row was found, else another.
pub fn or_default(found: &Expr, value: Expr, default: Expr, data_type: DataType) -> Result<Expr> {
    let missing = Expr::builtin("IS NULL", vec![found.clone()])?;
    if let Expr::Literal { value: flott_types::Value::Null, .. } = default {
        return Ok(value);
    }
    Ok(Expr::Case { branches: vec![(missing, default)], otherwise: Box::new(value), data_type })
}

fn tag_join(plan: &PlanRef, join: &Join, domain: &Domain) -> Result<PlanRef> {
    let k = domain.width();
    let widths = [plan.inputs[0].schema.len(), plan.inputs[1].schema.len()];
    let one_sided = matches!(join.kind, JoinKind::Semi | JoinKind::Anti);
    let keeps_left_only = matches!(join.kind, JoinKind::Inner | JoinKind::Left) || one_sided;
    let tags_right = domain.is_read(&plan.inputs[1]) || !keeps_left_only;
    let left = tag(&plan.inputs[0], domain)?;
    let right = if tags_right { tag(&plan.inputs[1], domain)? } else { plan.inputs[1].clone() };
    let split = widths[0] + k;
    let on = condition_of(join, widths[0]).unwrap_or_default();
    let moved = |column: usize| if column < widths[0] { column } else { column + k };
    let mut conjuncts: Vec<Expr> = on
        .into_iter()
        .map(|conjunct| {
            let own = conjunct.map_columns(&|column| {
                if crate::bind::outer::is_placeholder(column) { column } else { moved(column) }
            });
            domain.ground(&own, widths[0])
        })
        .collect();
    if tags_right {
        for (a, b) in domain.columns(widths[0]).into_iter().zip(domain.columns(split + widths[1])) {
            conjuncts.push(Expr::builtin("IS NOT DISTINCT FROM", vec![a, b])?);
        }
    }
    debug_assert!(!conjuncts.iter().any(|conjunct| reads_outer(conjunct, domain.level)));
    let (equal, residual) = split_condition(conjuncts, split);
    let residual = (!residual.is_empty()).then(|| Expr::conjunction(residual));
    let padded = |field: &Field, padded: bool| {
        let nullable = field.data_type.nullable || padded;
        Field::new(field.name.clone(), field.data_type.clone().with_nullable(nullable))
    };
    let mut given: Vec<Field> =
        left.schema.fields.iter().map(|f| padded(f, join.kind.keeps_right())).collect();
    if !one_sided {
        given.extend(right.schema.fields.iter().map(|f| padded(f, join.kind.keeps_left())));
    }
    let op = LogicalOp::Join(Join {
        hints: join.hints.clone(),
        ..Join::new(join.kind, equal, residual)
    });
    let joined = LogicalPlan {
        op,
        inputs: vec![left, right],
        schema: Arc::new(Schema::new(given)),
        span: plan.span,
    };
    let joined = Arc::new(joined);
    if one_sided {
        return Ok(joined);
    }
    let mut all: Vec<Expr> =
        columns(&plan.schema.fields).into_iter().map(|column| column.map_columns(&moved)).collect();
    let (of_left, of_right) = (domain.columns(widths[0]), domain.columns(split + widths[1]));
    for (left, right) in of_left.into_iter().zip(of_right) {
        all.push(match join.kind {
            JoinKind::Right => right,
            JoinKind::Full => {
                let data_type = left.data_type();
                Expr::Coalesce { args: vec![left, right], data_type }
            }
            _ => left,
        });
    }
    Ok(project(joined, all, plan, domain))
}

fn tag_window(plan: &PlanRef, window: &WindowAssignment, domain: &Domain) -> Result<PlanRef> {
    let width = plan.input().schema.len();
    let k = domain.width();
    let below = tag(plan.input(), domain)?;
    let mut window = window.clone();
    if matches!(window.kind, crate::logical::WindowKind::Session { .. }) {
        window.partition.extend(width..width + k);
    }
    let mut given = below.schema.fields.clone();
    given.extend(plan.schema.fields[width..].iter().cloned());
    let op = LogicalOp::Window(window);
    let windowed = LogicalPlan::new(op, vec![below], Schema::new(given));
    let moved = |column: usize| if column < width { column } else { column + k };
    let mut all: Vec<Expr> =
        columns(&plan.schema.fields).into_iter().map(|c| c.map_columns(&moved)).collect();
    all.extend(domain.columns(width));
    Ok(project(windowed, all, plan, domain))
}

fn tag_over(plan: &PlanRef, over: &Over, domain: &Domain) -> Result<PlanRef> {
    let width = plan.input().schema.len();
    let k = domain.width();
    let below = tag(plan.input(), domain)?;
    let mut over = over.clone();
    for expr in over.exprs_mut() {
        *expr = domain.ground(expr, width);
    }
    over.partition.extend(domain.columns(width));
    let mut given = below.schema.fields.clone();
    given.extend(plan.schema.fields[width..].iter().cloned());
    let ranked = LogicalPlan::new(LogicalOp::Over(over), vec![below], Schema::new(given));
    let moved = |column: usize| if column < width { column } else { column + k };
    let mut all: Vec<Expr> =
        columns(&plan.schema.fields).into_iter().map(|c| c.map_columns(&moved)).collect();
    all.extend(domain.columns(width));
    Ok(project(ranked, all, plan, domain))
}

fn tag_correlate(plan: &PlanRef, correlate: &Correlate, domain: &Domain) -> Result<PlanRef> {
    let width = plan.input().schema.len();
    let k = domain.width();
    let below = tag(plan.input(), domain)?;
    let args = domain.ground_all(&correlate.args, width);
    let mut passed = correlate.passed.clone();
    let split = passed.len();
    passed.extend(width..width + k);
    let mut given: Vec<Field> = plan.schema.fields[..split].to_vec();
    given.extend(domain.plan.schema.fields.iter().cloned());
    given.extend(plan.schema.fields[split..].iter().cloned());
    let op = LogicalOp::Correlate(Correlate { args, passed, ..correlate.clone() });
    let called = LogicalPlan::new(op, vec![below], Schema::new(given));
    let moved = |column: usize| if column < split { column } else { column + k };
    let mut all: Vec<Expr> =
        columns(&plan.schema.fields).into_iter().map(|c| c.map_columns(&moved)).collect();
    all.extend(domain.columns(split));
    Ok(project(called, all, plan, domain))
}
