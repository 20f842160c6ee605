//! INSERT: what a query gives, brought to what a table takes.

use std::sync::Arc;

use flott_catalog::connector::TableSink;
use flott_catalog::{Column, ColumnKind, ObjectPath, Table, TableLike};
use flott_functions::{Expr, coercion};
use flott_sql::ast::{self, ExprKind, Literal};
use flott_types::text::value_to_string;
use flott_types::{DataType, Field, Schema};

use super::{Binder, name_parts};
use crate::logical::{LogicalOp, LogicalPlan, PlanRef, Sink, SinkTarget};
use crate::{PlanError, Result};

impl Binder<'_> {
    /// Binds a query whose rows are handed to whoever runs it.
    pub fn bind_collect(&mut self, query: &ast::Query) -> Result<PlanRef> {
        let bound = self.bind_query(query)?;
        let schema = unique_names(&bound.plan.schema);
        let columns = schema.fields.iter().enumerate();
        let columns = columns.map(|(i, f)| Expr::column(i, f.data_type.clone())).collect();
        let input = LogicalPlan::project(bound.plan, columns, schema.clone());
        let sink = Sink {
            path: ObjectPath::new("default_catalog", "default_database", "collect"),
            target: SinkTarget::Collect,
            primary_key: Vec::new(),
            static_partitions: Vec::new(),
            overwrite: false,
            on_conflict: None,
        };
        Ok(LogicalPlan::spanned(LogicalOp::Sink(sink), vec![input], schema, query.span))
    }

    /// Binds an INSERT.
    pub fn bind_insert(&mut self, insert: &ast::Insert) -> Result<PlanRef> {
        if insert.overwrite && !self.config.batch {
            return Err(PlanError::new("Streaming mode not support overwrite.")
                .at(insert.span)
                .hint("SET 'execution.runtime-mode' = 'batch'"));
        }
        let path = self.catalog.qualify(&name_parts(&insert.target));
        let table = match self.catalog.find(&path)? {
            Some(TableLike::Table(table)) => table,
            Some(TableLike::View(_)) => {
                return Err(PlanError::new(format!("'{path}' is a view and cannot be written"))
                    .at(insert.target.span));
            }
            None => {
                return Err(PlanError::new(format!(
                    "Cannot find table '{}' in any of the catalogs, nor as a temporary table.",
                    path.quoted()
                ))
                .at(insert.target.span));
            }
        };
        let table = self.with_option_hints(&path, &table, &insert.hints)?;
        let query = self.bind_query(&insert.source)?.plan;
        self.sink_plan(&path, &table, query, insert)
    }

    /// The plan that writes the rows of `query` to a table, positions as `insert` says.
    fn sink_plan(
        &mut self,
        path: &ObjectPath,
        table: &Table,
        query: PlanRef,
        insert: &ast::Insert,
    ) -> Result<PlanRef> {
        let persisted: Vec<&Column> = table.persisted_columns().collect();
        let (constants, static_partitions) = self.static_partition(table, insert)?;
        let positions = target_positions(table, &persisted, &constants, insert)?;
        if positions.len() != query.schema.len() {
            return Err(mismatch(path, "Different number of columns.", &query.schema, &persisted)
                .at(insert.span));
        }
        let mut exprs: Vec<Option<Expr>> = vec![None; persisted.len()];
        for (name, value) in constants {
            let index = persisted.iter().position(|column| column.name == name);
            if let Some(index) = index {
                exprs[index] = Some(value.cast_to(&persisted[index].data_type)?);
            }
        }
        for (from, to) in positions.iter().enumerate() {
            let field = &query.schema.fields[from];
            let column = persisted[*to];
            // A NULL on its way into a NOT NULL column is the enforcer's business, at run time.
            let target = column.data_type.clone().with_nullable(true);
            if !coercion::implicit_cast_allowed(&field.data_type, &target) {
                let cause = format!(
                    "Incompatible types for sink column '{}' at position {to}.",
                    column.name
                );
                return Err(mismatch(path, &cause, &query.schema, &persisted)
                    .at(insert.span)
                    .hint(format!(
                        "write CAST({} AS {})",
                        field.name,
                        column.data_type.summary()
                    )));
            }
            let value = Expr::column(from, field.data_type.clone());
            exprs[*to] = Some(value.cast_to(&column.data_type)?);
        }
        let target = self.table_sink(path, table)?;
        let offered = target.metadata();
        let mut fields = Vec::with_capacity(persisted.len());
        let mut values = Vec::with_capacity(persisted.len());
        for (expr, column) in exprs.into_iter().zip(&persisted) {
            let written = written_type(path, column, &offered).map_err(|e| e.at(insert.span))?;
            if expr.is_none() && !column.data_type.nullable {
                return Err(PlanError::new(format!(
                    "Column '{}' has no default value and does not allow NULLs",
                    column.name
                ))
                .at(insert.span));
            }
            let value = expr.unwrap_or_else(|| Expr::null(column.data_type.clone()));
            values.push(if written == column.data_type {
                value
            } else {
                value.cast_to(&written)?
            });
            fields.push(Field::new(column.name.as_str(), written));
        }
        let schema = Schema::new(fields);
        let primary_key = table.primary_key.as_ref().map_or_else(Vec::new, |key| {
            key.columns.iter().filter_map(|name| schema.index_of(name)).collect()
        });
        let sink = Sink {
            path: path.clone(),
            target: SinkTarget::Table(target),
            primary_key,
            static_partitions,
            overwrite: insert.overwrite,
            on_conflict: insert.on_conflict,
        };
        let input = LogicalPlan::project(query, values, schema.clone());
        Ok(LogicalPlan::spanned(LogicalOp::Sink(sink), vec![input], schema, insert.span))
    }

    /// The sink of a table.
    pub fn table_sink(&self, path: &ObjectPath, table: &Table) -> Result<Arc<dyn TableSink>> {
        let Some(name) = table.options.raw("connector") else {
            return Err(PlanError::new(format!(
                "Table options do not contain an option key 'connector' for discovering a \
                 connector; table '{path}' cannot be written"
            ))
            .hint("add 'connector' = '…' to the table's WITH clause"));
        };
        let registry = self.catalog.registry();
        let connector = registry.connector(name)?;
        let Some(sink) = connector.sink else {
            return Err(PlanError::new(format!(
                "Connector '{name}' can only be used as a source. It cannot be used as a sink."
            )));
        };
        sink(&self.table_context(path, table)).map_err(|error| {
            let error = PlanError::from(error);
            PlanError {
                message: format!(
                    "Unable to create a sink for writing table '{path}': {}",
                    error.message
                ),
                ..error
            }
        })
    }

    /// The constants of `PARTITION (k = v)`, typed and as text.
    #[allow(clippy::type_complexity)] // Two views of the same list, for one caller.
    fn static_partition(
        &mut self,
        table: &Table,
        insert: &ast::Insert,
    ) -> Result<(Vec<(String, Expr)>, Vec<(String, String)>)> {
        let (mut constants, mut texts) = (Vec::new(), Vec::new());
        let Some(spec) = &insert.partition else { return Ok((constants, texts)) };
        for (name, value) in &spec.entries {
            if !table.partition_keys.contains(&name.value) {
                return Err(PlanError::new(format!(
                    "'{}' is not a partition column of the table",
                    name.value
                ))
                .at(name.span)
                .hint(if table.partition_keys.is_empty() {
                    "the table is not partitioned".to_string()
                } else {
                    format!("its partition columns are {}", table.partition_keys.join(", "))
                }));
            }
            let Some(value) = value else { continue };
            let is_null = matches!(value.kind, ExprKind::Literal(Literal::Null));
            match self.constant(value)? {
                Some((constant, ty)) if !is_null => {
                    texts.push((
                        name.value.clone(),
                        value_to_string(&constant, &ty, &self.settings.zone),
                    ));
                    constants.push((name.value.clone(), Expr::literal(constant, ty)));
                }
                _ => {
                    return Err(
                        PlanError::new("a partition value must be a constant").at(value.span)
                    );
                }
            }
        }
        Ok((constants, texts))
    }
}

