//! Correlated queries freed of the columns of the query around them.
//!
//! A query that reads columns of a row around it is meant once for each such row. Continuous queries
//! cannot run it so; it becomes one query over all rows, joined with them. Two ways lead there:
//!
//! - [`pull`] moves conditions that compare with the row around upwards until they are the condition
//!   of the join. Aggregates are grouped by what is compared with. Nothing is computed twice.
//! - [`domain`] joins the distinct values that the query reads into its leaves and carries them along;
//!   that works for every query, and keeps those values as state.
//!
//! [`limits`] says which of these queries Flink plans.

mod attach;
mod domain;
mod limits;
mod pull;
mod top;

use flott_functions::Expr;

use crate::Result;
use crate::bind::outer::{as_outer, is_placeholder, outer_column, outer_columns};
use crate::logical::{Aggregate, LogicalOp, LogicalPlan, PlanRef};
use flott_types::{Field, Schema};

pub use attach::attach;
pub use domain::or_default;
pub use limits::{Place, check, unexpected_variable};
pub use pull::empty_value;
pub use top::is_flinks as is_flinks_top_n;

/// A correlated query as a query of its own and what links it with the rows around.
pub struct Dependent {
    /// The query over all rows around; it reads no column of theirs.
    pub plan: PlanRef,
    /// The columns of the correlated query, over those of the plan and of the row around.
    pub outputs: Vec<Expr>,
    /// Which rows of the plan belong to a row around, over the columns of both.
    pub conditions: Vec<Expr>,
    /// What an aggregate without groups gives for a row around to which no row of the plan belongs;
    /// `None` where that is no row.
    pub defaults: Option<Vec<Expr>>,
}

/// Frees a query of the columns of the query at `level`, whose rows `around` gives. `fill` says whether an
/// aggregate without groups has a row where it finds none, too.
pub fn decorrelate(
    plan: &PlanRef,
    around: &PlanRef,
    level: usize,
    fill: bool,
) -> Result<Dependent> {
    match pull::pull(plan, level) {
        Some(dependent) => Ok(dependent),
        None => by_domain(plan, around, level, fill),
    }
}

/// Frees a query by computing it for each combination of the values that it reads.
fn by_domain(plan: &PlanRef, around: &PlanRef, level: usize, fill: bool) -> Result<Dependent> {
    let read = outer_columns(plan, level);
    let fields: Vec<Field> = read
        .iter()
        .enumerate()
        .map(|(i, (_, data_type))| Field::new(format!("$d{i}"), data_type.clone()))
        .collect();
    let exprs = read.iter().map(|(column, ty)| Expr::column(*column, ty.clone())).collect();
    let values = LogicalPlan::new(
        LogicalOp::Project(exprs),
        vec![around.clone()],
        Schema::new(fields.clone()),
    );
    let groups = columns(&fields);
    let op = LogicalOp::Aggregate(Aggregate::new(groups, Vec::new()));
    let domain = LogicalPlan::new(op, vec![values], Schema::new(fields));
    let tagged = domain::tag(plan, &domain::Domain { plan: domain, read: &read, level, fill })?;
    let width = plan.schema.len();
    let conditions = read
        .iter()
        .enumerate()
        .map(|(i, (column, ty))| {
            let inner = Expr::column(width + i, ty.clone());
            let around = outer_column(level, *column, ty.clone());
            Ok(Expr::builtin("IS NOT DISTINCT FROM", vec![inner, around])?)
        })
        .collect::<Result<_>>()?;
    Ok(Dependent {
        outputs: columns(&plan.schema.fields),
        plan: tagged,
        conditions,
        defaults: None,
    })
}

/// The columns of some fields, in order.
fn columns(fields: &[Field]) -> Vec<Expr> {
    fields.iter().enumerate().map(|(i, f)| Expr::column(i, f.data_type.clone())).collect()
}

/// The values of a query that has one row, whatever there is to read.
pub fn constant_row(plan: &PlanRef) -> Option<Vec<Expr>> {
    match &plan.op {
        LogicalOp::Values(rows) if rows.len() == 1 => Some(rows[0].clone()),
        LogicalOp::Project(exprs) => {
            let row = constant_row(plan.input())?;
            Some(exprs.iter().map(|expr| substitute(expr, &row)).collect())
        }
        _ => None,
    }
}

/// An expression over some outputs as one over what they are computed from; columns of queries around
/// stay.
pub fn substitute(expr: &Expr, outputs: &[Expr]) -> Expr {
    expr.clone().transform(&mut |node| match node {
        Expr::Column { index, data_type } => match outputs.get(index) {
            Some(output) => output.clone(),
            None => Expr::column(index, data_type),
        },
        other => other,
    })
}

/// An expression over the plan of a [`Dependent`] and the row around as one over both side by side, the row
/// around first, with `split` columns.
pub fn over_both(expr: &Expr, level: usize, split: usize) -> Expr {
    expr.clone().map_columns(&|index| match as_outer(index) {
        Some((of, column)) if of == level => column,
        _ if is_placeholder(index) => index,
        _ => index + split,
    })
}

/// The columns of the query at `level` replaced by columns of a plan.
fn ground(expr: Expr, level: usize, position: &impl Fn(usize) -> usize) -> Expr {
    expr.map_columns(&|index| match as_outer(index) {
        Some((of, column)) if of == level => position(column),
        _ => index,
    })
}

/// An expression over a plan, moved by so many columns; columns of queries around stay.
fn shift(expr: Expr, by: usize) -> Expr {
    expr.map_columns(&|index| {
        if is_placeholder(index) { index } else { index + by }
    })
}
