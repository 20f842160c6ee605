//! Tables and views as catalogs keep them: resolved, with types known.

use std::sync::Arc;

use flott_sql::ast;
use flott_types::{DataType, Field, Schema, TimeAttribute};

use crate::connector::Options;

/// A table.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The columns in the order of their declaration.
    pub columns: Vec<Column>,
    /// The watermark, if one is declared.
    pub watermark: Option<WatermarkSpec>,
    /// The primary key, if one is declared; never enforced.
    pub primary_key: Option<PrimaryKey>,
    /// The columns it is partitioned by.
    pub partition_keys: Vec<String>,
    /// How it is distributed, if said.
    pub distribution: Option<ast::Distribution>,
    /// Its comment.
    pub comment: Option<String>,
    /// The WITH options in the order written.
    pub options: Options,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its type; of computed columns that of the expression.
    pub data_type: DataType,
    /// Where its values come from.
    pub kind: ColumnKind,
    /// Its comment.
    pub comment: Option<String>,
}

/// Where the values of a column come from.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnKind {
    /// Stored in the records.
    Physical,
    /// Given by the connector or format.
    Metadata {
        /// The key, where it is not the column's name.
        key: Option<String>,
        /// Whether sinks leave it out.
        is_virtual: bool,
    },
    /// Computed from other columns.
    Computed(Definition),
}

/// An expression that belongs to a table: parsed, and as text in Flink's canonical form.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// The expression.
    pub expr: ast::Expr,
    /// Its canonical text, as SHOW CREATE TABLE prints it.
    pub text: String,
    /// Whether it is the time attribute PROCTIME().
    pub is_proctime: bool,
}

/// `WATERMARK FOR column AS expr`.
#[derive(Debug, Clone, PartialEq)]
pub struct WatermarkSpec {
    /// The event-time column.
    pub column: String,
    /// The watermark of a row.
    pub definition: Definition,
    /// The type of the expression.
    pub data_type: DataType,
}

/// A primary key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrimaryKey {
    /// The constraint's name: as written, or `PK_` and the columns.
    pub name: String,
    /// The columns in the order written.
    pub columns: Vec<String>,
}

impl Table {
    /// All columns with their time attributes, as a query sees the table.
    pub fn schema(&self) -> Schema {
        Schema::new(
            self.columns
                .iter()
                .map(|column| {
                    Field::new(column.name.as_str(), column.data_type.clone())
                        .with_time(self.time_attribute(column))
                })
                .collect(),
        )
    }

    /// Whether a column is a time attribute, and which.
    pub fn time_attribute(&self, column: &Column) -> Option<TimeAttribute> {
        if self.watermark.as_ref().is_some_and(|watermark| watermark.column == column.name) {
            return Some(TimeAttribute::Rowtime);
        }
        match &column.kind {
            ColumnKind::Computed(definition) if definition.is_proctime => {
                Some(TimeAttribute::Proctime)
            }
            _ => None,
        }
    }

    /// The columns that are stored in records, in order.
    pub fn physical_columns(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| column.kind == ColumnKind::Physical)
    }

    /// The columns that a sink writes: physical ones and metadata that is not virtual.
    pub fn persisted_columns(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| {
            matches!(
                column.kind,
                ColumnKind::Physical | ColumnKind::Metadata { is_virtual: false, .. }
            )
        })
    }

    /// The schema of the physical columns, as connectors and formats see the table.
    pub fn physical_schema(&self) -> Schema {
        Schema::new(
            self.physical_columns()
                .map(|column| Field::new(column.name.as_str(), column.data_type.clone()))
                .collect(),
        )
    }

    /// The column of this name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }
}

/// A view.
#[derive(Debug, Clone, PartialEq)]
pub struct View {
    /// The columns.
    pub schema: Schema,
    /// The comment of the view.
    pub comment: Option<String>,
    /// The query with all names written out in full; it means the same in any session.
    pub query: ast::Query,
    /// The text of `query`, as SHOW CREATE VIEW prints it.
    pub text: String,
}

/// What a name in FROM can stand for.
#[derive(Debug, Clone)]
pub enum TableLike {
    /// A table.
    Table(Arc<Table>),
    /// A view.
    View(Arc<View>),
}
