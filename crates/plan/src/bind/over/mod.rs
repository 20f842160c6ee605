//! OVER: functions over windows of rows.
//!
//! While a SELECT is bound, a call over a window stands for a column far behind all others; afterwards
//! [`OverCalls::plan`] puts a node for each window on the plan, and the columns get their places.

use flott_functions::Expr;
use flott_sql::ast::{self, NamedWindow, Span, WindowSpec};
use flott_types::{Field, Schema, TimeAttribute};

mod call;
mod frame;

pub use call::needs_over;

use super::outer::is_placeholder;
use crate::logical::{LogicalOp, LogicalPlan, Over, OverCall, OverFunction, PlanRef};
use crate::{PlanError, Result};

/// Where OVER calls are counted from, far behind any column.
const OVER_BASE: usize = 1 << 25;

/// Whether a column stands for an OVER call.
pub fn is_over_column(index: usize) -> bool {
    index >= OVER_BASE && !is_placeholder(index)
}

/// Collects the OVER calls of a SELECT while its expressions are bound.
pub struct OverContext {
    /// The windows of the WINDOW clause.
    named: Vec<NamedWindow>,
    /// One node for each distinct window, without its input, and the place that caused it.
    windows: Vec<(Over, Span)>,
    /// For each call its window and its place among the window's calls.
    calls: Vec<(usize, usize)>,
}

impl OverContext {
    /// A context with the windows of the WINDOW clause.
    pub fn new(named: &[NamedWindow]) -> Result<Self> {
        for (i, window) in named.iter().enumerate() {
            if named[..i].iter().any(|other| other.name.value == window.name.value) {
                return Err(PlanError::new("Duplicate window names not allowed")
                    .at(window.name.span)
                    .hint("give each window of WINDOW a name of its own"));
            }
        }
        Ok(Self { named: named.to_vec(), windows: Vec::new(), calls: Vec::new() })
    }

    /// The calls found, to be planned.
    pub fn finish(self) -> OverCalls {
        OverCalls { windows: self.windows, calls: self.calls }
    }

    /// The column that stands for a call.
    fn add(&mut self, window: Over, call: OverCall, span: Span) -> Expr {
        let found = self.windows.iter().position(|(known, _)| same_window(known, &window));
        let at = found.unwrap_or_else(|| {
            self.windows.push((window, span));
            self.windows.len() - 1
        });
        let data_type = call.data_type.clone();
        let calls = &mut self.windows[at].0.calls;
        let place = calls.iter().position(|known| known.is_same(&call)).unwrap_or_else(|| {
            calls.push(call);
            calls.len() - 1
        });
        let known = self.calls.iter().position(|known| *known == (at, place));
        let index = known.unwrap_or_else(|| {
            self.calls.push((at, place));
            self.calls.len() - 1
        });
        Expr::column(OVER_BASE + index, data_type)
    }

    /// A window without references to others.
    fn resolve(&self, window: &ast::Window) -> Result<WindowSpec> {
        match window {
            ast::Window::Spec(spec) => self.overlay(spec, 0),
            ast::Window::Named(name) => self.named(name, 0),
        }
    }

    fn named(&self, name: &ast::Ident, depth: usize) -> Result<WindowSpec> {
        let found = self.named.iter().find(|window| window.name.value == name.value);
        // A window that refers to itself is never found.
        match found.filter(|_| depth <= self.named.len()) {
            Some(window) => self.overlay(&window.spec, depth + 1),
            None => Err(PlanError::new(format!("Window '{}' not found", name.value))
                .at(name.span)
                .hint("declare it behind the query: WINDOW w AS (…); names are case-sensitive")),
        }
    }

    /// What a window adds to the one that it names.
    fn overlay(&self, spec: &WindowSpec, depth: usize) -> Result<WindowSpec> {
        let Some(name) = &spec.base else { return Ok(spec.clone()) };
        let base = self.named(name, depth)?;
        let refuse = |message: &str| Err(PlanError::new(message).at(spec.span));
        if !spec.partition_by.is_empty() {
            return refuse("PARTITION BY not allowed with existing window reference");
        }
        if !spec.order_by.is_empty() && !base.order_by.is_empty() {
            return refuse("ORDER BY not allowed in both base and referenced windows");
        }
        if base.frame.is_some() {
            return refuse("Referenced window cannot have framing declarations");
        }
        let order_by = if spec.order_by.is_empty() { base.order_by } else { spec.order_by.clone() };
        Ok(WindowSpec { base: None, order_by, partition_by: base.partition_by, ..spec.clone() })
    }
}

