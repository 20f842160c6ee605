//! Columns, keys and watermarks: from syntax, and checked against each other.

use flott_catalog::show::quote;
use flott_catalog::{Column, ColumnKind, Definition, PrimaryKey, Table, WatermarkSpec};
use flott_functions::Expr;
use flott_sql::ast::{self, ConstraintKind};
use flott_types::{DataType, Field, Schema, TypeRoot};

use super::canonical::expr_text;
use crate::bind::{Binder, Scope, resolve_type};
use crate::{PlanError, Result};

impl Binder<'_> {
    /// A column; the type of a computed one is found by [`Self::check_schema`].
    pub(super) fn column(&self, column: &ast::ColumnDefinition) -> Result<Column> {
        let name = match column.name.as_simple() {
            Some(name) => name.value.clone(),
            None => {
                return Err(
                    PlanError::new("columns of tables have simple names").at(column.name.span)
                );
            }
        };
        let (data_type, kind) = match &column.kind {
            ast::ColumnKind::Physical { data_type, .. } => {
                (resolve_type(data_type)?, ColumnKind::Physical)
            }
            ast::ColumnKind::Metadata { data_type, key, is_virtual } => (
                resolve_type(data_type)?,
                ColumnKind::Metadata {
                    key: key.as_ref().map(|key| key.value.clone()),
                    is_virtual: *is_virtual,
                },
            ),
            ast::ColumnKind::Computed(expr) => {
                (DataType::null(), ColumnKind::Computed(definition(expr)))
            }
        };
        let comment = column.comment.as_ref().map(|comment| comment.value.clone());
        Ok(Column { name, data_type, kind, comment })
    }

    /// A primary key.
    pub(super) fn primary_key(&self, constraint: &ast::TableConstraint) -> Result<PrimaryKey> {
        if constraint.kind == ConstraintKind::Unique {
            return Err(
                PlanError::new("UNIQUE constraint is not supported yet").at(constraint.span)
            );
        }
        if constraint.enforced != Some(false) {
            return Err(PlanError::new(
                "Flink doesn't support ENFORCED mode for PRIMARY KEY constraint. \
                 ENFORCED/NOT ENFORCED controls if the constraint checks are performed on the \
                 incoming/outgoing data. Flink does not own the data therefore the only supported \
                 mode is the NOT ENFORCED mode",
            )
            .at(constraint.span)
            .hint("write PRIMARY KEY (…) NOT ENFORCED"));
        }
        let columns: Vec<String> =
            constraint.columns.iter().map(|column| column.value.clone()).collect();
        let name = match &constraint.name {
            Some(name) => name.value.clone(),
            None => format!("PK_{}", columns.join("_")),
        };
        Ok(PrimaryKey { name, columns })
    }

    /// A watermark; its types are checked by [`Self::check_schema`].
    pub(super) fn watermark(&self, watermark: &ast::WatermarkDefinition) -> Result<WatermarkSpec> {
        let Some(column) = watermark.column.as_simple() else {
            return Err(PlanError::new("Watermark can not be defined on nested column")
                .at(watermark.column.span)
                .hint("make the nested field a computed column: ts AS row.ts"));
        };
        Ok(WatermarkSpec {
            column: column.value.clone(),
            definition: definition(&watermark.expr),
            data_type: DataType::null(),
        })
    }

    /// Checks a table's columns, key and watermark against each other and fills in the types of
    /// computed columns and of the watermark. Key columns become NOT NULL.
    pub(super) fn check_schema(&mut self, table: &mut Table) -> Result<()> {
        for (i, column) in table.columns.iter().enumerate() {
            if table.columns[..i].iter().any(|other| other.name == column.name) {
                return Err(PlanError::new(format!(
                    "A column named '{}' already exists in the table.",
                    column.name
                )));
            }
        }
        check_metadata(table)?;
        if let Some(key) = table.primary_key.clone() {
            for name in &key.columns {
                let column = table.columns.iter_mut().find(|column| column.name == *name);
                match column {
                    Some(column) if column.kind == ColumnKind::Physical => {
                        column.data_type.nullable = false;
                    }
                    Some(_) => {
                        return Err(PlanError::new(format!(
                            "Invalid primary key '{}'. Column '{name}' is not a physical column.",
                            key.name
                        )));
                    }
                    None => {
                        return Err(PlanError::new(format!(
                            "Primary key column '{name}' is not defined in the schema"
                        )));
                    }
                }
            }
        }
        if let Some(name) = table.partition_keys.iter().find(|name| table.column(name).is_none()) {
            return Err(PlanError::new(format!(
                "Partition column '{name}' not defined in the table schema"
            )));
        }
        self.check_computed(table)?;
        self.check_watermark(table)
    }

    fn check_computed(&mut self, table: &mut Table) -> Result<()> {
        let scope = Scope::anonymous(&Schema::new(
            table
                .columns
                .iter()
                .filter(|column| !matches!(column.kind, ColumnKind::Computed(_)))
                .map(|column| Field::new(column.name.as_str(), column.data_type.clone()))
                .collect(),
        ));
        for column in &mut table.columns {
            let ColumnKind::Computed(definition) = &mut column.kind else { continue };
            let expr = self.bind_scalar(&definition.expr, &scope)?;
            definition.is_proctime =
                matches!(&expr, Expr::Call { function, .. } if function.name == "PROCTIME");
            column.data_type = expr.data_type();
        }
        Ok(())
    }

    fn check_watermark(&mut self, table: &mut Table) -> Result<()> {
        let Some(mut watermark) = table.watermark.take() else { return Ok(()) };
        let Some(column) = table.column(&watermark.column) else {
            return Err(PlanError::new(format!(
                "The rowtime attribute field '{}' is not defined in the table schema",
                watermark.column
            )));
        };
        if !is_time(&column.data_type) {
            return Err(PlanError::new(format!(
                "Invalid data type of time field for watermark definition. The field must be of \
                 type TIMESTAMP(p) or TIMESTAMP_LTZ(p), the supported precision 'p' is from 0 to \
                 3, but the time field type is {}",
                column.data_type.summary()
            ))
            .hint(format!(
                "cast it in a computed column: t AS CAST({} AS TIMESTAMP(3))",
                column.name
            )));
        }
        let scope = Scope::anonymous(&Schema::new(
            table
                .columns
                .iter()
                .map(|column| Field::new(column.name.as_str(), column.data_type.clone()))
                .collect(),
        ));
        let expr = self.bind_scalar(&watermark.definition.expr, &scope)?;
        if !is_time(&expr.data_type()) {
            return Err(PlanError::new(format!(
                "Invalid data type of expression for watermark definition. The field must be of \
                 type TIMESTAMP(p) or TIMESTAMP_LTZ(p), the supported precision 'p' is from 0 to \
                 3, but the watermark expression type is {}",
                expr.data_type().summary()
            )));
        }
        watermark.data_type = expr.data_type();
        table.watermark = Some(watermark);
        Ok(())
    }
}

/// An expression with its canonical text.
fn definition(expr: &ast::Expr) -> Definition {
    Definition { expr: expr.clone(), text: expr_text(expr), is_proctime: false }
}

/// The watermark's column and expression have at most millisecond precision.
fn is_time(ty: &DataType) -> bool {
    matches!(ty.root, TypeRoot::Timestamp(0..=3) | TypeRoot::TimestampLtz(0..=3))
}

fn check_metadata(table: &Table) -> Result<()> {
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for column in &table.columns {
        let ColumnKind::Metadata { key, .. } = &column.kind else { continue };
        let key = key.as_deref().unwrap_or(&column.name);
        if let Some((other, _)) = seen.iter().find(|(_, known)| *known == key) {
            return Err(PlanError::new(format!(
                "The column {} and {} in the table are both from the same metadata key '{key}'. \
                 Please specify one of the columns as the metadata column and use the computed \
                 column syntax to specify the others.",
                quote(other),
                quote(&column.name)
            )));
        }
        seen.push((&column.name, key));
    }
    Ok(())
}
