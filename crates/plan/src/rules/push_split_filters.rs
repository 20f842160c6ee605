//! Conditions on columns that whole splits share, such as partition columns, move into the scan, which leaves
//! splits out before it reads them.

use std::collections::HashMap;
use std::sync::Arc;

use flott_catalog::connector::{ConnectorError, ScanColumn, SplitFilter};
use flott_functions::{Evaluator, Expr, SessionSettings, Volatility};
use flott_types::{DataType, Value};

use crate::Result;
use crate::logical::{LogicalOp, LogicalPlan, PlanRef, Scan};

type Key = *const LogicalPlan;

pub(super) fn apply(roots: Vec<PlanRef>, settings: &SessionSettings) -> Result<Vec<PlanRef>> {
    let mut rule = Rule { settings, readers: HashMap::new(), done: HashMap::new() };
    roots.iter().for_each(|root| rule.count(root));
    Ok(roots.iter().map(|root| rule.rewrite(root)).collect())
}

struct Rule<'a> {
    settings: &'a SessionSettings,
    /// How many nodes read each: a scan that several share is left whole, so that it runs once.
    readers: HashMap<Key, usize>,
    done: HashMap<Key, PlanRef>,
}

impl Rule<'_> {
    fn count(&mut self, plan: &PlanRef) {
        for input in &plan.inputs {
            let readers = self.readers.entry(Arc::as_ptr(input)).or_default();
            *readers += 1;
            if *readers == 1 {
                self.count(input);
            }
        }
    }

    fn is_shared(&self, plan: &PlanRef) -> bool {
        self.readers.get(&Arc::as_ptr(plan)).is_some_and(|readers| *readers > 1)
    }

    fn rewrite(&mut self, plan: &PlanRef) -> PlanRef {
        if let Some(done) = self.done.get(&Arc::as_ptr(plan)) {
            return done.clone();
        }
        let rewritten = match &plan.op {
            LogicalOp::Filter(condition) => self.filter(plan, condition),
            _ => None,
        };
        let rewritten = rewritten.unwrap_or_else(|| {
            let inputs: Vec<PlanRef> =
                plan.inputs.iter().map(|input| self.rewrite(input)).collect();
            let unchanged = inputs.iter().zip(&plan.inputs).all(|(a, b)| Arc::ptr_eq(a, b));
            if unchanged { plan.clone() } else { plan.with_inputs(inputs) }
        });
        self.done.insert(Arc::as_ptr(plan), rewritten.clone());
        rewritten
    }

    /// A filter over a scan, of which the scan takes what it can.
    fn filter(&self, plan: &PlanRef, condition: &Expr) -> Option<PlanRef> {
        let LogicalOp::Scan(scan) = &plan.input().op else { return None };
        if self.is_shared(plan.input()) {
            return None;
        }
        let offered = scan.source.split_columns();
        let (down, stay): (Vec<Expr>, Vec<Expr>) =
            condition.clone().conjuncts().into_iter().partition(|conjunct| {
                let columns = conjunct.columns();
                !columns.is_empty()
                    && conjunct.volatility() == Volatility::Immutable
                    && columns.iter().all(|at| offered.contains(&scan.columns[*at]))
                    && may_leave_out(scan, plan.input(), &columns)
            });
        if down.is_empty() {
            return None;
        }
        let mut scan = scan.clone();
        let names: Vec<String> =
            plan.input().schema.fields.iter().map(|f| f.name.to_string()).collect();
        let filters: Vec<SplitFilter> =
            down.iter().map(|conjunct| self.split_filter(conjunct, &scan, &names)).collect();
        scan.filters.extend(filters);
        let input =
            Arc::new(LogicalPlan { op: LogicalOp::Scan(scan), ..LogicalPlan::clone(plan.input()) });
        if stay.is_empty() {
            return Some(input);
        }
        let op = LogicalOp::Filter(Expr::conjunction(stay));
        Some(Arc::new(LogicalPlan { op, inputs: vec![input], ..LogicalPlan::clone(plan) }))
    }

    fn split_filter(&self, condition: &Expr, scan: &Scan, names: &[String]) -> SplitFilter {
        let used = condition.columns();
        let columns: Vec<ScanColumn> = used.iter().map(|at| scan.columns[*at].clone()).collect();
        let (condition, settings) = (condition.clone(), self.settings.clone());
        let text = condition.display(names).to_string();
        let predicate = move |values: &[Value]| {
            let place = |column: usize| used.iter().position(|at| *at == column);
            let constant = condition.clone().transform(&mut |node| match node {
                Expr::Column { index, data_type, .. } => {
                    let value = place(index).and_then(|at| values.get(at)).cloned();
                    Expr::literal(value.unwrap_or(Value::Null), DataType::clone(&data_type))
                }
                other => other,
            });
            let failed = |error: String| ConnectorError::new(error);
            let evaluator =
                Evaluator::new(&constant, &settings).map_err(|error| failed(error.to_string()))?;
            let value = evaluator.evaluate_constant(settings.query_start);
            value
                .map(|value| value == Value::Boolean(true))
                .map_err(|error| failed(error.to_string()))
        };
        SplitFilter::new(columns, text, Arc::new(predicate))
    }
}

/// Changes of a row are left out all together or not at all: only where the columns are of its key.
fn may_leave_out(scan: &Scan, plan: &LogicalPlan, columns: &[usize]) -> bool {
    scan.source.changelog_mode().is_insert_only()
        || scan.table.primary_key.as_ref().is_some_and(|key| {
            columns
                .iter()
                .all(|at| key.columns.iter().any(|k| **k == *plan.schema.fields[*at].name))
        })
}
