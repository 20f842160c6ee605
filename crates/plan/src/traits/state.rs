//! What bounds the state of an operator.

use std::fmt;

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

impl fmt::Display for StateBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stateless => f.write_str("none"),
            Self::Constant => f.write_str("constant"),
            Self::Watermark => f.write_str("bounded by watermark"),
            Self::ProcessingTime => f.write_str("bounded by processing time"),
            Self::Ttl(millis) => write!(f, "bounded by TTL of {millis} ms"),
            Self::BoundedInput => f.write_str("bounded by the input"),
            Self::Unbounded { reason, cure } => write!(f, "unbounded: {reason}; {cure}"),
        }
    }
}
