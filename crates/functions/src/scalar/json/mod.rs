//! SQL/JSON functions.
//!
//! [`text`] reads and writes JSON texts, [`path`] follows paths into them; the rest are the functions.

mod construct;
mod encode;
mod exists;
mod is_json;
mod lookup;
mod members;
mod object;
mod path;
mod query;
mod quote;
pub(super) mod text;
mod value;

pub use construct::FUNCTIONS as CONSTRUCT;
pub(crate) use encode::Encoder;
pub use exists::FUNCTIONS as EXISTS;
pub use is_json::FUNCTIONS as IS_JSON;
pub(crate) use members::mark_json;
pub use query::FUNCTIONS as QUERY;
pub use quote::FUNCTIONS as QUOTE;
pub use value::FUNCTIONS as VALUE;
