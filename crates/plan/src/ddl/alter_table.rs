//! ALTER TABLE: the table as it is afterwards.

use flott_catalog::show::quote;
use flott_catalog::{Column, ColumnKind, Table};
use flott_sql::ast::{self, AlterTableAction, ColumnPosition, SchemaComponent};

use crate::bind::Binder;
use crate::{PlanError, Result};

impl Binder<'_> {
    /// The table after an ALTER TABLE; renaming the table itself is the catalog's.
    pub fn alter_table(&mut self, table: &Table, action: &AlterTableAction) -> Result<Table> {
        let mut changed = table.clone();
        match action {
            AlterTableAction::Add(components) => {
                components.iter().try_for_each(|c| self.add(&mut changed, c))?;
            }
            AlterTableAction::Modify(components) => {
                components.iter().try_for_each(|c| self.modify(&mut changed, c))?;
            }
            AlterTableAction::DropColumns(names) => {
                names.iter().try_for_each(|name| drop_column(&mut changed, name))?;
            }
            AlterTableAction::RenameColumn(from, to) => {
                rename_column(&mut changed, simple(from)?, simple(to)?)?;
            }
            AlterTableAction::DropPrimaryKey => match changed.primary_key.take() {
                Some(_) => {}
                None => return Err(failed("The current table does not define any primary key.")),
            },
            AlterTableAction::DropConstraint(name) => match &changed.primary_key {
                Some(key) if key.name == name.value => changed.primary_key = None,
                Some(key) => {
                    return Err(failed(format!(
                        "The current table does not define a constraint named '{}', but '{}'.",
                        name.value, key.name
                    )));
                }
                None => return Err(failed("The current table does not define any primary key.")),
            },
            AlterTableAction::DropWatermark => match changed.watermark.take() {
                Some(_) => {}
                None => {
                    return Err(failed(
                        "The current table does not define any watermark strategy.",
                    ));
                }
            },
            AlterTableAction::AddDistribution(distribution) => match changed.distribution {
                None => changed.distribution = Some(distribution.clone()),
                Some(_) => return Err(failed("The current table already defines a distribution.")),
            },
            AlterTableAction::ModifyDistribution(distribution) => {
                match changed.distribution.replace(distribution.clone()) {
                    Some(_) => {}
                    None => {
                        return Err(failed("The current table does not define any distribution."));
                    }
                }
            }
            AlterTableAction::DropDistribution => match changed.distribution.take() {
                Some(_) => {}
                None => return Err(failed("The current table does not define any distribution.")),
            },
            AlterTableAction::Set(properties) => {
                for property in properties {
                    changed.options.set(property.key.value.as_str(), property.value.value.as_str());
                }
            }
            AlterTableAction::Reset(keys) => {
                for key in keys {
                    if key.value == "connector" {
                        return Err(PlanError::new(
                            "ALTER TABLE RESET does not support changing 'connector'",
                        )
                        .at(key.span));
                    }
                    changed.options.remove(&key.value);
                }
            }
            AlterTableAction::RenameTo(_) => {}
            AlterTableAction::AddPartitions { .. } | AlterTableAction::DropPartitions { .. } => {
                return Err(failed("The in-memory catalog keeps no list of partitions."));
            }
        }
        self.check_schema(&mut changed).map_err(|error| {
            let message = format!("Failed to execute ALTER TABLE statement.\n{}", error.message);
            PlanError { message, ..error }
        })?;
        Ok(changed)
    }

    fn add(&mut self, table: &mut Table, component: &SchemaComponent) -> Result<()> {
        match component {
            SchemaComponent::Column { definition, position } => {
                let column = self.column(definition)?;
                if table.column(&column.name).is_some() {
                    return Err(failed(format!(
                        "Column {} already exists in the table.",
                        quote(&column.name)
                    )));
                }
                if let ast::ColumnKind::Physical { constraint: Some(key), .. } = &definition.kind {
                    self.add_primary_key(table, key)?;
                }
                insert(table, column, position.as_ref())
            }
            SchemaComponent::Constraint(key) => self.add_primary_key(table, key),
            SchemaComponent::Watermark(watermark) => {
                if table.watermark.is_some() {
                    return Err(failed(
                        "The current table already defines a watermark strategy. You might want to \
                         drop it before adding a new one.",
                    ));
                }
                table.watermark = Some(self.watermark(watermark)?);
                Ok(())
            }
        }
    }

    fn add_primary_key(&self, table: &mut Table, key: &ast::TableConstraint) -> Result<()> {
        if table.primary_key.is_some() {
            return Err(failed(
                "The current table has already defined a primary key. You might want to drop it \
                 before adding a new one.",
            ));
        }
        table.primary_key = Some(self.primary_key(key)?);
        Ok(())
    }

    fn modify(&mut self, table: &mut Table, component: &SchemaComponent) -> Result<()> {
        match component {
            SchemaComponent::Column { definition, position } => {
                let mut column = self.column(definition)?;
                let Some(index) = table.columns.iter().position(|c| c.name == column.name) else {
                    return Err(failed(format!(
                        "Column {} does not exist in the table.",
                        quote(&column.name)
                    )));
                };
                let old = table.columns.remove(index);
                column.comment = column.comment.or(old.comment);
                match position {
                    Some(_) => insert(table, column, position.as_ref()),
                    None => {
                        table.columns.insert(index, column);
                        Ok(())
                    }
                }
            }
            SchemaComponent::Constraint(key) => {
                if table.primary_key.is_none() {
                    return Err(failed(
                        "The current table does not define any primary key. You might want to add \
                         a new one.",
                    ));
                }
                table.primary_key = Some(self.primary_key(key)?);
                Ok(())
            }
            SchemaComponent::Watermark(watermark) => {
                if table.watermark.is_none() {
                    return Err(failed(
                        "The current table does not define any watermark. You might want to add a \
                         new one.",
                    ));
                }
                table.watermark = Some(self.watermark(watermark)?);
                Ok(())
            }
        }
    }
}

