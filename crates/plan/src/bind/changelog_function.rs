//! FROM_CHANGELOG and TO_CHANGELOG: rows with an operation code as a changelog, and a changelog as such rows.

use flott_sql::ast::{self, ExprKind, FunctionArgValue, TableArgInput};
use flott_types::{DataType, Family, Field, RowKind, Schema, Value};

use super::query::anonymous;
use super::{Binder, Bound};
use crate::logical::{ChangelogFunction, LogicalOp, LogicalPlan};
use crate::{PlanError, Result};

/// The functions of this file.
pub(super) const CHANGELOG_FUNCTIONS: [&str; 2] = ["FROM_CHANGELOG", "TO_CHANGELOG"];

const PARAMETERS: &[&str] = &["INPUT", "OP", "OP_MAPPING", "ON_TIME", "UID"];
const NAMES: [&str; 4] = ["INSERT", "UPDATE_BEFORE", "UPDATE_AFTER", "DELETE"];

impl Binder<'_> {
    /// Binds FROM_CHANGELOG or TO_CHANGELOG; `None` for other functions.
    pub fn bind_changelog_function(&mut self, call: &ast::FunctionCall) -> Result<Option<Bound>> {
        let Some(name) = call.name.as_simple() else { return Ok(None) };
        let from = name.eq_ignore_case("FROM_CHANGELOG");
        if !from && !name.eq_ignore_case("TO_CHANGELOG") {
            return Ok(None);
        }
        let name = if from { "FROM_CHANGELOG" } else { "TO_CHANGELOG" };
        if self.config.batch {
            return Err(PlanError::new(format!("{name} is only there in streaming mode"))
                .at(call.span)
                .hint("SET 'execution.runtime-mode' = 'streaming'"));
        }
        let arguments = super::window::assign(call, name, PARAMETERS)?;
        let argument = |wanted: &str| {
            let mut given = arguments.iter().filter(|(_, a)| a.value != FunctionArgValue::Default);
            given.find(|(name, _)| *name == wanted).map(|(_, argument)| *argument)
        };
        let input = self.changelog_input(name, argument("INPUT"), call.span)?;
        let op = argument("OP").map(op_column).transpose()?.unwrap_or_else(|| "op".to_string());
        let mapping = match argument("OP_MAPPING") {
            None => NAMES.iter().map(|name| (name.to_string(), name.to_string())).collect(),
            Some(arg) => self.mapping(arg)?,
        };
        let span = argument("OP_MAPPING").map_or(call.span, |arg| arg.span);
        let at = |error: PlanError| error.at(span);
        let (function, fields) = if from {
            from_changelog(&input.plan.schema, &op, mapping).map_err(at)?
        } else {
            to_changelog(&input.plan.schema, &op, mapping).map_err(at)?
        };
        let op = LogicalOp::ChangelogFunction(function);
        let plan = LogicalPlan::spanned(op, vec![input.plan], Schema::new(fields), call.span);
        Ok(Some(anonymous(plan)))
    }

    fn changelog_input(
        &mut self,
        name: &str,
        arg: Option<&ast::FunctionArg>,
        span: ast::Span,
    ) -> Result<Bound> {
        let hint = format!("write {name}(input => TABLE t)");
        let Some(arg) = arg else {
            return Err(PlanError::new(format!("{name} needs the argument input"))
                .at(span)
                .hint(hint));
        };
        match &arg.value {
            FunctionArgValue::Table(table) if !table.partition_by.is_empty() => {
                Err(PlanError::new("Only tables with set semantics may be partitioned.")
                    .at(table.span)
                    .hint(format!("{name} takes its rows one by one, without PARTITION BY")))
            }
            FunctionArgValue::Table(table) => match &table.input {
                TableArgInput::Table(name) => self.bind_table_name(name, &[]),
                TableArgInput::Query(query) => self.bind_query(query),
            },
            FunctionArgValue::Query(query) => self.bind_query(query),
            FunctionArgValue::Expr(ast::Expr { kind: ExprKind::Subquery(query), .. }) => {
                self.bind_query(query)
            }
            _ => Err(PlanError::new(format!("{name} reads a table")).at(arg.span).hint(hint)),
        }
    }

    /// The entries of `op_mapping`, a key with commas as several.
    fn mapping(&mut self, arg: &ast::FunctionArg) -> Result<Vec<(String, String)>> {
        let wrong = || {
            PlanError::new("op_mapping must be a constant map of texts")
                .at(arg.span)
                .hint("write MAP['INSERT', 'c', 'DELETE', 'd']")
        };
        let FunctionArgValue::Expr(expr) = &arg.value else { return Err(wrong()) };
        let Some((Value::Map(entries), _)) = self.constant(expr)? else { return Err(wrong()) };
        let mut mapping = Vec::new();
        for (keys, value) in &entries {
            let (Some(keys), Some(value)) = (keys.as_str(), value.as_str()) else {
                return Err(wrong());
            };
            for key in keys.split(',') {
                mapping.push((key.trim().to_string(), value.trim().to_string()));
            }
        }
        Ok(mapping)
    }
}