/// The type in which a sink takes a column: its own, or for metadata the one that the connector names.
fn written_type(
    path: &ObjectPath,
    column: &Column,
    offered: &[flott_catalog::connector::MetadataColumn],
) -> Result<DataType> {
    let ColumnKind::Metadata { key, .. } = &column.kind else {
        return Ok(column.data_type.clone());
    };
    let key = key.as_deref().unwrap_or(&column.name);
    if let Some(metadata) = offered.iter().find(|metadata| metadata.key == key && metadata.writable)
    {
        return Ok(metadata.data_type.clone().with_nullable(column.data_type.nullable));
    }
    let writable: Vec<&str> =
        offered.iter().filter(|m| m.writable).map(|metadata| metadata.key.as_str()).collect();
    let error = if writable.is_empty() {
        PlanError::new(format!(
            "Table '{path}' declares persistable metadata columns, but its connector does not \
             write metadata"
        ))
    } else {
        PlanError::new(format!(
            "Invalid metadata key '{key}' in column '{}' of table '{path}'. The connector supports \
             the following metadata keys for writing: {}",
            column.name,
            writable.join(", ")
        ))
    };
    Err(error.hint(format!("declare the column {} METADATA VIRTUAL", column.name)))
}

/// The columns of a result: a second one of the same name gets a number, as in Flink.
fn unique_names(schema: &Schema) -> Schema {
    let mut fields: Vec<Field> = Vec::with_capacity(schema.len());
    for field in &schema.fields {
        let taken = |name: &str| fields.iter().any(|known| &*known.name == name);
        let mut name = field.name.to_string();
        let mut number = 0;
        while taken(&name) {
            name = format!("{}{number}", field.name);
            number += 1;
        }
        fields.push(Field { name: name.into(), ..field.clone() });
    }
    Schema::new(fields)
}

