//! OVER over a bounded input: all rows are there before the first comes out (batch mode).

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Float64Array, Int64Array, UInt32Array};
use arrow::compute::{cast, concat_batches, take};
use arrow::datatypes::{ArrowPrimitiveType, Int64Type, SchemaRef};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use flott_plan::physical::{ColumnAggregate, Operand, OverWindow, RowOffset, WindowFunction};
use flott_state::{SortColumn, SortKeyEncoder, StateReader, StateWriter};
use flott_types::{ChangelogBatch, Schema, Value};

use super::bounds::{Ordered, frames};
use super::sliding::aggregate;
use crate::context::OperatorContext;
use crate::operator::Operator;
use crate::{Result, RuntimeError};

/// Keeps all rows until the input ends, then gives them out with their results in the order of
/// partitions and of rows in them.
pub struct BatchOverOperator {
    spec: Arc<OverWindow>,
    input: Schema,
    output: SchemaRef,
    batches: Vec<RecordBatch>,
    bytes: usize,
}

impl BatchOverOperator {
    /// An operator over rows of `input` that gives columns of `schema`: the input's, then results.
    pub fn new(spec: OverWindow, input: &Schema, schema: SchemaRef) -> Self {
        let spec = Arc::new(spec);
        Self { spec, input: input.clone(), output: schema, batches: Vec::new(), bytes: 0 }
    }

    /// All rows in order, and where partitions and peers begin.
    fn sort(&mut self) -> Result<(RecordBatch, Ordered)> {
        let schema = self.input.to_arrow();
        let all = concat_batches(&schema, &std::mem::take(&mut self.batches))?;
        let column = |column: usize, descending: bool, nulls_first: bool| SortColumn {
            data_type: self.input.fields[column].data_type.clone(),
            descending,
            nulls_first,
        };
        let partition = self.spec.partition.iter().map(|key| (*key, false, true));
        let encode = |keys: &[(usize, bool, bool)]| {
            let columns: Vec<SortColumn> =
                keys.iter().map(|(key, desc, nulls)| column(*key, *desc, *nulls)).collect();
            let values: Vec<ArrayRef> =
                keys.iter().map(|(key, ..)| all.column(*key).clone()).collect();
            match columns.as_slice() {
                [] => Ok(None),
                columns => SortKeyEncoder::new(columns)?.encode(&values).map(Some),
            }
        };
        let partition = encode(&partition.collect::<Vec<_>>())?;
        let order = encode(&self.spec.order)?;
        let partition_of = |row: u32| partition.as_ref().map(|keys| keys.row(row as usize));
        let order_of = |row: u32| order.as_ref().map(|keys| keys.row(row as usize));
        let mut rows: Vec<u32> = (0..all.num_rows() as u32).collect();
        rows.sort_by(|a, b| {
            partition_of(*a).cmp(&partition_of(*b)).then_with(|| order_of(*a).cmp(&order_of(*b)))
        });
        let partitions = runs(&rows, |a, b| partition_of(a) == partition_of(b));
        let peers =
            runs(&rows, |a, b| partition_of(a) == partition_of(b) && order_of(a) == order_of(b));
        let rows = UInt32Array::from(rows);
        let columns = all.columns().iter().map(|column| take(column, &rows, None));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
        let sorted = RecordBatch::try_new_with_options(schema, columns, &options)?;
        Ok((sorted, Ordered { partitions, peers }))
    }

    fn results(&self, rows: &RecordBatch, ordered: &Ordered, now: i64) -> Result<Vec<ArrayRef>> {
        let calls: Vec<ColumnAggregate> = self
            .spec
            .functions
            .iter()
            .filter_map(|function| match function {
                WindowFunction::Aggregate(call) => Some(call.clone()),
                _ => None,
            })
            .collect();
        let mut aggregates = Vec::new();
        if !calls.is_empty() {
            let key = self.spec.order.first();
            let key = key.map(|(key, descending, _)| (rows.column(*key), *descending));
            let frames = frames(&self.spec.frame, ordered, key)?;
            aggregates = aggregate(&calls, rows, &frames, ordered, now)?;
        }
        let mut aggregates = aggregates.into_iter();
        let mut results = Vec::new();
        for function in &self.spec.functions {
            results.push(match function {
                WindowFunction::Aggregate(_) => aggregates
                    .next()
                    .ok_or_else(|| RuntimeError::internal("OverAggregate", "no result"))?,
                WindowFunction::Offset(offset) => offset_values(offset, rows, ordered)?,
                WindowFunction::Ntile(buckets) => ntile(buckets, rows, ordered)?,
                ranking => rank(ranking, ordered),
            });
        }
        Ok(results)
    }
}

/// The run of equal neighbours that each row is in.
fn runs(rows: &[u32], is_same: impl Fn(u32, u32) -> bool) -> Vec<Range<usize>> {
    let mut runs = Vec::with_capacity(rows.len());
    let mut start = 0;
    while start < rows.len() {
        let same = rows[start..].iter().take_while(|row| is_same(**row, rows[start])).count();
        runs.extend(std::iter::repeat_n(start..start + same, same));
        start += same;
    }
    runs
}

