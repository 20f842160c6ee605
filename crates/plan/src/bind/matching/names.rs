//! Names and calls in MEASURES and DEFINE.

use flott_functions::aggregate::in_windows_of_rows;
use flott_functions::{Expr, aggregate_function};
use flott_sql::ast::{self, FunctionArgValue, Ident, SetQuantifier};
use flott_types::{DataType, TypeRoot};

use super::super::aggregate::aggregate_args;
use super::super::call::call_exprs;
use super::super::expr::Context;
use super::super::{Binder, Scope};
use crate::logical::AggregateCall;
use crate::matching::{MatchEnd, MatchRows, MatchSlot};
use crate::{PlanError, Result};

/// What names mean inside a pattern.
#[derive(Clone)]
pub struct MatchContext<'a> {
    /// The variables in order.
    pub variables: &'a [String],
    /// The variable whose condition is bound; `None` in MEASURES.
    defining: Option<usize>,
    /// In MEASURES, how many rows each variable has at least.
    least: Vec<u32>,
    /// The column by which rows are ordered in time.
    time_column: usize,
    /// What the expression takes from the match so far.
    pub slots: Vec<MatchSlot>,
    /// The call around the name, if it says which row is meant.
    around: Option<Around>,
}

/// A call that its argument's names depend on.
#[derive(Clone, Copy)]
enum Around {
    /// FIRST, LAST and their like.
    Navigation { end: MatchEnd, offset: u32, rows: Option<MatchRows> },
    /// An aggregate.
    Aggregate { rows: Option<MatchRows> },
}

impl<'a> MatchContext<'a> {
    /// The context of the condition of `variables[defining]`.
    pub fn define(variables: &'a [String], defining: usize, time_column: usize) -> Self {
        let (least, slots) = (Vec::new(), Vec::new());
        Self { variables, defining: Some(defining), least, time_column, slots, around: None }
    }

    /// The context of measures of variables that have so many rows at least.
    pub fn measures(variables: &'a [String], least: Vec<u32>, time_column: usize) -> Self {
        Self { variables, defining: None, least, time_column, slots: Vec::new(), around: None }
    }

    /// The context of an expression over the columns of `scope`.
    pub fn within(self, scope: &'a Scope) -> Context<'a> {
        Context { matching: Some(self), ..Context::new(scope) }
    }

    /// A column, `variable.column`, or a field of one.
    pub fn resolve(&mut self, name: &[Ident], scope: &Scope) -> Result<Expr> {
        let (rows, expr) = self.split(name, scope)?;
        let (end, offset) = match &mut self.around {
            Some(Around::Aggregate { rows: known }) => {
                same_rows(known, rows, "the aggregate", name)?;
                return Ok(expr);
            }
            Some(Around::Navigation { end, offset, rows: known }) => {
                same_rows(known, rows, "the call", name)?;
                (*end, *offset)
            }
            None => (MatchEnd::Last, 0),
        };
        Ok(expr.transform(&mut |node| match node {
            Expr::Column { index, data_type } => {
                let nullable = data_type.nullable || !self.is_there(rows, end, offset);
                let slot = self.row_slot(rows, end, offset, index);
                Expr::column(slot, data_type.with_nullable(nullable))
            }
            other => other,
        }))
    }

    /// The rows that a name speaks of, and the column or field as an expression over the input.
    fn split(&self, name: &[Ident], scope: &Scope) -> Result<(MatchRows, Expr)> {
        if let [first, rest @ ..] = name
            && !rest.is_empty()
            && let Some(variable) = self.variables.iter().position(|known| *known == first.value)
        {
            let expr = scope.resolve(rest).map_err(|error| match error.span {
                Some(_) => error,
                None => error.at(first.span),
            })?;
            return Ok((MatchRows::Variable(variable), expr));
        }
        let expr = scope.resolve(name).map_err(|error| {
            let known = self.variables.join(", ");
            error.hint(format!("the pattern's variables are {known}; names are case-sensitive"))
        })?;
        Ok((MatchRows::All, expr))
    }

    /// Whether a row is sure to exist.
    fn is_there(&self, rows: MatchRows, end: MatchEnd, offset: u32) -> bool {
        match (self.defining, rows) {
            (Some(variable), rows) => rows.covers(variable) && end == MatchEnd::Last && offset == 0,
            (None, MatchRows::All) => offset == 0,
            (None, MatchRows::Variable(variable)) => {
                self.least.get(variable).is_some_and(|least| offset < *least)
            }
        }
    }

    fn row_slot(&mut self, rows: MatchRows, end: MatchEnd, offset: u32, column: usize) -> usize {
        let is_current = self.defining.is_some_and(|variable| rows.covers(variable))
            && end == MatchEnd::Last
            && offset == 0;
        let same = |slot: &MatchSlot| match slot {
            MatchSlot::Current(known) => is_current && *known == column,
            MatchSlot::Row { rows: r, end: e, offset: o, column: c } => {
                !is_current && (*r, *e, *o, *c) == (rows, end, offset, column)
            }
            _ => false,
        };
        if let Some(known) = self.slots.iter().position(same) {
            return known;
        }
        self.slots.push(match is_current {
            true => MatchSlot::Current(column),
            false => MatchSlot::Row { rows, end, offset, column },
        });
        self.slots.len() - 1
    }

    fn time_slot(&mut self) -> usize {
        let known = self.slots.iter().position(|slot| matches!(slot, MatchSlot::Time));
        known.unwrap_or_else(|| {
            self.slots.push(MatchSlot::Time);
            self.slots.len() - 1
        })
    }

    fn aggregate_slot(&mut self, rows: MatchRows, call: AggregateCall) -> usize {
        let digest = call.digest();
        let known = self.slots.iter().position(|slot| match slot {
            MatchSlot::Aggregate { rows: r, call } => *r == rows && call.digest() == digest,
            _ => false,
        });
        known.unwrap_or_else(|| {
            self.slots.push(MatchSlot::Aggregate { rows, call: Box::new(call) });
            self.slots.len() - 1
        })
    }
}

fn same_rows(
    known: &mut Option<MatchRows>,
    rows: MatchRows,
    what: &str,
    name: &[Ident],
) -> Result<()> {
    let names: Vec<&str> = name.iter().map(|part| part.value.as_str()).collect();
    match known.replace(rows) {
        Some(before) if before != rows => Err(PlanError::new(format!(
            "Multiple pattern variables in {what} around {}",
            names.join(".")
        ))
        .hint("use columns of one variable inside a call: SUM(A.x) + SUM(B.y)")),
        _ => Ok(()),
    }
}

impl Binder<'_> {
    /// Binds a call that means something of its own inside a pattern; `None` for all others.
    pub fn bind_match_call(
        &mut self,
        call: &ast::FunctionCall,
        context: &mut Context,
    ) -> Result<Option<Expr>> {
        let Some(name) = call.name.as_simple() else { return Ok(None) };
        let name = name.value.to_ascii_uppercase();
        let bound = match name.as_str() {
            "FIRST" | "LAST" | "PREV" | "NEXT" => self.bind_navigation(&name, call, context),
            "MATCH_ROWTIME" => self.bind_match_rowtime(call, context),
            "MATCH_PROCTIME" => Ok(Expr::builtin("PROCTIME", Vec::new())?),
            "CLASSIFIER" | "MATCH_NUMBER" => {
                Err(PlanError::new(format!("Unsupported call: {name}()"))
                    .hint("tell variables apart by a measure: COUNT(A.x), LAST(A.x)"))
            }
            _ => match aggregate_function(&name).map(in_windows_of_rows) {
                Some(function) => self.bind_match_aggregate(function, call, context),
                None => return Ok(None),
            },
        };
        bound.map(Some).map_err(|error| error.at(call.span))
    }

