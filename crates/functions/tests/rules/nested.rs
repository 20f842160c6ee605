//! Casts of arrays, maps and rows.

use flott_functions::{CastMode, Expr};
use flott_types::{DataType, RowField, TypeRoot, Value};

use super::{cast, value, value_of_columns};

fn ints(numbers: &[Option<i64>]) -> Expr {
    let items = numbers.iter().map(|n| n.map_or(Value::Null, Value::Int)).collect();
    Expr::literal(Value::Array(items), DataType::array(DataType::int()))
}

fn texts(items: &[&str]) -> Expr {
    let items = items.iter().map(Value::string).collect();
    Expr::literal(Value::Array(items), DataType::array(DataType::string()))
}

fn row(fields: &[(&str, DataType)]) -> DataType {
    DataType::row(fields.iter().map(|(n, t)| RowField::new(*n, t.clone())).collect::<Vec<_>>())
}

fn both(expr: Expr, expected: &str) {
    assert_eq!(value(expr.clone()).as_deref(), Ok(expected), "{expr}");
    assert_eq!(value_of_columns(expr.clone()).as_deref(), Ok(expected), "{expr} of columns");
}

#[test]
fn nested_values_as_text() {
    both(ints(&[Some(1), None, Some(3)]), "[1, NULL, 3]");
    both(ints(&[]), "[]");
    let map = DataType::map(DataType::string(), row(&[("x", DataType::double())]));
    let entry = (Value::string("k"), Value::Row(vec![Value::Double(1.0)]));
    both(Expr::literal(Value::Map(vec![entry]), map), "{k=(1.0)}");
    let point = TypeRoot::Structured {
        class: "org.demo.Point".into(),
        fields: vec![RowField::new("x", DataType::int()), RowField::new("y", DataType::string())]
            .into(),
    };
    let value = Value::Row(vec![Value::Int(1), Value::Null]);
    both(Expr::literal(value, point.nullable()), "(x=1, y=NULL)");
}

#[test]
fn nested_values_are_cast_child_by_child() {
    both(
        cast(ints(&[Some(300), None]), &DataType::array(TypeRoot::TinyInt.nullable())),
        "[44, NULL]",
    );
    both(cast(texts(&["abc"]), &DataType::array(TypeRoot::Char(2).nullable())), "[ab]");
    let from = row(&[("EXPR$0", DataType::int()), ("EXPR$1", DataType::string())]);
    let value = Value::Row(vec![Value::Int(1), Value::string("2.5")]);
    let to = row(&[("a", DataType::double()), ("b", DataType::decimal(5, 2))]);
    both(cast(Expr::literal(value, from), &to), "(1.0, 2.50)");
}

#[test]
fn a_bad_child_fails_the_value() {
    let to = DataType::array(DataType::int());
    let bad = texts(&["1", "x"]);
    let error = value(cast(bad.clone(), &to)).expect_err("x is no number");
    assert!(error.contains("cannot cast 'x' to INT"), "{error}");
    let lenient = Expr::Cast { input: Box::new(bad), mode: CastMode::Try, data_type: to.clone() };
    both(lenient, "NULL");
    let good = Expr::Cast { input: Box::new(texts(&["1"])), mode: CastMode::Try, data_type: to };
    both(good, "[1]");
}

#[test]
fn keys_that_become_equal_are_one() {
    let entry = |key, value: &str| (Value::Int(key), Value::string(value));
    let map = Value::Map(vec![entry(1, "a"), entry(2, "b"), entry(257, "c")]);
    let from = DataType::map(DataType::int(), DataType::string());
    let to = DataType::map(TypeRoot::TinyInt.nullable(), DataType::string());
    both(cast(Expr::literal(map, from), &to), "{1=c, 2=b}");
}
