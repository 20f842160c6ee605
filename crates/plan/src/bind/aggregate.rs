//! Aggregate calls, GROUP BY and grouping sets.
//!
//! Expressions of a grouped SELECT are bound over the columns of FROM. An aggregate becomes a column
//! behind those; afterwards [`Grouping::rewrite`] replaces what equals a key by the key's column,
//! and what remains of FROM is not grouped.

use std::sync::Arc;

use flott_functions::aggregate::AggregateFunction;
use flott_functions::{Arg, CallArgs, Expr};
use flott_sql::ast::{self, GroupingElement, GroupingElementKind, SetQuantifier, Span};
use flott_types::{DataType, Field, Schema, TypeRoot, Value};

use super::call::call_exprs;
use super::expr::{Context, case};
use super::outer::{as_outer, as_subquery};
use super::over::is_over_column;
use super::{Binder, Scope};
use crate::logical::{Aggregate, AggregateCall, LogicalOp, LogicalPlan, PlanRef};
use crate::traits::window::groups_by_window;
use crate::{PlanError, Result};

/// Where GROUPING calls are counted from, far behind any column.
const GROUPING_BASE: usize = 1 << 24;

/// Collects the aggregates of a SELECT while its expressions are bound.
pub struct AggregateContext {
    /// The number of columns of FROM; aggregates are columns behind them.
    base: usize,
    /// Whether a group may have no rows.
    may_be_empty: bool,
    /// The aggregates found.
    pub calls: Vec<AggregateCall>,
    /// The arguments of each GROUPING found.
    groupings: Vec<Vec<Expr>>,
}

impl AggregateContext {
    /// A context over `base` columns.
    pub fn new(base: usize, may_be_empty: bool) -> Self {
        Self { base, may_be_empty, calls: Vec::new(), groupings: Vec::new() }
    }

    /// Whether no aggregate was found.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.groupings.is_empty()
    }

    fn add(&mut self, call: AggregateCall) -> Expr {
        let digest = call.digest();
        let data_type = call.data_type.clone();
        let index = self.calls.iter().position(|known| known.digest() == digest);
        let index = index.unwrap_or_else(|| {
            self.calls.push(call);
            self.calls.len() - 1
        });
        Expr::column(self.base + index, data_type)
    }
}

/// An aggregate call as written.
pub struct AggregateSyntax<'e> {
    args: Vec<&'e ast::Expr>,
    symbols: Vec<Arc<str>>,
    distinct: bool,
    filter: Option<&'e ast::Expr>,
    within_group: Option<Span>,
}

impl<'e> AggregateSyntax<'e> {
    /// The syntax of an ordinary call.
    pub fn of(call: &'e ast::FunctionCall) -> Result<Self> {
        if call.args.is_empty() {
            let problem = format!(
                "Invalid number of arguments to function '{}'. Was expecting 1 arguments",
                call.name
            );
            let hint = "an aggregate function takes a value; COUNT(*) counts rows";
            return Err(PlanError::new(problem).at(call.span).hint(hint));
        }
        let symbols = match call.null_treatment {
            Some(ast::NullTreatment::Ignore) => vec![Arc::from("IGNORE NULLS")],
            Some(ast::NullTreatment::Respect) => vec![Arc::from("RESPECT NULLS")],
            None => Vec::new(),
        };
        Ok(Self {
            args: call_exprs(call)?,
            symbols,
            distinct: call.quantifier == Some(SetQuantifier::Distinct),
            filter: call.filter.as_deref(),
            within_group: call.within_group.first().map(|item| item.span),
        })
    }

    /// A call without clauses.
    pub fn plain(args: Vec<&'e ast::Expr>, symbols: Vec<Arc<str>>) -> Self {
        Self { args, symbols, distinct: false, filter: None, within_group: None }
    }
}

