//! UNNEST and table functions in FROM: calls made for each row of what stands left of them.

use std::sync::Arc;

use flott_functions::table::{TableFunction, WITH_ORDINALITY, table_function};
use flott_functions::{Arg, CallArgs, Expr};
use flott_sql::ast::{self, JoinCondition, Span, TableRefKind};
use flott_types::{Field, Schema, TypeRoot};

use super::expr::Context;
use super::query::rename;
use super::select::{filter, one_row};
use super::subquery::{apply_values, no_natural};
use super::{Binder, Bound, Scope, symbol};
use crate::decorrelate::unexpected_variable;
use crate::logical::{Correlate, JoinKind, LogicalOp, LogicalPlan};
use crate::{PlanError, Result};

impl Binder<'_> {
    /// Binds a join whose right side is a table function, if it is one.
    pub fn bind_correlate(&mut self, join: &ast::Join, left: &Bound) -> Result<Option<Bound>> {
        let right = &join.right;
        let Some((left, invocation)) = self.invocation(right, left)? else { return Ok(None) };
        if join.natural {
            return Err(no_natural().at(right.span));
        }
        let kind = correlate_kind(join)?;
        let split = left.scope.fields.len();
        let given = correlate(left, kind, invocation, right)?;
        let (condition, span) = match &join.condition {
            None => return Ok(Some(given)),
            Some(JoinCondition::On(on)) => {
                (self.bind_condition(on, &mut Context::new(&given.scope))?, on.span)
            }
            Some(JoinCondition::Using(_)) => {
                return Err(
                    PlanError::new("a table function is joined ON TRUE, not USING").at(right.span)
                );
            }
        };
        let is_true =
            matches!(&condition, Expr::Literal { value: flott_types::Value::Boolean(true), .. });
        match kind {
            _ if is_true => Ok(Some(given)),
            JoinKind::Inner => {
                let mixes = |condition: &Expr| {
                    let columns = condition.columns();
                    columns.first().is_some_and(|c| *c < split)
                        && columns.last().is_some_and(|c| *c >= split)
                };
                if !self.config.general_correlation
                    && condition.clone().conjuncts().iter().any(mixes)
                {
                    return Err(unexpected_variable("the condition of the join").at(span));
                }
                let plan = filter(given.plan, condition, span);
                Ok(Some(Bound { plan, scope: given.scope }))
            }
            _ => with_condition(given, split, condition, span).map(Some),
        }
    }

    /// Binds a table function that stands at the beginning of FROM.
    pub fn bind_alone(&mut self, table: &ast::TableRef) -> Result<Bound> {
        match self.invocation(table, &one_row())? {
            Some((none, invocation)) => correlate(none, JoinKind::Inner, invocation, table),
            None => Err(PlanError::new("no table function").at(table.span)),
        }
    }

    /// The call of a table function for each row of `left`, which gets what sub-queries among the arguments give
    /// behind its columns; `None`: the table is no function.
    fn invocation(
        &mut self,
        table: &ast::TableRef,
        left: &Bound,
    ) -> Result<Option<(Bound, Invocation)>> {
        let (bound, subqueries) = self.collecting(|binder| match &table.kind {
            TableRefKind::Unnest { collections, with_ordinality } => {
                binder.bind_unnest(collections, *with_ordinality, &left.scope, table.span).map(Some)
            }
            TableRefKind::Function { call, .. } if !super::window::reads_table(call) => {
                binder.bind_invocation(call, &left.scope).map(Some)
            }
            _ => Ok(None),
        })?;
        let Some(mut invocation) = bound else { return Ok(None) };
        let mut left = left.clone();
        if let Some(value) = subqueries.iter().find(|subquery| subquery.is_scalar())
            && !self.config.general_correlation
        {
            return Err(PlanError::new("Query expression encountered in illegal context")
                .at(value.span())
                .hint(
                    "join the sub-query before, or SET 'flott.correlation' = 'general', which plans it",
                ));
        }
        if !subqueries.is_empty() {
            let args = std::mem::take(&mut invocation.args);
            (left.plan, invocation.args) = apply_values(self, left.plan, args, subqueries)?;
        }
        Ok(Some((left, invocation)))
    }

    fn bind_unnest(
        &mut self,
        collections: &[ast::Expr],
        with_ordinality: bool,
        scope: &Scope,
        span: Span,
    ) -> Result<Invocation> {
        let [collection] = collections else {
            return Err(PlanError::new("UNNEST takes one collection")
                .at(span)
                .hint("join two UNNESTs WITH ORDINALITY on their positions"));
        };
        let function = table_function("$UNNEST")
            .ok_or_else(|| PlanError::new("internal error: no function to unnest"))?;
        let arg = self.bind_expr(collection, &mut Context::new(scope))?;
        let is_scalar = match &arg.data_type().root {
            TypeRoot::Array(element) | TypeRoot::Multiset(element) => {
                element.root.row_fields().is_none()
            }
            _ => false,
        };
        let symbols = if with_ordinality { vec![symbol(WITH_ORDINALITY)] } else { Vec::new() };
        Ok(Invocation { function, args: vec![arg], symbols, is_scalar })
    }

    fn bind_invocation(&mut self, call: &ast::FunctionCall, scope: &Scope) -> Result<Invocation> {
        let name = call.name.as_simple().map(|name| name.value.as_str()).unwrap_or_default();
        let Some(function) = table_function(name).filter(|f| !f.name.starts_with('$')) else {
            let parts: Vec<_> = call.name.parts.iter().map(|part| part.value.as_str()).collect();
            return Err(PlanError::new(format!(
                "No match found for table function signature {}",
                parts.join(".")
            ))
            .at(call.span)
            .hint("functions of tables are TUMBLE, HOP, CUMULATE, SESSION, FROM_CHANGELOG and TO_CHANGELOG; UNNEST reads collections"));
        };
        let args = super::call::call_exprs(call)?
            .into_iter()
            .map(|arg| self.bind_expr(arg, &mut Context::new(scope)))
            .collect::<Result<_>>()?;
        Ok(Invocation { function, args, symbols: Vec::new(), is_scalar: false })
    }
}

