//! Random streams through the joins, against joins by definition.

mod interval;
mod temporal;
mod window;

use std::collections::BTreeMap;

use flott_plan::logical::JoinKind;
use flott_types::{DataType, RowKind, Schema, Value};
use proptest::prelude::*;

use crate::element::StreamElement;
use crate::operator::Operator;
use crate::operators::testing::{self, Gathers, Side, Ways, batch, rows, schema};
use crate::testing::{Fed, OperatorHarness};

/// A row of either input: key, time in milliseconds, and a value.
type Row = (Option<i64>, i64, i64);
/// A row that came out: a row of each input, where there is one.
type Pair = (Option<Row>, Option<Row>);
/// How often each pair is there.
type Bag = BTreeMap<Pair, usize>;

fn side() -> Schema {
    schema(&[DataType::bigint(), DataType::timestamp(3), DataType::bigint()])
}

/// The output of a join, whose columns may be NULL.
fn output(one_sided: bool) -> Schema {
    let mut fields = side().fields;
    if !one_sided {
        fields.extend(side().fields);
    }
    Schema::new(fields)
}

fn values((key, time, value): &Row) -> Vec<Value> {
    vec![
        key.map_or(Value::Null, Value::Int),
        Value::Timestamp(i128::from(*time) * 1_000_000),
        Value::Int(*value),
    ]
}

fn feed(it: &mut OperatorHarness, input: usize, given: &[(RowKind, Row)]) {
    let given: Vec<_> = given.iter().map(|(kind, row)| (*kind, values(row))).collect();
    it.batch(input, batch(&side(), &given)).unwrap();
}

fn row_of(values: &[Value]) -> Option<Row> {
    let Value::Int(value) = values[2] else { return None };
    let Value::Timestamp(nanos) = values[1] else { return None };
    Some((values[0].as_int(), (nanos / 1_000_000) as i64, value))
}

/// What came out since the last call, in order.
fn taken(it: &mut OperatorHarness, one_sided: bool) -> Vec<(RowKind, Pair)> {
    let given = rows(&output(one_sided), &it.take_batches());
    given
        .into_iter()
        .map(|(kind, values)| {
            let right = if one_sided { None } else { row_of(&values[3..]) };
            (kind, (row_of(&values[..3]), right))
        })
        .collect()
}

/// The rows and watermarks that came out.
fn elements(it: &mut OperatorHarness) -> (usize, Vec<i64>) {
    let (mut count, mut watermarks) = (0, Vec::new());
    for element in it.take() {
        match element {
            StreamElement::Batch(rows) => {
                count += rows.batch.len();
                watermarks.extend(rows.marks.as_slice().iter().map(|mark| mark.watermark));
            }
            StreamElement::Watermark(watermark) => watermarks.push(watermark),
            _ => {}
        }
    }
    (count, watermarks)
}

/// A join both of whose inputs have reached the epoch.
fn started(operator: impl crate::Operator + 'static) -> OperatorHarness {
    let mut it = OperatorHarness::new(operator, 2, None).unwrap().keeping_feed();
    it.watermark(0, 0).unwrap();
    it.watermark(1, 0).unwrap();
    it
}

/// A join that goes on from its snapshot; sources say again how far they are.
fn resumed(
    it: OperatorHarness,
    operator: impl Operator + 'static,
    watermarks: [i64; 2],
) -> OperatorHarness {
    let mut it = it.restarted(operator).unwrap();
    it.watermark(0, watermarks[0]).unwrap();
    it.watermark(1, watermarks[1]).unwrap();
    it
}

/// `150` cases of each property, or more.
fn cases() -> ProptestConfig {
    testing::cases(150)
}

/// Whether several tasks give what one gives.
fn agree<O: Operator + 'static>(
    it: &OperatorHarness,
    one_sided: bool,
    keys: &[usize],
    operator: impl Fn() -> O,
) -> Result<(), TestCaseError> {
    let fed: &[Fed] = it.fed();
    let make = |_| -> Box<dyn Operator> { Box::new(operator()) };
    let inputs = vec![Side::by(side(), keys), Side::by(side(), keys)];
    let output = output(one_sided);
    Ways { make: &make, inputs, output, gathers: Gathers::No }.agree(fed)
}

/// Whether a bag holds all that another one does.
fn contains(all: &Bag, some: &Bag) -> bool {
    some.iter().all(|(pair, count)| all.get(pair) >= Some(count))
}

fn bag(pairs: impl IntoIterator<Item = Pair>) -> Bag {
    let mut bag = Bag::new();
    pairs.into_iter().for_each(|pair| *bag.entry(pair).or_default() += 1);
    bag
}

/// Rows of one input, then a watermark of it, then a restart or not.
#[derive(Debug, Clone)]
struct Step {
    input: usize,
    /// Key, time after the input's watermark, value.
    rows: Vec<(Option<i64>, i64, i64)>,
    /// By how much the input's watermark rises.
    rise: i64,
    resume: bool,
}

impl Step {
    /// The rows with their times, when the input's watermark is as given.
    fn at(&self, watermark: i64) -> Vec<Row> {
        let time = |(key, after, value): &Row| (*key, watermark + after, *value);
        self.rows.iter().map(time).collect()
    }
}

/// Steps whose rows come `earliest..20` milliseconds after their input's watermark.
fn any_steps(earliest: i64) -> impl Strategy<Value = Vec<Step>> {
    let key = prop_oneof![1 => Just(None), 6 => (0..3i64).prop_map(Some)];
    let row = (key, earliest..20i64, 0..4i64);
    let rows = prop::collection::vec(row, 0..6);
    let step = (0..2usize, rows, 0..15i64, prop::bool::weighted(0.15))
        .prop_map(|(input, rows, rise, resume)| Step { input, rows, rise, resume });
    prop::collection::vec(step, 1..12)
}

fn any_kind() -> impl Strategy<Value = JoinKind> {
    prop::sample::select(vec![JoinKind::Inner, JoinKind::Left, JoinKind::Right, JoinKind::Full])
}

/// `v < w` over both inputs.
fn residual() -> flott_functions::Expr {
    let column = |index| flott_functions::Expr::column(index, DataType::bigint());
    flott_functions::Expr::builtin("<", vec![column(2), column(5)]).unwrap()
}

#[test]
fn keys_on_disk_are_as_good() {
    crate::testing::on_disk(1, || {
        interval::keys_on_disk_are_as_good();
        temporal::keys_on_disk_are_as_good();
        window::keys_on_disk_are_as_good();
    });
}
