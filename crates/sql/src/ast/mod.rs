//! The syntax tree: what was written, nothing about what it means.
//!
//! Every node carries the [`Span`] of the text it came from. Equality of nodes compares syntax
//! only: where a node stands, and whether a name was quoted, does not count.

mod ddl;
mod expr;
mod function;
mod json;
mod literal;
mod matching;
mod name;
mod query;
mod span;
mod statement;
mod table;
mod table_ref;
mod types;

pub use ddl::*;
pub use expr::*;
pub use function::*;
pub use json::*;
pub use literal::*;
pub use matching::*;
pub use name::*;
pub use query::*;
pub use span::*;
pub use statement::*;
pub use table::*;
pub use table_ref::*;
pub use types::*;
