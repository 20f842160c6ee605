//! FROM: tables, views, sub-queries, joins.

use std::sync::Arc;

use flott_catalog::connector::{ScanColumn, TableContext, TableSource};
use flott_catalog::{Column, ColumnKind, ObjectPath, Table, TableLike, View};
use flott_functions::Expr;
use flott_sql::ast::{self, HintArg, TableRefKind};
use flott_types::{DataType, Field, Schema, TimeAttribute};

use super::query::{anonymous, rename};
use super::{Binder, Bound, Scope, name_parts, path_parts};
use crate::logical::{LogicalOp, LogicalPlan, OnBadRecord, PlanRef, Scan};
use crate::{PlanError, Result};

/// How deep views may nest.
const MAX_VIEW_DEPTH: usize = 64;

impl Binder<'_> {
    /// Binds an item of FROM.
    pub fn bind_table_ref(&mut self, table: &ast::TableRef) -> Result<Bound> {
        let bound = self.bind_table_kind(table).map_err(|error| error.at(table.span))?;
        match &table.alias {
            None => Ok(bound),
            // A table function has given its columns their names already.
            Some(_) if is_table_function(table) => Ok(bound),
            Some(alias) => {
                let plan = rename(bound.plan, &alias.columns, &alias.name.value, alias.span)?;
                let mut scope = Scope::of(vec![alias.name.value.clone()], &plan.schema);
                // A join under an alias shows one table; columns merged by USING stay hidden.
                if alias.columns.is_empty() {
                    scope.relations[0].hidden =
                        bound.scope.relations.iter().flat_map(|r| r.hidden.clone()).collect();
                }
                Ok(Bound { plan, scope })
            }
        }
    }

    fn bind_table_kind(&mut self, table: &ast::TableRef) -> Result<Bound> {
        match &table.kind {
            TableRefKind::Table { name, hints } => self.bind_table_name(name, hints),
            // At the beginning of FROM there is nothing for LATERAL to read.
            TableRefKind::Subquery { query, .. } => Ok(anonymous(self.bind_query(query)?.plan)),
            TableRefKind::Function { call, .. } if super::window::reads_table(call) => {
                self.bind_table_function(call)
            }
            TableRefKind::Function { .. } | TableRefKind::Unnest { .. } => self.bind_alone(table),
            TableRefKind::Join(join) => self.bind_join(join),
            TableRefKind::Sample { .. } => Err(unsupported("TABLESAMPLE")),
            TableRefKind::Snapshot { period, .. } => Err(self.no_time_travel(period)),
            TableRefKind::MatchRecognize { input, clause } => {
                self.bind_match_recognize(input, clause)
            }
        }
    }

    /// Binds a table, view or common table expression by name.
    pub fn bind_table_name(
        &mut self,
        name: &ast::ObjectName,
        hints: &[ast::Hint],
    ) -> Result<Bound> {
        if let Some(simple) = name.as_simple()
            && let Some(cte) = self.cte(&simple.value)
        {
            let plan = cte.plan.clone();
            let scope = Scope::of(vec![simple.value.clone()], &plan.schema);
            return Ok(Bound { plan, scope });
        }
        let path = self.catalog.qualify(&name_parts(name));
        let plan = match self.catalog.find(&path)? {
            Some(TableLike::Table(table)) => self.scan(&path, &table, hints, name.span)?,
            Some(TableLike::View(view)) => self.view(&view, hints, name.span)?,
            None => return Err(object_not_found(name, &path)),
        };
        let scope = Scope::of(path_parts(&path), &plan.schema);
        Ok(Bound { plan, scope })
    }

    fn view(&mut self, view: &View, hints: &[ast::Hint], span: ast::Span) -> Result<PlanRef> {
        if let Some(hint) = hints.iter().find(|hint| hint.name.eq_ignore_case("OPTIONS")) {
            return Err(PlanError::new("View cannot be enriched with new options")
                .at(hint.span)
                .hint("put the OPTIONS hint on the table that the view reads"));
        }
        if self.view_depth >= MAX_VIEW_DEPTH {
            return Err(PlanError::new("views nest too deeply").at(span));
        }
        // A view sees neither the common table expressions around it nor its user's text.
        let ctes = std::mem::take(&mut self.ctes);
        self.view_depth += 1;
        let bound = self.apart(|binder| binder.bind_query(&view.query));
        self.view_depth -= 1;
        self.ctes = ctes;
        let plan = bound.map_err(|error| PlanError { span: Some(span), ..error })?.plan;
        if plan.schema.len() != view.schema.len() {
            return Err(PlanError::new("the view no longer fits the tables it reads")
                .at(span)
                .hint("ALTER VIEW … AS … defines it anew"));
        }
        // The view keeps the types it was created with.
        let mut fields = Vec::with_capacity(plan.schema.len());
        let mut exprs = Vec::with_capacity(plan.schema.len());
        for (i, (now, then)) in plan.schema.fields.iter().zip(&view.schema.fields).enumerate() {
            let expr = Expr::column(i, now.data_type.clone()).cast_to(&then.data_type)?;
            let time = if matches!(expr, Expr::Column { .. }) { now.time } else { None };
            fields.push(Field::new(then.name.clone(), expr.data_type()).with_time(time));
            exprs.push(expr);
        }
        Ok(LogicalPlan::project(plan, exprs, Schema::new(fields)))
    }

    fn scan(
        &mut self,
        path: &ObjectPath,
        table: &Arc<Table>,
        hints: &[ast::Hint],
        span: ast::Span,
    ) -> Result<PlanRef> {
        let table = self.with_option_hints(path, table, hints)?;
        let mut identity = path.to_string();
        for (key, value) in table.options.iter() {
            identity.push_str(&format!("|{key}={value}"));
        }
        if self.config.reuse_source
            && let Some(plan) = self.scans.get(&identity)
        {
            return Ok(plan.clone());
        }
        let source = self.table_source(path, &table)?;
        let plan =
            self.apart(|binder| binder.scan_plan(path, &table, source, identity.clone(), span))?;
        self.scans.insert(identity, plan.clone());
        Ok(plan)
    }

    /// The table with the options of OPTIONS hints laid over its own.
    pub fn with_option_hints(
        &self,
        path: &ObjectPath,
        table: &Arc<Table>,
        hints: &[ast::Hint],
    ) -> Result<Arc<Table>> {
        let mut changed: Option<Table> = None;
        for hint in hints {
            if !hint.name.eq_ignore_case("OPTIONS") {
                continue;
            }
            if !self.config.dynamic_table_options {
                return Err(PlanError::new(format!(
                    "The 'OPTIONS' hint is allowed only when the config option \
                     'table.dynamic-table-options.enabled' is set to true; table '{path}' has one"
                ))
                .at(hint.span));
            }
            let table = changed.get_or_insert_with(|| Table::clone(table));
            for arg in &hint.args {
                match arg {
                    HintArg::KeyValue { key, .. }
                        if self.is_unknown_to_format(table, &key.value) =>
                    {
                        tracing::warn!(
                            table = %path,
                            option = %key.value,
                            "the format does not know this option of the OPTIONS hint; it does nothing"
                        );
                    }
                    HintArg::KeyValue { key, value } => {
                        table.options.set(key.value.as_str(), value.value.as_str());
                    }
                    _ => {
                        return Err(
                            PlanError::new("OPTIONS takes 'key' = 'value' pairs").at(hint.span)
                        );
                    }
                }
            }
        }
        Ok(changed.map_or_else(|| table.clone(), Arc::new))
    }

    /// Whether a key has the prefix of the table's format, which has no such option. Flink lets these pass in
    /// a hint.
    fn is_unknown_to_format(&self, table: &Table, key: &str) -> bool {
        let Some(name) = table.options.raw("format") else { return false };
        let Some(own) = key.strip_prefix(name).and_then(|rest| rest.strip_prefix('.')) else {
            return false;
        };
        let registry = self.catalog.registry();
        let of_records = registry.format(name).ok().map(|format| format.options);
        let of_files = registry.file_format(name).map(|format| format.options);
        let mut known = of_records.into_iter().chain(of_files).peekable();
        known.peek().is_some() && !known.flatten().any(|option| option.matches(own))
    }

    /// What the connector sees of a table.
    pub fn table_context(&self, path: &ObjectPath, table: &Table) -> TableContext {
        let schema = table.physical_schema();
        let positions = |names: &[String]| {
            names.iter().filter_map(|name| schema.index_of(name)).collect::<Vec<_>>()
        };
        let mut physical = 0..;
        let persisted = table.persisted_columns().map(|column| match &column.kind {
            ColumnKind::Metadata { key, .. } => {
                ScanColumn::Metadata(key.as_deref().unwrap_or(&column.name).to_string())
            }
            _ => ScanColumn::Physical(physical.next().unwrap_or_default()),
        });
        TableContext {
            identifier: path.to_string(),
            persisted: persisted.collect(),
            primary_key: table
                .primary_key
                .as_ref()
                .map(|key| positions(&key.columns))
                .unwrap_or_default(),
            partition_keys: positions(&table.partition_keys),
            options: table.options.clone(),
            zone: self.settings.zone.clone(),
            batch: self.config.batch,
            working_directory: self.config.working_directory.clone(),
            registry: self.catalog.registry(),
            schema,
        }
    }

    fn table_source(&self, path: &ObjectPath, table: &Table) -> Result<Arc<dyn TableSource>> {
        let Some(name) = table.options.raw("connector") else {
            return Err(PlanError::new(format!(
                "Table options do not contain an option key 'connector' for discovering a \
                 connector; table '{path}' cannot be read"
            ))
            .hint("add 'connector' = '…' to the table's WITH clause"));
        };
        let registry = self.catalog.registry();
        let connector = registry.connector(name)?;
        let Some(source) = connector.source else {
            return Err(PlanError::new(format!(
                "Connector '{name}' can only be used as a sink. It cannot be used as a source."
            )));
        };
        source(&self.table_context(path, table)).map_err(|error| {
            let error = PlanError::from(error);
            PlanError {
                message: format!(
                    "Unable to create a source for reading table '{path}': {}",
                    error.message
                ),
                ..error
            }
        })
    }

    /// Scan, then computed columns and casts of metadata, as the table declares them.
    fn scan_plan(
        &mut self,
        path: &ObjectPath,
        table: &Arc<Table>,
        source: Arc<dyn TableSource>,
        identity: String,
        span: ast::Span,
    ) -> Result<PlanRef> {
        let offered = source.metadata();
        let mut scan_fields = Vec::new();
        let mut scan_columns = Vec::new();
        let mut physical = 0;
        for column in &table.columns {
            match &column.kind {
                ColumnKind::Physical => {
                    scan_columns.push(ScanColumn::Physical(physical));
                    physical += 1;
                    scan_fields.push(Field::new(column.name.as_str(), column.data_type.clone()));
                }
                ColumnKind::Metadata { key, .. } => {
                    let key = key.as_deref().unwrap_or(&column.name);
                    let found = offered.iter().find(|metadata| metadata.key == key);
                    let Some(metadata) = found else {
                        return Err(unknown_metadata(path, column, key, &offered));
                    };
                    scan_columns.push(ScanColumn::Metadata(key.to_string()));
                    scan_fields.push(Field::new(column.name.as_str(), metadata.data_type.clone()));
                }
                ColumnKind::Computed(_) => {}
            }
        }
        let scan_schema = Schema::new(scan_fields);
        let scope = declared_scope(table, &scan_schema);
        let mut exprs = Vec::with_capacity(table.columns.len());
        for column in &table.columns {
            exprs.push(match &column.kind {
                ColumnKind::Computed(definition) => self
                    .bind_scalar(&definition.expr, &scope.0)
                    .map_err(|error| PlanError { span: Some(span), ..error })?
                    .transform(&mut |node| undeclare(node, &scope.1)),
                _ => {
                    let index = scan_schema.index_of(&column.name).unwrap_or_default();
                    declared_column(index, &scan_schema, &column.data_type)?
                }
            });
        }
        let mut schema = table.schema();
        if self.config.batch {
            // Event time is an ordinary column of a bounded table.
            let is_rowtime = |field: &&mut Field| field.time == Some(TimeAttribute::Rowtime);
            schema.fields.iter_mut().filter(is_rowtime).for_each(|field| field.time = None);
        }
        let watermark = match &table.watermark {
            None => None,
            Some(watermark) => {
                let over_table = self
                    .bind_scalar(&watermark.definition.expr, &Scope::anonymous(&schema))
                    .map_err(|error| PlanError { span: Some(span), ..error })?;
                Some(inline(&over_table, &exprs))
            }
        };
        let idle = table
            .options
            .raw("scan.watermark.idle-timeout")
            .and_then(flott_catalog::connector::parse_duration)
            .map(|duration| duration.as_millis() as u64)
            .unwrap_or(self.config.source_idle_timeout);
        let scan = Scan {
            path: path.clone(),
            table: table.clone(),
            source,
            identity,
            columns: scan_columns,
            watermark,
            idle_timeout: (idle > 0).then_some(idle),
            limit: None,
            filters: Vec::new(),
            predicates: Vec::new(),
            on_error: self.on_bad_record(table)?,
        };
        let plan = LogicalPlan::spanned(LogicalOp::Scan(scan), Vec::new(), scan_schema, span);
        Ok(LogicalPlan::project(plan, exprs, schema))
    }

    fn on_bad_record(&self, table: &Table) -> Result<OnBadRecord> {
        match table.options.raw("on-error").map(str::to_ascii_lowercase).as_deref() {
            Some("skip") => Ok(OnBadRecord::Skip),
            Some("dead-letter") => match table.options.raw("on-error.table") {
                Some(name) => {
                    let parts: Vec<&str> = name.split('.').collect();
                    Ok(OnBadRecord::DeadLetter(self.catalog.qualify(&parts)))
                }
                None => Err(PlanError::new("'on-error' = 'dead-letter' needs 'on-error.table'")
                    .hint("name the table that takes the bad records")),
            },
            _ => Ok(OnBadRecord::Fail),
        }
    }
}

