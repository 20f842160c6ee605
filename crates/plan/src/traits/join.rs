//! What kind of join a condition asks for: over an interval of time, within windows, as of a moment,
//! or regular.

use flott_functions::{Evaluator, Expr, SessionSettings};
use flott_types::{Schema, TimeAttribute, TypeRoot, Value};

use super::time;
use super::window::{WindowColumns, equal_windows, is_pair_of, window_assignment};
use crate::logical::{EquiPair, Join, JoinKind, LogicalPlan};
use crate::{PlanError, Result};

/// The kinds of joins by what bounds their state.
pub enum JoinShape {
    /// Both inputs are kept.
    Regular,
    /// Rows meet only within an interval of time.
    Interval(Interval),
    /// Rows meet only within one window.
    Window(JoinedWindows),
    /// `FOR SYSTEM_TIME AS OF`.
    AsOf,
}

/// The bounds of an interval join: `left.time BETWEEN right.time + lower AND right.time + upper`, and
/// what of the condition is left beside them.
pub struct Interval {
    /// The time column of the left input.
    pub left_time: usize,
    /// The time column of the right input.
    pub right_time: usize,
    /// Whether both are event time.
    pub is_rowtime: bool,
    /// In milliseconds.
    pub lower: i64,
    /// In milliseconds.
    pub upper: i64,
    /// The equalities of other columns.
    pub equal: Vec<EquiPair>,
    /// What else must be TRUE.
    pub residual: Option<Expr>,
}

/// The windows of a window join, and the equalities of other columns.
pub struct JoinedWindows {
    /// The window columns of the left input.
    pub left: WindowColumns,
    /// Those of the right input.
    pub right: WindowColumns,
    /// Whether the windows' time is a TIMESTAMP_LTZ.
    pub is_ltz: bool,
    /// The other equalities.
    pub equal: Vec<EquiPair>,
}

/// What kind of join this is; its inputs' time attributes are settled.
///
/// Fails where Flink refuses: windows of processing time cannot be joined.
pub fn shape(plan: &LogicalPlan, join: &Join, settings: &SessionSettings) -> Result<JoinShape> {
    if join.as_of.is_some() {
        return Ok(JoinShape::AsOf);
    }
    if settings.batch {
        return Ok(JoinShape::Regular);
    }
    if let Some(windows) = windows(plan, join)? {
        return Ok(JoinShape::Window(windows));
    }
    if matches!(join.kind, JoinKind::Semi | JoinKind::Anti) {
        return Ok(JoinShape::Regular);
    }
    let (left, right) = (&plan.inputs[0].schema, &plan.inputs[1].schema);
    Ok(interval(join, left, right, settings)?.map_or(JoinShape::Regular, JoinShape::Interval))
}

/// Equal bounds of equal windows make a window join.
fn windows(plan: &LogicalPlan, join: &Join) -> Result<Option<JoinedWindows>> {
    let Some((left, right)) = equal_windows(plan, join) else { return Ok(None) };
    let Some(window) = window_assignment(&plan.inputs[0]) else { return Ok(None) };
    if !window.is_rowtime {
        return Err(PlanError::new("Processing time Window Join is not supported yet.")
            .hint("join windows over a column with a WATERMARK"));
    }
    let is_bound = |pair: &EquiPair| {
        is_pair_of(pair, left.start, right.start) || is_pair_of(pair, left.end, right.end)
    };
    let equal = join.equal.iter().filter(|pair| !is_bound(pair)).cloned().collect();
    Ok(Some(JoinedWindows { left, right, is_ltz: window.is_ltz, equal }))
}

/// A comparison of a time attribute of the left input with one of the right input.
struct TimeBound {
    left_time: usize,
    right_time: usize,
    is_rowtime: bool,
    side: BoundSide,
    /// In milliseconds.
    offset: i64,
}

#[derive(Clone, Copy, PartialEq)]
enum BoundSide {
    Lower,
    Upper,
    Both,
}

