//! Sub-queries of expressions as joins.
//!
//! A condition of WHERE that is nothing but `[NOT] EXISTS` or `[NOT] IN` becomes a semi or anti join. Everywhere
//! else a sub-query becomes a left join with at most one row for each row around, and the expression
//! reads that row: its value, or the facts that decide a comparison (is there a row, is there a match, is
//! there a NULL).

use flott_functions::aggregate::AggregateFunction;
use flott_functions::{Expr, aggregate_function};
use flott_types::{DataType, Field, Schema, Value};

use super::super::aggregate::aggregate_args;
use super::super::expr::{builtin, case};
use super::super::outer::{as_subquery, is_placeholder, outer_columns, outer_index};
use super::super::select::filter;
use super::super::{Binder, split_condition};
use super::{Comparison, Kind, SubQuery, numbers};
use crate::decorrelate::{
    Place, check, constant_row, decorrelate, or_default, substitute, unexpected_variable,
};
use crate::logical::{Aggregate, AggregateCall, Join, JoinKind, LogicalOp, LogicalPlan, PlanRef};
use crate::{PlanError, Result};
use flott_sql::ast::Span;

/// The rows of a plan for which a condition with sub-queries is TRUE.
pub fn apply_condition(
    binder: &Binder,
    plan: PlanRef,
    condition: Expr,
    subqueries: Vec<SubQuery>,
    span: Span,
) -> Result<PlanRef> {
    if subqueries.is_empty() {
        return Ok(filter(plan, condition, span));
    }
    let width = plan.schema.len();
    let original = plan.schema.clone();
    let condition = crate::rules::fold(condition, binder.settings);
    let mut sites = Sites::new(binder, plan, subqueries);
    let (mut semi, mut rest) = (Vec::new(), Vec::new());
    for conjunct in conjuncts(condition) {
        match sites.as_membership(&conjunct) {
            Some(membership) => semi.push(membership),
            None => rest.push(conjunct),
        }
    }
    let (own, with_values): (Vec<Expr>, Vec<Expr>) =
        rest.into_iter().partition(|conjunct| numbers(conjunct).is_empty());
    if !own.is_empty() {
        sites.plan = filter(sites.plan.clone(), Expr::conjunction(own), span);
    }
    for (number, negated) in semi {
        sites.join_membership(number, negated)?;
    }
    if !with_values.is_empty() {
        let condition = sites.values_in(Expr::conjunction(with_values))?;
        sites.plan = filter(sites.plan.clone(), condition, span);
    }
    let plan = sites.plan;
    if plan.schema.len() == width {
        return Ok(plan);
    }
    let exprs = original.fields.iter().enumerate();
    let exprs = exprs.map(|(i, field)| Expr::column(i, field.data_type.clone())).collect();
    Ok(LogicalPlan::project(plan, exprs, (*original).clone()))
}

/// The plan with what these expressions need of sub-queries as columns behind its own, and the
/// expressions over it.
pub fn apply_values(
    binder: &Binder,
    plan: PlanRef,
    exprs: Vec<Expr>,
    subqueries: Vec<SubQuery>,
) -> Result<(PlanRef, Vec<Expr>)> {
    let mut sites = Sites::new(binder, plan, subqueries);
    let exprs = exprs.into_iter().map(|expr| sites.values_in(expr)).collect::<Result<_>>()?;
    Ok((sites.plan, exprs))
}

/// A condition as conjuncts: NOT is moved below AND and OR, and IS TRUE left out, where that splits more.
fn conjuncts(condition: Expr) -> Vec<Expr> {
    condition.conjuncts().into_iter().flat_map(split).collect()
}

fn split(conjunct: Expr) -> Vec<Expr> {
    let Expr::Call { function, args, .. } = &conjunct else { return vec![conjunct] };
    match (function.name, args.as_slice()) {
        ("IS TRUE", [inner]) => conjuncts(inner.clone()),
        ("NOT", [Expr::Or(any)]) => {
            let negated: Result<Vec<Expr>> =
                any.iter().map(|operand| builtin("NOT", vec![operand.clone()])).collect();
            match negated {
                Ok(negated) => negated.into_iter().flat_map(split).collect(),
                Err(_) => vec![conjunct],
            }
        }
        ("NOT", [Expr::Call { function: inner, args: twice, .. }]) if inner.name == "NOT" => {
            twice.iter().cloned().flat_map(conjuncts).collect()
        }
        _ => vec![conjunct],
    }
}

