//! Branches that are not chosen are not computed.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, StringArray};
use flott_functions::{EvalContext, Evaluator, Expr, SessionSettings};
use flott_types::{DataType, TypeRoot, Value};

use crate::{call, cast};

/// Columns `n` (2, 0, NULL, 5) and `s` ('7', 'x', '3', NULL).
fn columns() -> Vec<ArrayRef> {
    vec![
        Arc::new(Int32Array::from(vec![Some(2), Some(0), None, Some(5)])),
        Arc::new(StringArray::from(vec![Some("7"), Some("x"), Some("3"), None])),
    ]
}

fn n() -> Expr {
    Expr::column(0, DataType::int())
}

fn s() -> Expr {
    Expr::column(1, DataType::string())
}

fn int(number: i64) -> Expr {
    Expr::literal(Value::Int(number), TypeRoot::Int.not_null())
}

fn values(expr: &Expr) -> Result<Vec<Value>, String> {
    let evaluator = Evaluator::new(expr, &SessionSettings::default()).map_err(|e| e.to_string())?;
    let array = evaluator
        .evaluate(&columns(), &EvalContext::new(4, 0))
        .map_err(|error| error.to_string())?;
    Ok((0..4).map(|row| Value::from_array(&array, row, &expr.data_type())).collect())
}

fn ints(values: [Option<i64>; 4]) -> Vec<Value> {
    values.into_iter().map(|value| value.map_or(Value::Null, Value::Int)).collect()
}

/// `10 / n` where n is not 0.
fn quotient() -> Expr {
    call("/", vec![int(10), n()])
}

#[test]
fn the_operands_fail_when_they_are_computed() {
    assert!(values(&quotient()).is_err());
    assert!(values(&cast(s(), &DataType::int())).is_err());
}

#[test]
fn case_computes_the_chosen_branch() {
    let case = Expr::Case {
        branches: vec![(call("<>", vec![n(), int(0)]), quotient())],
        otherwise: Box::new(int(-1)),
        data_type: DataType::int(),
    };
    assert_eq!(values(&case), Ok(ints([Some(5), Some(-1), Some(-1), Some(2)])));
    let guarded = call("IF", vec![call("=", vec![n(), int(0)]), int(-1), quotient()]);
    assert_eq!(values(&guarded), Ok(ints([Some(5), Some(-1), None, Some(2)])));
}

#[test]
fn a_later_condition_is_computed_where_it_is_reached() {
    let case = Expr::Case {
        branches: vec![
            (call("=", vec![n(), int(0)]), int(0)),
            (call(">", vec![quotient(), int(3)]), int(1)),
        ],
        otherwise: Box::new(int(2)),
        data_type: DataType::int(),
    };
    assert_eq!(values(&case), Ok(ints([Some(1), Some(0), Some(2), Some(2)])));
}

#[test]
fn and_and_or_stop_where_they_are_decided() {
    let both = Expr::And(vec![call("<>", vec![n(), int(0)]), call(">", vec![quotient(), int(3)])]);
    let truths = |values: [Option<bool>; 4]| -> Vec<Value> {
        values.into_iter().map(|value| value.map_or(Value::Null, Value::Boolean)).collect()
    };
    assert_eq!(values(&both), Ok(truths([Some(true), Some(false), None, Some(false)])));
    let one = Expr::Or(vec![call("=", vec![n(), int(0)]), call(">", vec![quotient(), int(3)])]);
    assert_eq!(values(&one), Ok(truths([Some(true), Some(true), None, Some(false)])));
}

#[test]
fn coalesce_computes_later_values_where_they_are_needed() {
    // The second row of `s` is no number, but `n` is there.
    let coalesce =
        Expr::Coalesce { args: vec![n(), cast(s(), &DataType::int())], data_type: DataType::int() };
    assert_eq!(values(&coalesce), Ok(ints([Some(2), Some(0), Some(3), Some(5)])));
    let ifnull = call("IFNULL", vec![n(), cast(s(), &DataType::int())]);
    assert_eq!(values(&ifnull), Ok(ints([Some(2), Some(0), Some(3), Some(5)])));
}

#[test]
fn branches_nest() {
    let inner = Expr::Coalesce {
        args: vec![Expr::null(DataType::int()), quotient()],
        data_type: DataType::int(),
    };
    let case = Expr::Case {
        branches: vec![(
            Expr::Or(vec![call("IS NULL", vec![n()]), call("=", vec![n(), int(0)])]),
            int(-1),
        )],
        otherwise: Box::new(inner),
        data_type: DataType::int(),
    };
    assert_eq!(values(&case), Ok(ints([Some(5), Some(-1), Some(-1), Some(2)])));
}
