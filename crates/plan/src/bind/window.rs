//! Window table functions: TUMBLE, HOP, CUMULATE, SESSION.

use flott_sql::ast::{self, ExprKind, FunctionArgValue, TableArgInput};
use flott_types::{DataType, Field, Schema, TimeAttribute, TypeRoot, Value};

use super::changelog_function::CHANGELOG_FUNCTIONS;
use super::query::anonymous;
use super::{Binder, Bound};
use crate::logical::{LogicalOp, LogicalPlan, PlanRef, WindowAssignment, WindowKind};
use crate::{PlanError, Result};

/// The parameters of each function, in order; the last one of those with four or more is optional.
const PARAMETERS: [(&str, &[&str]); 4] = [
    ("TUMBLE", &["DATA", "TIMECOL", "SIZE", "OFFSET"]),
    ("HOP", &["DATA", "TIMECOL", "SLIDE", "SIZE", "OFFSET"]),
    ("CUMULATE", &["DATA", "TIMECOL", "STEP", "SIZE", "OFFSET"]),
    ("SESSION", &["DATA", "TIMECOL", "GAP"]),
];

/// Whether a table function reads a whole table: a window function, FROM_CHANGELOG or TO_CHANGELOG.
pub fn reads_table(call: &ast::FunctionCall) -> bool {
    call.name.as_simple().is_some_and(|name| {
        let mut known = PARAMETERS.iter().map(|(known, _)| *known).chain(CHANGELOG_FUNCTIONS);
        known.any(|known| known.eq_ignore_ascii_case(&name.value))
    })
}

