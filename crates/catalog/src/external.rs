//! Catalogs whose tables are kept elsewhere, such as in a database.

use std::fmt;
use std::sync::Arc;

use crate::Table;
use crate::connector::{ConnectorError, OptionDef, Options};

/// A catalog that is asked for what it holds whenever a name is looked up. It can be read only: what it
/// holds is made and changed where it is kept.
pub trait ExternalCatalog: Send + Sync {
    /// The database that is current after USE CATALOG.
    fn default_database(&self) -> &str;

    /// The names of its databases, sorted.
    fn databases(&self) -> Result<Vec<String>, ConnectorError>;

    /// The names of the tables of a database, sorted.
    fn tables(&self, database: &str) -> Result<Vec<String>, ConnectorError>;

    /// A table, with the options by which its connector finds it; `None` when there is none of that name.
    fn table(&self, database: &str, name: &str) -> Result<Option<Table>, ConnectorError>;
}

/// A type of catalog: its options and what makes one.
pub struct CatalogDef {
    /// The identifier, as in `'type' = 'jdbc'`.
    pub name: &'static str,
    /// One line for the reference page.
    pub help: &'static str,
    /// Its options.
    pub options: &'static [OptionDef],
    /// Checks the options and opens a catalog.
    pub open: CatalogFactory,
}

/// Opens a catalog.
pub type CatalogFactory = fn(&Options) -> Result<Arc<dyn ExternalCatalog>, ConnectorError>;

impl fmt::Debug for dyn ExternalCatalog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ExternalCatalog")
    }
}
