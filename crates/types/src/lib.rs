//! The vocabulary every stage of Flott shares: SQL types and how they lie in Arrow memory, single values,
//! row kinds and changelog batches, schemas with time attributes, and the text forms of values.
//!
//! This crate does no I/O and evaluates nothing; expressions live in `flott-functions`.
//!
//! ```
//! use flott_types::{DataType, TypeRoot};
//!
//! let price = DataType::new(TypeRoot::Decimal { precision: 10, scale: 2 }).not_null();
//! assert_eq!(price.to_string(), "DECIMAL(10, 2) NOT NULL");
//! ```

mod batch;
mod changelog;
mod data_type;
mod layout;
mod schema;
pub mod text;
mod value;
pub mod variant;

pub use batch::{ChangelogBatch, RowKinds};
pub use changelog::{ChangelogMode, RowKind};
pub use data_type::{DataType, Family, RowField, TypeRoot};
pub use layout::{TimestampUnit, arrow_type, timestamp_unit};
pub use schema::{Field, Schema, TimeAttribute};
pub use value::{Value, ValueError};
