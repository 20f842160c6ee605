//! Which columns are the bounds of the window that a row belongs to.

use flott_functions::Expr;

use crate::logical::{LogicalOp, LogicalPlan};

/// The columns of a plan that came, unchanged, from a window table function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowColumns {
    /// `window_start`
    pub start: Option<usize>,
    /// `window_end`
    pub end: Option<usize>,
    /// `window_time`
    pub time: Option<usize>,
}

impl WindowColumns {
    /// The columns after a projection.
    fn project(self, exprs: &[Expr]) -> Self {
        let find = |column: Option<usize>| {
            let column = column?;
            exprs.iter().position(|e| matches!(e, Expr::Column { index, .. } if *index == column))
        };
        Self { start: find(self.start), end: find(self.end), time: find(self.time) }
    }

    /// Whether both bounds are still there.
    pub fn is_whole(self) -> bool {
        self.start.is_some() && self.end.is_some()
    }
}

/// The window columns of a plan, if it has any.
pub fn window_columns(plan: &LogicalPlan) -> Option<WindowColumns> {
    let columns = match &plan.op {
        LogicalOp::Window(_) => {
            let width = plan.input().schema.len();
            WindowColumns { start: Some(width), end: Some(width + 1), time: Some(width + 2) }
        }
        LogicalOp::Project(exprs) => window_columns(plan.input())?.project(exprs),
        LogicalOp::Filter(_) | LogicalOp::Over(_) => window_columns(plan.input())?,
        LogicalOp::Aggregate(aggregate) => {
            let columns = window_columns(plan.input())?.project(&aggregate.groups);
            if !columns.is_whole() {
                return None;
            }
            columns
        }
        _ => return None,
    };
    (columns.start.is_some() || columns.end.is_some() || columns.time.is_some()).then_some(columns)
}

/// Whether grouping by these expressions is by both bounds of the input's window.
pub fn groups_by_window(input: &LogicalPlan, groups: &[Expr]) -> bool {
    window_columns(input).is_some_and(|columns| columns.project(groups).is_whole())
}
