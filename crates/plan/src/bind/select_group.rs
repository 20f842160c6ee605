//! A SELECT with groups: everything above GROUP BY is written over the keys and the aggregates.

use flott_functions::Expr;
use flott_sql::ast;

use super::aggregate::{AggregateContext, Grouping};
use super::select::{BoundSelect, Item, OrderExpr, filter};
use super::subquery::{SubQuery, apply_condition, apply_values};
use super::{Binder, Scope};
use crate::logical::{AggregateCall, PlanRef, SortKey};
use crate::{PlanError, Result};

/// What a SELECT is grouped by.
pub(super) struct Keys {
    /// The keys.
    pub(super) grouping: Grouping,
    /// The sub-queries among them.
    pub(super) queries: Vec<SubQuery>,
}

impl Binder<'_> {
    /// The parts of a SELECT over its groups.
    pub(super) fn group(
        &self,
        select: &ast::Select,
        bound: BoundSelect,
        scope: &Scope,
        keys: Keys,
        mut aggregates: AggregateContext,
        having: Option<(Expr, ast::Span)>,
    ) -> Result<BoundSelect> {
        let Keys { mut grouping, queries } = keys;
        let BoundSelect { plan, items, order, qualify, mut overs, subqueries } = bound;
        let (mut inside, mut above) =
            self.split_subqueries(subqueries, &grouping, &aggregates, scope)?;
        let rewrite = |expr: &Expr, span: ast::Span| {
            grouping.rewrite(expr, &aggregates, scope).map_err(|error| error.at(span))
        };
        let condition = |(condition, span): (Expr, ast::Span)| {
            Ok::<_, PlanError>((rewrite(&condition, span)?, span))
        };
        let items = items
            .into_iter()
            .map(|item| Ok(Item { expr: rewrite(&item.expr, item.span)?, ..item }))
            .collect::<Result<Vec<_>>>()?;
        let having = having.map(condition).transpose()?;
        let qualify = qualify.map(condition).transpose()?;
        overs.rewrite(rewrite)?;
        let order = order
            .into_iter()
            .map(|order| {
                let key = match order.column {
                    Some(_) => order.key,
                    None => SortKey { expr: rewrite(&order.key.expr, order.span)?, ..order.key },
                };
                Ok(OrderExpr { key, ..order })
            })
            .collect::<Result<Vec<_>>>()?;
        // What of the keys' sub-queries stands above is no key by itself, and looked at from there.
        let mut above_keys: Vec<&Expr> = items.iter().map(|item| &item.expr).collect();
        above_keys.extend(having.iter().chain(&qualify).map(|(condition, _)| condition));
        above_keys.extend(order.iter().map(|order| &order.key.expr));
        for query in &queries {
            if above_keys.iter().any(|expr| query.stands_in(expr)) {
                let rewrite = |expr: &Expr| grouping.rewrite(expr, &aggregates, scope);
                let level = self.outer.len();
                let rewritten = query.clone().rewritten(level, &rewrite);
                above.push(rewritten.map_err(|error| error.at(query.span()))?);
            }
        }
        let name = |(i, key): (usize, &Expr)| {
            let field = match key {
                Expr::Column { index, .. } => plan.schema.fields.get(*index),
                _ => None,
            };
            field.map_or_else(|| format!("$f{i}"), |field| field.name.to_string())
        };
        let names: Vec<String> = grouping.keys.iter().enumerate().map(name).collect();
        let mut calls = std::mem::take(&mut aggregates.calls);
        let plan = if queries.is_empty() {
            self.inside_calls(plan, &mut calls, &mut [], inside)?
        } else {
            let mut keys = grouping.keys.clone();
            inside.extend(queries);
            let plan = self.inside_calls(plan, &mut calls, &mut keys, inside)?;
            grouping.group_by(keys);
            plan
        };
        let span = select.group_by.as_ref().map_or(select.span, |group_by| group_by.span);
        let mut plan = grouping.plan(plan, calls, &names, span);
        let mut subqueries = above;
        if let Some((condition, span)) = having {
            let own;
            (own, subqueries) =
                subqueries.into_iter().partition(|subquery| subquery.stands_in(&condition));
            plan = if own.is_empty() {
                filter(plan, condition, span)
            } else {
                apply_condition(self, plan, condition, own, span)?
            };
        }
        Ok(BoundSelect { plan, items, order, qualify, overs, subqueries })
    }

    /// The sub-queries that stand in aggregate calls, and the others as seen from above the grouping.
    fn split_subqueries(
        &self,
        subqueries: Vec<SubQuery>,
        grouping: &Grouping,
        aggregates: &AggregateContext,
        scope: &Scope,
    ) -> Result<(Vec<SubQuery>, Vec<SubQuery>)> {
        let stands_inside = |subquery: &SubQuery| {
            let mut operands =
                aggregates.calls.iter().flat_map(|call| call.args.iter().chain(&call.filter));
            operands.any(|operand| subquery.stands_in(operand))
        };
        let (inside, above): (Vec<SubQuery>, Vec<SubQuery>) =
            subqueries.into_iter().partition(stands_inside);
        let level = self.outer.len();
        let above = above
            .into_iter()
            .map(|subquery| {
                let span = subquery.span();
                let rewrite = |expr: &Expr| grouping.rewrite(expr, aggregates, scope);
                subquery.rewritten(level, &rewrite).map_err(|error| error.at(span))
            })
            .collect::<Result<_>>()?;
        Ok((inside, above))
    }

    /// The plan with what aggregate calls and keys need of sub-queries behind its columns.
    fn inside_calls(
        &self,
        plan: PlanRef,
        calls: &mut [AggregateCall],
        keys: &mut [Expr],
        subqueries: Vec<SubQuery>,
    ) -> Result<PlanRef> {
        if subqueries.is_empty() {
            return Ok(plan);
        }
        let mut places: Vec<&mut Expr> = keys.iter_mut().collect();
        for call in calls {
            places.extend(call.args.iter_mut().chain(&mut call.filter));
        }
        self.fill(plan, places, subqueries)
    }

    /// Puts what the sub-queries of the SELECT list, ORDER BY, QUALIFY and windows give behind the plan's
    /// columns.
    pub(super) fn place_subqueries(&self, bound: &mut BoundSelect) -> Result<()> {
        let subqueries = std::mem::take(&mut bound.subqueries);
        if subqueries.is_empty() {
            return Ok(());
        }
        let mut places: Vec<&mut Expr> =
            bound.items.iter_mut().map(|item| &mut item.expr).collect();
        // What names a column of the output is bound with the SELECT list.
        let own = bound.order.iter_mut().filter(|order| order.column.is_none());
        places.extend(own.map(|order| &mut order.key.expr));
        places.extend(bound.qualify.iter_mut().map(|(condition, _)| condition));
        places.extend(bound.overs.exprs_mut());
        bound.plan = self.fill(bound.plan.clone(), places, subqueries)?;
        Ok(())
    }

    fn fill(
        &self,
        plan: PlanRef,
        places: Vec<&mut Expr>,
        subqueries: Vec<SubQuery>,
    ) -> Result<PlanRef> {
        let exprs = places.iter().map(|place| (**place).clone()).collect();
        let (plan, exprs) = apply_values(self, plan, exprs, subqueries)?;
        places.into_iter().zip(exprs).for_each(|(place, expr)| *place = expr);
        Ok(plan)
    }
}
