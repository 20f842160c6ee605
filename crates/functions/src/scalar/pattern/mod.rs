//! LIKE, SIMILAR TO and regular expressions in Java's syntax.

mod java;
mod like;
mod like_functions;
mod patterns;
mod regexp;
mod regexp_functions;
mod similar;

pub use like_functions::FUNCTIONS as LIKE;
pub use regexp_functions::FUNCTIONS as REGEXP;

pub(super) use java::PatternError;
pub(super) use patterns::Patterns;
pub(super) use regexp::Regexp;
