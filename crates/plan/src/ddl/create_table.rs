//! CREATE TABLE, with LIKE and AS.

use std::sync::Arc;

use flott_catalog::connector::Options;
use flott_catalog::{Column, ColumnKind, Table, TableLike};
use flott_sql::ast::{self, TableElement};
use flott_types::{Field, Schema};

use crate::bind::Binder;
use crate::{PlanError, Result};

impl Binder<'_> {
    /// The table that a CREATE TABLE describes.
    pub fn create_table(&mut self, create: &ast::CreateTable) -> Result<Table> {
        let own = self.declared(create)?;
        let mut table = match (&create.like, &create.query) {
            (Some(like), _) => {
                let base = self.like_source(like)?;
                super::like::merge(&base, own, like)?
            }
            (None, Some(query)) => {
                let schema = (*self.bind_query(query)?.plan.schema).clone();
                with_query_columns(own, &schema, &create.column_names)?
            }
            (None, None) => own,
        };
        self.check_schema(&mut table)?;
        Ok(table)
    }

    /// The table as its own elements say, unchecked.
    fn declared(&mut self, create: &ast::CreateTable) -> Result<Table> {
        let mut table = Table {
            columns: Vec::new(),
            watermark: None,
            primary_key: None,
            partition_keys: create.partitioned_by.iter().map(|n| n.value.clone()).collect(),
            distribution: create.distribution.clone(),
            comment: create.comment.as_ref().map(|comment| comment.value.clone()),
            options: options(&create.options),
        };
        for element in &create.elements {
            match element {
                TableElement::Column(column) => {
                    table.columns.push(self.column(column).map_err(|e| e.at(column.span))?);
                    if let ast::ColumnKind::Physical { constraint: Some(key), .. } = &column.kind {
                        self.add_key(&mut table, key)?;
                    }
                }
                TableElement::Constraint(key) => self.add_key(&mut table, key)?,
                TableElement::Watermark(watermark) => {
                    if table.watermark.is_some() {
                        return Err(PlanError::new(
                            "Multiple WATERMARK definition is not supported yet.",
                        )
                        .at(watermark.span));
                    }
                    table.watermark = Some(self.watermark(watermark)?);
                }
            }
        }
        Ok(table)
    }

    fn add_key(&self, table: &mut Table, constraint: &ast::TableConstraint) -> Result<()> {
        if table.primary_key.is_some() {
            return Err(PlanError::new("Duplicate primary key definition").at(constraint.span));
        }
        table.primary_key = Some(self.primary_key(constraint)?);
        Ok(())
    }

    fn like_source(&self, like: &ast::TableLike) -> Result<Arc<Table>> {
        let parts: Vec<&str> = like.source.parts.iter().map(|part| part.value.as_str()).collect();
        let path = self.catalog.qualify(&parts);
        match self.catalog.find(&path)? {
            Some(TableLike::Table(table)) => Ok(table),
            Some(TableLike::View(_)) => Err(PlanError::new(format!(
                "Source table '{}' of the LIKE clause can not be a VIEW",
                path.quoted()
            ))
            .at(like.span)),
            None => Err(PlanError::new(format!(
                "Source table '{}' of the LIKE clause not found in the catalog",
                path.quoted()
            ))
            .at(like.span)),
        }
    }
}

/// WITH options in the order written.
pub(super) fn options(properties: &[ast::Property]) -> Options {
    Options::new(properties.iter().map(|p| (p.key.value.clone(), p.value.value.clone())))
}

/// CREATE TABLE … AS: own columns first, then those of the query; a physical column named in both
/// stands where the query has it, with the declared type.
fn with_query_columns(mut table: Table, query: &Schema, names: &[ast::Ident]) -> Result<Table> {
    if !table.partition_keys.is_empty() {
        return Err(PlanError::new(
            "CREATE TABLE AS SELECT does not support to create partitioned table yet.",
        ));
    }
    let key_columns = table.primary_key.iter().flat_map(|key| key.columns.clone());
    for name in key_columns {
        let declared = table.columns.iter().any(|column| column.name == name);
        let nullable = query.index_of(&name).map(|i| query.fields[i].data_type.nullable);
        if !declared && nullable == Some(true) {
            let key = table.primary_key.as_ref().map_or("", |key| &key.name);
            return Err(PlanError::new(format!(
                "Invalid primary key '{key}'. Column '{name}' is nullable."
            ))
            .hint(format!("select COALESCE({name}, …) AS {name}")));
        }
    }
    let ordered: Vec<&Field> =
        if names.is_empty() { query.fields.iter().collect() } else { reorder(query, names)? };
    let from_query = ordered.into_iter().map(|field| {
        let declared = table
            .columns
            .iter()
            .position(|column| column.name == *field.name && column.kind == ColumnKind::Physical);
        match declared {
            Some(position) => table.columns.remove(position),
            None => Column {
                name: field.name.to_string(),
                data_type: field.data_type.clone(),
                kind: ColumnKind::Physical,
                comment: None,
            },
        }
    });
    let from_query: Vec<Column> = from_query.collect();
    table.columns.extend(from_query);
    Ok(table)
}

fn reorder<'s>(query: &'s Schema, names: &[ast::Ident]) -> Result<Vec<&'s Field>> {
    if names.len() != query.len() {
        return Err(PlanError::new(
            "The number of columns in the column list must match the number of columns in the \
             source schema.",
        ));
    }
    names
        .iter()
        .map(|name| {
            query.index_of(&name.value).map(|i| &query.fields[i]).ok_or_else(|| {
                PlanError::new(format!("Column '{}' not found in the source schema.", name.value))
                    .at(name.span)
            })
        })
        .collect()
}
