//! Queries: WITH, set operations, VALUES, ORDER BY and LIMIT.

use std::collections::HashMap;

use flott_functions::{Expr, SignatureError, coercion};
use flott_sql::ast::{self, QueryBodyKind};
use flott_types::{DataType, Field, Schema, TypeRoot, Value};

use super::set_operation::set_operation;
use super::{Binder, Bound, Cte, Scope};
use crate::logical::{LogicalOp, LogicalPlan, PlanRef, Sort, SortKey};
use crate::{PlanError, Result};

impl Binder<'_> {
    /// Binds a query with all its clauses.
    pub fn bind_query(&mut self, query: &ast::Query) -> Result<Bound> {
        let levels = self.ctes.len();
        let outside = self.subqueries.take();
        if let Some(with) = &query.with {
            self.bind_with(with)?;
        }
        let bound = self.bind_ordered(query);
        self.ctes.truncate(levels);
        self.subqueries = outside;
        bound
    }

    fn bind_with(&mut self, with: &ast::With) -> Result<()> {
        if with.recursive {
            return Err(PlanError::new("recursive WITH is not supported").at(with.span));
        }
        self.ctes.push(HashMap::new());
        for cte in &with.ctes {
            let bound = self.bind_query(&cte.query)?;
            let plan = rename(bound.plan, &cte.columns, &cte.name.value, cte.span)?;
            if let Some(level) = self.ctes.last_mut() {
                level.insert(cte.name.value.clone(), Cte { plan });
            }
        }
        Ok(())
    }

    fn bind_ordered(&mut self, query: &ast::Query) -> Result<Bound> {
        let offset = self.row_count(query.offset.as_ref(), "OFFSET")?.unwrap_or(0);
        let fetch = self.row_count(query.fetch.as_ref(), "FETCH")?;
        let bound = match &query.body.kind {
            QueryBodyKind::Select(select) => self.bind_select(select, &query.order_by)?,
            _ => {
                let bound = self.bind_body(&query.body)?;
                if query.order_by.is_empty() {
                    bound.into()
                } else {
                    let keys = self.output_order(&query.order_by, &bound.scope)?;
                    Ordered { bound, keys, hidden: 0 }
                }
            }
        };
        if bound.keys.is_empty() && fetch.is_none() && offset == 0 {
            return Ok(bound.bound);
        }
        let Ordered { bound, keys, hidden } = bound;
        let schema = (*bound.plan.schema).clone();
        let sort = LogicalOp::Sort(Sort { keys, offset, fetch });
        let plan = LogicalPlan::spanned(sort, vec![bound.plan], schema, query.span);
        let plan = drop_hidden(plan, hidden);
        Ok(Bound { plan, scope: bound.scope })
    }

    fn row_count(&mut self, expr: Option<&ast::Expr>, clause: &str) -> Result<Option<u64>> {
        let Some(expr) = expr else { return Ok(None) };
        match self.constant(expr)? {
            Some((Value::Int(count), _)) if count >= 0 => Ok(Some(count as u64)),
            _ => Err(PlanError::new(format!("{clause} takes a whole number, zero or more"))
                .at(expr.span)),
        }
    }

    /// ORDER BY over the output of a set operation: names and ordinals.
    fn output_order(&mut self, items: &[ast::OrderItem], scope: &Scope) -> Result<Vec<SortKey>> {
        items
            .iter()
            .map(|item| {
                let expr = match ordinal(&item.expr) {
                    Some(position) => output_column(position, &scope.fields, item)?,
                    None => self.bind_scalar(&item.expr, scope)?,
                };
                Ok(sort_key(expr, item))
            })
            .collect()
    }

    /// Binds what stands between WITH and ORDER BY.
    pub fn bind_body(&mut self, body: &ast::QueryBody) -> Result<Bound> {
        match &body.kind {
            QueryBodyKind::Select(select) => Ok(self.bind_select(select, &[])?.bound),
            QueryBodyKind::Nested(query) => self.bind_query(query),
            QueryBodyKind::Values(rows) => self.bind_values(rows),
            QueryBodyKind::Table(name) => self.bind_table_name(name, &[]),
            QueryBodyKind::SetOperation { left, op, all, right } => {
                let left = self.bind_body(left)?;
                let right = self.bind_body(right)?;
                set_operation(*op, *all, left.plan, right.plan, body.span)
            }
        }
    }

    fn bind_values(&mut self, rows: &[ast::ValuesRow]) -> Result<Bound> {
        let scope = Scope::default();
        let width = rows.first().map_or(0, |row| row.values.len());
        let mut bound: Vec<Vec<Expr>> = Vec::with_capacity(rows.len());
        for row in rows {
            if row.values.len() != width {
                return Err(
                    PlanError::new("Unequal number of entries in the rows of VALUES").at(row.span)
                );
            }
            let values = row.values.iter().map(|value| {
                let bound = self.bind_scalar(value, &scope)?;
                match bound.data_type().root {
                    TypeRoot::Null => Err(super::expr::illegal_null().at(value.span)),
                    _ => Ok(bound),
                }
            });
            bound.push(values.collect::<Result<_>>()?);
        }
        let mut fields = Vec::with_capacity(width);
        for column in 0..width {
            let types: Vec<DataType> = bound.iter().map(|row| row[column].data_type()).collect();
            let common = coercion::common_type(&types).ok_or_else(|| {
                let span = rows.first().map(|row| row.span).unwrap_or_default();
                PlanError::from(SignatureError::NoCommonType { types: types.clone() }).at(span)
            })?;
            for row in &mut bound {
                let value = std::mem::replace(&mut row[column], Expr::boolean(true));
                row[column] = value.cast_to(&common)?;
            }
            fields.push(Field::new(format!("EXPR${column}"), common));
        }
        let plan = LogicalPlan::new(LogicalOp::Values(bound), Vec::new(), Schema::new(fields));
        Ok(anonymous(plan))
    }
}

