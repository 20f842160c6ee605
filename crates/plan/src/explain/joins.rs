//! Joins as one line, in Flink's form.

use std::fmt::Write;

use flott_catalog::connector::ScanColumn;
use flott_functions::Expr;
use flott_types::Schema;

use super::column_names;
use crate::logical::JoinKind;
use crate::physical::{
    IntervalJoin, LookupJoin, LookupValue, RegularJoin, TemporalJoin, WindowJoin,
};

/// The inputs and the output of a join.
pub(super) struct Around<'a> {
    pub left: &'a Schema,
    pub right: &'a Schema,
    pub output: &'a Schema,
}

/// The equalities and the residual condition.
struct Condition<'a> {
    left_keys: &'a [usize],
    right_keys: &'a [usize],
    null_safe: &'a [bool],
    residual: Option<&'a Expr>,
}

pub(super) fn regular(join: &RegularJoin, around: &Around) -> String {
    let condition = Condition {
        left_keys: &join.left_keys,
        right_keys: &join.right_keys,
        null_safe: &join.null_safe,
        residual: join.residual.as_ref(),
    };
    let ttl = match join.state_ttl {
        [left, right] if left != right => {
            format!(", stateTtl=[left={left} ms, right={right} ms]")
        }
        _ => String::new(),
    };
    let spec = |unique: &[Vec<usize>], keys: &[usize]| {
        let within = |key: &Vec<usize>| key.iter().all(|column| keys.contains(column));
        match unique {
            [] => "NoUniqueKey",
            unique if unique.iter().any(within) => "JoinKeyContainsUniqueKey",
            _ => "HasUniqueKey",
        }
    };
    let specs = format!(
        ", leftInputSpec=[{}], rightInputSpec=[{}]{ttl}",
        spec(&join.left_unique, &join.left_keys),
        spec(&join.right_unique, &join.right_keys)
    );
    around.text("Join", join.kind, "", &condition, &specs)
}

pub(super) fn interval(join: &IntervalJoin, around: &Around) -> String {
    let condition = Condition {
        left_keys: &join.left_keys,
        right_keys: &join.right_keys,
        null_safe: &join.null_safe,
        residual: join.residual.as_ref(),
    };
    let bounds = format!(
        ", windowBounds=[isRowTime={}, leftLowerBound={}, leftUpperBound={}, leftTimeIndex={}, \
         rightTimeIndex={}]",
        join.is_rowtime, join.lower, join.upper, join.left_time, join.right_time
    );
    around.text("IntervalJoin", join.kind, &bounds, &condition, "")
}

pub(super) fn window(join: &WindowJoin, around: &Around) -> String {
    let condition = Condition {
        left_keys: &join.left_keys,
        right_keys: &join.right_keys,
        null_safe: &join.null_safe,
        residual: join.residual.as_ref(),
    };
    let window = |schema: &Schema, (start, end): (usize, usize)| {
        let (start, end) = (&schema.fields[start].name, &schema.fields[end].name);
        format!("win_start=[{start}], win_end=[{end}]")
    };
    let windows = format!(
        ", leftWindow=[{}], rightWindow=[{}]",
        window(around.left, join.left_window),
        window(around.right, join.right_window)
    );
    around.text("WindowJoin", join.kind, &windows, &condition, "")
}

pub(super) fn temporal(join: &TemporalJoin, around: &Around) -> String {
    let condition = Condition {
        left_keys: &join.left_keys,
        right_keys: &join.right_keys,
        null_safe: &join.null_safe,
        residual: join.residual.as_ref(),
    };
    let times = match join.times {
        None => ", asOf=[processing time]".to_string(),
        Some((left, right)) => format!(
            ", asOf=[{}], versions=[{}]",
            around.left.fields[left].name, around.right.fields[right].name
        ),
    };
    around.text("TemporalJoin", join.kind, &times, &condition, "")
}

/// The only input is the left one; the table that is looked up is named in the line.
pub(super) fn lookup(join: &LookupJoin, input: &Schema, output: &Schema) -> String {
    let names: Vec<String> = {
        let schema = join.table.table.physical_schema();
        let name = |column: &ScanColumn| match column {
            ScanColumn::Physical(at) => schema.fields[*at].name.to_string(),
            ScanColumn::Metadata(key) => key.clone(),
        };
        join.table.columns.iter().map(name).collect()
    };
    let keys: Vec<String> = join
        .keys
        .iter()
        .map(|key| {
            let value = match &key.value {
                LookupValue::Column(column) => input.fields[*column].name.to_string(),
                LookupValue::Constant(value) => value.to_string(),
            };
            format!("{}={value}", names[key.column])
        })
        .collect();
    let mut text = format!(
        "LookupJoin(table=[{}], joinType=[{}], lookup=[{}]",
        join.table.path,
        join.kind.name(),
        keys.join(", ")
    );
    if let Some(condition) = &join.condition {
        let _ = write!(text, ", where=[{}]", condition.display(&names));
    }
    if let Some(residual) = &join.residual {
        let _ = write!(text, ", joinCondition=[{}]", residual.display(&column_names(output)));
    }
    if let Some((attempts, pause)) = join.retry {
        let _ = write!(text, ", retry=[lookup_miss, fixed_delay, {pause}ms, {attempts}]");
    }
    let _ = write!(text, ", select=[{}])", column_names(output).join(", "));
    text
}

impl Around<'_> {
    /// `detail` stands behind the kind of join, `tail` at the end.
    fn text(
        &self,
        name: &str,
        kind: JoinKind,
        detail: &str,
        condition: &Condition,
        tail: &str,
    ) -> String {
        let both: Vec<String> =
            column_names(self.left).into_iter().chain(column_names(self.right)).collect();
        let split = self.left.len();
        let keys = condition.left_keys.iter().zip(condition.right_keys).zip(condition.null_safe);
        let mut parts: Vec<String> = keys
            .map(|((l, r), null_safe)| {
                let equals = if *null_safe { "IS NOT DISTINCT FROM" } else { "=" };
                format!("{} {equals} {}", both[*l], both[split + *r])
            })
            .collect();
        parts.extend(condition.residual.map(|residual| residual.display(&both).to_string()));
        format!(
            "{name}(joinType=[{}]{detail}, where=[{}], select=[{}]{tail})",
            kind.name(),
            parts.join(" AND "),
            column_names(self.output).join(", ")
        )
    }
}
