//! Conditional functions.

mod case_forms;
mod text_tests;

pub use case_forms::FUNCTIONS as CASE_FORMS;
pub use text_tests::FUNCTIONS as TEXT_TESTS;

pub(crate) use case_forms::rewrite;