/// A query whose order is known but not yet applied; `hidden` columns at the end serve only it.
pub struct Ordered {
    /// The query.
    pub bound: Bound,
    /// The order.
    pub keys: Vec<SortKey>,
    /// Columns behind the visible ones.
    pub hidden: usize,
}

impl From<Bound> for Ordered {
    fn from(bound: Bound) -> Self {
        Self { bound, keys: Vec::new(), hidden: 0 }
    }
}

fn drop_hidden(plan: PlanRef, hidden: usize) -> PlanRef {
    if hidden == 0 {
        return plan;
    }
    let visible = plan.schema.len() - hidden;
    let fields = plan.schema.fields[..visible].to_vec();
    let exprs = fields.iter().enumerate();
    let exprs = exprs.map(|(i, field)| Expr::column(i, field.data_type.clone())).collect();
    LogicalPlan::project(plan, exprs, Schema::new(fields))
}

/// The key of an ORDER BY item. NULL is the smallest value unless the item says otherwise.
pub fn sort_key(expr: Expr, item: &ast::OrderItem) -> SortKey {
    let nulls_first = match item.nulls {
        Some(ast::NullsOrder::First) => true,
        Some(ast::NullsOrder::Last) => false,
        None => !item.descending,
    };
    SortKey { expr, descending: item.descending, nulls_first }
}

/// The position that an ORDER BY ordinal names, from 1.
pub fn ordinal(expr: &ast::Expr) -> Option<usize> {
    match &expr.kind {
        ast::ExprKind::Literal(ast::Literal::Number { text, kind: ast::NumberKind::Integer }) => {
            text.parse().ok()
        }
        _ => None,
    }
}

/// The output column at an ordinal.
pub fn output_column(position: usize, fields: &[Field], item: &ast::OrderItem) -> Result<Expr> {
    match position.checked_sub(1).and_then(|i| Some((i, fields.get(i)?))) {
        Some((i, field)) => Ok(Expr::column(i, field.data_type.clone())),
        None => Err(PlanError::new("Ordinal out of range").at(item.span)),
    }
}

/// A plan whose columns can be found by name only.
pub fn anonymous(plan: PlanRef) -> Bound {
    let scope = Scope::anonymous(&plan.schema);
    Bound { plan, scope }
}

/// The columns of an input in the types of `fields`.
pub fn align(input: PlanRef, fields: &[Field]) -> Result<PlanRef> {
    let exprs = input
        .schema
        .fields
        .iter()
        .zip(fields)
        .enumerate()
        .map(|(i, (from, to))| Expr::column(i, from.data_type.clone()).cast_to(&to.data_type))
        .collect::<Result<Vec<_>, _>>()?;
    if exprs.iter().all(|expr| matches!(expr, Expr::Column { .. })) {
        return Ok(input);
    }
    Ok(LogicalPlan::project(input, exprs, Schema::new(fields.to_vec())))
}

/// A plan under other column names; no names keep it as it is.
pub fn rename(
    plan: PlanRef,
    names: &[ast::Ident],
    table: &str,
    span: ast::Span,
) -> Result<PlanRef> {
    if names.is_empty() {
        return Ok(plan);
    }
    if names.len() != plan.schema.len() {
        return Err(PlanError::new(format!(
            "List of column aliases must have same degree as table; '{table}' has {} columns, but \
             {} are named",
            plan.schema.len(),
            names.len()
        ))
        .at(span));
    }
    let fields: Vec<Field> = plan
        .schema
        .fields
        .iter()
        .zip(names)
        .map(|(field, name)| Field { name: name.value.as_str().into(), ..field.clone() })
        .collect();
    let exprs = fields.iter().enumerate();
    let exprs = exprs.map(|(i, field)| Expr::column(i, field.data_type.clone())).collect();
    Ok(LogicalPlan::project(plan, exprs, Schema::new(fields)))
}