/// A plan that grows by what sub-queries give.
struct Sites<'b, 'a> {
    binder: &'b Binder<'a>,
    plan: PlanRef,
    subqueries: Vec<SubQuery>,
    /// What stands for each sub-query by now, over the plan.
    values: Vec<(usize, Expr)>,
}

impl<'b, 'a> Sites<'b, 'a> {
    fn new(binder: &'b Binder<'a>, plan: PlanRef, subqueries: Vec<SubQuery>) -> Self {
        Self { binder, plan, subqueries, values: Vec::new() }
    }

    /// The level of the query whose columns the sub-queries read.
    fn level(&self) -> usize {
        self.binder.outer.len()
    }

    fn find(&self, number: usize) -> Result<SubQuery> {
        self.subqueries
            .iter()
            .find(|subquery| subquery.number == number)
            .cloned()
            .ok_or_else(|| PlanError::new("internal error: a sub-query was lost"))
    }

    /// The number of the sub-query if the conjunct is a test of membership, and whether it is
    /// negated.
    fn as_membership(&self, conjunct: &Expr) -> Option<(usize, bool)> {
        let (tested, negated) = match conjunct {
            Expr::Call { function, args, .. } if function.name == "NOT" => (args.first()?, true),
            other => (other, false),
        };
        let Expr::Column { index, .. } = tested else { return None };
        let subquery = self.find(as_subquery(*index)?).ok()?;
        let is_test = match &subquery.kind {
            Kind::Scalar => false,
            Kind::Exists => true,
            Kind::Compared { op, all, .. } => *op == Comparison("=") && !all,
        };
        is_test.then_some((subquery.number, negated))
    }

    /// Keeps the rows for which the sub-query has a row, or has none.
    fn join_membership(&mut self, number: usize, negated: bool) -> Result<()> {
        let mut subquery = self.find(number)?;
        if let Kind::Exists = subquery.kind {
            subquery.plan = without_order(&subquery.plan);
            if gives_one_row(&subquery.plan) {
                // It exists whatever there is to read.
                if negated {
                    self.plan = filter(self.plan.clone(), Expr::boolean(false), subquery.span);
                }
                return Ok(());
            }
        }
        self.check(&subquery)?;
        let operands = subquery.operands().to_vec();
        let operands =
            operands.into_iter().map(|op| self.values_in(op)).collect::<Result<Vec<_>>>()?;
        let level = self.level();
        let dependent = decorrelate(&subquery.plan, &self.plan, level, true)?;
        let split = self.plan.schema.len();
        let over_both = |expr: &Expr| crate::decorrelate::over_both(expr, level, split);
        let mut on: Vec<Expr> = dependent.conditions.iter().map(&over_both).collect();
        for (operand, output) in operands.into_iter().zip(&dependent.outputs) {
            let equal = builtin("=", vec![operand, over_both(output)])?;
            // A comparison that is unknown is enough for NOT IN to be unknown.
            on.push(if negated && equal.data_type().nullable {
                let unknown = builtin("IS NULL", vec![equal.clone()])?;
                Expr::Or(vec![equal, unknown])
            } else {
                equal
            });
        }
        let reads_query =
            |on: &Expr| on.columns().iter().any(|c| *c >= split && !is_placeholder(*c));
        let plan = match &subquery.kind {
            Kind::Exists if !on.iter().any(reads_query) => one_if_any(&dependent.plan)?,
            _ => dependent.plan,
        };
        let (equal, residual) = split_condition(on, split);
        let residual = (!residual.is_empty()).then(|| Expr::conjunction(residual));
        let kind = if negated { JoinKind::Anti } else { JoinKind::Semi };
        let schema = (*self.plan.schema).clone();
        let op = LogicalOp::Join(Join::new(kind, equal, residual));
        let inputs = vec![self.plan.clone(), plan];
        self.plan = LogicalPlan::spanned(op, inputs, schema, subquery.span);
        Ok(())
    }

