//! What catalogs refuse, in Flink's words.

use crate::ObjectPath;
use crate::connector::ConnectorError;

/// A change of a catalog that cannot be made, or a name that is not there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // The messages say it.
pub enum CatalogError {
    #[error("A catalog with name [{0}] does not exist.")]
    NoCatalog(String),
    #[error("Catalog {0} already exists.")]
    CatalogExists(String),
    #[error(
        "Cannot drop a catalog which is currently in use.\nhint: USE CATALOG another one first"
    )]
    CatalogInUse(String),
    #[error(
        "Could not find any factory for identifier '{name}' that implements a catalog.\n\
         hint: available: {known}"
    )]
    CatalogType { name: String, known: String },
    #[error("{0}")]
    External(ConnectorError),
    #[error(
        "catalog {0} is read only.\n\
         hint: change its tables where they are kept; CREATE TEMPORARY TABLE makes one for the session"
    )]
    ReadOnly(String),
    #[error("A database with name [{database}] does not exist in the catalog: [{catalog}].")]
    NoDatabase { catalog: String, database: String },
    #[error("Database {database} already exists in Catalog {catalog}.")]
    DatabaseExists { catalog: String, database: String },
    #[error(
        "Database {database} in catalog {catalog} is not empty.\n\
         hint: DROP DATABASE … CASCADE drops what it holds, too"
    )]
    DatabaseNotEmpty { catalog: String, database: String },
    #[error("Cannot drop a database which is currently in use.\nhint: USE another one first")]
    DatabaseInUse(String),
    #[error("Table (or view) {} already exists in Catalog {}.", name(.0), .0.catalog)]
    ObjectExists(ObjectPath),
    #[error("Temporary table '{}' already exists", .0.quoted())]
    TemporaryExists(ObjectPath),
    #[error("{kind} with identifier '{path}' does not exist.")]
    NoObject { kind: &'static str, path: ObjectPath },
    #[error("Table {} doesn't exist or is a temporary table.", .0.quoted())]
    NotAlterable(ObjectPath),
    #[error(
        "Temporary {kind} with identifier '{}' exists. Drop it first before removing the permanent \
         {kind}.",
        .path.quoted()
    )]
    TemporaryHides { kind: &'static str, path: ObjectPath },
}

fn name(path: &ObjectPath) -> String {
    format!("{}.{}", path.database, path.object)
}