/// The OVER calls of a SELECT, all its expressions bound.
pub struct OverCalls {
    windows: Vec<(Over, Span)>,
    calls: Vec<(usize, usize)>,
}

impl OverCalls {
    /// Rewrites what the windows read, after the input was grouped.
    pub fn rewrite(&mut self, rewrite: impl Fn(&Expr, Span) -> Result<Expr>) -> Result<()> {
        for (window, span) in &mut self.windows {
            for expr in window.exprs_mut() {
                *expr = rewrite(expr, *span)?;
            }
        }
        Ok(())
    }

    /// Everything that the windows read.
    pub fn exprs_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        self.windows.iter_mut().flat_map(|(window, _)| window.exprs_mut())
    }

    /// Puts the windows on a plan. Columns that stood for calls are then to be moved by
    /// [`PlacedCalls::place`].
    ///
    /// Flink's streaming plans compute one window a SELECT and refuse more.
    pub fn plan(self, input: PlanRef, batch: bool) -> Result<(PlanRef, PlacedCalls)> {
        if let Some((_, span)) = self.windows.get(1)
            && !batch
        {
            return Err(PlanError::new(
                "Over Agg: Unsupported use of OVER windows. All aggregates must be computed on \
                 the same window. please re-check the over window statement.",
            )
            .at(*span)
            .hint("compute each window in a query of its own, one in the FROM of the other"));
        }
        let mut plan = input;
        let mut starts = Vec::new();
        for (number, (window, span)) in self.windows.into_iter().enumerate() {
            starts.push(plan.schema.len());
            let mut fields = plan.schema.fields.clone();
            let schema = plan.schema.clone();
            fields.extend(window.calls.iter().enumerate().map(|(i, call)| {
                let name = format!("w{number}$o{i}");
                let time = time_of(call, &schema).filter(|_| !batch);
                Field::new(name, call.data_type.clone()).with_time(time)
            }));
            let schema = Schema::new(fields);
            plan = LogicalPlan::spanned(LogicalOp::Over(window), vec![plan], schema, span);
        }
        let places = self.calls.iter().map(|(window, call)| starts[*window] + call).collect();
        Ok((plan, PlacedCalls { places }))
    }
}

/// Where the results of OVER calls stand.
pub struct PlacedCalls {
    places: Vec<usize>,
}

impl PlacedCalls {
    /// The expression with calls in their places.
    pub fn place(&self, expr: Expr) -> Expr {
        expr.map_columns(&|column| match column.checked_sub(OVER_BASE) {
            Some(call) => self.places.get(call).copied().unwrap_or(column),
            None => column,
        })
    }
}

/// Whether a result still is event time: Flink lets functions hand it on that give one of their
/// argument's values.
fn time_of(call: &OverCall, schema: &Schema) -> Option<TimeAttribute> {
    let value = match &call.function {
        OverFunction::Offset(function) => &function.value,
        OverFunction::Aggregate(aggregate) => match aggregate.function.name {
            "MIN" | "MAX" | "FIRST_VALUE" | "LAST_VALUE" => aggregate.args.first()?,
            _ => return None,
        },
        OverFunction::Ranking(_) => return None,
    };
    let time = super::select::time_of(value, schema);
    time.filter(|time| *time == TimeAttribute::Rowtime)
}

/// Whether the rows of a frame are the same; the order of PARTITION BY does not matter.
fn same_window(a: &Over, b: &Over) -> bool {
    let covers = |a: &[Expr], b: &[Expr]| a.iter().all(|expr| b.contains(expr));
    a.frame == b.frame
        && a.order == b.order
        && covers(&a.partition, &b.partition)
        && covers(&b.partition, &a.partition)
}