    fn check(&self, subquery: &SubQuery) -> Result<()> {
        if self.binder.config.general_correlation {
            return Ok(());
        }
        let level = self.level();
        // Flink follows a test of membership to the query around it only.
        let reads = |level: usize| !outer_columns(&subquery.plan, level).is_empty();
        if !matches!(subquery.kind, Kind::Scalar) && !reads(level) && (0..level).any(reads) {
            return Err(unexpected_variable("a sub-query two levels below").at(subquery.span));
        }
        check(&subquery.plan, level, Place::Expression, subquery.span)
    }

    /// An expression with its sub-queries replaced by what they give.
    fn values_in(&mut self, expr: Expr) -> Result<Expr> {
        for number in numbers(&expr) {
            if !self.values.iter().any(|(known, _)| *known == number) {
                let value = self.value(number)?;
                self.values.push((number, value));
            }
        }
        Ok(expr.transform(&mut |node| match node {
            Expr::Column { index, data_type } => {
                let value = as_subquery(index)
                    .and_then(|number| self.values.iter().find(|(known, _)| *known == number));
                match value {
                    Some((_, value)) => value.clone(),
                    None => Expr::column(index, data_type),
                }
            }
            other => other,
        }))
    }

    fn value(&mut self, number: usize) -> Result<Expr> {
        let subquery = self.find(number)?;
        match &subquery.kind {
            Kind::Scalar => {
                let plan = single(&subquery.plan)?;
                let value = self.row_of(&SubQuery { plan, ..subquery.clone() })?;
                Ok(value.into_iter().next().unwrap_or_else(|| Expr::null(DataType::null())))
            }
            Kind::Exists => {
                let plan = without_order(&subquery.plan);
                if gives_one_row(&plan) {
                    return Ok(Expr::boolean(true));
                }
                self.exists(&subquery, &plan)
            }
            Kind::Compared { operands, op, all } => {
                let operands = operands.clone();
                let operands =
                    operands.into_iter().map(|o| self.values_in(o)).collect::<Result<Vec<_>>>()?;
                match (op.0, all, operands.as_slice()) {
                    ("=", false, [operand]) => self.is_in(&subquery, operand),
                    ("=", false, operands) => self.row_is_in(&subquery, operands),
                    (_, _, [operand]) => self.compare(&subquery, operand, *op, *all),
                    _ => Err(PlanError::new("rows are compared with a sub-query by IN only")
                        .at(subquery.span)),
                }
            }
        }
    }

    /// Whether a query has rows for the row around.
    fn exists(&mut self, subquery: &SubQuery, plan: &PlanRef) -> Result<Expr> {
        let fact = facts(plan, vec![any_row()?]);
        let row = self.row_of(&SubQuery { plan: fact, ..subquery.clone() })?;
        builtin("IS NOT NULL", row)
    }

    /// `operand IN (query)` with all three truth values.
    fn is_in(&mut self, subquery: &SubQuery, operand: &Expr) -> Result<Expr> {
        let column = first_column(&subquery.plan);
        let level = self.level();
        // Below the sub-query's plan the row around is seen from inside.
        let seen = operand.clone().map_columns(&|index| outer_index(level, index));
        let equal = builtin("=", vec![column.clone(), seen])?;
        let matching = filter(subquery.plan.clone(), equal, subquery.span);
        let nullable = operand.data_type().nullable || column.data_type().nullable;
        if !nullable {
            return self.exists(subquery, &matching);
        }
        let mut calls = vec![any_row()?];
        if column.data_type().nullable {
            calls.push(any_null(&column)?);
        }
        let plan = facts(&subquery.plan, calls);
        let row = self.row_of(&SubQuery { plan, ..subquery.clone() })?;
        let found = self.exists(subquery, &matching)?;
        let empty = builtin("IS NULL", vec![row[0].clone()])?;
        let mut unknown = Vec::new();
        if operand.data_type().nullable {
            unknown.push(builtin("IS NULL", vec![operand.clone()])?);
        }
        if let Some(null) = row.get(1) {
            unknown.push(builtin("IS NOT NULL", vec![null.clone()])?);
        }
        let unknown = if unknown.len() == 1 { unknown.remove(0) } else { Expr::Or(unknown) };
        case(
            vec![
                (found, Expr::boolean(true)),
                (empty, Expr::boolean(false)),
                (unknown, Expr::null(DataType::boolean())),
            ],
            Expr::boolean(false),
        )
    }

