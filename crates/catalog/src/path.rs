//! Names of catalog objects.

use std::fmt;

/// The full name of a table, view or function: `catalog.database.object`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectPath {
    /// The catalog.
    pub catalog: String,
    /// The database in it.
    pub database: String,
    /// The object in that.
    pub object: String,
}

impl ObjectPath {
    /// A path of its three parts.
    pub fn new(
        catalog: impl Into<String>,
        database: impl Into<String>,
        object: impl Into<String>,
    ) -> Self {
        Self { catalog: catalog.into(), database: database.into(), object: object.into() }
    }

    /// The path in back-quotes, as Flink prints it in DDL.
    pub fn quoted(&self) -> String {
        let quote = |part: &str| format!("`{}`", part.replace('`', "``"));
        format!("{}.{}.{}", quote(&self.catalog), quote(&self.database), quote(&self.object))
    }
}

impl fmt::Display for ObjectPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.catalog, self.database, self.object)
    }
}