/// ROW_NUMBER, RANK, DENSE_RANK, PERCENT_RANK and CUME_DIST.
fn rank(function: &WindowFunction, ordered: &Ordered) -> ArrayRef {
    let rows = ordered.partitions.iter().zip(&ordered.peers);
    match function {
        WindowFunction::RowNumber => {
            let number =
                |(row, partition): (usize, &Range<usize>)| (row - partition.start + 1) as i64;
            let numbers = ordered.partitions.iter().enumerate().map(number);
            Arc::new(Int64Array::from_iter_values(numbers))
        }
        WindowFunction::DenseRank => {
            let mut dense = 0;
            let ranks = rows.enumerate().map(|(row, (partition, peers))| {
                if row == partition.start {
                    dense = 0;
                }
                dense += i64::from(row == peers.start);
                dense
            });
            Arc::new(Int64Array::from_iter_values(ranks))
        }
        WindowFunction::PercentRank => {
            let percent = |(partition, peers): (&Range<usize>, &Range<usize>)| {
                let before = (peers.start - partition.start) as f64;
                // The only row of a partition is at 0 of it.
                before / (partition.len() - 1).max(1) as f64
            };
            Arc::new(Float64Array::from_iter_values(rows.map(percent)))
        }
        WindowFunction::CumeDist => {
            let share = |(partition, peers): (&Range<usize>, &Range<usize>)| {
                (peers.end - partition.start) as f64 / partition.len() as f64
            };
            Arc::new(Float64Array::from_iter_values(rows.map(share)))
        }
        _ => {
            let ranks = rows.map(|(partition, peers)| (peers.start - partition.start + 1) as i64);
            Arc::new(Int64Array::from_iter_values(ranks))
        }
    }
}

/// NTILE: buckets of equal size, the first ones larger by a row where it does not come out even.
fn ntile(buckets: &Operand, rows: &RecordBatch, ordered: &Ordered) -> Result<ArrayRef> {
    let buckets = Ints::new(buckets, rows)?;
    let tile = |(row, partition): (usize, &Range<usize>)| {
        let count = buckets.at(partition.start).filter(|count| *count > 0);
        let Some(count) = count else { return Err(RuntimeError::operator(NoBuckets)) };
        let (at, len) = ((row - partition.start) as i64, partition.len() as i64);
        let (size, larger) = (len / count, len % count);
        Ok(if at < larger * (size + 1) {
            at / (size + 1) + 1
        } else {
            larger + (at - larger * (size + 1)) / size.max(1) + 1
        })
    };
    let tiles = ordered.partitions.iter().enumerate().map(tile).collect::<Result<Vec<i64>>>()?;
    Ok(Arc::new(Int64Array::from(tiles)))
}

#[derive(Debug, thiserror::Error)]
#[error("NTILE needs one bucket or more")]
struct NoBuckets;

/// LAG and LEAD.
fn offset_values(offset: &RowOffset, rows: &RecordBatch, ordered: &Ordered) -> Result<ArrayRef> {
    let by = Ints::new(&offset.offset, rows)?;
    let sign = if offset.is_lead { 1 } else { -1 };
    let target = |(row, partition): (usize, &Range<usize>)| {
        let target = row as i64 + sign * by.at(row)?;
        usize::try_from(target).ok().filter(|target| partition.contains(target))
    };
    let targets: Vec<Option<usize>> = ordered.partitions.iter().enumerate().map(target).collect();
    let picks: UInt32Array = targets.iter().map(|target| target.map(|row| row as u32)).collect();
    let values = take(rows.column(offset.value), &picks, None)?;
    let missing = targets.iter().map(|target| Some(target.is_none())).collect();
    let default = match &offset.default {
        Operand::Constant(Value::Null) => return Ok(values),
        Operand::Column(column) => rows.column(*column).clone(),
        Operand::Constant(value) => {
            let values = vec![value.clone(); rows.num_rows()];
            Value::to_array(&values, &offset.data_type).map_err(RuntimeError::operator)?
        }
    };
    Ok(arrow::compute::kernels::zip::zip(&missing, &default, &values)?)
}

/// Whole numbers: one for all rows, or one a row.
enum Ints {
    Constant(Option<i64>),
    Column(ArrayRef),
}

impl Ints {
    fn new(operand: &Operand, rows: &RecordBatch) -> Result<Self> {
        match operand {
            Operand::Constant(value) => Ok(Self::Constant(value.as_int())),
            Operand::Column(column) => {
                let numbers = rows.column(*column).clone();
                Ok(Self::Column(cast(&numbers, &Int64Type::DATA_TYPE)?))
            }
        }
    }

    fn at(&self, row: usize) -> Option<i64> {
        match self {
            Self::Constant(value) => *value,
            Self::Column(numbers) => {
                let numbers = numbers.as_primitive::<Int64Type>();
                numbers.is_valid(row).then(|| numbers.value(row))
            }
        }
    }
}

impl Operator for BatchOverOperator {
    fn name(&self) -> &str {
        "OverAggregate"
    }

    fn on_batch(
        &mut self,
        _input: usize,
        batch: ChangelogBatch,
        _ctx: &mut OperatorContext,
    ) -> Result<()> {
        self.bytes += batch.memory();
        self.batches.push(batch.rows);
        Ok(())
    }

    fn on_end(&mut self, _input: usize, ctx: &mut OperatorContext) -> Result<()> {
        if self.batches.is_empty() {
            return Ok(());
        }
        let (rows, ordered) = self.sort()?;
        self.bytes = 0;
        let results = self.results(&rows, &ordered, ctx.now())?;
        let columns = rows.columns().iter().cloned().chain(results).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
        let rows = RecordBatch::try_new_with_options(self.output.clone(), columns, &options)?;
        ctx.emit(ChangelogBatch::inserts(rows))
    }

    fn snapshot(&mut self, _state: &mut StateWriter) -> Result<()> {
        Err(RuntimeError::internal("OverAggregate", "a batch job took a checkpoint"))
    }

    fn can_snapshot(&self) -> bool {
        false
    }

    fn restore(&mut self, _state: &StateReader<'_>, _ctx: &OperatorContext) -> Result<()> {
        Ok(())
    }

    fn state_bytes(&self) -> usize {
        self.bytes
    }

    fn needs_exact_watermarks(&self) -> bool {
        false
    }
}