    /// FIRST, LAST, and PREV and NEXT by no row, which mean nothing.
    fn bind_navigation(
        &mut self,
        name: &str,
        call: &ast::FunctionCall,
        context: &mut Context,
    ) -> Result<Expr> {
        let physical = matches!(name, "PREV" | "NEXT");
        let args = call_exprs(call)?;
        let (operand, offset) = match args.as_slice() {
            [operand] => (*operand, u32::from(physical)),
            [operand, offset] => (*operand, literal_offset(name, offset)?),
            _ => {
                return Err(PlanError::new(format!("{name} takes a value and an offset"))
                    .hint(format!("write {name}(A.x) or {name}(A.x, 1)")));
            }
        };
        let Some(matching) = context.matching.as_mut() else {
            return Err(PlanError::new(format!("{name} stands in MATCH_RECOGNIZE only")));
        };
        if physical && matching.defining.is_none() {
            return Err(PlanError::new(format!("Cannot use PREV/NEXT in MEASURE '{call}'"))
                .hint("LAST(A.x, 1) is the last but one row of A"));
        }
        if physical && offset != 0 {
            return Err(PlanError::new(
                "Flink does not support physical offsets within partition.",
            )
            .hint("LAST(A.x, 1) is the row of A before this one; NULL for the first"));
        }
        match matching.around {
            // Inside an aggregate each row stands for itself.
            Some(Around::Aggregate { .. }) => return self.bind_expr(operand, context),
            Some(Around::Navigation { .. }) => {
                return Err(PlanError::new(format!(
                    "Cannot nest PREV/NEXT under LAST/FIRST '{call}'"
                ))
                .hint("one call counts rows: LAST(A.x, 2)"));
            }
            None => {}
        }
        let end = if name == "FIRST" { MatchEnd::First } else { MatchEnd::Last };
        matching.around = Some(Around::Navigation { end, offset, rows: None });
        let bound = self.bind_expr(operand, context);
        if let Some(matching) = context.matching.as_mut() {
            matching.around = None;
        }
        bound
    }

