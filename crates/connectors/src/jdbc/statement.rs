//! The statements that a table is read and written with.

use std::fmt::Write;
use std::sync::Arc;

use flott_types::{DataType, Value};

use super::connection::Statement;
use super::dialect::Dialect;

/// How a database calls a table and its columns, in quotes.
#[derive(Debug, Clone)]
pub(super) struct Names {
    pub(super) table: String,
    /// By position in the table as it is declared.
    pub(super) columns: Vec<String>,
}

/// SQL in the making, with its parameters.
pub(super) struct Sql<'a> {
    pub(super) dialect: &'a dyn Dialect,
    pub(super) text: String,
    types: Vec<DataType>,
    values: Vec<Value>,
}

impl<'a> Sql<'a> {
    pub(super) fn new(dialect: &'a dyn Dialect, text: String) -> Self {
        Self { dialect, text, types: Vec::new(), values: Vec::new() }
    }

    /// A query of these columns.
    pub(super) fn select(dialect: &'a dyn Dialect, names: &Names, columns: &[usize]) -> Self {
        // A query must have a column, even if only the number of rows is wanted.
        let list = match columns {
            [] => "1".into(),
            columns => list_of(names, columns),
        };
        Self::new(dialect, format!("SELECT {list} FROM {}", names.table))
    }

    /// Adds text.
    pub(super) fn push(&mut self, text: &str) -> &mut Self {
        self.text.push_str(text);
        self
    }

    /// Adds a parameter.
    pub(super) fn value(&mut self, value: Value, data_type: &DataType) -> &mut Self {
        self.values.push(value);
        self.types.push(data_type.clone());
        self.dialect.parameter(&mut self.text, self.values.len());
        self
    }

    /// The whole statement.
    pub(super) fn finish(self) -> Statement {
        Statement { sql: self.text.into(), types: self.types.into(), values: self.values }
    }
}

/// The names of columns with commas.
pub(super) fn list_of(names: &Names, columns: &[usize]) -> String {
    let list: Vec<&str> = columns.iter().map(|at| names.columns[*at].as_str()).collect();
    list.join(", ")
}

/// `INSERT INTO t (…) VALUES (…), (…)` for so many rows, with what follows it.
pub(super) fn insert(dialect: &dyn Dialect, names: &Names, rows: usize, rest: &str) -> Arc<str> {
    let width = names.columns.len();
    let mut sql = format!("INSERT INTO {} ({}) VALUES ", names.table, names.columns.join(", "));
    let mut number = 0;
    for row in 0..rows {
        sql.push_str(if row == 0 { "(" } else { ", (" });
        for column in 0..width {
            if column > 0 {
                sql.push_str(", ");
            }
            number += 1;
            dialect.parameter(&mut sql, number);
        }
        sql.push(')');
    }
    sql.push_str(rest);
    sql.into()
}

/// Which of so many keys a row has: `k IN (…)`, or `(a = … AND b = …) OR …`.
pub(super) fn key_condition(
    dialect: &dyn Dialect,
    names: &Names,
    key: &[usize],
    rows: usize,
) -> String {
    let mut sql = String::new();
    if let [column] = key {
        let _ = write!(sql, "{} IN (", names.columns[*column]);
        for row in 0..rows {
            if row > 0 {
                sql.push_str(", ");
            }
            dialect.parameter(&mut sql, row + 1);
        }
        sql.push(')');
        return sql;
    }
    let mut number = 0;
    for row in 0..rows {
        sql.push_str(if row == 0 { "(" } else { " OR (" });
        for (i, column) in key.iter().enumerate() {
            let _ =
                write!(sql, "{}{} = ", if i > 0 { " AND " } else { "" }, names.columns[*column]);
            number += 1;
            dialect.parameter(&mut sql, number);
        }
        sql.push(')');
    }
    sql
}