/// An interval join has a lower and an upper bound between two time attributes of one kind, or
/// compares them by `=`; with more bounds Flink does not take it for one.
fn interval(
    join: &Join,
    left: &Schema,
    right: &Schema,
    settings: &SessionSettings,
) -> Result<Option<Interval>> {
    let split = left.len();
    let both = Schema::new(left.fields.iter().chain(&right.fields).cloned().collect());
    let mut bounds = Vec::new();
    let mut rest = Vec::new();
    let conjuncts = join.residual.clone().map(Expr::conjuncts).unwrap_or_default();
    for conjunct in conjuncts.into_iter().flat_map(comparisons) {
        match time_bound(&conjunct, &both, split, settings)? {
            Some(bound) => bounds.push(bound),
            None => rest.push(conjunct),
        }
    }
    let mut equal = Vec::new();
    for pair in &join.equal {
        let shifted = pair.right.clone().map_columns(&|column| column + split);
        let condition = Expr::builtin("=", vec![pair.left.clone(), shifted]);
        let bound = match condition {
            Ok(condition) if !pair.null_safe => time_bound(&condition, &both, split, settings)?,
            _ => None,
        };
        match bound {
            Some(bound) => bounds.push(bound),
            None => equal.push(pair.clone()),
        }
    }
    let (lower, upper) = match bounds.as_slice() {
        [one] if one.side == BoundSide::Both => (one, one),
        [a, b] if a.side == BoundSide::Lower && b.side == BoundSide::Upper => (a, b),
        [a, b] if a.side == BoundSide::Upper && b.side == BoundSide::Lower => (b, a),
        _ => return Ok(None),
    };
    let same = |a: &TimeBound, b: &TimeBound| {
        a.left_time == b.left_time && a.right_time == b.right_time && a.is_rowtime == b.is_rowtime
    };
    if !same(lower, upper) {
        return Ok(None);
    }
    Ok(Some(Interval {
        left_time: lower.left_time,
        right_time: lower.right_time,
        is_rowtime: lower.is_rowtime,
        lower: lower.offset,
        upper: upper.offset,
        equal,
        residual: (!rest.is_empty()).then(|| Expr::conjunction(rest)),
    }))
}

/// BETWEEN as its two comparisons; anything else as it is.
fn comparisons(condition: Expr) -> Vec<Expr> {
    if let Expr::Call { function, args, .. } = &condition
        && function.name == "BETWEEN"
        && let [value, low, high] = args.as_slice()
        && let Ok(above) = Expr::builtin(">=", vec![value.clone(), low.clone()])
        && let Ok(below) = Expr::builtin("<=", vec![value.clone(), high.clone()])
    {
        return vec![above, below];
    }
    vec![condition]
}

/// The bound that a comparison sets, if each of its sides is a time attribute of another input with
/// something constant added.
fn time_bound(
    condition: &Expr,
    both: &Schema,
    split: usize,
    settings: &SessionSettings,
) -> Result<Option<TimeBound>> {
    let Expr::Call { function, args, .. } = condition else { return Ok(None) };
    let (less, strict) = match function.name {
        "<" => (Some(true), true),
        "<=" => (Some(true), false),
        ">" => (Some(false), true),
        ">=" => (Some(false), false),
        "=" => (None, false),
        _ => return Ok(None),
    };
    let [a, b] = args.as_slice() else { return Ok(None) };
    let (Some(of_a), Some(of_b)) = (only_time(a, both), only_time(b, both)) else {
        return Ok(None);
    };
    let Some(attribute) = time::common(&both.fields[of_a], &both.fields[of_b]) else {
        return Ok(None);
    };
    if (of_a < split) == (of_b < split) {
        return Ok(None);
    }
    let (Some(offset_a), Some(offset_b)) = (offset(a, settings), offset(b, settings)) else {
        return Ok(None);
    };
    // left + l < right + r is left < right + (r - l).
    let a_is_left = of_a < split;
    let (left_time, right_time, less, offset) = if a_is_left {
        (of_a, of_b - split, less, offset_b.saturating_sub(offset_a))
    } else {
        (of_b, of_a - split, less.map(|less| !less), offset_a.saturating_sub(offset_b))
    };
    let (side, offset) = match less {
        None => (BoundSide::Both, offset),
        Some(true) => (BoundSide::Upper, offset - i64::from(strict)),
        Some(false) => (BoundSide::Lower, offset + i64::from(strict)),
    };
    let is_rowtime = attribute == TimeAttribute::Rowtime;
    Ok(Some(TimeBound { left_time, right_time, is_rowtime, side, offset }))
}

/// The time attribute in an expression that reads nothing else, and it once.
fn only_time(expr: &Expr, schema: &Schema) -> Option<usize> {
    let mut reads = Vec::new();
    expr.visit(&mut |node| {
        if let Expr::Column { index, .. } = node {
            reads.push(*index);
        }
    });
    match reads.as_slice() {
        [only] => schema.fields[*only].time.map(|_| *only),
        _ => None,
    }
}

/// What an expression adds to its time attribute, in milliseconds: its value at the epoch, as in
/// Flink, so that a month counts 31 days.
fn offset(expr: &Expr, settings: &SessionSettings) -> Option<i64> {
    let at_epoch = expr.clone().transform(&mut |node| match node {
        Expr::Column { data_type, .. } => Expr::literal(Value::Timestamp(0), data_type),
        other => other,
    });
    if !matches!(at_epoch.data_type().root, TypeRoot::Timestamp(_) | TypeRoot::TimestampLtz(_)) {
        return None;
    }
    let value = Evaluator::new(&at_epoch, settings).ok()?.evaluate_constant(0).ok()?;
    match value {
        Value::Timestamp(nanos) => i64::try_from(nanos.div_euclid(1_000_000)).ok(),
        _ => None,
    }
}
