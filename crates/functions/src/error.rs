//! Errors of typing and of evaluation.

use flott_types::DataType;

/// A call that the type rules refuse; found while planning.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// No form of the function takes these arguments.
    #[error("no match found for function signature {name}({})", list(arguments))]
    NoMatch {
        /// The function.
        name: String,
        /// The types of the arguments.
        arguments: Vec<DataType>,
        /// The forms it has, as its documentation writes them.
        expected: Vec<&'static str>,
    },
    /// An argument that must be known while planning is not, or is wrong.
    #[error("invalid argument {position} of {name}: {reason}")]
    Argument {
        /// The function.
        name: String,
        /// From 1.
        position: usize,
        /// A short fact.
        reason: String,
    },
    /// A cast between these types does not exist.
    #[error("cast function cannot convert value of type {from} to type {to}")]
    Cast {
        /// The type of the value.
        from: DataType,
        /// The type wanted.
        to: DataType,
    },
    /// Types that have nothing in common, where a common type is needed.
    #[error("cannot find a common type of {}", list(types))]
    NoCommonType {
        /// The types.
        types: Vec<DataType>,
    },
    /// An untyped NULL where its type would matter.
    #[error("Illegal use of 'NULL'\nhint: CAST(NULL AS …) gives a NULL of a type")]
    UntypedNull,
    /// Any other rule, said whole.
    #[error("{0}")]
    Other(String),
}

fn list(types: &[DataType]) -> String {
    types.iter().map(DataType::summary).collect::<Vec<_>>().join(", ")
}

/// A value that a function cannot be computed for; ends the job, as in Flink.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EvalError {
    /// A text that is not a value of the type it is cast to.
    #[error("cannot cast '{text}' to {to}: {reason}\nhint: TRY_CAST gives NULL instead")]
    Cast {
        /// The text.
        text: String,
        /// The type wanted.
        to: DataType,
        /// What is wrong with it.
        reason: String,
    },
    /// An exact division by zero.
    #[error("division by zero\nhint: write NULLIF(divisor, 0) to get NULL instead")]
    DivisionByZero,
    /// An argument outside of what the function takes.
    #[error("{function}: {reason}")]
    Argument {
        /// The function.
        function: &'static str,
        /// A short fact.
        reason: String,
    },
    /// A kernel of the Arrow library failed.
    #[error("{0}")]
    Arrow(String),
    /// Flott broke a rule of its own.
    #[error("internal error: {0}")]
    Internal(String),
}

impl From<arrow::error::ArrowError> for EvalError {
    fn from(error: arrow::error::ArrowError) -> Self {
        Self::Arrow(error.to_string())
    }
}

impl From<flott_types::ValueError> for EvalError {
    fn from(error: flott_types::ValueError) -> Self {
        Self::Internal(error.to_string())
    }
}
