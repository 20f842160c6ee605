//! Lookup joins: a table is asked for the rows of each key when the key comes.

use std::sync::Arc;

use flott_catalog::connector::{Boundedness, LookupCache};
use flott_functions::Expr;
use flott_types::{DataType, Schema};

use super::{Lowering, any, as_column};
use crate::logical::{Join, LogicalOp, PlanRef, Scan};
use crate::physical::{LookupJoin, LookupKey, LookupValue, NodeId, PhysicalOp};
use crate::{PlanError, Result};

/// A table behind nothing but projections and filters.
struct Table<'p> {
    scan: &'p Scan,
    /// The columns of the plan, over the scan.
    projection: Vec<Expr>,
    condition: Vec<Expr>,
}

impl Lowering<'_> {
    /// Lowers a join with a table that can be looked up; `None` when it cannot.
    pub(super) fn lookup_join(&mut self, plan: &PlanRef, join: &Join) -> Result<Option<NodeId>> {
        let Some(table) = table(&plan.inputs[1]) else { return Ok(None) };
        let can_scan = LookupCache::of(&table.scan.table.options)?.is_some();
        if table.scan.source.lookup().is_none() {
            if !can_scan {
                return Ok(None);
            }
            if table.scan.source.boundedness() == Boundedness::Unbounded {
                return Err(PlanError::new(format!(
                    "table '{}' cannot be looked up, because its source never ends",
                    table.scan.path
                ))
                .hint("read a bounded source: its rows are loaded before they are looked up"));
            }
        }
        let old_left = plan.inputs[0].schema.len();
        let left = self.node(&plan.inputs[0])?;
        let (left, left_keys) = self.with_keys(left, join.equal.iter().map(|pair| &pair.left))?;
        let width = self.plan.node(left).schema.len();
        let mut keys = Vec::new();
        let mut rest = Vec::new();
        for (pair, column) in join.equal.iter().zip(&left_keys) {
            let right = crate::bind::inline(&pair.right, &table.projection);
            match as_column(&right).filter(|_| !pair.null_safe) {
                Some(key) => {
                    keys.push(LookupKey { column: key, value: LookupValue::Column(*column) })
                }
                None => {
                    let name = if pair.null_safe { "IS NOT DISTINCT FROM" } else { "=" };
                    let left = Expr::column(*column, pair.left.data_type());
                    let right = pair.right.clone().map_columns(&|column| column + width);
                    rest.push(Expr::builtin(name, vec![left, right])?);
                }
            }
        }
        let moved = |column: usize| {
            if column < old_left { column } else { column - old_left + width }
        };
        for conjunct in join.residual.clone().map(Expr::conjuncts).unwrap_or_default() {
            match constant_key(&conjunct, old_left, &table.projection) {
                Some(key) => keys.push(key),
                None => rest.push(conjunct.map_columns(&moved)),
            }
        }
        let mut condition = Vec::new();
        for conjunct in table.condition {
            match constant_key(&conjunct, 0, &identity(table.scan, &conjunct)) {
                Some(key) => keys.push(key),
                None => condition.push(conjunct),
            }
        }
        if !keys.iter().any(|key| matches!(key.value, LookupValue::Column(_))) {
            return Err(PlanError::new(format!(
                "Temporal table join requires an equality condition on fields of table [{}].",
                table.scan.path
            ))
            .hint("compare a column of the table with one of the left table in ON"));
        }
        let conjunction = |all: Vec<Expr>| (!all.is_empty()).then(|| Expr::conjunction(all));
        let mut fields = self.plan.node(left).schema.fields.clone();
        let right = plan.schema.fields[old_left..].iter();
        fields.extend(right.map(|field| field.clone().with_time(None)));
        let op = PhysicalOp::LookupJoin(Box::new(LookupJoin {
            kind: join.kind,
            table: table.scan.clone(),
            keys,
            projection: table.projection,
            condition: conjunction(condition),
            residual: conjunction(rest),
            retry: join.hints.lookup.and_then(|lookup| lookup.retry),
        }));
        let joined = self.add(op, vec![any(left)], Arc::new(Schema::new(fields)), plan.span)?;
        let projection =
            plan.schema.fields.iter().enumerate().map(|(column, field)| {
                Expr::column(moved(column), DataType::clone(&field.data_type))
            });
        let projection = projection.collect();
        self.add_calc(joined, None, projection, plan.schema.clone(), plan.span).map(Some)
    }
}

/// The table that a plan reads, if nothing but projections and filters lies above it.
fn table(plan: &PlanRef) -> Option<Table<'_>> {
    let mut projection = super::columns_of(&plan.schema);
    let mut condition: Vec<Expr> = Vec::new();
    let mut at = plan;
    loop {
        match &at.op {
            LogicalOp::Project(exprs) => {
                for expr in projection.iter_mut().chain(&mut condition) {
                    *expr = crate::bind::inline(expr, exprs);
                }
                at = at.input();
            }
            LogicalOp::Filter(filter) => {
                condition.extend(filter.clone().conjuncts());
                at = at.input();
            }
            LogicalOp::Scan(scan) => return Some(Table { scan, projection, condition }),
            _ => return None,
        }
    }
}

/// Columns of the scan as they are, as far as a condition looks at them.
fn identity(scan: &Scan, condition: &Expr) -> Vec<Expr> {
    let mut columns = vec![Expr::boolean(true); scan.columns.len()];
    condition.visit(&mut |node| {
        if let Expr::Column { index, .. } = node {
            columns[*index] = node.clone();
        }
    });
    columns
}

/// `column = constant` of the table, whose columns begin at `split` in the condition.
fn constant_key(condition: &Expr, split: usize, projection: &[Expr]) -> Option<LookupKey> {
    let Expr::Call { function, args, .. } = condition else { return None };
    let ("=", [a, b]) = (function.name, args.as_slice()) else { return None };
    let (column, value) = match (a, b) {
        (Expr::Column { index, .. }, Expr::Literal { .. }) => (*index, b),
        (Expr::Literal { .. }, Expr::Column { index, .. }) => (*index, a),
        _ => return None,
    };
    let read = projection.get(column.checked_sub(split)?)?;
    let same = read.data_type().same_root(&value.data_type());
    as_column(read)
        .filter(|_| same)
        .map(|column| LookupKey { column, value: LookupValue::Constant(value.clone()) })
}