impl Binder<'_> {
    /// Binds a table function of FROM.
    pub fn bind_table_function(&mut self, call: &ast::FunctionCall) -> Result<Bound> {
        if let Some(bound) = self.bind_changelog_function(call)? {
            return Ok(bound);
        }
        let name = call.name.as_simple().map(|name| name.value.to_ascii_uppercase());
        let known = PARAMETERS.iter().find(|(known, _)| Some(*known) == name.as_deref());
        let Some((name, parameters)) = known else {
            let parts: Vec<_> = call.name.parts.iter().map(|part| part.value.as_str()).collect();
            return Err(PlanError::new(format!(
                "No match found for table function signature {}",
                parts.join(".")
            ))
            .at(call.span)
            .hint(
                "table functions are TUMBLE, HOP, CUMULATE, SESSION, FROM_CHANGELOG and TO_CHANGELOG",
            ));
        };
        let arguments = assign(call, name, parameters)?;
        self.bind_window(name, &arguments, call.span)
    }

    fn bind_window(
        &mut self,
        name: &str,
        arguments: &[(&str, &ast::FunctionArg)],
        span: ast::Span,
    ) -> Result<Bound> {
        let argument = |wanted: &str| arguments.iter().find(|(n, _)| *n == wanted).map(|(_, a)| *a);
        let missing =
            |what: &str| PlanError::new(format!("{name} needs the argument {what}")).at(span);
        let data = argument("DATA").ok_or_else(|| missing("DATA"))?;
        let (input, partition_by, table_span): (_, &[ast::Expr], _) = match &data.value {
            FunctionArgValue::Table(table) => {
                (self.bind_table_argument(table)?, &table.partition_by, table.span)
            }
            FunctionArgValue::Query(query) => (self.bind_query(query)?, &[], data.span),
            // A query in parentheses looks like a value.
            FunctionArgValue::Expr(ast::Expr { kind: ExprKind::Subquery(query), span }) => {
                (self.bind_query(query)?, &[], *span)
            }
            _ => {
                return Err(PlanError::new(format!("{name} reads a table"))
                    .at(data.span)
                    .hint(format!("write {name}(TABLE t, DESCRIPTOR(time_column), …)")));
            }
        };
        let time = argument("TIMECOL").ok_or_else(|| missing("TIMECOL"))?;
        let time_column = time_column(time, &input.plan.schema, name)?;
        let mut length = |what: &str| -> Result<i64> {
            let arg = argument(what).ok_or_else(|| missing(what))?;
            self.interval(arg, name, what)
        };
        let optional_offset = |binder: &mut Self| -> Result<i64> {
            argument("OFFSET").map_or(Ok(0), |arg| binder.interval(arg, name, "OFFSET"))
        };
        let kind = match name {
            "TUMBLE" => {
                let size = length("SIZE")?;
                WindowKind::Tumble { size, offset: optional_offset(self)? }
            }
            "HOP" => {
                let (slide, size) = (length("SLIDE")?, length("SIZE")?);
                WindowKind::Hop { slide, size, offset: optional_offset(self)? }
            }
            "CUMULATE" => {
                let (step, size) = (length("STEP")?, length("SIZE")?);
                WindowKind::Cumulate { step, size, offset: optional_offset(self)? }
            }
            _ => WindowKind::Session { gap: length("GAP")? },
        };
        check(kind, span)?;
        let partition =
            partition_by
                .iter()
                .map(|key| match self.bind_scalar(key, &input.scope)? {
                    flott_functions::Expr::Column { index, .. } => Ok(index),
                    _ => Err(PlanError::new("PARTITION BY of a table argument takes columns")
                        .at(key.span)),
                })
                .collect::<Result<Vec<_>>>()?;
        if !partition.is_empty() && !matches!(kind, WindowKind::Session { .. }) {
            return Err(PlanError::new(format!("{name} takes no PARTITION BY")).at(table_span));
        }
        assign_windows(input.plan, kind, time_column, partition, self.config.batch, time.span, span)
    }

    fn bind_table_argument(&mut self, table: &ast::TableArg) -> Result<Bound> {
        match &table.input {
            TableArgInput::Table(name) => self.bind_table_name(name, &[]),
            TableArgInput::Query(query) => self.bind_query(query),
        }
    }

    fn interval(&mut self, arg: &ast::FunctionArg, function: &str, what: &str) -> Result<i64> {
        let wrong = || {
            PlanError::new(format!("{what} of {function} must be a constant interval"))
                .at(arg.span)
                .hint("write INTERVAL '10' MINUTE")
        };
        let FunctionArgValue::Expr(expr) = &arg.value else { return Err(wrong()) };
        match self.constant(expr)? {
            Some((Value::Millis(millis), _)) => Ok(millis),
            Some((Value::Months(_), _)) => Err(PlanError::new(format!(
                "{what} of {function} cannot count months, whose lengths differ"
            ))
            .at(arg.span)
            .hint("use days: INTERVAL '30' DAY")),
            _ => Err(wrong()),
        }
    }
}

