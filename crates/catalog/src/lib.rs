//! Catalogs, databases, tables, views and functions by name; connectors and formats as data.
//!
//! This crate holds no connector of its own and plans nothing.

pub mod connector;
mod error;
mod external;
mod manager;
mod path;
mod reader;
pub mod show;
mod table;
mod temporal;

pub use error::CatalogError;
pub use external::{CatalogDef, CatalogFactory, ExternalCatalog};
pub use manager::{Catalog, CatalogManager, Database};
pub use path::ObjectPath;
pub use reader::CatalogReader;
pub use table::{
    Column, ColumnKind, Definition, PrimaryKey, Table, TableLike, View, WatermarkSpec,
};
pub use temporal::TemporalFunction;
