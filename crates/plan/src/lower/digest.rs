//! A text that two operators share only if they do the same to the same inputs.

use std::fmt::Write;

use flott_functions::Expr;
use flott_types::DataType;

use crate::physical::{ColumnAggregate, PhysicalInput, PhysicalOp, WindowFunction};

/// The digest of an operator; `None` for those that never merge.
pub fn of(op: &PhysicalOp, inputs: &[PhysicalInput]) -> Option<String> {
    let mut out = String::new();
    let list = |exprs: &[Expr]| {
        // Two columns of one position and different types are different expressions.
        exprs.iter().map(|e| format!("{e}:{}", e.data_type())).collect::<Vec<_>>().join(", ")
    };
    match op {
        PhysicalOp::Source(scan) => {
            write!(out, "source {} {:?}", scan.identity, scan.columns).ok()?;
            write!(out, " {:?} {:?} {:?}", scan.watermark, scan.idle_timeout, scan.limit).ok()?;
            write!(out, " {:?} {:?}", scan.filters, scan.predicates).ok()?;
        }
        PhysicalOp::Match(pattern) => write!(out, "match {}", pattern.digest()).ok()?,
        PhysicalOp::Calc(calc) => {
            let volatile = calc.projection.iter().chain(&calc.condition);
            if volatile.clone().any(|e| e.volatility() == flott_functions::Volatility::Volatile) {
                return None;
            }
            write!(out, "calc {:?} [{}]", calc.condition, list(&calc.projection)).ok()?;
        }
        PhysicalOp::GroupAggregate(aggregate) => {
            write!(out, "group {:?} {}", aggregate.keys, calls(&aggregate.calls)).ok()?;
            write!(out, " {}", aggregate.state_ttl).ok()?;
            write!(out, " {:?} {:?}", aggregate.phase, aggregate.split).ok()?;
        }
        PhysicalOp::LocalGroupAggregate(aggregate) => {
            write!(out, "local group {:?} {}", aggregate.keys, calls(&aggregate.calls)).ok()?;
            write!(out, " {:?}", aggregate.split).ok()?;
        }
        PhysicalOp::WindowAggregate(aggregate) => {
            write!(out, "window {:?} {:?}", aggregate.window, aggregate.keys).ok()?;
            write!(out, " {:?} {}", aggregate.outputs, calls(&aggregate.calls)).ok()?;
            write!(out, " {:?}", aggregate.group_window).ok()?;
        }
        PhysicalOp::WindowAssign(window) => write!(out, "assign {window:?}").ok()?,
        PhysicalOp::Join(join) => {
            write!(out, "join {:?} {:?} {:?}", join.kind, join.left_keys, join.right_keys).ok()?;
            write!(out, " {:?} {:?}", join.null_safe, join.residual).ok()?;
            write!(out, " {:?}", join.state_ttl).ok()?;
        }
        PhysicalOp::IntervalJoin(join) => {
            write!(out, "interval {:?} {:?}", join.kind, join.left_keys).ok()?;
            write!(out, " {:?} {:?}", join.right_keys, join.null_safe).ok()?;
            write!(out, " {:?} {} {}", join.residual, join.left_time, join.right_time).ok()?;
            write!(out, " {} {} {}", join.is_rowtime, join.lower, join.upper).ok()?;
        }
        PhysicalOp::WindowJoin(join) => {
            write!(out, "window join {:?} {:?}", join.kind, join.left_keys).ok()?;
            write!(out, " {:?} {:?}", join.right_keys, join.null_safe).ok()?;
            write!(out, " {:?} {:?}", join.residual, join.left_window).ok()?;
            write!(out, " {:?} {}", join.right_window, join.is_ltz).ok()?;
        }
        PhysicalOp::TemporalJoin(join) => {
            write!(out, "temporal {:?} {:?}", join.kind, join.left_keys).ok()?;
            write!(out, " {:?} {:?}", join.right_keys, join.null_safe).ok()?;
            write!(out, " {:?} {:?}", join.residual, join.times).ok()?;
        }
        PhysicalOp::Correlate(correlate) => {
            let (function, kind) = (correlate.function.name, correlate.kind);
            write!(out, "correlate {kind:?} {function} {:?}", correlate.symbols).ok()?;
            write!(out, " [{}]", list(&correlate.args)).ok()?;
            write!(out, " {:?} {:?}", correlate.passed, correlate.given).ok()?;
            write!(out, " {:?}", correlate.condition).ok()?;
        }
        PhysicalOp::Rank(rank) => write!(out, "{rank:?}").ok()?,
        PhysicalOp::Deduplicate(deduplicate) => write!(out, "{deduplicate:?}").ok()?,
        PhysicalOp::WindowRank(rank) => write!(out, "{rank:?}").ok()?,
        PhysicalOp::TemporalSort(sort) => write!(out, "{sort:?}").ok()?,
        PhysicalOp::Over(over) => {
            write!(out, "over {:?} {:?} {:?}", over.partition, over.order, over.frame).ok()?;
            write!(out, " {:?}", over.mode).ok()?;
            for function in &over.functions {
                match function {
                    WindowFunction::Aggregate(call) => {
                        write!(out, " {}", calls(std::slice::from_ref(call))).ok()?;
                    }
                    WindowFunction::Offset(offset) => write!(out, " {offset:?}").ok()?,
                    WindowFunction::Ntile(buckets) => write!(out, " NTILE {buckets:?}").ok()?,
                    ranking => write!(out, " {}", ranking.name()).ok()?,
                }
            }
        }
        PhysicalOp::Union => out.push_str("union"),
        PhysicalOp::ChangelogNormalize { key, .. } => write!(out, "normalize {key:?}").ok()?,
        PhysicalOp::Expand(rows) => {
            let rows: Vec<_> = rows.iter().map(|row| list(row)).collect();
            write!(out, "expand {rows:?}").ok()?;
        }
        PhysicalOp::Values(_)
        | PhysicalOp::Limit { .. }
        | PhysicalOp::Sort(_)
        | PhysicalOp::DropUpdateBefore
        | PhysicalOp::LookupJoin(_)
        | PhysicalOp::SinkMaterialize(_)
        | PhysicalOp::ChangelogFunction(_)
        | PhysicalOp::Sink(_) => return None,
    }
    for input in inputs {
        write!(out, " <- {} {:?}", input.node, input.distribution).ok()?;
    }
    Some(out)
}

fn calls(calls: &[ColumnAggregate]) -> String {
    let digest = |call: &ColumnAggregate| {
        let DataType { root, nullable } = &call.data_type;
        format!(
            "{}({}{:?} {:?} {:?}) {:?} {root} {nullable}",
            call.function.name,
            if call.distinct { "DISTINCT " } else { "" },
            call.args,
            call.literals,
            call.symbols,
            call.filter,
        )
    };
    calls.iter().map(digest).collect::<Vec<_>>().join("; ")
}
