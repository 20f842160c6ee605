//! Windows against their definition.

mod batch;
mod timed;
mod updating;
mod updating_bounded;

use flott_plan::logical::{Frame, FrameBound, FrameUnit};
use flott_plan::physical::{Operand, OverMode, OverWindow, RowOffset, WindowFunction};
use flott_types::{ChangelogMode, DataType, Schema, Value};
use proptest::prelude::{ProptestConfig, TestCaseError};

use crate::operator::Operator;
use crate::operators::testing::{self, Gathers, Side, Ways, call, schema};
use crate::testing::Fed;

fn cases() -> ProptestConfig {
    testing::cases(96)
}

/// Whether all ways of running give the same.
fn agree<O: Operator + 'static>(
    spec: &OverWindow,
    fed: &[Fed],
    operator: impl Fn() -> O,
) -> Result<(), TestCaseError> {
    let make = |_| -> Box<dyn Operator> { Box::new(operator()) };
    let inputs = vec![Side::by(input(), &[KEY])];
    let gathers = match spec.mode {
        OverMode::Updating => Gathers::Around(ChangelogMode::ALL, None),
        _ => Gathers::No,
    };
    Ways { make: &make, inputs, output: output(spec), gathers }.agree(fed)
}

/// Key, value, order (an INT), time.
fn input() -> Schema {
    let bigint = DataType::bigint();
    schema(&[DataType::string(), bigint.clone(), bigint, DataType::timestamp(3)])
}

const KEY: usize = 0;
const VALUE: usize = 1;
const ORDER: usize = 2;
const TIME: usize = 3;

/// A row in the shape of [`input`].
#[derive(Debug, Clone, PartialEq, Eq)]
struct In {
    key: Option<u8>,
    value: Option<i64>,
    order: Option<i64>,
    time: i64,
}

impl In {
    fn values(&self) -> Vec<Value> {
        let key = |key: u8| Value::string(format!("k{key}"));
        vec![
            self.key.map_or(Value::Null, key),
            self.value.map_or(Value::Null, Value::Int),
            self.order.map_or(Value::Null, Value::Int),
            Value::Timestamp(i128::from(self.time) * 1_000_000),
        ]
    }
}

fn aggregate(name: &str, args: &[usize]) -> WindowFunction {
    WindowFunction::Aggregate(call(name, args, &input()))
}

fn distinct(name: &str) -> WindowFunction {
    let mut call = call(name, &[VALUE], &input());
    call.distinct = true;
    WindowFunction::Aggregate(call)
}

fn offset(is_lead: bool, by: i64) -> WindowFunction {
    WindowFunction::Offset(RowOffset {
        is_lead,
        value: VALUE,
        offset: Operand::Constant(Value::Int(by)),
        default: Operand::Constant(Value::Int(-7)),
        data_type: DataType::bigint(),
    })
}

fn window(
    mode: OverMode,
    order: (usize, bool, bool),
    frame: Frame,
    functions: Vec<WindowFunction>,
) -> OverWindow {
    OverWindow { partition: vec![KEY], order: vec![order], frame, functions, mode, state_ttl: 0 }
}

fn frame(unit: FrameUnit, start: FrameBound, end: FrameBound) -> Frame {
    Frame { unit, start, end }
}

fn output(window: &OverWindow) -> Schema {
    let mut types: Vec<DataType> =
        input().fields.iter().map(|field| field.data_type.clone()).collect();
    types.extend(window.functions.iter().map(|function| match function {
        WindowFunction::Aggregate(call) => call.data_type.clone(),
        WindowFunction::Offset(offset) => offset.data_type.clone(),
        WindowFunction::PercentRank | WindowFunction::CumeDist => DataType::double(),
        _ => DataType::bigint(),
    }));
    schema(&types)
}

/// The aggregates of a frame: COUNT(*), SUM, MIN, MAX, FIRST_VALUE, LAST_VALUE, COUNT(DISTINCT).
fn aggregates() -> Vec<WindowFunction> {
    vec![
        aggregate("COUNT", &[]),
        aggregate("SUM", &[VALUE]),
        aggregate("MIN", &[VALUE]),
        aggregate("MAX", &[VALUE]),
        aggregate("FIRST_VALUE", &[VALUE]),
        aggregate("LAST_VALUE", &[VALUE]),
        distinct("COUNT"),
    ]
}

/// What [`aggregates`] are by their definitions.
fn naive<'a>(rows: impl Iterator<Item = &'a In> + Clone) -> Vec<Value> {
    let values: Vec<i64> = rows.clone().filter_map(|row| row.value).collect();
    let of = |value: Option<i64>| value.map_or(Value::Null, Value::Int);
    let mut unlike = values.clone();
    unlike.sort_unstable();
    unlike.dedup();
    vec![
        Value::Int(rows.count() as i64),
        of((!values.is_empty()).then(|| values.iter().sum())),
        of(values.iter().min().copied()),
        of(values.iter().max().copied()),
        of(values.first().copied()),
        of(values.last().copied()),
        Value::Int(unlike.len() as i64),
    ]
}