/// Which persisted column each column of the query goes to.
fn target_positions(
    table: &Table,
    persisted: &[&Column],
    constants: &[(String, Expr)],
    insert: &ast::Insert,
) -> Result<Vec<usize>> {
    let is_constant = |name: &str| constants.iter().any(|(known, _)| known == name);
    if insert.columns.is_empty() {
        return Ok((0..persisted.len()).filter(|i| !is_constant(&persisted[*i].name)).collect());
    }
    let mut positions = Vec::new();
    for name in &insert.columns {
        let Some(simple) = name.as_simple() else {
            return Err(PlanError::new("nested columns cannot be written one by one")
                .at(name.span)
                .hint("write the whole row: ROW(…)"));
        };
        let position = persisted.iter().position(|column| column.name == simple.value);
        match position {
            Some(position) if positions.contains(&position) || is_constant(&simple.value) => {
                return Err(PlanError::new(format!(
                    "Target column '{}' is assigned more than once",
                    simple.value
                ))
                .at(name.span));
            }
            Some(position) => positions.push(position),
            None => {
                let error = PlanError::new(format!("Unknown target column '{}'", simple.value))
                    .at(name.span);
                let exists = table.column(&simple.value).map(|column| &column.kind);
                return Err(match exists {
                    Some(ColumnKind::Computed(_)) => error.hint("it is computed, not written"),
                    Some(_) => error.hint("it is virtual metadata, not written"),
                    None => error.hint(format!(
                        "the table has {}",
                        persisted.iter().map(|c| c.name.as_str()).collect::<Vec<_>>().join(", ")
                    )),
                });
            }
        }
    }
    Ok(positions)
}

/// Flink's message for a query that does not fit its sink.
fn mismatch(path: &ObjectPath, cause: &str, query: &Schema, sink: &[&Column]) -> PlanError {
    let sink = Schema::new(
        sink.iter()
            .map(|column| Field::new(column.name.as_str(), DataType::clone(&column.data_type)))
            .collect(),
    );
    PlanError::new(format!(
        "Column types of query result and sink for '{path}' do not match.\nCause: {cause}\n\n\
         Query schema: {query}\nSink schema:  {sink}"
    ))
}
