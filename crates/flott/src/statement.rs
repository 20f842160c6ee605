//! Statements that change or show catalogs.

mod change;
mod connectors;
mod create;
mod describe;
mod show;

use flott_catalog::{CatalogError, ObjectPath};
use flott_plan::PlanError;
use flott_plan::bind::Binder;
use flott_sql::ast::{ObjectName, Statement, StatementKind};
use flott_types::{DataType, Field, Schema, Value};

use crate::{Error, Outcome, Table, TableEnvironment};

impl TableEnvironment {
    /// Executes a statement that neither reads nor writes tables' contents.
    pub(crate) fn execute_definition(&mut self, statement: &Statement) -> Result<Outcome, Error> {
        match &statement.kind {
            StatementKind::CreateTable(create) => self.create_table(create),
            StatementKind::CreateView(create) => self.create_view(create),
            StatementKind::CreateCatalog(create) => self.create_catalog(create),
            StatementKind::CreateDatabase(create) => self.create_database(create),
            StatementKind::CreateFunction(function) => self.create_function(function),
            StatementKind::AlterTable(alter) => self.alter_table(alter),
            StatementKind::AlterView(alter) => self.alter_view(alter),
            StatementKind::AlterCatalog(alter) => self.alter_catalog(alter),
            StatementKind::AlterDatabase(alter) => self.alter_database(alter),
            StatementKind::Drop(drop) => self.drop_object(drop),
            StatementKind::UseCatalog(name) => {
                self.catalogs.use_catalog(&name.value)?;
                Ok(Outcome::Done)
            }
            StatementKind::UseDatabase(name) => {
                let (catalog, database) = self.database_path(name)?;
                self.catalogs.use_database(&catalog, &database)?;
                Ok(Outcome::Done)
            }
            StatementKind::Show(show) => self.show(show).map(Outcome::Table),
            StatementKind::Describe(describe) => self.describe(describe).map(Outcome::Table),
            kind => Err(PlanError::new(refusal(kind)).at(statement.span).into()),
        }
    }

    /// The full path of a table, view or function.
    pub(crate) fn path(&self, name: &ObjectName) -> ObjectPath {
        let parts: Vec<&str> = name.parts.iter().map(|part| part.value.as_str()).collect();
        flott_catalog::CatalogReader::qualify(&self.catalogs, &parts)
    }

    /// Catalog and database of a database's name.
    pub(crate) fn database_path(&self, name: &ObjectName) -> Result<(String, String), Error> {
        let parts: Vec<&str> = name.parts.iter().map(|part| part.value.as_str()).collect();
        match parts.as_slice() {
            [database] => Ok((self.catalogs.current_catalog().to_string(), database.to_string())),
            [catalog, database] => Ok((catalog.to_string(), database.to_string())),
            _ => Err(PlanError::new("a database has a name of one or two parts")
                .at(name.span)
                .into()),
        }
    }

    /// Runs `bind` with a binder of this session.
    pub(crate) fn with_binder<T>(
        &self,
        bind: impl FnOnce(&mut Binder) -> Result<T, PlanError>,
    ) -> Result<T, Error> {
        let (settings, config) = self.planning()?;
        Ok(bind(&mut Binder::new(&self.catalogs, &settings, &config))?)
    }
}

impl From<CatalogError> for Error {
    fn from(error: CatalogError) -> Self {
        Self::Plan(error.into())
    }
}

/// A table of texts.
fn texts(columns: &[&str], rows: Vec<Vec<Option<String>>>) -> Table {
    let fields = columns.iter().map(|name| Field::new(*name, DataType::string())).collect();
    let cell = |cell: Option<String>| cell.map_or(Value::Null, Value::string);
    let rows = rows.into_iter().map(|row| row.into_iter().map(cell).collect()).collect();
    Table { schema: Schema::new(fields), rows }
}

/// Why a statement of Flink's is not executed.
fn refusal(kind: &StatementKind) -> &'static str {
    match kind {
        StatementKind::Update(_) => "UPDATE statement is not supported for streaming mode now.",
        StatementKind::Delete(_) => "DELETE statement is not supported for streaming mode now.",
        StatementKind::TruncateTable(_) => {
            "TRUNCATE TABLE statement is not supported in streaming mode."
        }
        StatementKind::AnalyzeTable(_) => "ANALYZE TABLE is not supported for streaming mode now",
        StatementKind::AlterFunction(_) => "functions of classes need a JVM, which is not here",
        StatementKind::AddJar(_) | StatementKind::RemoveJar(_) => {
            "jars cannot be loaded: there is no JVM here; connectors and formats are built in"
        }
        StatementKind::Call(_) => "the catalogs of this session have no procedures",
        StatementKind::LoadModule(..) | StatementKind::UnloadModule(_) => {
            "there is one module, core, which is always loaded"
        }
        _ => "this statement cannot be executed by this version",
    }
}
