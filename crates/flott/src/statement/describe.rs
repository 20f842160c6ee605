//! DESCRIBE and SHOW COLUMNS.

use flott_catalog::show::{Description, describe_schema, describe_table};
use flott_catalog::{CatalogReader, TableLike};
use flott_functions::scalar::special;
use flott_functions::{FunctionDoc, Volatility};
use flott_plan::PlanError;
use flott_sql::ast::{Describe, DescribeKind, ObjectName, Show};
use flott_types::{DataType, Field, Schema, Value};

use super::show::fits;
use super::{connectors, texts};
use crate::{Error, Table, TableEnvironment};

impl TableEnvironment {
    pub(super) fn describe(&self, describe: &Describe) -> Result<Table, Error> {
        match &describe.kind {
            DescribeKind::Table(name) => Ok(lines(self.columns(name)?)),
            DescribeKind::Catalog(name) => {
                let catalog = self.catalogs.catalog(&name.value)?;
                let row = |key: &str, value: &str| vec![Some(key.into()), Some(value.into())];
                Ok(texts(
                    &["info name", "info value"],
                    vec![
                        row("name", &name.value),
                        row("type", catalog.options.raw("type").unwrap_or("generic_in_memory")),
                        vec![Some("comment".into()), catalog.comment.clone()],
                    ],
                ))
            }
            DescribeKind::Database(name) => {
                let (catalog, database) = self.database_path(name)?;
                let found = self.catalogs.database(&catalog, &database)?;
                let row = |key: &str, value: &str| vec![Some(key.into()), Some(value.into())];
                Ok(texts(
                    &["info name", "info value"],
                    vec![
                        row("name", &database),
                        row("comment", found.comment.as_deref().unwrap_or_default()),
                    ],
                ))
            }
            DescribeKind::Function(name) => describe_function(name, describe.extended),
            DescribeKind::Connector(name) => {
                let connector = self.registry().connector(&name.value);
                let connector = connector.map_err(|error| PlanError::from(error).at(name.span))?;
                Ok(connectors::options("", connector.options))
            }
            DescribeKind::Format(name) => {
                let registry = self.registry();
                let of_files = registry.file_format(&name.value).map(|format| format.options);
                let of_records = match registry.format(&name.value) {
                    Ok(format) => format.options,
                    Err(_) if of_files.is_some() => &[],
                    Err(error) => return Err(PlanError::from(error).at(name.span).into()),
                };
                let mut options = of_records.to_vec();
                let more = of_files.into_iter().flatten();
                options.extend(more.filter(|more| of_records.iter().all(|it| it.key != more.key)));
                Ok(connectors::options(&format!("{}.", name.value), &options))
            }
            _ => Err(PlanError::new("there is no such object to describe").into()),
        }
    }

    pub(super) fn show_columns(&self, show: &Show) -> Result<Table, Error> {
        let Some(name) = &show.within else {
            return Err(PlanError::new("SHOW COLUMNS needs FROM and a table").into());
        };
        let mut columns = self.columns(name)?;
        columns.retain(|column| fits(&column.name, show.pattern.as_ref()));
        Ok(lines(columns))
    }

    fn columns(&self, name: &ObjectName) -> Result<Vec<Description>, Error> {
        let path = self.path(name);
        match self.catalogs.find(&path)? {
            Some(TableLike::Table(table)) => Ok(describe_table(&table)),
            Some(TableLike::View(view)) => Ok(describe_schema(&view.schema)),
            None => Err(PlanError::new(format!(
                "Tables or views with the identifier '{path}' doesn't exist."
            ))
            .at(name.span)
            .into()),
        }
    }
}

/// The lines as Flink prints them; the comment column is there when any column has a comment.
fn lines(columns: Vec<Description>) -> Table {
    let text = |name: &str| Field::new(name, DataType::string());
    let mut fields = vec![
        text("name"),
        text("type"),
        Field::new("null", DataType::boolean()),
        text("key"),
        text("extras"),
        text("watermark"),
    ];
    let has_comments = columns.iter().any(|column| column.comment.is_some());
    if has_comments {
        fields.push(text("comment"));
    }
    let optional = |text: Option<String>| text.map_or(Value::Null, Value::string);
    let rows = columns
        .into_iter()
        .map(|column| {
            let mut row = vec![
                Value::string(column.name),
                Value::string(column.data_type),
                Value::Boolean(column.nullable),
                optional(column.key),
                optional(column.extras),
                optional(column.watermark),
            ];
            if has_comments {
                row.push(optional(column.comment));
            }
            row
        })
        .collect();
    Table { schema: Schema::new(fields), rows }
}

/// What Flink tells of a function, and with EXTENDED its entry in the reference too.
fn describe_function(name: &ObjectName, extended: bool) -> Result<Table, Error> {
    let simple = name.as_simple().map(|name| name.value.to_ascii_uppercase()).unwrap_or_default();
    let Some(function) = BuiltIn::find(&simple) else {
        return Err(PlanError::new(format!(
            "Function with the identifier '`{}`' doesn't exist.",
            name.to_string().replace('`', "")
        ))
        .at(name.span)
        .hint("SHOW FUNCTIONS lists what there is")
        .into());
    };
    let row = |key: &str, value: &str| vec![Some(key.to_string()), Some(value.to_string())];
    let mut rows = vec![row("is system function", "true"), row("is temporary", "false")];
    if extended {
        let is_deterministic = (function.volatility != Volatility::Volatile).to_string();
        let is_folded = (function.volatility == Volatility::Immutable).to_string();
        rows.extend([
            row("kind", function.kind),
            row("requirements", "[]"),
            row("is deterministic", &is_deterministic),
            row("supports constant folding", &is_folded),
            row("signature", &function.doc.syntax.join("\n")),
            row("description", function.doc.text),
        ]);
        for (expression, result) in function.doc.examples {
            rows.push(row("example", &format!("{expression} = {result}")));
        }
    }
    Ok(texts(&["info name", "info value"], rows))
}

/// A built-in function as DESCRIBE sees it.
struct BuiltIn {
    kind: &'static str,
    volatility: Volatility,
    doc: FunctionDoc,
}

impl BuiltIn {
    /// The function of a name in upper case.
    fn find(name: &str) -> Option<Self> {
        if let Some(function) = flott_functions::scalar_function(name) {
            let (volatility, doc) = (function.volatility, function.doc);
            return Some(Self { kind: "SCALAR", volatility, doc });
        }
        if let Some(function) = flott_functions::aggregate_function(name) {
            let (volatility, doc) = (Volatility::Immutable, function.doc);
            return Some(Self { kind: "AGGREGATE", volatility, doc });
        }
        let form = special::FORMS.iter().find(|form| form.name == name)?;
        Some(Self { kind: "SCALAR", volatility: Volatility::Immutable, doc: form.doc })
    }
}
