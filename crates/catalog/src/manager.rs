//! The catalogs of a session.

use std::collections::BTreeMap;
use std::sync::Arc;

use indexmap::IndexMap;

use crate::connector::{Options, Registry};
use crate::{
    CatalogError, CatalogReader, ExternalCatalog, ObjectPath, TableLike, TemporalFunction,
};

/// `table.builtin-catalog-name`
const BUILTIN_CATALOG: &str = "default_catalog";
/// `table.builtin-database-name`
const BUILTIN_DATABASE: &str = "default_database";
/// The type of catalogs kept in memory.
const IN_MEMORY: &str = "generic_in_memory";

type Result<T> = std::result::Result<T, CatalogError>;

/// All catalogs, temporary objects, and which catalog and database are current.
pub struct CatalogManager {
    catalogs: IndexMap<String, Catalog>,
    temporary: BTreeMap<ObjectPath, TableLike>,
    /// Functions of classes, which only a JVM can run: kept so that scripts pass that define them.
    functions: BTreeMap<ObjectPath, String>,
    /// By name in lower case.
    temporal_functions: BTreeMap<String, TemporalFunction>,
    current_catalog: String,
    current_database: String,
    registry: Arc<Registry>,
}

/// A catalog.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    /// What is asked for its databases, where they are not in memory.
    pub external: Option<Arc<dyn ExternalCatalog>>,
    /// Its databases in memory by name.
    pub databases: BTreeMap<String, Database>,
    /// The database that is current after USE CATALOG.
    pub default_database: String,
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
        let catalog = Catalog::with_database(BUILTIN_DATABASE.to_string());
        Self {
            catalogs: IndexMap::from([(BUILTIN_CATALOG.to_string(), catalog)]),
            temporary: BTreeMap::new(),
            functions: BTreeMap::new(),
            temporal_functions: BTreeMap::new(),
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

    /// The catalogs' names, sorted.
    pub fn catalogs(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.catalogs.keys().map(String::as_str).collect();
        names.sort_unstable();
        names
    }

    /// A catalog.
    pub fn catalog(&self, name: &str) -> Result<&Catalog> {
        self.catalogs.get(name).ok_or_else(|| CatalogError::NoCatalog(name.to_string()))
    }

    /// A catalog, to change its options or comment.
    pub fn catalog_mut(&mut self, name: &str) -> Result<&mut Catalog> {
        self.catalogs.get_mut(name).ok_or_else(|| CatalogError::NoCatalog(name.to_string()))
    }

    /// The names of a catalog's databases, sorted.
    pub fn databases(&self, catalog: &str) -> Result<Vec<String>> {
        let catalog = self.catalog(catalog)?;
        match &catalog.external {
            Some(external) => external.databases().map_err(CatalogError::External),
            None => Ok(catalog.databases.keys().cloned().collect()),
        }
    }

    /// A database; of one that is kept elsewhere only that it is there.
    pub fn database(&self, catalog: &str, database: &str) -> Result<Database> {
        let found = self.catalog(catalog)?;
        let database_of = match &found.external {
            Some(_) => {
                self.databases(catalog)?.iter().any(|name| name == database).then(Database::default)
            }
            None => found.databases.get(database).cloned(),
        };
        database_of.ok_or_else(|| no_database(catalog, database))
    }

    /// A database, to change its options.
    pub fn database_mut(&mut self, catalog: &str, database: &str) -> Result<&mut Database> {
        self.in_memory(catalog)?
            .databases
            .get_mut(database)
            .ok_or_else(|| no_database(catalog, database))
    }

    /// A catalog whose databases can be changed.
    fn in_memory(&mut self, name: &str) -> Result<&mut Catalog> {
        let catalog = self.catalog_mut(name)?;
        match catalog.external {
            Some(_) => Err(CatalogError::ReadOnly(name.to_string())),
            None => Ok(catalog),
        }
    }

    /// Makes a catalog current, and its default database.
    pub fn use_catalog(&mut self, name: &str) -> Result<()> {
        self.current_database = self.catalog(name)?.default_database.clone();
        self.current_catalog = name.to_string();
        Ok(())
    }

    /// Makes a database current, and its catalog.
    pub fn use_database(&mut self, catalog: &str, database: &str) -> Result<()> {
        self.database(catalog, database)?;
        self.current_catalog = catalog.to_string();
        self.current_database = database.to_string();
        Ok(())
    }

    /// Creates a catalog of the type its options name.
    pub fn create_catalog(
        &mut self,
        name: &str,
        options: Options,
        comment: Option<String>,
        if_not_exists: bool,
    ) -> Result<()> {
        if self.catalogs.contains_key(name) {
            return if if_not_exists {
                Ok(())
            } else {
                Err(CatalogError::CatalogExists(name.to_string()))
            };
        }
        let opened = match options.raw("type") {
            Some(IN_MEMORY) => {
                let database = options.raw("default-database").unwrap_or("default");
                Catalog::with_database(database.to_string())
            }
            other => self.open(other.unwrap_or_default(), &options)?,
        };
        self.catalogs.insert(name.to_string(), Catalog { options, comment, ..opened });
        Ok(())
    }

    /// Opens a catalog that is kept elsewhere.
    fn open(&self, catalog_type: &str, options: &Options) -> Result<Catalog> {
        let known = self.registry.catalogs();
        let Some(def) = known.iter().find(|def| def.name == catalog_type) else {
            let names = known.iter().map(|def| def.name).chain([IN_MEMORY]).collect::<Vec<_>>();
            return Err(CatalogError::CatalogType {
                name: catalog_type.to_string(),
                known: names.join(", "),
            });
        };
        options
            .validate(&format!("catalog '{catalog_type}'"), def.options)
            .map_err(CatalogError::External)?;
        let external = (def.open)(options).map_err(CatalogError::External)?;
        Ok(Catalog {
            default_database: external.default_database().to_string(),
            external: Some(external),
            ..Catalog::default()
        })
    }

    /// Drops a catalog that is not current.
    pub fn drop_catalog(&mut self, name: &str, if_exists: bool) -> Result<()> {
        if name == self.current_catalog {
            return Err(CatalogError::CatalogInUse(name.to_string()));
        }
        match self.catalogs.shift_remove(name) {
            None if !if_exists => Err(CatalogError::NoCatalog(name.to_string())),
            _ => Ok(()),
        }
    }

    /// Creates a database.
    pub fn create_database(
        &mut self,
        catalog: &str,
        name: &str,
        database: Database,
        if_not_exists: bool,
    ) -> Result<()> {
        let databases = &mut self.in_memory(catalog)?.databases;
        if databases.contains_key(name) {
            return if if_not_exists {
                Ok(())
            } else {
                Err(CatalogError::DatabaseExists {
                    catalog: catalog.to_string(),
                    database: name.to_string(),
                })
            };
        }
        databases.insert(name.to_string(), database);
        Ok(())
    }

    /// Drops a database; one that holds objects only with `cascade`.
    pub fn drop_database(
        &mut self,
        catalog: &str,
        name: &str,
        if_exists: bool,
        cascade: bool,
    ) -> Result<()> {
        let database = match self.database(catalog, name) {
            Ok(database) => database,
            Err(_) if if_exists => return Ok(()),
            Err(error) => return Err(error),
        };
        self.in_memory(catalog)?;
        if !database.objects.is_empty() && !cascade {
            return Err(CatalogError::DatabaseNotEmpty {
                catalog: catalog.to_string(),
                database: name.to_string(),
            });
        }
        if catalog == self.current_catalog && name == self.current_database {
            return Err(CatalogError::DatabaseInUse(name.to_string()));
        }
        self.catalog_mut(catalog)?.databases.remove(name);
        Ok(())
    }

    /// The names of the tables and views that a database shows, temporary ones included, sorted.
    pub fn object_names(&self, catalog: &str, database: &str) -> Result<Vec<String>> {
        let permanent: Vec<String> = match &self.catalog(catalog)?.external {
            Some(external) => {
                self.database(catalog, database)?;
                external.tables(database).map_err(CatalogError::External)?
            }
            None => self.database(catalog, database)?.objects.into_keys().collect(),
        };
        let temporary = self
            .temporary
            .keys()
            .filter(|path| path.catalog == catalog && path.database == database)
            .map(|path| path.object.clone());
        let mut names: Vec<String> = permanent.into_iter().chain(temporary).collect();
        names.sort_unstable();
        names.dedup();
        Ok(names)
    }

    /// Whether a temporary object has this name.
    pub fn is_temporary(&self, path: &ObjectPath) -> bool {
        self.temporary.contains_key(path)
    }

    /// Adds a table or view. An existing one of the same kind of lifetime is an error, or left
    /// alone with `if_not_exists`; whether the object was added.
    pub fn create(
        &mut self,
        path: &ObjectPath,
        object: TableLike,
        temporary: bool,
        if_not_exists: bool,
    ) -> Result<bool> {
        let exists = if temporary {
            self.temporary.contains_key(path)
        } else {
            self.database_mut(&path.catalog, &path.database)?.objects.contains_key(&path.object)
        };
        if exists {
            return match (if_not_exists, temporary) {
                (true, _) => Ok(false),
                (false, true) => Err(CatalogError::TemporaryExists(path.clone())),
                (false, false) => Err(CatalogError::ObjectExists(path.clone())),
            };
        }
        self.put(path, object, temporary)?;
        Ok(true)
    }

    /// Sets what a name stands for, whatever it stood for before.
    pub fn put(&mut self, path: &ObjectPath, object: TableLike, temporary: bool) -> Result<()> {
        if temporary {
            self.temporary.insert(path.clone(), object);
        } else {
            self.database_mut(&path.catalog, &path.database)?
                .objects
                .insert(path.object.clone(), object);
        }
        Ok(())
    }

    /// Drops a table or view of the kind named.
    pub fn drop(
        &mut self,
        path: &ObjectPath,
        is_view: bool,
        temporary: bool,
        if_exists: bool,
    ) -> Result<()> {
        let kind = if is_view { "View" } else { "Table" };
        let fits = |object: &TableLike| matches!(object, TableLike::View(_)) == is_view;
        if temporary {
            if self.temporary.get(path).is_some_and(fits) {
                self.temporary.remove(path);
                return Ok(());
            }
        } else {
            if self.temporary.get(path).is_some_and(fits) {
                let kind = if is_view { "view" } else { "table" };
                return Err(CatalogError::TemporaryHides { kind, path: path.clone() });
            }
            if self.permanent(path)?.as_ref().is_some_and(fits) {
                self.database_mut(&path.catalog, &path.database)?.objects.remove(&path.object);
                return Ok(());
            }
        }
        if if_exists { Ok(()) } else { Err(CatalogError::NoObject { kind, path: path.clone() }) }
    }

    /// Gives a permanent table or view another name in its database.
    pub fn rename(&mut self, path: &ObjectPath, new_name: &str) -> Result<()> {
        let target = ObjectPath { object: new_name.to_string(), ..path.clone() };
        if self.find(&target)?.is_some() {
            return Err(CatalogError::ObjectExists(target));
        }
        let objects = &mut self.database_mut(&path.catalog, &path.database)?.objects;
        match objects.remove(&path.object) {
            Some(object) => {
                objects.insert(new_name.to_string(), object);
                Ok(())
            }
            None => Err(CatalogError::NotAlterable(path.clone())),
        }
    }

    /// Notes a function of a class; whether there was none of that name.
    pub fn create_function(&mut self, path: &ObjectPath, class: String) -> bool {
        self.functions.insert(path.clone(), class).is_none()
    }

    /// Forgets a function; whether there was one.
    pub fn drop_function(&mut self, path: &ObjectPath) -> bool {
        self.functions.remove(path).is_some()
    }

    /// Registers a temporal table function for the session, in place of the one of this name in any
    /// case.
    pub fn create_temporal_function(&mut self, name: &str, function: TemporalFunction) {
        self.temporal_functions.insert(name.to_lowercase(), function);
    }

    /// Forgets a temporal table function; whether there was one.
    pub fn drop_temporal_function(&mut self, name: &str) -> bool {
        self.temporal_functions.remove(&name.to_lowercase()).is_some()
    }

    /// The names of the functions of classes, sorted.
    pub fn function_names(&self) -> impl Iterator<Item = &str> {
        self.functions.keys().map(|path| path.object.as_str())
    }

    /// The permanent table or view of a path.
    pub fn permanent(&self, path: &ObjectPath) -> Result<Option<TableLike>> {
        let Some(catalog) = self.catalogs.get(&path.catalog) else { return Ok(None) };
        if let Some(external) = &catalog.external {
            let table = external.table(&path.database, &path.object);
            let table = table.map_err(CatalogError::External)?;
            return Ok(table.map(|table| TableLike::Table(Arc::new(table))));
        }
        let database = catalog.databases.get(&path.database);
        Ok(database.and_then(|database| database.objects.get(&path.object)).cloned())
    }
}

impl Catalog {
    /// A catalog with one database, empty.
    fn with_database(name: String) -> Self {
        Self {
            databases: BTreeMap::from([(name.clone(), Database::default())]),
            default_database: name,
            ..Self::default()
        }
    }
}

fn no_database(catalog: &str, database: &str) -> CatalogError {
    CatalogError::NoDatabase { catalog: catalog.to_string(), database: database.to_string() }
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

    fn find(&self, path: &ObjectPath) -> Result<Option<TableLike>> {
        match self.temporary.get(path) {
            Some(object) => Ok(Some(object.clone())),
            None => self.permanent(path),
        }
    }

    fn find_function(&self, path: &ObjectPath) -> Option<&str> {
        self.functions.get(path).map(String::as_str)
    }

    fn temporal_function(&self, name: &str) -> Option<&TemporalFunction> {
        self.temporal_functions.get(&name.to_lowercase())
    }

    fn registry(&self) -> Arc<Registry> {
        self.registry.clone()
    }
}
