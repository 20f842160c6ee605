//! CREATE TABLE, VIEW, CATALOG and DATABASE.

use std::sync::Arc;

use flott_catalog::connector::Options;
use flott_catalog::{CatalogReader, Database, TableLike};
use flott_plan::PlanError;
use flott_plan::ddl::ViewDefinition;
use flott_sql::ast::{
    CreateCatalog, CreateDatabase, CreateMode, CreateTable, CreateView, FunctionDefinition, Insert,
    ObjectName, Property, Query, Text,
};

use crate::{Error, Outcome, TableEnvironment};

impl TableEnvironment {
    pub(super) fn create_table(&mut self, create: &CreateTable) -> Result<Outcome, Error> {
        let path = self.path(&create.name);
        let exists = if create.temporary {
            self.catalogs.is_temporary(&path)
        } else {
            self.catalogs.permanent(&path)?.is_some()
        };
        if exists && create.if_not_exists && create.query.is_none() {
            return Ok(Outcome::Done);
        }
        if !exists && create.mode == CreateMode::Replace {
            return Err(PlanError::new(format!(
                "The table {} to be replaced doesn't exist. You can try to use CREATE TABLE AS \
                 statement or CREATE OR REPLACE TABLE AS statement.",
                path.quoted()
            ))
            .at(create.name.span)
            .into());
        }
        let table =
            TableLike::Table(Arc::new(self.with_binder(|binder| binder.create_table(create))?));
        match create.mode {
            CreateMode::Create => {
                self.catalogs.create(&path, table, create.temporary, create.if_not_exists)?;
            }
            CreateMode::CreateOrReplace | CreateMode::Replace => {
                self.catalogs.put(&path, table, create.temporary)?;
            }
        }
        match &create.query {
            None => Ok(Outcome::Done),
            Some(query) => self.fill(create, query),
        }
    }

    /// The INSERT of CREATE TABLE … AS: columns of the query go to columns of the same name.
    fn fill(&self, create: &CreateTable, query: &Query) -> Result<Outcome, Error> {
        let names = self.with_binder(|binder| {
            let schema = binder.bind_query(query)?.plan.schema.clone();
            Ok(schema.fields.iter().map(|f| ObjectName::new([&*f.name])).collect::<Vec<_>>())
        })?;
        // An existing table keeps its columns: the query must fit them as in any INSERT.
        let path = self.path(&create.name);
        let by_name = match self.catalogs.find(&path)? {
            Some(TableLike::Table(table)) => {
                names.iter().all(|name| {
                    name.as_simple().is_some_and(|name| {
                        table.persisted_columns().any(|column| column.name == name.value)
                    })
                }) && table.persisted_columns().count() == names.len()
            }
            _ => false,
        };
        let insert = Insert {
            overwrite: false,
            target: create.name.clone(),
            hints: Vec::new(),
            partition: None,
            columns: if by_name { names } else { Vec::new() },
            source: query.clone(),
            on_conflict: None,
            span: query.span,
        };
        self.insert(&[insert]).map(Outcome::Job)
    }

    pub(super) fn create_view(&mut self, create: &CreateView) -> Result<Outcome, Error> {
        let path = self.path(&create.name);
        let view = self.with_binder(|binder| {
            binder.view_of(ViewDefinition {
                columns: &create.columns,
                comment: comment(&create.comment),
                query: &create.query,
            })
        })?;
        let view = TableLike::View(Arc::new(view));
        self.catalogs.create(&path, view, create.temporary, create.if_not_exists)?;
        Ok(Outcome::Done)
    }

    /// A function of a class is noted, so that the script goes on; calling it fails.
    pub(super) fn create_function(
        &mut self,
        function: &FunctionDefinition,
    ) -> Result<Outcome, Error> {
        let path = self.path(&function.name);
        let exists = self.catalogs.find_function(&path).is_some();
        if exists && !function.conditional {
            let message =
                format!("Could not register function. A function '{path}' does already exist.");
            return Err(PlanError::new(message).at(function.name.span).into());
        }
        if !exists {
            self.catalogs.create_function(&path, function.identifier.value.clone());
        }
        Ok(Outcome::Done)
    }

    pub(super) fn create_catalog(&mut self, create: &CreateCatalog) -> Result<Outcome, Error> {
        let name = &create.name.value;
        let comment = comment(&create.comment);
        let options = options(&create.options);
        self.catalogs.create_catalog(name, options, comment, create.if_not_exists)?;
        Ok(Outcome::Done)
    }

    pub(super) fn create_database(&mut self, create: &CreateDatabase) -> Result<Outcome, Error> {
        let (catalog, name) = self.database_path(&create.name)?;
        let database = Database {
            options: options(&create.options),
            comment: comment(&create.comment),
            ..Database::default()
        };
        self.catalogs.create_database(&catalog, &name, database, create.if_not_exists)?;
        Ok(Outcome::Done)
    }
}

fn comment(text: &Option<Text>) -> Option<String> {
    text.as_ref().map(|text| text.value.clone())
}

fn options(properties: &[Property]) -> Options {
    Options::new(properties.iter().map(|p| (p.key.value.clone(), p.value.value.clone())))
}
