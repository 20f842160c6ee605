//! SELECT.

use flott_functions::Expr;
use flott_sql::ast::{self, ExprKind, SetQuantifier};
use flott_types::{Field, Schema, TimeAttribute, TypeRoot};

use super::aggregate::{AggregateContext, Grouping};
use super::expr::{Context, illegal_null};
use super::group_window::GroupWindow;
use super::over::{OverCalls, OverContext, is_over_column};
use super::query::{Ordered, anonymous, ordinal, output_column, sort_key};
use super::select_group::Keys;
use super::subquery::{SubQuery, apply_condition};
use super::{Binder, Bound, Scope};
use crate::logical::{Aggregate, LogicalOp, LogicalPlan, PlanRef, SortKey};
use crate::{PlanError, Result};

/// A column of the SELECT list.
pub(super) struct Item {
    pub(super) name: String,
    pub(super) expr: Expr,
    pub(super) span: ast::Span,
}

impl Binder<'_> {
    /// Binds a SELECT and the ORDER BY of its query, which may use columns that are not selected.
    pub fn bind_select(
        &mut self,
        select: &ast::Select,
        order_by: &[ast::OrderItem],
    ) -> Result<Ordered> {
        let from = match &select.from {
            Some(from) => self.with_hints(select, |binder| binder.bind_table_ref(from))?,
            None => one_row(),
        };
        let plan = match &select.where_clause {
            None => from.plan,
            Some(condition) => {
                let (bound, subqueries) = self.collecting(|binder| {
                    binder.bind_condition(condition, &mut Context::new(&from.scope))
                })?;
                apply_condition(self, from.plan, bound, subqueries, condition.span)?
            }
        };
        self.bind_projection(select, order_by, plan, from.scope)
    }

    fn bind_projection(
        &mut self,
        select: &ast::Select,
        order_by: &[ast::OrderItem],
        plan: PlanRef,
        scope: Scope,
    ) -> Result<Ordered> {
        let around = std::mem::take(&mut self.key_queries);
        let bound = self.bind_grouped(select, order_by, plan, scope);
        self.key_queries = around;
        bound
    }

    fn bind_grouped(
        &mut self,
        select: &ast::Select,
        order_by: &[ast::OrderItem],
        plan: PlanRef,
        scope: Scope,
    ) -> Result<Ordered> {
        let mut key_queries = Vec::new();
        let (plan, grouping, window) = match &select.group_by {
            None => (plan, None, None),
            Some(group_by) => match self.bind_group_window(group_by, &plan, &scope)? {
                Some(by) => (by.plan, Some(by.grouping), Some(by.window)),
                None => {
                    let (grouping, found) = self.bind_keys(group_by, &scope)?;
                    key_queries = found;
                    (plan, Some(grouping), None)
                }
            },
        };
        let may_be_empty = grouping.as_ref().is_none_or(|grouping| grouping.keys.is_empty());
        let width = window.as_ref().map_or(scope.fields.len(), GroupWindow::width);
        let mut aggregates = AggregateContext::new(width, may_be_empty);
        let mut overs = OverContext::new(&select.windows)?;
        let ((items, order, qualify, having), subqueries) = self.collecting(|binder| {
            let mut context = Context {
                aggregates: Some(&mut aggregates),
                overs: Some(&mut overs),
                window: window.as_ref(),
                ..Context::new(&scope)
            };
            let items = binder.bind_items(&select.items, &mut context)?;
            let order = binder.bind_order(order_by, &items, &mut context)?;
            let qualify = match &select.qualify {
                Some(qualify) => Some(binder.bind_qualify(qualify, &items, &mut context)?),
                None => None,
            };
            let mut context = Context {
                aggregates: Some(&mut aggregates),
                window: window.as_ref(),
                ..Context::new(&scope)
            };
            let having = match &select.having {
                Some(having) => Some((binder.bind_condition(having, &mut context)?, having.span)),
                None => None,
            };
            Ok((items, order, qualify, having))
        })?;
        let is_grouped = grouping.is_some() || !aggregates.is_empty() || having.is_some();
        let state_ttl = match is_grouped || select.quantifier == Some(SetQuantifier::Distinct) {
            true => super::hints::of_aggregate(select)?,
            false => None,
        };
        let mut bound =
            BoundSelect { plan, items, order, qualify, overs: overs.finish(), subqueries };
        if is_grouped {
            let mut grouping = grouping.unwrap_or_else(Grouping::global);
            grouping.state_ttl = state_ttl;
            let keys = Keys { grouping, queries: key_queries };
            bound = self.group(select, bound, &scope, keys, aggregates, having)?;
        }
        self.place_subqueries(&mut bound)?;
        let BoundSelect { plan, items, order, qualify, overs, .. } = bound;
        let (mut plan, calls) = overs.plan(plan, self.config.batch)?;
        if let Some((condition, span)) = qualify {
            plan = filter(plan, calls.place(condition), span);
        }
        let items = items.into_iter().map(|item| Item { expr: calls.place(item.expr), ..item });
        let order = order.into_iter().map(|order| {
            let key = SortKey { expr: calls.place(order.key.expr), ..order.key };
            OrderExpr { key, ..order }
        });
        let (plan, keys, hidden) = project(plan, items.collect(), order.collect());
        let plan = match select.quantifier {
            Some(SetQuantifier::Distinct) if hidden > 0 => {
                return Err(PlanError::new("ORDER BY of a SELECT DISTINCT must be selected")
                    .at(select.span));
            }
            Some(SetQuantifier::Distinct) => {
                distinct(plan, state_ttl.filter(|_| !is_grouped), select.span)
            }
            _ => plan,
        };
        let visible = plan.schema.len() - hidden;
        let scope = Scope::anonymous(&Schema::new(plan.schema.fields[..visible].to_vec()));
        Ok(Ordered { bound: Bound { plan, scope }, keys, hidden })
    }

    /// QUALIFY: a condition on the results of windows, in which the names of the SELECT list count.
    fn bind_qualify(
        &mut self,
        qualify: &ast::Expr,
        items: &[Item],
        context: &mut Context,
    ) -> Result<(Expr, ast::Span)> {
        let aliases: Vec<(String, Expr)> =
            items.iter().map(|item| (item.name.clone(), item.expr.clone())).collect();
        let mut context = Context {
            scope: context.scope,
            aggregates: context.aggregates.as_deref_mut(),
            overs: context.overs.as_deref_mut(),
            aliases: &aliases,
            window: context.window,
            matching: None,
        };
        let condition = self.bind_condition(qualify, &mut context)?;
        if !condition.columns().into_iter().any(is_over_column) {
            return Err(PlanError::new("QUALIFY expression must contain a window function")
                .at(qualify.span)
                .hint("conditions on columns stand in WHERE"));
        }
        Ok((condition, qualify.span))
    }

    fn bind_items(
        &mut self,
        items: &[ast::SelectItem],
        context: &mut Context,
    ) -> Result<Vec<Item>> {
        let mut bound = Vec::new();
        for item in items {
            match &item.expr.kind {
                ExprKind::Star => self.expand(&[], item, context.scope, &mut bound)?,
                ExprKind::QualifiedStar(table) => {
                    self.expand(table, item, context.scope, &mut bound)?;
                }
                _ => {
                    let expr = self.bind_expr(&item.expr, context)?;
                    if expr.data_type().root == TypeRoot::Null {
                        return Err(illegal_null().at(item.span));
                    }
                    let name = match (&item.alias, &item.expr.kind) {
                        (Some(alias), _) => alias.value.clone(),
                        (None, ExprKind::Identifier(name)) => {
                            name.last().map(|part| part.value.clone()).unwrap_or_default()
                        }
                        (None, _) => format!("EXPR${}", bound.len()),
                    };
                    bound.push(Item { name, expr, span: item.span });
                }
            }
        }
        Ok(bound)
    }

    fn expand(
        &mut self,
        table: &[ast::Ident],
        item: &ast::SelectItem,
        scope: &Scope,
        bound: &mut Vec<Item>,
    ) -> Result<()> {
        match scope.expand_star(table) {
            Ok(columns) => {
                if columns.is_empty() {
                    return Err(PlanError::new("SELECT * requires a FROM clause").at(item.span));
                }
                for column in columns {
                    let field = &scope.fields[column];
                    let expr = Expr::column(column, field.data_type.clone());
                    bound.push(Item { name: field.name.to_string(), expr, span: item.span });
                }
                Ok(())
            }
            // Not a table: `row.*` gives the fields of a row column.
            Err(error) => {
                let row = scope.resolve(table).map_err(|_| error.clone())?;
                let ty = row.data_type();
                let fields = ty.root.row_fields().ok_or(error)?;
                for field in fields {
                    let expr = super::scope::field_access(row.clone(), &field.name)?;
                    bound.push(Item { name: field.name.to_string(), expr, span: item.span });
                }
                Ok(())
            }
        }
    }

    fn bind_order(
        &mut self,
        order_by: &[ast::OrderItem],
        items: &[Item],
        context: &mut Context,
    ) -> Result<Vec<OrderExpr>> {
        let fields: Vec<Field> =
            items.iter().map(|i| Field::new(i.name.as_str(), i.expr.data_type())).collect();
        order_by
            .iter()
            .map(|item| {
                let by_alias = match &item.expr.kind {
                    ExprKind::Identifier(name) if name.len() == 1 => {
                        items.iter().position(|column| column.name == name[0].value)
                    }
                    _ => None,
                };
                let (column, expr) = match (ordinal(&item.expr), by_alias) {
                    (Some(position), _) => {
                        let expr = output_column(position, &fields, item)?;
                        (Some(position - 1), expr)
                    }
                    (None, Some(column)) => (Some(column), items[column].expr.clone()),
                    (None, None) => {
                        let expr = self.bind_expr(&item.expr, context)?;
                        let column = items.iter().position(|column| column.expr == expr);
                        (column, expr)
                    }
                };
                Ok(OrderExpr { column, key: sort_key(expr, item), span: item.span })
            })
            .collect()
    }
}

