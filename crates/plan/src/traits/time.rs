//! Which time attributes survive: the pass that follows them from the sources up.
//!
//! Binding lets every column keep its attribute through a join, because only its condition, with what
//! WHERE added to it, tells whether rows come out in order of time. When the rules have gathered the
//! conditions this pass takes away the attributes that are lost, and refuses operators that need one.

use std::collections::HashMap;
use std::sync::Arc;

use flott_functions::{Expr, SessionSettings};
use flott_types::{Field, Schema, TimeAttribute};

use super::join::{JoinShape, shape};
use crate::logical::{LogicalOp, LogicalPlan, PlanRef};
use crate::{PlanError, Result};

/// The plans with only those time attributes that survive. What sinks say of their columns stays,
/// as in Flink: a result's `*ROWTIME*` tells what the column was selected as.
pub fn settle(roots: Vec<PlanRef>, settings: &SessionSettings) -> Result<Vec<PlanRef>> {
    if settings.batch {
        return Ok(roots);
    }
    let mut done = HashMap::new();
    roots.iter().map(|root| visit(root, settings, &mut done)).collect()
}

fn visit(
    plan: &PlanRef,
    settings: &SessionSettings,
    done: &mut HashMap<*const LogicalPlan, PlanRef>,
) -> Result<PlanRef> {
    if let Some(known) = done.get(&Arc::as_ptr(plan)) {
        return Ok(known.clone());
    }
    let inputs =
        plan.inputs.iter().map(|input| visit(input, settings, done)).collect::<Result<Vec<_>>>()?;
    let unchanged = inputs.iter().zip(&plan.inputs).all(|(a, b)| Arc::ptr_eq(a, b));
    let mut node = if unchanged { plan.clone() } else { plan.with_inputs(inputs) };
    let fields = fields(&node, settings).map_err(|error| match node.span {
        Some(span) => error.at(span),
        None => error,
    })?;
    if fields != node.schema.fields {
        let schema = Arc::new(Schema::new(fields));
        node = Arc::new(LogicalPlan { schema, ..LogicalPlan::clone(&node) });
    }
    done.insert(Arc::as_ptr(plan), node.clone());
    Ok(node)
}

/// The columns of a node whose inputs are settled.
fn fields(plan: &LogicalPlan, settings: &SessionSettings) -> Result<Vec<Field>> {
    let mut fields = plan.schema.fields.clone();
    match &plan.op {
        LogicalOp::Scan(_) | LogicalOp::Values(_) | LogicalOp::Sink(_) => {}
        // A table's own columns get their attributes above its scan.
        LogicalOp::Project(_) | LogicalOp::Filter(_) if is_raw(plan.input()) => {}
        LogicalOp::Project(exprs) => {
            let input = &plan.input().schema;
            for (field, expr) in fields.iter_mut().zip(exprs) {
                if let Expr::Column { index, .. } = expr {
                    lose_unless(field, &input.fields[*index]);
                }
            }
        }
        LogicalOp::Aggregate(aggregate) => {
            let input = &plan.input().schema;
            for (field, group) in fields.iter_mut().zip(&aggregate.groups) {
                if let Expr::Column { index, .. } = group {
                    lose_unless(field, &input.fields[*index]);
                }
            }
        }
        LogicalOp::Window(window) => {
            let input = &plan.input().schema;
            // A group window takes the time of whatever comes out of a join, as in Flink.
            if input.fields[window.time_column].time.is_none() && !window.is_group_window {
                return Err(time_was_lost(&input.fields[window.time_column]));
            }
            fields.iter_mut().zip(&input.fields).for_each(|(field, from)| lose_unless(field, from));
        }
        LogicalOp::Join(join) => {
            let (left, right) = (&plan.inputs[0].schema, &plan.inputs[1].schema);
            let shape = shape(plan, join, settings)?;
            let sides = left.fields.iter().chain(&right.fields).enumerate();
            for (field, (i, from)) in fields.iter_mut().zip(sides) {
                let keeps = match &shape {
                    JoinShape::Interval(_) | JoinShape::Window(_) => true,
                    JoinShape::AsOf => i < left.len(),
                    JoinShape::Regular => false,
                };
                if !keeps {
                    field.time = None;
                }
                lose_unless(field, from);
            }
        }
        LogicalOp::Union => {
            for input in &plan.inputs {
                let from = &input.schema.fields;
                fields.iter_mut().zip(from).for_each(|(field, from)| lose_unless(field, from));
            }
        }
        // The others pass their input's columns on in place and add to them.
        _ => {
            if let Some(input) = plan.inputs.first() {
                let from = input.schema.fields.iter();
                for (field, from) in fields.iter_mut().zip(from).filter(|(a, b)| a.name == b.name) {
                    lose_unless(field, from);
                }
            }
        }
    }
    Ok(fields)
}

/// Whether a plan is a scan with nothing above it that speaks of time.
fn is_raw(plan: &LogicalPlan) -> bool {
    match &plan.op {
        LogicalOp::Scan(_) => true,
        LogicalOp::Project(_) | LogicalOp::Filter(_) => {
            plan.schema.fields.iter().all(|field| field.time.is_none()) && is_raw(plan.input())
        }
        _ => false,
    }
}

/// A column is what it came from at most.
fn lose_unless(field: &mut Field, from: &Field) {
    if field.time.is_some() && from.time.is_none() {
        field.time = None;
    }
}

fn time_was_lost(field: &Field) -> PlanError {
    PlanError::new(format!(
        "The window function requires the timecol is a time attribute type, but is {}.",
        field.data_type.summary()
    ))
    .hint(format!(
        "{} comes out of a join whose rows are in no order of time: bound the join by time (an \
         interval join), or cut windows before it",
        field.name
    ))
}

/// The kind of time both sides speak of, when it is one.
pub fn common(left: &Field, right: &Field) -> Option<TimeAttribute> {
    left.time.filter(|time| right.time == Some(*time))
}
