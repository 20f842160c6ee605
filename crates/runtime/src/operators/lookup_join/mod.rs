//! The lookup join: each row meets what a table holds when the row comes.

mod fetch;
mod store;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use arrow::array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow::compute::{filter, take};
use arrow::datatypes::SchemaRef;
use flott_catalog::connector::{
    BadRecordHandler, LookupCache, LookupRequest, ScanColumn, ScanRequest,
};
use flott_functions::{EvalContext, Evaluator, Expr, RecordTimes, SessionSettings};
use flott_plan::logical::JoinKind;
use flott_plan::physical::{LookupJoin, LookupValue};
use flott_state::NO_SLOT;
use flott_types::{ChangelogBatch, DataType, RowKinds};

use super::time_join::matchable;
use crate::context::OperatorContext;
use crate::operator::Operator;
use crate::{Result, RuntimeError};
use fetch::{Fetcher, WholeTable};

/// Joins rows with those that a table holds under their key. Results are given once and never
/// changed, with the kind of the row that asked.
///
/// Different keys of a batch are asked for together. What is remembered is no state: it is not part
/// of checkpoints.
pub struct LookupJoinOperator {
    keeps_left: bool,
    keys: Vec<KeyPart>,
    fetcher: Fetcher,
    condition: Option<Evaluator>,
    projection: Vec<Evaluator>,
    residual: Option<Evaluator>,
    schema: SchemaRef,
}

enum KeyPart {
    Column(usize),
    Constant(Evaluator),
}

/// A row of the input beside one that was found, or beside NULLs.
#[derive(Default)]
struct Rows {
    input: Vec<u32>,
    found: Vec<Option<u32>>,
}

impl LookupJoinOperator {
    /// A join that gives columns of `schema`.
    pub fn new(
        spec: &LookupJoin,
        schema: SchemaRef,
        settings: &SessionSettings,
        bad_records: Arc<dyn BadRecordHandler>,
    ) -> Result<Self> {
        let columns = spec.table.columns.clone();
        let keys: Vec<usize> = spec.keys.iter().map(|key| key.column).collect();
        let source = spec.table.source.clone();
        let predicates = spec.table.predicates.clone();
        let request = LookupRequest {
            columns: columns.clone(),
            keys: keys.clone(),
            predicates: predicates.clone(),
        };
        let reader = source.lookup().map(|lookup| lookup.reader(&request)).transpose();
        let reader = reader.map_err(RuntimeError::operator)?;
        let cache = LookupCache::of(&spec.table.table.options).map_err(RuntimeError::operator)?;
        let whole = WholeTable {
            types: types(spec)?,
            source,
            request: ScanRequest {
                columns,
                filters: spec.table.filters.clone(),
                predicates,
                limit: None,
            },
            bad_records,
            keys,
        };
        let retry = spec.retry.map(|(attempts, pause)| (attempts, Duration::from_millis(pause)));
        let compile = |expr: &Expr| Evaluator::new(expr, settings);
        let parts = spec.keys.iter().map(|key| match &key.value {
            LookupValue::Column(column) => Ok(KeyPart::Column(*column)),
            LookupValue::Constant(value) => compile(value).map(KeyPart::Constant),
        });
        Ok(Self {
            keeps_left: spec.kind == JoinKind::Left,
            keys: parts.collect::<Result<_, _>>()?,
            fetcher: Fetcher::new(
                reader,
                whole,
                cache.unwrap_or(LookupCache::None),
                retry,
                settings.zone.clone(),
            ),
            condition: spec.condition.as_ref().map(compile).transpose()?,
            projection: spec.projection.iter().map(compile).collect::<Result<_, _>>()?,
            residual: spec.residual.as_ref().map(compile).transpose()?,
            schema,
        })
    }

    fn key_columns(&self, columns: &[ArrayRef], context: &EvalContext) -> Result<Vec<ArrayRef>> {
        let part = |part: &KeyPart| match part {
            KeyPart::Column(column) => Ok(columns[*column].clone()),
            KeyPart::Constant(value) => {
                value.evaluate(&[], context).map_err(RuntimeError::operator)
            }
        };
        self.keys.iter().map(part).collect()
    }