fn is_table_function(table: &ast::TableRef) -> bool {
    match &table.kind {
        TableRefKind::Unnest { .. } => true,
        TableRefKind::Function { call, .. } => !super::window::reads_table(call),
        _ => false,
    }
}

/// Computed columns see the table's columns in their declared types, which for metadata may differ from
/// what the connector gives. The scope has the declared types; the list has the expressions over the scan.
fn declared_scope(table: &Table, scan: &Schema) -> (Scope, Vec<Expr>) {
    let mut fields = Vec::new();
    let mut exprs = Vec::new();
    for column in &table.columns {
        if let Some(index) = scan.index_of(&column.name) {
            fields.push(Field::new(column.name.as_str(), column.data_type.clone()));
            exprs.push(
                declared_column(index, scan, &column.data_type)
                    .unwrap_or_else(|_| Expr::column(index, column.data_type.clone())),
            );
        }
    }
    (Scope::anonymous(&Schema::new(fields)), exprs)
}

fn declared_column(index: usize, scan: &Schema, declared: &DataType) -> Result<Expr> {
    let column = Expr::column(index, scan.fields[index].data_type.clone());
    Ok(column.cast_to(declared)?)
}

fn undeclare(node: Expr, declared: &[Expr]) -> Expr {
    match node {
        Expr::Column { index, .. } => declared[index].clone(),
        other => other,
    }
}

/// An expression over a projection as one over its input.
pub fn inline(expr: &Expr, projection: &[Expr]) -> Expr {
    expr.clone().transform(&mut |node| match node {
        Expr::Column { index, .. } => projection[index].clone(),
        other => other,
    })
}

fn unknown_metadata(
    path: &ObjectPath,
    column: &Column,
    key: &str,
    offered: &[flott_catalog::connector::MetadataColumn],
) -> PlanError {
    let keys: Vec<&str> = offered.iter().map(|metadata| metadata.key.as_str()).collect();
    PlanError::new(format!(
        "Invalid metadata key '{key}' in column '{}' of table '{path}'",
        column.name
    ))
    .hint(if keys.is_empty() {
        "the connector offers no metadata columns".to_string()
    } else {
        format!("the connector offers {}", keys.join(", "))
    })
}

fn object_not_found(name: &ast::ObjectName, path: &ObjectPath) -> PlanError {
    PlanError::new(format!("Object '{}' not found", name_parts(name).join(".")))
        .at(name.span)
        .hint(format!("there is no table or view {path}; SHOW TABLES lists what there is"))
}

fn unsupported(what: &str) -> PlanError {
    PlanError::new(format!("{what} cannot be planned by this version"))
}
