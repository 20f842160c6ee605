//! How the planner looks names up.

use std::sync::Arc;

use crate::connector::Registry;
use crate::{ObjectPath, TableLike, TemporalFunction};

/// Read access to the catalogs of a session.
pub trait CatalogReader {
    /// The full path of a name of one to three parts: the current catalog and database fill in
    /// what is missing.
    fn qualify(&self, name: &[&str]) -> ObjectPath;

    /// The table or view of a path; a temporary object hides a permanent one.
    fn find(&self, path: &ObjectPath) -> Option<TableLike>;

    /// The class of a user-defined function of this path.
    fn find_function(&self, path: &ObjectPath) -> Option<&str>;

    /// The temporal table function of this name.
    fn temporal_function(&self, _name: &str) -> Option<&TemporalFunction> {
        None
    }

    /// All connectors and formats.
    fn registry(&self) -> Arc<Registry>;
}