/// The parts of a SELECT, bound over FROM.
pub(super) struct BoundSelect {
    pub(super) plan: PlanRef,
    pub(super) items: Vec<Item>,
    pub(super) order: Vec<OrderExpr>,
    pub(super) qualify: Option<(Expr, ast::Span)>,
    pub(super) overs: OverCalls,
    /// The sub-queries in all of these.
    pub(super) subqueries: Vec<SubQuery>,
}

/// A key of ORDER BY: a column of the output, or an expression of its own.
pub(super) struct OrderExpr {
    pub(super) column: Option<usize>,
    pub(super) key: SortKey,
    pub(super) span: ast::Span,
}

/// SELECT without FROM: one row without columns.
pub fn one_row() -> Bound {
    anonymous(LogicalPlan::new(LogicalOp::Values(vec![Vec::new()]), Vec::new(), Schema::default()))
}

/// The rows of `input` for which a condition is TRUE.
pub fn filter(input: PlanRef, condition: Expr, span: ast::Span) -> PlanRef {
    let schema = (*input.schema).clone();
    LogicalPlan::spanned(LogicalOp::Filter(condition), vec![input], schema, span)
}

/// The SELECT list, and behind it what ORDER BY needs besides.
fn project(
    plan: PlanRef,
    items: Vec<Item>,
    order: Vec<OrderExpr>,
) -> (PlanRef, Vec<SortKey>, usize) {
    let mut fields: Vec<Field> = Vec::with_capacity(items.len());
    let mut exprs: Vec<Expr> = Vec::with_capacity(items.len());
    for item in items {
        let time = time_of(&item.expr, &plan.schema);
        fields.push(Field::new(item.name, item.expr.data_type()).with_time(time));
        exprs.push(item.expr);
    }
    let visible = exprs.len();
    let mut keys = Vec::new();
    for OrderExpr { column, key, .. } in order {
        let index = column.unwrap_or_else(|| {
            let time = time_of(&key.expr, &plan.schema);
            let name = format!("$sort{}", exprs.len() - visible);
            fields.push(Field::new(name, key.expr.data_type()).with_time(time));
            exprs.push(key.expr.clone());
            exprs.len() - 1
        });
        let expr = Expr::column(index, exprs[index].data_type());
        keys.push(SortKey { expr, ..key });
    }
    let hidden = exprs.len() - visible;
    (LogicalPlan::project(plan, exprs, Schema::new(fields)), keys, hidden)
}

/// Whether an expression still is a time attribute: only a column passed on is, and PROCTIME().
pub fn time_of(expr: &Expr, schema: &Schema) -> Option<TimeAttribute> {
    match expr {
        // What stands for a column of a query around is none of this schema.
        Expr::Column { index, .. } => schema.fields.get(*index)?.time,
        Expr::Call { function, .. } if function.name == "PROCTIME" => Some(TimeAttribute::Proctime),
        _ => None,
    }
}

/// SELECT DISTINCT: grouping by all columns; `state_ttl` is what a hint says of them.
pub fn distinct(input: PlanRef, state_ttl: Option<u64>, span: ast::Span) -> PlanRef {
    let groups = input.schema.fields.iter().enumerate();
    let groups = groups.map(|(i, field)| Expr::column(i, field.data_type.clone())).collect();
    let mut schema = (*input.schema).clone();
    schema.fields.iter_mut().for_each(|field| field.time = None);
    let op = LogicalOp::Aggregate(Aggregate { state_ttl, ..Aggregate::new(groups, Vec::new()) });
    LogicalPlan::spanned(op, vec![input], schema, span)
}