    /// Joins the rows of a range with what was found under their keys.
    fn join(
        &self,
        columns: &[ArrayRef],
        range: Range<usize>,
        pairs: &[(u32, u32)],
        times: &RecordTimes,
    ) -> Result<(Rows, Vec<ArrayRef>)> {
        let mut input: Vec<u32> = pairs.iter().map(|(row, _)| *row).collect();
        let ids: Vec<u32> = pairs.iter().map(|(_, id)| *id).collect();
        let mut table = self.fetcher.store().columns(&ids)?;
        if let Some(condition) = &self.condition {
            let times = times.anew(input.len());
            let holds = condition.evaluate_filter(&table, &EvalContext::of_records(&times));
            let holds = holds.map_err(RuntimeError::operator)?;
            input = kept(&input, &holds);
            table = filtered(&table, &holds)?;
        }
        let times = times.anew(input.len());
        let context = EvalContext::of_records(&times);
        let project = |expr: &Evaluator| expr.evaluate(&table, &context);
        let projected = self.projection.iter().map(project).collect::<Result<Vec<_>, _>>();
        let projected = projected.map_err(RuntimeError::operator)?;
        let holds = match &self.residual {
            None => None,
            Some(residual) => {
                let places = UInt32Array::from(input.clone());
                let mut both = taken(columns, &places)?;
                both.extend(projected.iter().cloned());
                let holds = residual.evaluate_filter(&both, &context);
                Some(holds.map_err(RuntimeError::operator)?)
            }
        };
        let mut rows = Rows::default();
        let mut pair = 0;
        for row in range {
            let before = rows.input.len();
            while input.get(pair).is_some_and(|of| *of as usize == row) {
                if holds.as_ref().is_none_or(|holds| holds.value(pair)) {
                    rows.input.push(row as u32);
                    rows.found.push(Some(pair as u32));
                }
                pair += 1;
            }
            if self.keeps_left && rows.input.len() == before {
                rows.input.push(row as u32);
                rows.found.push(None);
            }
        }
        Ok((rows, projected))
    }

    fn emit(
        &self,
        batch: &ChangelogBatch,
        range: Range<usize>,
        rows: Rows,
        projected: &[ArrayRef],
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        let marks = ctx
            .marks()
            .slice(range.start, range.len())
            .remap(|row| rows.input.partition_point(|input| (*input as usize) < range.start + row));
        if rows.input.is_empty() {
            return marks.last().map_or(Ok(()), |watermark| ctx.emit_watermark(watermark));
        }
        let kinds = batch
            .kinds
            .as_ref()
            .map(|_| rows.input.iter().map(|row| batch.kind(*row as usize)).collect::<RowKinds>());
        let count = rows.input.len();
        let mut columns = taken(batch.rows.columns(), &UInt32Array::from(rows.input))?;
        columns.extend(taken(projected, &UInt32Array::from(rows.found))?);
        let options = RecordBatchOptions::new().with_row_count(Some(count));
        let given = RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?;
        let given = match kinds {
            None => ChangelogBatch::inserts(given),
            Some(kinds) => ChangelogBatch::new(given, kinds),
        };
        ctx.emit_marked(given, marks)
    }
}

impl Operator for LookupJoinOperator {
    fn name(&self) -> &str {
        "LookupJoin"
    }

    fn on_batch(
        &mut self,
        _input: usize,
        batch: ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        let rows = batch.len();
        let times = ctx.record_times(rows);
        let columns = batch.rows.columns();
        let keys = self.key_columns(columns, &EvalContext::of_records(&times))?;
        let can_match = matchable(&keys, &vec![false; keys.len()])?;
        let slots = self.fetcher.fetch(&keys, rows, can_match.as_ref(), ctx)?;
        let mut row = 0;
        while row < rows {
            let first = row;
            let mut pairs = Vec::new();
            while row < rows && pairs.len() < ChangelogBatch::MAX_ROWS {
                if slots[row] != NO_SLOT {
                    let found = self.fetcher.store().rows_of(slots[row]);
                    pairs.extend(found.map(|id| (row as u32, id)));
                }
                row += 1;
            }
            let (joined, projected) = self.join(columns, first..row, &pairs, &times)?;
            self.emit(&batch, first..row, joined, &projected, ctx)?;
        }
        self.fetcher.settle();
        Ok(())
    }

    fn state_bytes(&self) -> usize {
        self.fetcher.store().memory()
    }

    fn handles_marks(&self) -> bool {
        true
    }

    fn needs_exact_watermarks(&self) -> bool {
        false
    }
}

/// The types of the columns that are read of the table.
fn types(spec: &LookupJoin) -> Result<Vec<DataType>> {
    let physical = spec.table.table.physical_schema();
    let metadata = spec.table.source.metadata();
    let of = |column: &ScanColumn| match column {
        ScanColumn::Physical(at) => Some(physical.fields.get(*at)?.data_type.clone()),
        ScanColumn::Metadata(key) => {
            metadata.iter().find(|known| known.key == *key).map(|known| known.data_type.clone())
        }
    };
    let unknown = || RuntimeError::internal("LookupJoin", "a column that the table has not");
    spec.table.columns.iter().map(|column| of(column).ok_or_else(unknown)).collect()
}

fn taken(columns: &[ArrayRef], places: &UInt32Array) -> Result<Vec<ArrayRef>> {
    Ok(columns.iter().map(|column| take(column, places, None)).collect::<Result<_, _>>()?)
}

fn filtered(columns: &[ArrayRef], keep: &BooleanArray) -> Result<Vec<ArrayRef>> {
    Ok(columns.iter().map(|column| filter(column, keep)).collect::<Result<_, _>>()?)
}

fn kept(rows: &[u32], keep: &BooleanArray) -> Vec<u32> {
    rows.iter().zip(keep.values()).filter(|(_, keep)| *keep).map(|(row, _)| *row).collect()
}
