//! How the planner looks names up.

use std::sync::Arc;

use crate::connector::Registry;
use crate::{CatalogError, ObjectPath, TableLike, TemporalFunction};

/// Read access to the catalogs of a session.
pub trait CatalogReader {
    /// The full path of a name of one to three parts: the current catalog and database fill in
    /// what is missing.
    fn qualify(&self, name: &[&str]) -> ObjectPath;

    /// The table or view of a path; a temporary object hides a permanent one. Fails when a catalog
    /// that is kept elsewhere cannot be asked.
    fn find(&self, path: &ObjectPath) -> Result<Option<TableLike>, CatalogError>;

    /// The class of a user-defined function of this path.
    fn find_function(&self, path: &ObjectPath) -> Option<&str>;

    /// The temporal table function of this name.
    fn temporal_function(&self, _name: &str) -> Option<&TemporalFunction> {
        None
    }

    /// All connectors and formats.
    fn registry(&self) -> Arc<Registry>;
}