/// Positional and named arguments by parameter.
pub(super) fn assign<'c>(
    call: &'c ast::FunctionCall,
    name: &str,
    parameters: &[&'static str],
) -> Result<Vec<(&'static str, &'c ast::FunctionArg)>> {
    let mut assigned: Vec<(&'static str, &ast::FunctionArg)> = Vec::new();
    for (i, arg) in call.args.iter().enumerate() {
        let parameter = match &arg.name {
            None => parameters.get(i).copied(),
            Some(given) => parameters.iter().copied().find(|known| given.eq_ignore_case(known)),
        };
        match parameter {
            Some(parameter) if !assigned.iter().any(|(known, _)| *known == parameter) => {
                assigned.push((parameter, arg));
            }
            _ => {
                return Err(PlanError::new(format!("{name} does not take this argument"))
                    .at(arg.span)
                    .hint(format!("its arguments are {}", parameters.join(", "))));
            }
        }
    }
    Ok(assigned)
}

fn time_column(arg: &ast::FunctionArg, schema: &Schema, name: &str) -> Result<usize> {
    let wrong = |message: String| PlanError::new(message).at(arg.span);
    let FunctionArgValue::Expr(ast::Expr { kind: ExprKind::Descriptor(columns), .. }) = &arg.value
    else {
        return Err(wrong(format!("{name} names its time column by DESCRIPTOR(column)")));
    };
    let [column] = columns.as_slice() else {
        return Err(wrong(format!("{name} takes one time column")));
    };
    schema
        .index_of(&column.value)
        .ok_or_else(|| wrong(format!("Column '{}' not found in the input of {name}", column.value)))
}

fn check(kind: WindowKind, span: ast::Span) -> Result<()> {
    let refuse = |message: String| Err(PlanError::new(message).at(span));
    match kind {
        WindowKind::Tumble { size, .. } if size <= 0 => {
            refuse(format!("TUMBLE table function requires a positive size, but got {size} ms"))
        }
        WindowKind::Hop { slide, size, .. } if slide <= 0 || size <= 0 => refuse(format!(
            "HOP table function requires a positive slide and size, but got slide {slide} ms and \
             size {size} ms"
        )),
        WindowKind::Cumulate { step, size, .. } if step <= 0 || size <= 0 => refuse(format!(
            "CUMULATE table function requires a positive step and size, but got step {step} ms \
             and size {size} ms"
        )),
        WindowKind::Cumulate { step, size, .. } if size % step != 0 => refuse(format!(
            "CUMULATE table function requires maxSize must be an integral multiple of step, but \
             got maxSize {size} ms and step {step} ms"
        )),
        WindowKind::Session { gap } if gap <= 0 => {
            refuse(format!("SESSION table function requires a positive gap, but got {gap} ms"))
        }
        _ => Ok(()),
    }
}

fn assign_windows(
    input: PlanRef,
    kind: WindowKind,
    time_column: usize,
    partition: Vec<usize>,
    batch: bool,
    time_span: ast::Span,
    span: ast::Span,
) -> Result<Bound> {
    let time_field = &input.schema.fields[time_column];
    let is_time =
        matches!(time_field.data_type.root, TypeRoot::Timestamp(_) | TypeRoot::TimestampLtz(_));
    let attribute = match time_field.time {
        Some(attribute) => attribute,
        None if batch && is_time => TimeAttribute::Rowtime,
        None => {
            return Err(PlanError::new(format!(
                "The window function requires the timecol is a time attribute type, but is {}.",
                time_field.data_type.summary()
            ))
            .at(time_span)
            .hint(format!(
                "declare WATERMARK FOR {name} AS {name} on the table, and pass the column on \
                 unchanged",
                name = time_field.name
            )));
        }
    };
    if batch && attribute == TimeAttribute::Proctime {
        return Err(PlanError::new("Processing time Window TableFunction is not supported yet.")
            .at(time_span)
            .hint("batch mode has windows over columns of the table only"));
    }
    if batch && matches!(kind, WindowKind::Session { .. }) {
        return Err(PlanError::new(
            "Unaligned windows like session are not supported in batch mode yet.",
        )
        .at(span)
        .hint("SET 'execution.runtime-mode' = 'streaming'"));
    }
    let is_ltz = matches!(time_field.data_type.root, TypeRoot::TimestampLtz(_));
    let mut fields: Vec<Field> = input.schema.fields.clone();
    let bound = DataType::timestamp(3).not_null();
    fields.push(Field::new("window_start", bound.clone()));
    fields.push(Field::new("window_end", bound));
    let time_type = if is_ltz { DataType::timestamp_ltz(3) } else { DataType::timestamp(3) };
    fields.push(
        Field::new("window_time", time_type.not_null()).with_time((!batch).then_some(attribute)),
    );
    let op = LogicalOp::Window(WindowAssignment {
        kind,
        time_column,
        is_rowtime: attribute == TimeAttribute::Rowtime,
        is_ltz,
        partition,
        is_group_window: false,
    });
    Ok(anonymous(LogicalPlan::spanned(op, vec![input], Schema::new(fields), span)))
}
