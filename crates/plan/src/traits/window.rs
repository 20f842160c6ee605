//! Which columns are the bounds of the window that a row belongs to.

use flott_functions::Expr;

use crate::logical::{
    EquiPair, Join, JoinKind, LogicalOp, LogicalPlan, WindowAssignment, WindowKind,
};

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

    /// Whether a column is one of them.
    pub fn contains(self, column: usize) -> bool {
        [self.start, self.end, self.time].contains(&Some(column))
    }

    /// The columns after an expansion: the last ones that every row has from them, since those that
    /// grouping sets group by come last.
    fn expand(self, rows: &[Vec<Expr>]) -> Self {
        let width = rows.first().map_or(0, Vec::len);
        let find = |column: Option<usize>| {
            let column = column?;
            let is_it =
                |expr: &Expr| matches!(expr, Expr::Column { index, .. } if *index == column);
            (0..width).rev().find(|at| rows.iter().all(|row| is_it(&row[*at])))
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
        LogicalOp::Filter(_) | LogicalOp::Over(_) | LogicalOp::Rank(_) => {
            window_columns(plan.input())?
        }
        LogicalOp::Expand(rows) => window_columns(plan.input())?.expand(rows),
        LogicalOp::Join(_) => joined_windows(plan).into_iter().next()?,
        LogicalOp::Aggregate(aggregate) => {
            grouping_window(plan.input(), &aggregate.groups)?.project(&aggregate.groups)
        }
        _ => return None,
    };
    (columns.start.is_some() || columns.end.is_some() || columns.time.is_some()).then_some(columns)
}

/// The windows that each row of a plan belongs to: several behind a window join, whose sides both name
/// theirs.
pub fn joined_windows(plan: &LogicalPlan) -> Vec<WindowColumns> {
    match &plan.op {
        LogicalOp::Join(join) => {
            let split = plan.inputs[0].schema.len();
            if equal_windows(plan, join).is_none() {
                return Vec::new();
            }
            let left = joined_windows(&plan.inputs[0]).into_iter();
            let right = joined_windows(&plan.inputs[1]).into_iter().map(|columns| {
                let shift = |column: Option<usize>| column.map(|column| column + split);
                let WindowColumns { start, end, time } = columns;
                WindowColumns { start: shift(start), end: shift(end), time: shift(time) }
            });
            match join.kind {
                JoinKind::Inner => left.chain(right).collect(),
                JoinKind::Left | JoinKind::Semi | JoinKind::Anti => left.collect(),
                JoinKind::Right => right.collect(),
                JoinKind::Full => Vec::new(),
            }
        }
        LogicalOp::Project(exprs) => joined_windows(plan.input())
            .into_iter()
            .map(|columns| columns.project(exprs))
            .filter(|columns| columns.is_whole())
            .collect(),
        LogicalOp::Filter(_) | LogicalOp::Over(_) | LogicalOp::Rank(_) => {
            joined_windows(plan.input())
        }
        _ => window_columns(plan).into_iter().filter(|columns| columns.is_whole()).collect(),
    }
}

/// The windows of both sides of a join by both bounds of equal windows.
pub fn equal_windows(plan: &LogicalPlan, join: &Join) -> Option<(WindowColumns, WindowColumns)> {
    if join.as_of.is_some() {
        return None;
    }
    let (left, right) = (&plan.inputs[0], &plan.inputs[1]);
    let equal =
        |l: Option<usize>, r: Option<usize>| join.equal.iter().any(|pair| is_pair_of(pair, l, r));
    let rights = joined_windows(right);
    let (left_window, right_window) = joined_windows(left).into_iter().find_map(|l| {
        let r = rights.iter().find(|r| equal(l.start, r.start) && equal(l.end, r.end))?;
        Some((l, *r))
    })?;
    let (of_left, of_right) = (window_assignment(left)?, window_assignment(right)?);
    let same = of_left.kind == of_right.kind
        && of_left.is_rowtime == of_right.is_rowtime
        && of_left.is_ltz == of_right.is_ltz;
    same.then_some((left_window, right_window))
}

/// Whether an equality is that of these two columns.
pub fn is_pair_of(pair: &EquiPair, left: Option<usize>, right: Option<usize>) -> bool {
    let column = |expr: &Expr| match expr {
        Expr::Column { index, .. } => Some(*index),
        _ => None,
    };
    !pair.null_safe
        && left.is_some()
        && right.is_some()
        && column(&pair.left) == left
        && column(&pair.right) == right
}

/// The window table function that a plan's window columns come from.
pub fn window_assignment(plan: &LogicalPlan) -> Option<&WindowAssignment> {
    match &plan.op {
        LogicalOp::Window(window) => Some(window),
        LogicalOp::Project(_)
        | LogicalOp::Filter(_)
        | LogicalOp::Over(_)
        | LogicalOp::Rank(_)
        | LogicalOp::Expand(_)
        | LogicalOp::Aggregate(_) => window_assignment(plan.input()),
        LogicalOp::Join(join) => {
            window_assignment(&plan.inputs[usize::from(join.kind == JoinKind::Right)])
        }
        _ => None,
    }
}

/// The window by both bounds of which these expressions group, so that each group is complete when its
/// window ends.
///
/// Sessions of different partitions end at different times though their bounds may be equal: groups that
/// are not just those partitions are ordinary ones, as in Flink.
pub fn grouping_window(input: &LogicalPlan, groups: &[Expr]) -> Option<WindowColumns> {
    let by_bounds = |columns: &WindowColumns| columns.project(groups).is_whole();
    let window = joined_windows(input).into_iter().find(by_bounds)?;
    groups_sessions(input, groups, window).then_some(window)
}

/// Whether grouping by these expressions is by the window of the input.
pub fn groups_by_window(input: &LogicalPlan, groups: &[Expr]) -> bool {
    grouping_window(input, groups).is_some()
}

/// Whether the keys beside the window are those by which sessions are told apart; true of windows that
/// are no sessions.
fn groups_sessions(input: &LogicalPlan, groups: &[Expr], columns: WindowColumns) -> bool {
    let Some(partition) = session_partition(input) else { return true };
    let keys: Vec<Option<usize>> = groups
        .iter()
        .map(|group| match group {
            Expr::Column { index, .. } => Some(*index),
            _ => None,
        })
        .filter(|key| !key.is_some_and(|key| columns.contains(key)))
        .collect();
    keys.iter().all(|key| key.is_some_and(|key| partition.contains(&Some(key))))
        && partition.iter().all(|column| keys.contains(column))
}

/// Where the columns are by which the sessions of a plan are told apart; `None` inside for one that was
/// lost, outside for windows that are no sessions.
fn session_partition(plan: &LogicalPlan) -> Option<Vec<Option<usize>>> {
    let through = |exprs: &[Expr]| {
        let find = |column: Option<usize>| {
            let column = column?;
            exprs.iter().position(|e| matches!(e, Expr::Column { index, .. } if *index == column))
        };
        Some(session_partition(plan.input())?.into_iter().map(find).collect())
    };
    match &plan.op {
        LogicalOp::Window(window) => matches!(window.kind, WindowKind::Session { .. })
            .then(|| window.partition.iter().copied().map(Some).collect()),
        LogicalOp::Project(exprs) => through(exprs),
        LogicalOp::Filter(_) | LogicalOp::Over(_) => session_partition(plan.input()),
        LogicalOp::Aggregate(aggregate) => through(&aggregate.groups),
        _ => None,
    }
}
