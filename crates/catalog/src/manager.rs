//! The catalogs of a session.

use std::collections::BTreeMap;
use std::sync::Arc;

use indexmap::IndexMap;

use crate::connector::{Options, Registry};
use crate::{CatalogReader, ObjectPath, TableLike};

/// `table.builtin-catalog-name`
const BUILTIN_CATALOG: &str = "default_catalog";
/// `table.builtin-database-name`
const BUILTIN_DATABASE: &str = "default_database";

/// All catalogs, temporary objects, and which catalog and database are current.
pub struct CatalogManager {
    catalogs: IndexMap<String, Catalog>,
    temporary: BTreeMap<ObjectPath, TableLike>,
    current_catalog: String,
    current_database: String,
    registry: Arc<Registry>,
}

/// A catalog in memory.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    /// Its databases by name.
    pub databases: BTreeMap<String, Database>,
    /// The options it was created with.
    pub options: Options,
    /// Its comment.
    pub comment: Option<String>,
}

/// A database.
#[derive(Debug, Clone, Default)]
pub struct Database {
    /// Its tables and views by name.
    pub objects: BTreeMap<String, TableLike>,
    /// The options it was created with.
    pub options: Options,
    /// Its comment.
    pub comment: Option<String>,
}

impl CatalogManager {
    /// The catalogs of a new session: `default_catalog` with `default_database`.
    pub fn new(registry: Arc<Registry>) -> Self {
        let mut catalog = Catalog::default();
        catalog.databases.insert(BUILTIN_DATABASE.to_string(), Database::default());
        Self {
            catalogs: IndexMap::from([(BUILTIN_CATALOG.to_string(), catalog)]),
            temporary: BTreeMap::new(),
            current_catalog: BUILTIN_CATALOG.to_string(),
            current_database: BUILTIN_DATABASE.to_string(),
            registry,
        }
    }

    /// The current catalog's name.
    pub fn current_catalog(&self) -> &str {
        &self.current_catalog
    }

    /// The current database's name.
    pub fn current_database(&self) -> &str {
        &self.current_database
    }
}

impl CatalogReader for CatalogManager {
    fn qualify(&self, name: &[&str]) -> ObjectPath {
        match name {
            [catalog, database, object] => ObjectPath::new(*catalog, *database, *object),
            [database, object] => ObjectPath::new(&self.current_catalog, *database, *object),
            _ => ObjectPath::new(
                &self.current_catalog,
                &self.current_database,
                name.last().copied().unwrap_or_default(),
            ),
        }
    }

    fn find(&self, path: &ObjectPath) -> Option<TableLike> {
        if let Some(object) = self.temporary.get(path) {
            return Some(object.clone());
        }
        let database = self.catalogs.get(&path.catalog)?.databases.get(&path.database)?;
        database.objects.get(&path.object).cloned()
    }

    fn registry(&self) -> Arc<Registry> {
        self.registry.clone()
    }
}