fn failed(reason: impl std::fmt::Display) -> PlanError {
    PlanError::new(format!("Failed to execute ALTER TABLE statement.\n{reason}"))
}

fn simple(name: &ast::ObjectName) -> Result<&str> {
    name.as_simple()
        .map(|name| name.value.as_str())
        .ok_or_else(|| failed("Alter nested row type is not supported yet."))
}

fn insert(table: &mut Table, column: Column, position: Option<&ColumnPosition>) -> Result<()> {
    let index = match position {
        None => table.columns.len(),
        Some(ColumnPosition::First) => 0,
        Some(ColumnPosition::After(name)) => {
            let after = simple(name)?;
            match table.columns.iter().position(|column| column.name == after) {
                Some(index) => index + 1,
                None => {
                    return Err(failed(format!(
                        "Referenced column {} by 'AFTER' does not exist in the table.",
                        quote(after)
                    )));
                }
            }
        }
    };
    table.columns.insert(index, column);
    Ok(())
}

fn drop_column(table: &mut Table, name: &ast::ObjectName) -> Result<()> {
    let name = simple(name)?;
    check_unused(table, name, "drop")?;
    table.columns.retain(|column| column.name != name);
    Ok(())
}

fn rename_column(table: &mut Table, from: &str, to: &str) -> Result<()> {
    check_unused(table, from, "rename")?;
    if table.column(to).is_some() {
        return Err(failed(format!("The column {} already existed in table schema.", quote(to))));
    }
    if let Some(column) = table.columns.iter_mut().find(|column| column.name == from) {
        column.name = to.to_string();
    }
    Ok(())
}

/// Refuses to touch a column that a computed column, key, partition or watermark uses.
fn check_unused(table: &Table, name: &str, verb: &str) -> Result<()> {
    if table.column(name).is_none() {
        return Err(failed(format!(
            "The column {} does not exist in the base table.",
            quote(name)
        )));
    }
    let user = table.columns.iter().find(|column| match &column.kind {
        ColumnKind::Computed(definition) => mentions(&definition.text, name),
        _ => false,
    });
    let reason = if let Some(column) = user {
        format!("is referenced by computed column {}.", quote(&column.name))
    } else if table.primary_key.as_ref().is_some_and(|key| key.columns.iter().any(|c| c == name)) {
        "is used as the primary key.".to_string()
    } else if table.partition_keys.iter().any(|key| key == name) {
        "is used as the partition keys.".to_string()
    } else if table
        .watermark
        .as_ref()
        .is_some_and(|w| w.column == name || mentions(&w.definition.text, name))
    {
        "is referenced by watermark expression.".to_string()
    } else {
        return Ok(());
    };
    Err(failed(format!("Failed to {verb} the column: column {} {reason}", quote(name))))
}

/// Canonical text has every name in back-quotes.
fn mentions(text: &str, name: &str) -> bool {
    text.contains(&quote(name))
}