/// The one column of a descriptor.
fn op_column(arg: &ast::FunctionArg) -> Result<String> {
    match &arg.value {
        FunctionArgValue::Expr(ast::Expr { kind: ExprKind::Descriptor(columns), .. }) => {
            match columns.as_slice() {
                [column] => Ok(column.value.clone()),
                _ => Err(PlanError::new(
                    "The descriptor for argument 'op' must contain exactly one column name.",
                )
                .at(arg.span)),
            }
        }
        _ => {
            Err(PlanError::new("the argument 'op' names a column by DESCRIPTOR(column)")
                .at(arg.span))
        }
    }
}

fn from_changelog(
    schema: &Schema,
    op: &str,
    mapping: Vec<(String, String)>,
) -> Result<(ChangelogFunction, Vec<Field>)> {
    let Some(column) = schema.index_of(op) else {
        return Err(PlanError::new(format!(
            "The op column '{op}' does not exist in the input schema."
        ))
        .hint("name the column of the operation code: op => DESCRIPTOR(column)"));
    };
    let data_type = &schema.fields[column].data_type;
    if data_type.family() != Family::CharacterString {
        return Err(PlanError::new(format!(
            "The op column '{op}' must be of STRING type, but was '{data_type}'."
        )));
    }
    let mut codes: Vec<(String, RowKind)> = Vec::new();
    for (code, name) in mapping {
        let kind = kind_of(&name)?;
        if codes.iter().any(|(known, _)| *known == code) {
            return Err(PlanError::new(format!(
                "the operation code '{code}' stands for two changes in 'op_mapping'"
            )));
        }
        codes.push((code, kind));
    }
    let has = |wanted: RowKind| codes.iter().any(|(_, kind)| *kind == wanted);
    if has(RowKind::UpdateAfter) && !has(RowKind::UpdateBefore) {
        return Err(PlanError::new(
            "The 'op_mapping' must include UPDATE_BEFORE for retract mode. Upsert mode (without \
             UPDATE_BEFORE) is not supported in this version.",
        )
        .hint("map the code of a row's new version to INSERT where no old version comes"));
    }
    let mut fields = schema.fields.clone();
    fields.remove(column);
    Ok((ChangelogFunction::From { op: column, codes }, fields))
}

fn to_changelog(
    schema: &Schema,
    op: &str,
    mapping: Vec<(String, String)>,
) -> Result<(ChangelogFunction, Vec<Field>)> {
    if schema.index_of(op).is_some() {
        return Err(PlanError::new(format!(
            "Field names must be unique. Found duplicates: [{op}]"
        ))
        .hint("give the column of the operation code another name: op => DESCRIPTOR(name)"));
    }
    let mut codes: [Option<String>; 4] = Default::default();
    for (name, code) in mapping {
        codes[kind_of(&name)? as usize] = Some(code);
    }
    let mut fields = vec![Field::new(op, DataType::string())];
    fields.extend(schema.fields.iter().cloned());
    Ok((ChangelogFunction::To { codes }, fields))
}

fn kind_of(name: &str) -> Result<RowKind> {
    let place = NAMES.iter().position(|known| *known == name);
    place.map(|place| RowKind::ALL[place]).ok_or_else(|| {
        PlanError::new(format!(
            "Invalid target mapping for argument 'op_mapping'. Unknown change operation: '{name}'. \
             Valid values are: [{}].",
            NAMES.join(", ")
        ))
    })
}
