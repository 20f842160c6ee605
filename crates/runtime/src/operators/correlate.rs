//! Joins each row with the rows that a table function gives for it: UNNEST, LATERAL TABLE.
//!
//! A row is taken back by calling the function again, so nothing is kept; the function must give the
//! same rows for the same arguments.

use std::sync::Arc;

use arrow::array::{ArrayRef, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use flott_functions::table::{Pick, TableKernel, TableRows};
use flott_functions::{EvalContext, Evaluator, RecordTimes, SessionSettings};
use flott_plan::logical::JoinKind;
use flott_plan::physical::Correlate;
use flott_types::ChangelogBatch;

use crate::context::OperatorContext;
use crate::operator::Operator;
use crate::{Result, RuntimeError};

/// Gives for each row one row for each that its table function gives, in order.
pub struct CorrelateOperator {
    args: Vec<Evaluator>,
    kernel: Box<dyn TableKernel>,
    /// Whether a row without any comes out once, padded with NULLs.
    outer: bool,
    /// Which of the function's rows count, over the function's columns.
    condition: Option<Evaluator>,
    /// The columns of the input that are passed on.
    passed: Vec<usize>,
    /// The columns of the function that are given.
    given: Vec<usize>,
    schema: SchemaRef,
}

impl CorrelateOperator {
    /// An operator that gives columns of `schema`.
    pub fn new(spec: &Correlate, schema: SchemaRef, settings: &SessionSettings) -> Result<Self> {
        let args = spec.args.iter().map(|arg| Evaluator::new(arg, settings));
        Ok(Self {
            args: args.collect::<Result<_, _>>()?,
            kernel: (spec.function.compile)(&spec.call_args())?,
            outer: spec.kind == JoinKind::Left,
            condition: spec
                .condition
                .as_ref()
                .map(|condition| Evaluator::new(condition, settings))
                .transpose()?,
            passed: spec.passed.clone(),
            given: spec.given.clone(),
            schema,
        })
    }

    /// Gives the rows of a batch: for each input row `count`, which are those that `place` says.
    fn give(
        &self,
        batch: &ChangelogBatch,
        rows: &dyn TableRows,
        count: impl Fn(usize) -> usize,
        place: impl Fn(usize, u32) -> u32,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        // How many rows precede those of each row.
        let (mut done, mut before) = (0, 0);
        let marks = ctx.marks().remap(|row| {
            let width = |row: usize| count(row).max(usize::from(self.outer));
            before += (done..row).map(width).sum::<usize>();
            done = row;
            before
        });
        let mut picks: Vec<Pick> = Vec::new();
        let mut emitted = 0;
        let mut flush = |picks: &mut Vec<Pick>, is_last: bool| -> Result<()> {
            let given = rows.gather(picks).map_err(RuntimeError::operator)?;
            let out = self.rows(batch, picks, given)?;
            // Marks behind the last row belong to the last batch, which may have no rows.
            let upto = if is_last { usize::MAX - emitted } else { picks.len() };
            ctx.emit_marked(out, marks.slice(emitted, upto))?;
            emitted += picks.len();
            picks.clear();
            Ok(())
        };
        for row in 0..batch.len() {
            let count = count(row) as u32;
            if count == 0 && self.outer {
                picks.push(Pick { row: row as u32, nth: None });
            }
            for nth in 0..count {
                picks.push(Pick { row: row as u32, nth: Some(place(row, nth)) });
                if picks.len() == ChangelogBatch::MAX_ROWS {
                    flush(&mut picks, false)?;
                }
            }
        }
        flush(&mut picks, true)
    }

    /// The output for some picks, which are rows of `batch`.
    fn rows(
        &self,
        batch: &ChangelogBatch,
        picks: &[Pick],
        given: Vec<ArrayRef>,
    ) -> Result<ChangelogBatch> {
        let origins: UInt32Array = picks.iter().map(|pick| pick.row).collect();
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(self.schema.fields().len());
        for column in &self.passed {
            columns.push(take(batch.column(*column), &origins, None)?);
        }
        columns.extend(self.given.iter().map(|column| Arc::clone(&given[*column])));
        let options = RecordBatchOptions::new().with_row_count(Some(picks.len()));
        let rows = RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?;
        Ok(match &batch.kinds {
            None => ChangelogBatch::inserts(rows),
            Some(kinds) => {
                let kinds = picks.iter().map(|pick| kinds.get(pick.row as usize)).collect();
                ChangelogBatch::new(rows, kinds)
            }
        })
    }
}

impl Operator for CorrelateOperator {
    fn name(&self) -> &str {
        "Correlate"
    }

    fn on_batch(
        &mut self,
        _input: usize,
        batch: ChangelogBatch,
        ctx: &mut OperatorContext,
    ) -> Result<()> {
        let times = ctx.record_times(batch.len());
        let context = EvalContext::of_records(&times);
        let args = self
            .args
            .iter()
            .map(|arg| arg.evaluate(batch.rows.columns(), &context))
            .collect::<Result<Vec<_>, _>>()
            .map_err(RuntimeError::operator)?;
        let rows = self.kernel.evaluate(&args, batch.len()).map_err(RuntimeError::operator)?;
        match &self.condition {
            None => self.give(&batch, &*rows, |row| rows.count(row), |_, nth| nth, ctx),
            Some(condition) => {
                let kept = Kept::of(&*rows, condition, &times)?;
                self.give(
                    &batch,
                    &*rows,
                    |row| kept.of_row(row).len(),
                    |row, nth| kept.of_row(row)[nth as usize],
                    ctx,
                )
            }
        }
    }

    fn handles_marks(&self) -> bool {
        true
    }

    fn needs_exact_watermarks(&self) -> bool {
        false
    }
}

/// The rows of a table function for which a condition is TRUE.
struct Kept {
    /// For each input row, where its rows begin; one more at the end.
    starts: Vec<usize>,
    places: Vec<u32>,
}

impl Kept {
    fn of(rows: &dyn TableRows, condition: &Evaluator, times: &RecordTimes) -> Result<Self> {
        let mut kept = Self { starts: vec![0], places: Vec::new() };
        for row in 0..times.rows() {
            let all: Vec<Pick> = (0..rows.count(row) as u32)
                .map(|nth| Pick { row: row as u32, nth: Some(nth) })
                .collect();
            for picks in all.chunks(ChangelogBatch::MAX_ROWS) {
                let columns = rows.gather(picks).map_err(RuntimeError::operator)?;
                let times = times.anew(picks.len());
                let holds = condition
                    .evaluate_filter(&columns, &EvalContext::of_records(&times))
                    .map_err(RuntimeError::operator)?;
                let places = picks.iter().enumerate().filter(|(i, _)| holds.value(*i));
                kept.places.extend(places.filter_map(|(_, pick)| pick.nth));
            }
            kept.starts.push(kept.places.len());
        }
        Ok(kept)
    }

    fn of_row(&self, row: usize) -> &[u32] {
        &self.places[self.starts[row]..self.starts[row + 1]]
    }
}

#[cfg(test)]
mod tests {
    use flott_functions::table::{WITH_ORDINALITY, table_function};
    use flott_functions::{Expr, SessionSettings};
    use flott_types::{DataType, RowKind, Schema, Value};
    use proptest::prelude::*;

    use super::*;
    use crate::marks::{Mark, Marks};
    use crate::operators::testing::{Gathers, Row, Side, Ways, batch, cases, rows, schema};
    use crate::testing::OperatorHarness;

    /// `(id BIGINT, list ARRAY<BIGINT>)`
    fn input() -> Schema {
        schema(&[DataType::bigint(), DataType::array(DataType::bigint())])
    }

    /// `(id, element, position)`
    fn output() -> Schema {
        schema(&[DataType::bigint(), DataType::bigint(), DataType::int()])
    }

    fn operator(kind: JoinKind, condition: Option<Expr>) -> CorrelateOperator {
        let spec = Correlate {
            kind,
            function: table_function("$UNNEST").unwrap(),
            args: vec![Expr::column(1, DataType::array(DataType::bigint()))],
            symbols: vec![WITH_ORDINALITY.into()],
            condition,
            passed: vec![0],
            given: vec![0, 1],
        };
        let settings = SessionSettings::default();
        CorrelateOperator::new(&spec, output().to_arrow(), &settings).unwrap()
    }

    fn harness(kind: JoinKind, condition: Option<Expr>) -> OperatorHarness {
        OperatorHarness::new(operator(kind, condition), 1, None).unwrap()
    }

    fn list(elements: &[i64]) -> Value {
        Value::Array(elements.iter().map(|element| Value::Int(*element)).collect())
    }

    fn given(kind: JoinKind, condition: Option<Expr>, changes: &[Row]) -> Vec<Row> {
        let mut harness = harness(kind, condition);
        harness.batch(0, batch(&input(), changes)).unwrap();
        rows(&output(), &harness.take_batches())
    }

    /// What the operator must give, row by row.
    fn naive(outer: bool, least: Option<i64>, changes: &[Row]) -> Vec<Row> {
        let mut out = Vec::new();
        for (kind, row) in changes {
            let elements: &[Value] = match &row[1] {
                Value::Array(elements) => elements,
                _ => &[],
            };
            let before = out.len();
            for (i, element) in elements.iter().enumerate() {
                let holds = |least| matches!(element, Value::Int(number) if *number >= least);
                if least.is_none_or(holds) {
                    let position = Value::Int(i as i64 + 1);
                    out.push((*kind, vec![row[0].clone(), element.clone(), position]));
                }
            }
            if outer && out.len() == before {
                out.push((*kind, vec![row[0].clone(), Value::Null, Value::Null]));
            }
        }
        out
    }

    /// Elements of at least 5.
    fn five_or_more() -> Expr {
        let element = Expr::column(0, DataType::bigint());
        let five = Expr::literal(Value::Int(5), DataType::bigint());
        Expr::builtin(">=", vec![element, five]).unwrap()
    }

    proptest! {
        #![proptest_config(cases(128))]

        #[test]
        fn rows_come_as_a_loop_over_the_collections_gives_them(
            steps in prop::collection::vec(
                (
                    prop::collection::vec(
                        (
                            0..4usize,
                            prop::option::weighted(0.8, 0..6i64),
                            prop::option::weighted(
                                0.85,
                                prop::collection::vec(prop::option::weighted(0.9, 0..10i64), 0..5),
                            ),
                        ),
                        0..12,
                    ),
                    prop::bool::weighted(0.2),
                ),
                1..8,
            ),
            outer in any::<bool>(),
            filtered in any::<bool>(),
        ) {
            let kind = if outer { JoinKind::Left } else { JoinKind::Inner };
            let condition = || filtered.then(five_or_more);
            let mut harness = harness(kind, condition()).keeping_feed();
            let int = |number: &Option<i64>| number.map_or(Value::Null, Value::Int);
            for (fed, restart) in &steps {
                let changes: Vec<Row> = fed
                    .iter()
                    .map(|(kind, id, list)| {
                        let elements = |list: &Vec<_>| Value::Array(list.iter().map(int).collect());
                        let list = list.as_ref().map_or(Value::Null, elements);
                        (RowKind::ALL[*kind], vec![int(id), list])
                    })
                    .collect();
                if !changes.is_empty() {
                    harness.batch(0, batch(&input(), &changes)).unwrap();
                }
                let expected = naive(outer, filtered.then_some(5), &changes);
                prop_assert_eq!(rows(&output(), &harness.take_batches()), expected);
                if *restart {
                    harness = harness.restarted(operator(kind, condition())).unwrap();
                }
            }
            let make = |_| -> Box<dyn Operator> { Box::new(operator(kind, condition())) };
            let inputs = vec![Side::by(input(), &[0])];
            Ways { make: &make, inputs, output: output(), gathers: Gathers::No }
                .agree(harness.fed())?;
        }
    }

    #[test]
    fn many_rows_of_one_come_in_several_batches() {
        let long: Vec<i64> = (0..20_000).collect();
        let changes = [(RowKind::Insert, vec![Value::Int(1), list(&long)])];
        assert_eq!(given(JoinKind::Inner, None, &changes).len(), 20_000);
    }

    #[test]
    fn watermarks_stay_between_the_rows_of_their_inputs() {
        let mut harness = harness(JoinKind::Inner, None);
        let changes = [
            (RowKind::Insert, vec![Value::Int(1), list(&[7, 8])]),
            (RowKind::Insert, vec![Value::Int(2), list(&[])]),
            (RowKind::Insert, vec![Value::Int(3), list(&[9])]),
        ];
        let marks: Marks =
            [Mark { row: 1, watermark: 10 }, Mark { row: 3, watermark: 30 }].into_iter().collect();
        harness.marked(0, batch(&input(), &changes), marks).unwrap();
        let marks: Vec<(u32, i64)> = harness
            .take()
            .into_iter()
            .filter_map(|element| match element {
                crate::element::StreamElement::Batch(rows) => Some(rows.marks),
                _ => None,
            })
            .flat_map(|marks| marks.as_slice().to_vec())
            .map(|mark| (mark.row, mark.watermark))
            .collect();
        assert_eq!(marks, [(2, 10), (3, 30)]);
    }
}
