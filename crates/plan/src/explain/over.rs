//! OVER windows.

use flott_types::{Schema, Value};

use super::{call_text, names};
use crate::logical::{Frame, FrameBound, FrameUnit};
use crate::physical::{Operand, OverMode, OverWindow, WindowFunction};

/// The window as one line, in Flink's form.
pub(super) fn describe(over: &OverWindow, below: &Schema, fields: &[String]) -> String {
    let mut parts = Vec::new();
    if !over.partition.is_empty() {
        parts.push(format!("partitionBy=[{}]", names(below, &over.partition)));
    }
    if !over.order.is_empty() {
        let order = over.order.iter().map(|(column, descending, _)| {
            let direction = if *descending { "DESC" } else { "ASC" };
            format!("{} {direction}", below.fields[*column].name)
        });
        parts.push(format!("orderBy=[{}]", order.collect::<Vec<_>>().join(", ")));
    }
    parts.push(format!("window=[ {}]", frame(&over.frame)));
    let results = &fields[fields.len() - over.functions.len()..];
    let mut select: Vec<String> = below.fields.iter().map(|f| f.name.to_string()).collect();
    let functions = over.functions.iter().zip(results);
    select.extend(functions.map(|(function, name)| format!("{} AS {name}", call(function, below))));
    parts.push(format!("select=[{}]", select.join(", ")));
    if let Some(note) = not_in_flink(over) {
        parts.push(format!("notInFlink=[{note}]"));
    }
    format!("OverAggregate({})", parts.join(", "))
}

fn frame(frame: &Frame) -> String {
    let unit = match frame.unit {
        FrameUnit::Rows => "ROWS",
        FrameUnit::Range => "RANGE",
    };
    format!("{unit} BETWEEN {} AND {}", bound(&frame.start), bound(&frame.end))
}

fn bound(bound: &FrameBound) -> String {
    match bound {
        FrameBound::UnboundedPreceding => "UNBOUNDED PRECEDING".to_string(),
        FrameBound::Preceding(distance) => format!("{} PRECEDING", number(distance)),
        FrameBound::CurrentRow => "CURRENT ROW".to_string(),
        FrameBound::Following(distance) => format!("{} FOLLOWING", number(distance)),
        FrameBound::UnboundedFollowing => "UNBOUNDED FOLLOWING".to_string(),
    }
}

fn number(value: &Value) -> String {
    match value {
        Value::Int(number) | Value::Millis(number) => number.to_string(),
        Value::Months(months) => months.to_string(),
        Value::Decimal(digits) => digits.to_string(),
        Value::Double(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        other => format!("{other:?}"),
    }
}

fn call(function: &WindowFunction, below: &Schema) -> String {
    let operand = |operand: &Operand| match operand {
        Operand::Column(column) => below.fields[*column].name.to_string(),
        Operand::Constant(Value::String(text)) => format!("'{text}'"),
        Operand::Constant(value) => number(value),
    };
    match function {
        WindowFunction::Aggregate(call) => call_text(call, below),
        WindowFunction::Ntile(buckets) => format!("NTILE({})", operand(buckets)),
        WindowFunction::Offset(offset) => {
            let mut args = vec![below.fields[offset.value].name.to_string()];
            let is_default = offset.default == Operand::Constant(Value::Null);
            if !is_default || offset.offset != Operand::Constant(Value::Int(1)) {
                args.push(operand(&offset.offset));
            }
            if !is_default {
                args.push(operand(&offset.default));
            }
            format!("{}({})", function.name(), args.join(", "))
        }
        ranking => format!("{}()", ranking.name()),
    }
}

/// What of a window Flink fails to run.
fn not_in_flink(over: &OverWindow) -> Option<&'static str> {
    let updating = over.mode == OverMode::Updating;
    if updating && matches!(over.frame.start, FrameBound::Preceding(_)) {
        return Some("a bounded window in the order of a column");
    }
    over.functions.iter().find_map(|function| match function {
        WindowFunction::Offset(_) if updating => Some("LAG in the order of a column"),
        WindowFunction::Aggregate(call) if updating && call.distinct => {
            Some("DISTINCT in the order of a column")
        }
        _ => None,
    })
}