impl Binder<'_> {
    /// Binds an aggregate call to the column that will hold its result.
    pub fn bind_aggregate(
        &mut self,
        function: &'static AggregateFunction,
        syntax: AggregateSyntax,
        context: &mut Context,
    ) -> Result<Expr> {
        let Some(may_be_empty) = context.aggregates.as_ref().map(|a| a.may_be_empty) else {
            return Err(PlanError::new(format!(
                "Aggregate expression {} is illegal here",
                function.name
            ))
            .hint("aggregates stand in SELECT, HAVING and ORDER BY, and do not nest"));
        };
        let call = self.aggregate_call(function, syntax, may_be_empty, &mut context.inner())?;
        match &mut context.aggregates {
            Some(aggregates) => Ok(aggregates.add(call)),
            None => Err(PlanError::new("aggregates are not allowed here")),
        }
    }

    /// Binds an aggregate call, its arguments in a context of their own.
    pub fn aggregate_call(
        &mut self,
        function: &'static AggregateFunction,
        syntax: AggregateSyntax,
        may_be_empty: bool,
        inner: &mut Context,
    ) -> Result<AggregateCall> {
        if let Some(span) = syntax.within_group {
            return Err(PlanError::new("WITHIN GROUP is not supported in streaming").at(span));
        }
        let args =
            syntax.args.iter().map(|arg| self.bind_expr(arg, inner)).collect::<Result<Vec<_>>>()?;
        let filter = syntax.filter.map(|filter| self.bind_condition(filter, inner)).transpose()?;
        let call = aggregate_args(function.name, &args, &syntax.symbols);
        let resolved = (function.resolve)(&call, may_be_empty || filter.is_some())?;
        if syntax.distinct
            && !self.config.batch
            && let Some(arg) = args.iter().find(|arg| arg.data_type().root.row_fields().is_some())
        {
            return Err(PlanError::new(format!(
                "Distinct aggregate function does not support type: {}",
                arg.data_type().summary()
            ))
            .hint("list the fields: COUNT(DISTINCT a, b)"));
        }
        let args = args
            .into_iter()
            .zip(&resolved.parameters)
            .map(|(arg, wanted)| arg.cast_to(wanted))
            .collect::<Result<_, _>>()?;
        Ok(AggregateCall {
            function,
            args,
            symbols: syntax.symbols,
            distinct: syntax.distinct,
            filter,
            data_type: resolved.returns,
        })
    }

    /// Binds GROUPING, GROUPING_ID or (without arguments) GROUP_ID to a column that [`Grouping::rewrite`] resolves.
    pub fn bind_grouping(
        &mut self,
        call: &ast::FunctionCall,
        context: &mut Context,
    ) -> Result<Expr> {
        let mut inner = context.inner();
        let args = call_exprs(call)?
            .into_iter()
            .map(|arg| self.bind_expr(arg, &mut inner))
            .collect::<Result<Vec<_>>>()?;
        match &mut context.aggregates {
            Some(aggregates) => {
                aggregates.groupings.push(args);
                let index = GROUPING_BASE + aggregates.groupings.len() - 1;
                Ok(Expr::column(index, DataType::bigint().not_null()))
            }
            None => Err(PlanError::new("GROUPING is illegal here")
                .at(call.span)
                .hint("it tells the grouping sets of a GROUP BY apart")),
        }
    }

    /// Binds GROUP BY: the keys, and which of them each grouping set has.
    pub fn bind_group_by(&mut self, group_by: &ast::GroupBy, scope: &Scope) -> Result<Grouping> {
        let mut grouping = Grouping::global();
        for element in &group_by.elements {
            let sets = self.grouping_sets(element, scope, &mut grouping.keys)?;
            // Elements side by side combine: GROUP BY a, CUBE(b, c) has a in every set.
            grouping.sets = grouping
                .sets
                .iter()
                .flat_map(|left| {
                    sets.iter().map(move |right| {
                        let mut both = left.clone();
                        both.extend(right.iter().filter(|key| !left.contains(key)));
                        both
                    })
                })
                .collect();
        }
        grouping.sets.iter_mut().for_each(|set| set.sort_unstable());
        // Calcite's order, in which rows come out: larger sets first.
        grouping.sets.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        if group_by.quantifier == Some(SetQuantifier::Distinct) {
            let mut seen = Vec::new();
            grouping.sets.retain(|set| {
                let fresh = !seen.contains(set);
                seen.push(set.clone());
                fresh
            });
        }
        Ok(grouping)
    }

    fn grouping_sets(
        &mut self,
        element: &GroupingElement,
        scope: &Scope,
        keys: &mut Vec<Expr>,
    ) -> Result<Vec<Vec<usize>>> {
        let several = |binder: &mut Self, elements: &[GroupingElement], keys: &mut Vec<Expr>| {
            elements
                .iter()
                .map(|element| binder.grouping_sets(element, scope, keys))
                .collect::<Result<Vec<_>>>()
        };
        Ok(match &element.kind {
            GroupingElementKind::Expr(expr) => vec![vec![self.group_key(expr, scope, keys)?]],
            GroupingElementKind::Set(exprs) => {
                let set = exprs
                    .iter()
                    .map(|expr| self.group_key(expr, scope, keys))
                    .collect::<Result<Vec<_>>>()?;
                vec![set]
            }
            GroupingElementKind::GroupingSets(elements) => {
                several(self, elements, keys)?.into_iter().flatten().collect()
            }
            GroupingElementKind::Rollup(elements) => {
                let parts = several(self, elements, keys)?;
                (0..=parts.len())
                    .rev()
                    .map(|count| parts[..count].iter().flatten().flatten().copied().collect())
                    .collect()
            }
            GroupingElementKind::Cube(elements) => {
                let parts = several(self, elements, keys)?;
                let count = parts.len();
                if count > 16 {
                    return Err(PlanError::new("CUBE takes up to 16 elements").at(element.span));
                }
                (0..1usize << count)
                    .rev()
                    .map(|bits| {
                        (0..count)
                            .filter(|part| bits >> (count - 1 - part) & 1 == 1)
                            .flat_map(|part| parts[part].iter().flatten().copied())
                            .collect()
                    })
                    .collect()
            }
        })
    }

    fn group_key(
        &mut self,
        expr: &ast::Expr,
        scope: &Scope,
        keys: &mut Vec<Expr>,
    ) -> Result<usize> {
        let key = self.bind_scalar(expr, scope)?;
        Ok(keys.iter().position(|known| *known == key).unwrap_or_else(|| {
            keys.push(key);
            keys.len() - 1
        }))
    }
}