    /// `(a, b) IN (query)`: TRUE if a row is equal, else NULL if one may be, for all that NULLs tell.
    fn row_is_in(&mut self, subquery: &SubQuery, operands: &[Expr]) -> Result<Expr> {
        let level = self.level();
        let columns = columns(&subquery.plan);
        let (mut equal, mut possible, mut nullable) = (Vec::new(), Vec::new(), false);
        for (operand, column) in operands.iter().zip(columns) {
            let seen = operand.clone().map_columns(&|index| outer_index(level, index));
            let mut any = vec![builtin("=", vec![column.clone(), seen.clone()])?];
            equal.extend(any.first().cloned());
            for side in [column, seen].into_iter().filter(|side| side.data_type().nullable) {
                any.push(builtin("IS NULL", vec![side])?);
                nullable = true;
            }
            possible.push(if any.len() == 1 { any.remove(0) } else { Expr::Or(any) });
        }
        let having = |conditions: Vec<Expr>| {
            filter(subquery.plan.clone(), Expr::conjunction(conditions), subquery.span)
        };
        let found = self.exists(subquery, &having(equal))?;
        if !nullable {
            return Ok(found);
        }
        let unknown = self.exists(subquery, &having(possible))?;
        case(
            vec![(found, Expr::boolean(true)), (unknown, Expr::null(DataType::boolean()))],
            Expr::boolean(false),
        )
    }

    /// `operand op ANY (query)` or `ALL`: the extreme value decides, unless it is NULLs that do.
    fn compare(
        &mut self,
        subquery: &SubQuery,
        operand: &Expr,
        op: Comparison,
        all: bool,
    ) -> Result<Expr> {
        let column = first_column(&subquery.plan);
        let extremes: &[&str] = match (op.0, all) {
            (">" | ">=", false) | ("<" | "<=", true) => &["MIN"],
            ("<" | "<=", false) | (">" | ">=", true) => &["MAX"],
            _ => &["MIN", "MAX"],
        };
        let mut calls = vec![any_row()?];
        for name in extremes {
            calls.push(call(name, vec![column.clone()], None)?);
        }
        if column.data_type().nullable {
            calls.push(any_null(&column)?);
        }
        let plan = facts(&subquery.plan, calls);
        let row = self.row_of(&SubQuery { plan, ..subquery.clone() })?;
        let mut tests = row[1..=extremes.len()]
            .iter()
            .map(|extreme| builtin(op.0, vec![operand.clone(), extreme.clone()]))
            .collect::<Result<Vec<_>>>()?;
        let test = if tests.len() == 1 { tests.remove(0) } else { Expr::And(tests) };
        let decided = if all { builtin("NOT", vec![test.clone()])? } else { test.clone() };
        let mut branches = vec![
            (builtin("IS NULL", vec![row[0].clone()])?, Expr::boolean(all)),
            (decided, Expr::boolean(!all)),
        ];
        if let Some(null) = row.get(1 + extremes.len()) {
            let unknown = builtin("IS NOT NULL", vec![null.clone()])?;
            branches.push((unknown, Expr::null(DataType::boolean())));
        }
        case(branches, test)
    }

