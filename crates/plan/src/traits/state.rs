//! What bounds the state of an operator.

use std::fmt;

use crate::physical::PhysicalPlan;
use crate::{PlanError, Result};

/// The proof that state stops growing, or the reason why it may not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StateBound {
    /// The operator keeps nothing.
    Stateless,
    /// It keeps a fixed amount.
    Constant,
    /// Rows are freed as the watermark passes.
    Watermark,
    /// Rows are freed as processing time passes.
    ProcessingTime,
    /// Rows are freed when they were not used for so many milliseconds.
    Ttl(u64),
    /// There is one entry for each value of columns whose domain does not grow.
    Domain(String),
    /// It ends with the input.
    BoundedInput,
    /// It may grow for ever.
    Unbounded {
        /// What is kept.
        reason: String,
        /// How to bound it.
        cure: String,
    },
}

impl StateBound {
    /// The bound of an operator that keeps something for ever unless a TTL or the end of its
    /// input frees it.
    pub fn keyed(ttl: u64, bounded_input: bool, reason: impl FnOnce() -> String) -> Self {
        match (ttl, bounded_input) {
            (0, true) => Self::BoundedInput,
            (0, false) => Self::Unbounded {
                reason: reason(),
                cure: "set 'table.exec.state.ttl', or aggregate by a window over event time"
                    .to_string(),
            },
            (ttl, _) => Self::Ttl(ttl),
        }
    }
}

impl StateBound {
    /// The bound of a join that keeps its left and its right rows so many milliseconds; 0: for ever.
    pub fn joined(ttl: [u64; 2], bounded_input: bool) -> Self {
        let kept = match ttl {
            [0, 0] => "all rows of both inputs",
            [0, _] => "all rows of the left input",
            [_, 0] => "all rows of the right input",
            [left, right] => return Self::Ttl(left.max(right)),
        };
        Self::keyed(0, bounded_input, || kept.to_string())
    }
}

/// Refuses a plan with operators whose state nothing bounds, and names each with its cure:
/// `table.exec.strict-state`.
pub fn check_bounded(plan: &PhysicalPlan) -> Result<()> {
    let mut named = Vec::new();
    let mut span = None;
    for (id, node) in plan.nodes.iter().enumerate() {
        let StateBound::Unbounded { reason, cure } = &node.state else { continue };
        span = span.or(node.span);
        named.push(format!("  {} keeps {reason}: {cure}", crate::explain::describe(plan, id)));
    }
    if named.is_empty() {
        return Ok(());
    }
    let error = PlanError::new(format!(
        "nothing bounds the state of {} of the plan's operators, and 'table.exec.strict-state' is \
         set:\n{}",
        named.len(),
        named.join("\n")
    ))
    .hint("declare 'attribute-domain' on the table for key columns of few values");
    Err(match span {
        Some(span) => error.at(span),
        None => error,
    })
}

impl fmt::Display for StateBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stateless => f.write_str("none"),
            Self::Constant => f.write_str("constant"),
            Self::Watermark => f.write_str("bounded by watermark"),
            Self::ProcessingTime => f.write_str("bounded by processing time"),
            Self::Ttl(millis) => write!(f, "bounded by TTL of {millis} ms"),
            Self::Domain(columns) => write!(f, "bounded by the domain of ({columns})"),
            Self::BoundedInput => f.write_str("bounded by the input"),
            Self::Unbounded { reason, cure } => write!(f, "unbounded: {reason}; {cure}"),
        }
    }
}
