//! SHOW.

use flott_catalog::show::{create_table, create_view, is_like, quote};
use flott_catalog::{CatalogReader, TableLike};
use flott_plan::PlanError;
use flott_sql::ast::{ObjectName, Show, ShowKind, ShowPattern};

use super::{connectors, texts};
use crate::{Error, Table, TableEnvironment};

impl TableEnvironment {
    pub(super) fn show(&self, show: &Show) -> Result<Table, Error> {
        let pattern = show.pattern.as_ref();
        let list = |column: &str, names: Vec<String>| {
            let rows = names.into_iter().filter(|name| fits(name, pattern));
            texts(&[column], rows.map(|name| vec![Some(name)]).collect())
        };
        let one = |column: &str, text: String| texts(&[column], vec![vec![Some(text)]]);
        let owned = |names: Vec<&str>| names.into_iter().map(str::to_string).collect();
        Ok(match &show.kind {
            ShowKind::Catalogs => list("catalog name", owned(self.catalogs.catalogs())),
            ShowKind::CurrentCatalog => {
                one("current catalog name", self.catalogs.current_catalog().to_string())
            }
            ShowKind::CurrentDatabase => {
                one("current database name", self.catalogs.current_database().to_string())
            }
            ShowKind::Databases => {
                let catalog = match &show.within {
                    Some(name) => last(name),
                    None => self.catalogs.current_catalog(),
                };
                list("database name", self.catalogs.databases(catalog)?)
            }
            ShowKind::Tables => list("table name", self.objects(show, true)?),
            ShowKind::Views => list("view name", self.objects(show, false)?),
            ShowKind::CreateCatalog(name) => {
                let catalog = self.catalogs.catalog(&name.value)?;
                let options: Vec<String> = catalog
                    .options
                    .iter()
                    .map(|(key, value)| format!("  '{key}' = '{value}'"))
                    .collect();
                let comment = catalog.comment.iter().map(|c| format!("COMMENT '{c}'\n"));
                one(
                    "result",
                    format!(
                        "CREATE CATALOG {}\n{}WITH (\n{}\n)\n",
                        quote(&name.value),
                        comment.collect::<String>(),
                        options.join(",\n")
                    ),
                )
            }
            ShowKind::CreateTable(name) => one("result", self.show_create_table(name)?),
            ShowKind::CreateView(name) => one("result", self.show_create_view(name)?),
            ShowKind::Columns => self.show_columns(show)?,
            ShowKind::Partitions(name, _) => self.show_partitions(name)?,
            ShowKind::Functions { user: true } => {
                list("function name", owned(self.catalogs.function_names().collect()))
            }
            ShowKind::Functions { user: false } => {
                let mut names = functions();
                names.extend(self.catalogs.function_names().map(str::to_string));
                list("function name", names)
            }
            ShowKind::Modules { full: false } => list("module name", vec!["core".to_string()]),
            ShowKind::Modules { full: true } => {
                let row = vec![Some("core".to_string()), Some("TRUE".to_string())];
                texts(&["module name", "used"], vec![row])
            }
            ShowKind::Connectors => connectors::connectors(self.registry(), pattern),
            ShowKind::Formats => connectors::formats(self.registry(), pattern),
            ShowKind::Jars => list("jars", Vec::new()),
            ShowKind::Models => list("model name", Vec::new()),
            ShowKind::MaterializedTables => list("table name", Vec::new()),
            _ => return Err(PlanError::new("this SHOW has nothing to show here").into()),
        })
    }

    /// The names of views, and of tables if they are wanted, too.
    fn objects(&self, show: &Show, tables: bool) -> Result<Vec<String>, Error> {
        let (catalog, database) = match &show.within {
            Some(name) => self.database_path(name)?,
            None => (
                self.catalogs.current_catalog().to_string(),
                self.catalogs.current_database().to_string(),
            ),
        };
        let names = self.catalogs.object_names(&catalog, &database)?;
        let mut shown = Vec::new();
        for name in names {
            let path = flott_catalog::ObjectPath::new(&catalog, &database, &name);
            // Of what is kept elsewhere only tables are listed, which need not be asked for one by one.
            let is_elsewhere = self.catalogs.catalog(&catalog)?.external.is_some();
            let fits = match is_elsewhere && !self.catalogs.is_temporary(&path) {
                true => tables,
                false => self.catalogs.find(&path)?.is_some_and(|object| match object {
                    TableLike::Table(_) => tables,
                    TableLike::View(_) => true,
                }),
            };
            if fits {
                shown.push(name);
            }
        }
        Ok(shown)
    }

    fn show_create_table(&self, name: &ObjectName) -> Result<String, Error> {
        let path = self.path(name);
        let error = |message: String| Err(PlanError::new(message).at(name.span).into());
        match self.catalogs.find(&path)? {
            Some(TableLike::Table(table)) => {
                Ok(create_table(&path, &table, self.catalogs.is_temporary(&path)))
            }
            Some(TableLike::View(_)) => error(format!(
                "SHOW CREATE TABLE is only supported for tables, but {} is a view. Please use \
                 SHOW CREATE VIEW instead.",
                path.quoted()
            )),
            None => error(format!(
                "Could not execute SHOW CREATE TABLE. Table with identifier {} does not exist.",
                path.quoted()
            )),
        }
    }

    fn show_create_view(&self, name: &ObjectName) -> Result<String, Error> {
        let path = self.path(name);
        let error = |message: String| Err(PlanError::new(message).at(name.span).into());
        match self.catalogs.find(&path)? {
            Some(TableLike::View(view)) => {
                Ok(create_view(&path, &view, self.catalogs.is_temporary(&path)))
            }
            Some(TableLike::Table(_)) => error(format!(
                "SHOW CREATE VIEW is only supported for views, but {} is a table. Please use SHOW \
                 CREATE TABLE instead.",
                path.quoted()
            )),
            None => error(format!(
                "Could not execute SHOW CREATE VIEW. View with identifier {} does not exist.",
                path.quoted()
            )),
        }
    }

    fn show_partitions(&self, name: &ObjectName) -> Result<Table, Error> {
        let path = self.path(name);
        match self.catalogs.find(&path)? {
            Some(TableLike::Table(table)) if !table.partition_keys.is_empty() => {
                Ok(texts(&["partition name"], Vec::new()))
            }
            _ => Err(PlanError::new(format!(
                "Table {}.{} in catalog {} is not partitioned.",
                path.database, path.object, path.catalog
            ))
            .at(name.span)
            .into()),
        }
    }
}

/// Whether a name fits the LIKE of a SHOW.
pub(super) fn fits(name: &str, pattern: Option<&ShowPattern>) -> bool {
    pattern.is_none_or(|pattern| {
        is_like(name, &pattern.pattern.value, pattern.ignore_case) != pattern.negated
    })
}

fn last(name: &ObjectName) -> &str {
    name.parts.last().map_or("", |part| part.value.as_str())
}

/// The built-in functions by the names that SQL knows them by, operators aside. (Flink lists the
/// internal names of the Table API here.)
fn functions() -> Vec<String> {
    let scalar = flott_functions::scalar_functions()
        .flat_map(|function| [function.name].into_iter().chain(function.aliases.iter().copied()));
    let aggregate = flott_functions::aggregate_functions()
        .flat_map(|function| [function.name].into_iter().chain(function.aliases.iter().copied()));
    let special = flott_functions::scalar::special::FORMS.iter().map(|form| form.name);
    let is_name = |name: &&str| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let mut names: Vec<String> =
        scalar.chain(aggregate).chain(special).filter(is_name).map(str::to_string).collect();
    names.sort_unstable();
    names.dedup();
    names
}