/// The view of arguments that an aggregate's type rule gets.
pub fn aggregate_args(name: &str, args: &[Expr], symbols: &[Arc<str>]) -> CallArgs {
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

/// GROUP BY: keys, and the sets of them.
pub struct Grouping {
    /// The keys, each once.
    pub keys: Vec<Expr>,
    /// The grouping sets as positions of keys; a single one with all keys for a plain GROUP BY.
    pub sets: Vec<Vec<usize>>,
    /// What is grouped by where that differs from the keys as they are written.
    columns: Option<Vec<Expr>>,
    /// How long idle groups are kept where a hint says so.
    pub state_ttl: Option<u64>,
}

impl Grouping {
    /// No GROUP BY: one group of everything.
    pub fn global() -> Self {
        Self { keys: Vec::new(), sets: vec![Vec::new()], columns: None, state_ttl: None }
    }

    /// Grouping by keys and a window: `columns` hold the keys, `window` the window's bounds.
    pub fn by_window(keys: Vec<Expr>, columns: Vec<Expr>, window: &[Expr]) -> Self {
        let with_window = |mut exprs: Vec<Expr>| {
            exprs.extend_from_slice(window);
            exprs
        };
        let keys = with_window(keys);
        let sets = vec![(0..keys.len()).collect()];
        Self { keys, sets, columns: Some(with_window(columns)), state_ttl: None }
    }

    /// The same grouping by what the keys become where sub-queries are columns.
    pub fn group_by(&mut self, columns: Vec<Expr>) {
        self.columns = Some(columns);
    }

    fn groups(&self) -> Vec<Expr> {
        self.columns.clone().unwrap_or_else(|| self.keys.clone())
    }

    /// Whether there is more than one grouping set, or one that leaves keys out.
    pub fn is_plain(&self) -> bool {
        self.sets.len() == 1 && self.sets[0].len() == self.keys.len()
    }

    /// The plan that groups `input` and computes `calls`. Its columns are the keys, the grouping
    /// set's number where there are several, and the results.
    pub fn plan(
        &self,
        input: PlanRef,
        calls: Vec<AggregateCall>,
        names: &[String],
        span: Span,
    ) -> PlanRef {
        let (input, groups) =
            if self.is_plain() { (input, self.groups()) } else { self.expand(input) };
        // A time attribute survives grouping only together with the window it belongs to.
        let windowed = groups_by_window(&input, &groups);
        let mut fields: Vec<Field> = groups
            .iter()
            .enumerate()
            .map(|(i, key)| {
                let name = names.get(i).map_or("$e", String::as_str);
                let time = match key {
                    Expr::Column { index, .. } if windowed => {
                        input.schema.fields.get(*index).and_then(|field| field.time)
                    }
                    _ => None,
                };
                Field::new(name, key.data_type()).with_time(time)
            })
            .collect();
        for (i, call) in calls.iter().enumerate() {
            fields.push(Field::new(format!("$agg{i}"), call.data_type.clone()));
        }
        let op = LogicalOp::Aggregate(Aggregate { groups, calls, state_ttl: self.state_ttl });
        LogicalPlan::spanned(op, vec![input], Schema::new(fields), span)
    }

    /// A row for each grouping set, with NULL for the keys that the set leaves out, and the
    /// number of the set.
    fn expand(&self, input: PlanRef) -> (PlanRef, Vec<Expr>) {
        let (width, keys) = (input.schema.len(), self.groups());
        let columns: Vec<Expr> = input
            .schema
            .fields
            .iter()
            .enumerate()
            .map(|(i, field)| Expr::column(i, field.data_type.clone()))
            .collect();
        let rows = self
            .sets
            .iter()
            .enumerate()
            .map(|(number, set)| {
                let mut row = columns.clone();
                for (i, key) in keys.iter().enumerate() {
                    let kept = set.contains(&i);
                    row.push(if kept { key.clone() } else { Expr::null(key.data_type()) });
                }
                row.push(set_number(number));
                row
            })
            .collect();
        let mut fields = input.schema.fields.clone();
        let mut groups = Vec::new();
        for (i, key) in keys.iter().enumerate() {
            let ty = key.data_type();
            let nullable = self.may_be_left_out(i, &ty);
            let ty = ty.with_nullable(nullable);
            fields.push(Field::new(format!("$k{i}"), ty.clone()));
            groups.push(Expr::column(width + i, ty));
        }
        let number_type = DataType::bigint().not_null();
        fields.push(Field::new("$e", number_type.clone()));
        groups.push(Expr::column(width + self.keys.len(), number_type));
        (LogicalPlan::new(LogicalOp::Expand(rows), vec![input], Schema::new(fields)), groups)
    }

    /// Whether a key may be NULL: by its type, or because a grouping set leaves it out.
    fn may_be_left_out(&self, key: usize, ty: &DataType) -> bool {
        ty.nullable || self.sets.iter().any(|set| !set.contains(&key))
    }

    /// An expression over FROM and the aggregates as one over the columns of [`Grouping::plan`].
    pub fn rewrite(
        &self,
        expr: &Expr,
        aggregates: &AggregateContext,
        scope: &Scope,
    ) -> Result<Expr> {
        let grouped = self.keys.len() + usize::from(!self.is_plain());
        self.rewrite_node(expr, aggregates, scope, grouped)
    }

    fn rewrite_node(
        &self,
        expr: &Expr,
        aggregates: &AggregateContext,
        scope: &Scope,
        grouped: usize,
    ) -> Result<Expr> {
        if let Some(key) = self.keys.iter().position(|key| key == expr) {
            let ty = expr.data_type();
            let nullable = self.may_be_left_out(key, &ty);
            return Ok(Expr::column(key, ty.with_nullable(nullable)));
        }
        if let Expr::Column { index, data_type } = expr {
            if is_over_column(*index) || as_subquery(*index).is_some() {
                return Ok(expr.clone());
            }
            if as_outer(*index).is_some() {
                return Err(PlanError::new("a column of the outer query is not being grouped")
                    .hint("add it to GROUP BY, or aggregate it: MAX(…)"));
            }
            if *index >= GROUPING_BASE {
                return self.grouping_value(&aggregates.groupings[*index - GROUPING_BASE]);
            }
            if let Some(call) = index.checked_sub(aggregates.base) {
                return Ok(Expr::column(grouped + call, data_type.clone()));
            }
            let name = &scope.fields[*index].name;
            return Err(PlanError::new(format!("Expression '{name}' is not being grouped")).hint(
                format!("add {name} to GROUP BY, or aggregate it: MAX({name}), LAST_VALUE({name})"),
            ));
        }
        let mut failure = None;
        let rebuilt = self.rewrite_children(expr, aggregates, scope, grouped, &mut failure);
        failure.map_or(Ok(rebuilt), Err)
    }

    fn rewrite_children(
        &self,
        expr: &Expr,
        aggregates: &AggregateContext,
        scope: &Scope,
        grouped: usize,
        failure: &mut Option<PlanError>,
    ) -> Expr {
        let mut child = |child: &Expr| match self.rewrite_node(child, aggregates, scope, grouped) {
            Ok(expr) => expr,
            Err(error) => {
                failure.get_or_insert(error);
                child.clone()
            }
        };
        let mut copy = expr.clone();
        match &mut copy {
            Expr::Column { .. } | Expr::Literal { .. } => {}
            Expr::Call { args, .. } | Expr::And(args) | Expr::Or(args) => {
                args.iter_mut().for_each(|arg| *arg = child(arg));
            }
            Expr::Coalesce { args, .. } => args.iter_mut().for_each(|arg| *arg = child(arg)),
            Expr::Cast { input, .. } | Expr::Field { input, .. } => **input = child(input),
            Expr::Case { branches, otherwise, .. } => {
                for (condition, result) in branches {
                    *condition = child(condition);
                    *result = child(result);
                }
                **otherwise = child(otherwise);
            }
        }
        copy
    }

    /// GROUPING_ID of some keys: a bit each, the last one lowest, set where the row's grouping set
    /// leaves the key out. Without keys GROUP_ID: how many grouping sets before it are the same.
    fn grouping_value(&self, args: &[Expr]) -> Result<Expr> {
        let mut keys = Vec::new();
        for arg in args {
            let key = self.keys.iter().position(|key| key == arg);
            keys.push(key.ok_or_else(|| {
                PlanError::new("Argument to operator 'GROUPING' must be a grouped expression")
            })?);
        }
        let value = |place: usize| {
            let set = &self.sets[place];
            let id = match keys.as_slice() {
                [] => self.sets[..place].iter().filter(|other| *other == set).count() as i64,
                keys => keys.iter().fold(0, |id, key| id << 1 | i64::from(!set.contains(key))),
            };
            Expr::literal(Value::Int(id), DataType::bigint().not_null())
        };
        let last = self.sets.len() - 1;
        if self.is_plain() || last == 0 {
            return Ok(value(0));
        }
        let number = Expr::column(self.keys.len(), DataType::bigint().not_null());
        let branches = (0..last)
            .map(|place| {
                let test = Expr::builtin("=", vec![number.clone(), set_number(place)])?;
                Ok((test, value(place)))
            })
            .collect::<Result<Vec<_>>>()?;
        case(branches, value(last))
    }
}

fn set_number(number: usize) -> Expr {
    Expr::literal(Value::Int(number as i64), TypeRoot::BigInt.not_null())
}