/// A call of a table function.
struct Invocation {
    function: &'static TableFunction,
    args: Vec<Expr>,
    symbols: Vec<Arc<str>>,
    /// Whether its first column has no name of its own and takes that of the table.
    is_scalar: bool,
}

/// The call of a table function as type rules and kernels see it.
pub fn table_call(name: &str, args: &[Expr], symbols: &[Arc<str>]) -> CallArgs {
    CallArgs {
        name: name.into(),
        args: args
            .iter()
            .map(|arg| Arg {
                data_type: arg.data_type(),
                literal: match arg {
                    Expr::Literal { value, .. } => Some(value.clone()),
                    _ => None,
                },
            })
            .collect(),
        symbols: symbols.to_vec(),
        returning: None,
    }
}

fn correlate_kind(join: &ast::Join) -> Result<JoinKind> {
    match join.kind {
        ast::JoinKind::Inner | ast::JoinKind::Cross | ast::JoinKind::Comma => Ok(JoinKind::Inner),
        ast::JoinKind::Left => Ok(JoinKind::Left),
        ast::JoinKind::Right | ast::JoinKind::Full => Err(PlanError::new(
            "what is computed from the left row cannot stand right of a RIGHT or FULL join",
        )
        .at(join.right.span)
        .hint("use CROSS JOIN, or LEFT JOIN … ON TRUE")),
    }
}

/// The rows of `left` joined with what the function gives for each.
fn correlate(
    left: Bound,
    kind: JoinKind,
    invocation: Invocation,
    table: &ast::TableRef,
) -> Result<Bound> {
    let Invocation { function, args, symbols, is_scalar } = invocation;
    let resolved = (function.resolve)(&table_call(function.name, &args, &symbols))
        .map_err(|error| PlanError::from(error).at(table.span))?;
    let args = args
        .into_iter()
        .zip(&resolved.parameters)
        .map(|(arg, wanted)| arg.cast_to(wanted))
        .collect::<Result<Vec<_>, _>>()?;
    let mut given: Vec<Field> = resolved
        .columns
        .iter()
        .map(|column| {
            let nullable = column.data_type.nullable || kind == JoinKind::Left;
            Field::new(column.name.clone(), column.data_type.clone().with_nullable(nullable))
        })
        .collect();
    let path = table.alias.iter().map(|alias| alias.name.value.clone()).collect();
    if let Some(alias) = &table.alias {
        if alias.columns.is_empty() && is_scalar {
            given[0].name = alias.name.value.as_str().into();
        }
        rename_fields(&mut given, alias)?;
    }
    let width = left.scope.fields.len();
    let scope = left.scope.join(Scope::of(path, &Schema::new(given.clone())));
    let op = LogicalOp::Correlate(Correlate {
        kind,
        function,
        args,
        symbols,
        condition: None,
        // Behind the columns in scope stands what the arguments need of sub-queries.
        passed: (0..width).collect(),
        given: (0..given.len()).collect(),
    });
    let plan = LogicalPlan::spanned(op, vec![left.plan], scope.schema(), table.span);
    Ok(Bound { plan, scope })
}

fn rename_fields(fields: &mut [Field], alias: &ast::TableAlias) -> Result<()> {
    if alias.columns.is_empty() {
        return Ok(());
    }
    // The check of lengths, and its message, are those of any table alias.
    let schema = Schema::new(fields.to_vec());
    let named = LogicalPlan::new(LogicalOp::Values(Vec::new()), Vec::new(), schema);
    let renamed = rename(named, &alias.columns, &alias.name.value, alias.span)?;
    fields.clone_from_slice(&renamed.schema.fields);
    Ok(())
}

/// A left join ON a condition, which may look at the function's columns only.
fn with_condition(given: Bound, split: usize, condition: Expr, span: Span) -> Result<Bound> {
    if condition.columns().iter().any(|column| *column < split) {
        return Err(PlanError::new(
            "the condition of a LEFT JOIN with a table function may read the function's columns only",
        )
        .at(span)
        .hint("put conditions on the left table into the arguments, or join ON TRUE and filter"));
    }
    let LogicalOp::Correlate(correlate) = &given.plan.op else { return Ok(given) };
    let condition = condition.map_columns(&|column| column - split);
    let op = LogicalOp::Correlate(Correlate { condition: Some(condition), ..correlate.clone() });
    let plan = Arc::new(LogicalPlan { op, ..LogicalPlan::clone(&given.plan) });
    Ok(Bound { plan, scope: given.scope })
}
