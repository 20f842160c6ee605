//! Expressions and functions: how calls are typed, compiled once per query, and evaluated over Arrow
//! arrays. Scalar functions live one family a file in [`scalar`], aggregates in [`aggregate`], table functions
//! in [`table`], casts in [`cast`].
//!
//! A function is one entry in the table of its family; adding one touches that file only.
//!
//! This crate knows neither SQL text nor plans: `flott-plan` binds syntax to [`Expr`].

pub mod aggregate;
pub mod cast;
pub mod coercion;
mod column;
mod context;
pub mod decimal;
mod error;
mod evaluator;
mod expr;
mod function;
pub mod loops;
pub mod read;
mod record_times;
pub mod reference;
mod registry;
pub mod scalar;
mod shared;
pub mod table;
pub mod zone;

pub use column::Column;
pub use context::{EvalContext, Now, SessionSettings, Watermarks};
pub use error::{EvalError, SignatureError};
pub use evaluator::Evaluator;
pub use expr::{CastMode, Expr};
pub use function::{
    Arg, CallArgs, Compile, Example, FunctionDoc, Kernel, Resolved, ScalarFunction, Volatility,
    kernel, total_kernel,
};
pub use record_times::RecordTimes;
pub use registry::{aggregate_function, aggregate_functions, scalar_function, scalar_functions};
pub use shared::SharedParts;
