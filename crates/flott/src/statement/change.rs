//! ALTER and DROP.

use std::sync::Arc;

use flott_catalog::{CatalogError, CatalogReader, ObjectPath, Table, TableLike, View};
use flott_plan::PlanError;
use flott_plan::ddl::ViewDefinition;
use flott_sql::ast::{
    AlterCatalog, AlterCatalogAction, AlterDatabase, AlterTable, AlterTableAction, AlterView,
    AlterViewAction, DropKind, DropObject, ObjectName,
};

use crate::{Error, Outcome, TableEnvironment};

impl TableEnvironment {
    pub(super) fn alter_table(&mut self, alter: &AlterTable) -> Result<Outcome, Error> {
        let path = self.path(&alter.name);
        let table = match self.alterable_table(&path)? {
            Some(table) => table,
            None if alter.if_exists => return Ok(Outcome::Done),
            None => return Err(CatalogError::NotAlterable(path).into()),
        };
        if let AlterTableAction::RenameTo(name) = &alter.action {
            self.catalogs.rename(&path, last(name))?;
            return Ok(Outcome::Done);
        }
        let changed = self.with_binder(|binder| binder.alter_table(&table, &alter.action))?;
        self.catalogs.put(&path, TableLike::Table(Arc::new(changed)), false)?;
        Ok(Outcome::Done)
    }

    fn alterable_table(&self, path: &ObjectPath) -> Result<Option<Arc<Table>>, Error> {
        if self.catalogs.is_temporary(path) {
            return Ok(None);
        }
        match self.catalogs.permanent(path)? {
            Some(TableLike::Table(table)) => Ok(Some(table)),
            _ => Ok(None),
        }
    }

    pub(super) fn alter_view(&mut self, alter: &AlterView) -> Result<Outcome, Error> {
        let path = self.path(&alter.name);
        let temporary = self.catalogs.is_temporary(&path);
        let view = match self.catalogs.find(&path)? {
            Some(TableLike::View(view)) => view,
            _ => {
                let kind = "View";
                return Err(CatalogError::NoObject { kind, path }.into());
            }
        };
        match &alter.action {
            AlterViewAction::RenameTo(name) => self.catalogs.rename(&path, last(name))?,
            AlterViewAction::As(query) => {
                let changed = self.with_binder(|binder| {
                    binder.view_of(ViewDefinition {
                        columns: &[],
                        comment: view.comment.clone(),
                        query,
                    })
                })?;
                let changed = TableLike::View(Arc::new(View::clone(&changed)));
                self.catalogs.put(&path, changed, temporary)?;
            }
        }
        Ok(Outcome::Done)
    }

    pub(super) fn alter_catalog(&mut self, alter: &AlterCatalog) -> Result<Outcome, Error> {
        let catalog = self.catalogs.catalog_mut(&alter.name.value)?;
        match &alter.action {
            AlterCatalogAction::Set(properties) => {
                for property in properties {
                    catalog.options.set(property.key.value.as_str(), property.value.value.as_str());
                }
            }
            AlterCatalogAction::Reset(keys) => {
                keys.iter().for_each(|key| {
                    catalog.options.remove(&key.value);
                });
            }
            AlterCatalogAction::Comment(text) => catalog.comment = Some(text.value.clone()),
        }
        Ok(Outcome::Done)
    }

    pub(super) fn alter_database(&mut self, alter: &AlterDatabase) -> Result<Outcome, Error> {
        let (catalog, name) = self.database_path(&alter.name)?;
        let database = self.catalogs.database_mut(&catalog, &name)?;
        for property in &alter.options {
            database.options.set(property.key.value.as_str(), property.value.value.as_str());
        }
        Ok(Outcome::Done)
    }

    pub(super) fn drop_object(&mut self, drop: &DropObject) -> Result<Outcome, Error> {
        match drop.kind {
            DropKind::Catalog => self.catalogs.drop_catalog(last(&drop.name), drop.if_exists)?,
            DropKind::Database { cascade } => {
                let (catalog, name) = self.database_path(&drop.name)?;
                self.catalogs.drop_database(&catalog, &name, drop.if_exists, cascade)?;
            }
            DropKind::Table { temporary } => {
                let path = self.path(&drop.name);
                self.catalogs.drop(&path, false, temporary, drop.if_exists)?;
            }
            DropKind::View { temporary } => {
                let path = self.path(&drop.name);
                let temporary = temporary || self.catalogs.is_temporary(&path);
                self.catalogs.drop(&path, true, temporary, drop.if_exists)?;
            }
            DropKind::Function(_) if self.catalogs.drop_function(&self.path(&drop.name)) => {}
            _ if drop.if_exists => {}
            _ => {
                return Err(PlanError::new("there is no such object to drop")
                    .at(drop.name.span)
                    .into());
            }
        }
        Ok(Outcome::Done)
    }
}

/// An object's own name.
fn last(name: &ObjectName) -> &str {
    name.parts.last().map_or("", |part| part.value.as_str())
}