    /// Joins the only row of a sub-query and gives its values, NULL where there is none.
    fn row_of(&mut self, subquery: &SubQuery) -> Result<Vec<Expr>> {
        self.check(subquery)?;
        let level = self.level();
        let dependent = decorrelate(&subquery.plan, &self.plan, level, true)?;
        // What is there for every row needs no join.
        if dependent.conditions.is_empty()
            && let Some(row) = constant_row(&dependent.plan)
        {
            let value = |output: &Expr| {
                let value = substitute(output, &row);
                nullable(crate::decorrelate::over_both(&value, level, 0))
            };
            return Ok(dependent.outputs.iter().map(value).collect());
        }
        let row = left_join(&self.plan, dependent, level, subquery.span)?;
        self.plan = row.0;
        Ok(row.1)
    }
}

/// The same value of a nullable type, which that of a sub-query always is.
fn nullable(value: Expr) -> Expr {
    let data_type = value.data_type().with_nullable(true);
    match value {
        Expr::Literal { value, .. } => Expr::literal(value, data_type),
        value if value.data_type().nullable => value,
        value => Expr::Case {
            branches: vec![(Expr::boolean(true), value)],
            otherwise: Box::new(Expr::null(data_type.clone())),
            data_type,
        },
    }
}

/// Joins what belongs to each row, keeping rows without; gives the query's columns over the join.
pub fn left_join(
    around: &PlanRef,
    dependent: crate::decorrelate::Dependent,
    level: usize,
    span: Span,
) -> Result<(PlanRef, Vec<Expr>)> {
    let split = around.schema.len();
    let over_both = |expr: &Expr| crate::decorrelate::over_both(expr, level, split);
    // What is more than a column passed on may have a value where there is no row.
    let plain = dependent
        .outputs
        .iter()
        .all(|output| matches!(output, Expr::Column { index, .. } if !is_placeholder(*index)));
    let gives_default = dependent.defaults.as_ref().is_some_and(|defaults| {
        let is_null = |e: &Expr| matches!(e, Expr::Literal { value: Value::Null, .. });
        !defaults.iter().all(is_null)
    });
    let marks = !plain || gives_default;
    let right = if marks { marked(&dependent.plan) } else { dependent.plan.clone() };
    let conditions = dependent.conditions.iter().map(&over_both).collect();
    let (equal, residual) = split_condition(conditions, split);
    let residual = (!residual.is_empty()).then(|| Expr::conjunction(residual));
    let mut fields = around.schema.fields.clone();
    fields.extend(right.schema.fields.iter().map(|field| Field {
        data_type: field.data_type.clone().with_nullable(true),
        time: None,
        ..field.clone()
    }));
    let found = Expr::column(fields.len() - 1, DataType::boolean());
    let op = LogicalOp::Join(Join::new(JoinKind::Left, equal, residual));
    let inputs = vec![around.clone(), right];
    let joined = LogicalPlan::spanned(op, inputs, Schema::new(fields), span);
    let nullable = |expr: Expr| match expr {
        Expr::Column { index, data_type } if index >= split => {
            Expr::column(index, data_type.with_nullable(true))
        }
        other => other,
    };
    let mut values = Vec::new();
    for (i, output) in dependent.outputs.iter().enumerate() {
        let data_type = output.data_type().with_nullable(true);
        let value = over_both(output).transform(&mut |node| nullable(node));
        let default = dependent.defaults.as_ref().map(|defaults| over_both(&defaults[i]));
        values.push(match default {
            Some(default) if marks => or_default(&found, value, default, data_type)?,
            _ if matches!(value, Expr::Column { index, .. } if index >= split) => value,
            _ => {
                let is_there = builtin("IS NOT NULL", vec![found.clone()])?;
                Expr::Case {
                    branches: vec![(is_there, value)],
                    otherwise: Box::new(Expr::null(data_type.clone())),
                    data_type,
                }
            }
        });
    }
    Ok((joined, values))
}

/// The plan with a column behind its own that says that there is a row.
fn marked(plan: &PlanRef) -> PlanRef {
    let mut exprs = columns(plan);
    exprs.push(Expr::boolean(true));
    let mut fields = plan.schema.fields.clone();
    fields.push(Field::new("$found", DataType::boolean().not_null()));
    LogicalPlan::new(LogicalOp::Project(exprs), vec![plan.clone()], Schema::new(fields))
}