    fn bind_match_rowtime(
        &mut self,
        call: &ast::FunctionCall,
        context: &mut Context,
    ) -> Result<Expr> {
        let plain = DataType::timestamp(3).not_null();
        let args = call_exprs(call)?;
        let data_type = match args.as_slice() {
            [] => plain,
            [only] => {
                let (_, column) = match (&only.kind, context.matching.as_ref()) {
                    (ast::ExprKind::Identifier(name), Some(matching)) => {
                        matching.split(name, context.scope)?
                    }
                    _ => return Err(no_rowtime(&only.to_string())),
                };
                let time = super::super::select::time_of(&column, &context.scope.schema());
                if time != Some(flott_types::TimeAttribute::Rowtime) || self.config.batch {
                    return Err(no_rowtime(&column.data_type().summary()));
                }
                match column.data_type().root {
                    TypeRoot::TimestampLtz(_) => DataType::timestamp_ltz(3),
                    _ => DataType::timestamp(3),
                }
            }
            _ => return Err(PlanError::new("MATCH_ROWTIME takes one argument at most")),
        };
        let Some(matching) = context.matching.as_mut() else {
            return Err(PlanError::new(
                "Function 'MATCH_ROWTIME()' can only be used in MATCH_RECOGNIZE",
            ));
        };
        if matching.defining.is_some() {
            // The time of the row in question.
            let column = matching.time_column;
            let data_type = context.scope.fields[column].data_type.clone();
            let slot = matching.row_slot(MatchRows::All, MatchEnd::Last, 0, column);
            return Ok(Expr::column(slot, data_type));
        }
        Ok(Expr::column(matching.time_slot(), data_type))
    }

    fn bind_match_aggregate(
        &mut self,
        function: &'static flott_functions::aggregate::AggregateFunction,
        call: &ast::FunctionCall,
        context: &mut Context,
    ) -> Result<Expr> {
        if call.quantifier == Some(SetQuantifier::Distinct) {
            return Err(PlanError::new(format!("DISTINCT/ALL not allowed with {call} function"))
                .hint("Flink aggregates all rows of a variable"));
        }
        if call.filter.is_some() || !call.within_group.is_empty() || call.over.is_some() {
            return Err(PlanError::new(format!("Unsupported call: {call}"))
                .hint("FILTER, WITHIN GROUP and OVER do not go with MATCH_RECOGNIZE"));
        }
        let Some(matching) = context.matching.as_mut() else {
            return Err(PlanError::new("aggregates are not allowed here"));
        };
        match matching.around {
            Some(Around::Navigation { .. }) => {
                return Err(PlanError::new(format!(
                    "Cannot use aggregation in navigation '{call}'"
                ))
                .hint("an aggregate is that of the whole match"));
            }
            Some(Around::Aggregate { .. }) => {
                return Err(PlanError::new("Aggregate expressions cannot be nested"));
            }
            None => {}
        }
        let is_star =
            matches!(call.args.as_slice(), [arg] if matches!(arg.value, FunctionArgValue::Star));
        let star_rows = is_star.then_some(MatchRows::All);
        matching.around = Some(Around::Aggregate { rows: star_rows });
        let args: Result<Vec<Expr>> =
            call_exprs(call)?.into_iter().map(|arg| self.bind_expr(arg, context)).collect();
        let around = context.matching.as_mut().and_then(|m| m.around.take());
        let args = args?;
        let rows = match around {
            Some(Around::Aggregate { rows: Some(rows) }) => rows,
            _ => {
                return Err(PlanError::new("No pattern variable specified in aggregate").hint(
                    "aggregate a column of a variable: COUNT(A.x); COUNT(*) counts all rows",
                ));
            }
        };
        let typed = aggregate_args(function.name, &args, &[]);
        let resolved = (function.resolve)(&typed, true)?;
        let args = args
            .into_iter()
            .zip(&resolved.parameters)
            .map(|(arg, wanted)| arg.cast_to(wanted))
            .collect::<Result<_, _>>()?;
        let data_type = resolved.returns;
        let call = AggregateCall {
            function,
            args,
            symbols: Vec::new(),
            distinct: false,
            filter: None,
            data_type: data_type.clone(),
        };
        match context.matching.as_mut() {
            Some(matching) => Ok(Expr::column(matching.aggregate_slot(rows, call), data_type)),
            None => Err(PlanError::new("aggregates are not allowed here")),
        }
    }
}

fn literal_offset(name: &str, expr: &ast::Expr) -> Result<u32> {
    let offset = match &expr.kind {
        ast::ExprKind::Literal(ast::Literal::Number { text, .. }) => text.parse().ok(),
        _ => None,
    };
    offset.ok_or_else(|| {
        PlanError::new(format!("the offset of {name} is a whole number, zero or more"))
            .at(expr.span)
            .hint(format!("write {name}(A.x, 1)"))
    })
}

fn no_rowtime(found: &str) -> PlanError {
    PlanError::new(format!(
        "The function MATCH_ROWTIME requires argument to be a row time attribute type, but is \
         '{found}'."
    ))
    .hint("MATCH_ROWTIME() without an argument is the time of the match")
}