/// The query as one that has one row at most, and fails where it would have more.
fn single(plan: &PlanRef) -> Result<PlanRef> {
    if gives_one_row(plan) || gives_at_most_one_row(plan) {
        return Ok(plan.clone());
    }
    Ok(facts(plan, vec![call("SINGLE_VALUE", vec![first_column(plan)], None)?]))
}

/// What a query says in one row: an aggregate without groups.
fn facts(plan: &PlanRef, calls: Vec<AggregateCall>) -> PlanRef {
    let field = |(i, call): (usize, &AggregateCall)| {
        Field::new(format!("$fact{i}"), call.data_type.clone())
    };
    let schema = Schema::new(calls.iter().enumerate().map(field).collect());
    let op = LogicalOp::Aggregate(Aggregate::new(Vec::new(), calls));
    LogicalPlan::new(op, vec![plan.clone()], schema)
}

/// A row without columns if the query has any. Unlike the query itself it does not change with every row.
fn one_if_any(plan: &PlanRef) -> Result<PlanRef> {
    let fact = facts(plan, vec![any_row()?]);
    let is_there = builtin("IS NOT NULL", columns(&fact))?;
    let schema = (*fact.schema).clone();
    Ok(LogicalPlan::new(LogicalOp::Filter(is_there), vec![fact], schema))
}

/// TRUE if there is a row, else NULL.
fn any_row() -> Result<AggregateCall> {
    call("MIN", vec![Expr::boolean(true)], None)
}

/// TRUE if a value is NULL in some row, else NULL.
fn any_null(column: &Expr) -> Result<AggregateCall> {
    let is_null = builtin("IS NULL", vec![column.clone()])?;
    call("MIN", vec![Expr::boolean(true)], Some(is_null))
}

fn call(name: &str, args: Vec<Expr>, filter: Option<Expr>) -> Result<AggregateCall> {
    let function: &'static AggregateFunction = aggregate_function(name)
        .ok_or_else(|| PlanError::new(format!("internal error: no aggregate function {name}")))?;
    let resolved = (function.resolve)(&aggregate_args(name, &args, &[]), true)?;
    let data_type = resolved.returns.with_nullable(true);
    Ok(AggregateCall { function, args, symbols: Vec::new(), distinct: false, filter, data_type })
}

/// The query without an order, or a limit that leaves a row if there is one: it exists all the same.
fn without_order(plan: &PlanRef) -> PlanRef {
    match &plan.op {
        LogicalOp::Sort(sort) if sort.offset == 0 && sort.fetch != Some(0) => {
            without_order(plan.input())
        }
        LogicalOp::Project(_) => {
            let input = without_order(plan.input());
            plan.with_inputs(vec![input])
        }
        _ => plan.clone(),
    }
}

/// Whether a query has one row whatever there is to read.
fn gives_one_row(plan: &LogicalPlan) -> bool {
    match &plan.op {
        LogicalOp::Aggregate(aggregate) => aggregate.groups.is_empty(),
        LogicalOp::Project(_) => gives_one_row(plan.input()),
        LogicalOp::Values(rows) => rows.len() == 1,
        _ => false,
    }
}

fn gives_at_most_one_row(plan: &LogicalPlan) -> bool {
    match &plan.op {
        LogicalOp::Filter(_) => gives_one_row(plan.input()) || gives_at_most_one_row(plan.input()),
        LogicalOp::Project(_) => gives_at_most_one_row(plan.input()),
        LogicalOp::Sort(sort) => sort.fetch.is_some_and(|fetch| fetch <= 1),
        LogicalOp::Values(rows) => rows.len() <= 1,
        _ => false,
    }
}

fn first_column(plan: &PlanRef) -> Expr {
    Expr::column(0, plan.schema.fields[0].data_type.clone())
}

fn columns(plan: &PlanRef) -> Vec<Expr> {
    let fields = plan.schema.fields.iter().enumerate();
    fields.map(|(i, field)| Expr::column(i, field.data_type.clone())).collect()
}
