//! Comparison, IN and BETWEEN.

use flott_functions::Expr;
use flott_types::{DataType, RowField, TypeRoot, Value};

use super::{call, literal, value, value_of_columns};

fn ty(root: TypeRoot) -> DataType {
    root.nullable()
}

fn check(name: &str, args: Vec<Expr>, expected: &str) {
    let expr = call(name, args);
    assert_eq!(value(expr.clone()).as_deref(), Ok(expected), "{expr}");
    assert_eq!(value_of_columns(expr.clone()).as_deref(), Ok(expected), "{expr} of columns");
}

fn text(text: &str) -> Expr {
    literal(text, &DataType::string())
}

#[test]
fn numbers_of_different_types() {
    let (float, double) = (ty(TypeRoot::Float), DataType::double());
    let (a, b) = (literal("0.1", &float), literal("0.1", &double));
    // The type of the first of FLOAT and DOUBLE counts, but in BETWEEN it is DOUBLE.
    check("=", vec![a.clone(), b.clone()], "TRUE");
    check("=", vec![b.clone(), a.clone()], "FALSE");
    check("BETWEEN", vec![a, b.clone(), b], "FALSE");
    let most = literal("99999999999999999999999999999999999999", &DataType::decimal(38, 0));
    let least = literal(".1", &DataType::decimal(38, 38));
    check(">", vec![most.clone(), least.clone()], "TRUE");
    check("=", vec![most.clone(), least.clone()], "FALSE");
    check("BETWEEN", vec![least.clone(), least, most], "TRUE");
    check(
        "=",
        vec![literal("1.50", &DataType::decimal(5, 2)), literal("1.5", &DataType::decimal(9, 1))],
        "TRUE",
    );
}

#[test]
fn floats_compare_as_ieee_says() {
    let double = |text| literal(text, &DataType::double());
    check("=", vec![double("NaN"), double("NaN")], "FALSE");
    check("<>", vec![double("NaN"), double("NaN")], "TRUE");
    check("IS DISTINCT FROM", vec![double("NaN"), double("NaN")], "TRUE");
    check("=", vec![double("-0.0"), double("0.0")], "TRUE");
    check("GREATEST", vec![double("NaN"), double("1")], "NaN");
    check("LEAST", vec![double("0.0"), double("-0.0")], "-0.0");
}

#[test]
fn texts_beside_other_types() {
    let (date, int) = (literal("2024-03-01", &ty(TypeRoot::Date)), literal("7", &DataType::int()));
    check("=", vec![date.clone(), text("2024-3-1")], "TRUE");
    // Of a constant it is known while planning that it is no date.
    assert!(Expr::builtin("=", vec![text("x"), date.clone()]).is_err());
    let unknown = call("LOWER", vec![text("x")]);
    check("=", vec![unknown.clone(), date.clone()], "FALSE");
    check("<>", vec![unknown.clone(), date.clone()], "FALSE");
    check("IS DISTINCT FROM", vec![unknown, date.clone()], "FALSE");
    check("<>", vec![literal("TRUE", &DataType::boolean()), text("TRUE")], "TRUE");
    check(">", vec![text("7.9"), int.clone()], "FALSE");
    assert!(value(call("<", vec![text("x"), int.clone()])).is_err());
    assert!(value(call("<", vec![text("x"), date.clone()])).is_err());
    let error = Expr::builtin("=", vec![text("7"), int.clone()]).expect_err("no such comparison");
    assert!(error.to_string().contains("implicit type conversion"), "{error}");
    assert!(Expr::builtin("=", vec![date, int]).is_err());
    // Trailing blanks count.
    check("=", vec![text("a"), text("a ")], "FALSE");
    check("<", vec![text("\u{FF5E}"), text("😀")], "TRUE");
}

#[test]
fn null_is_unknown() {
    let null = Expr::null(DataType::int());
    let one = literal("1", &DataType::int());
    check("=", vec![null.clone(), one.clone()], "NULL");
    check("IS DISTINCT FROM", vec![null.clone(), one.clone()], "TRUE");
    check("IS NOT DISTINCT FROM", vec![null.clone(), null.clone()], "TRUE");
    check("IS NULL", vec![null.clone()], "TRUE");
    check("IS NOT NULL", vec![one.clone()], "TRUE");
    check("IN", vec![one.clone(), null.clone(), one.clone()], "TRUE");
    let two = literal("2", &DataType::int());
    check("IN", vec![two.clone(), null.clone(), one.clone()], "NULL");
    check("BETWEEN", vec![two.clone(), null.clone(), one.clone()], "FALSE");
    check("BETWEEN", vec![one.clone(), null.clone(), two.clone()], "NULL");
    check("BETWEEN SYMMETRIC", vec![one.clone(), two, one.clone()], "TRUE");
    check("GREATEST", vec![one, null], "NULL");
}

#[test]
fn items_of_in_take_the_type_of_the_value() {
    let int = |text| literal(text, &DataType::int());
    check("IN", vec![int("1"), literal("1.9", &DataType::decimal(2, 1))], "TRUE");
    check("IN", vec![int("1"), text("1")], "TRUE");
    let one = literal("1", &ty(TypeRoot::Char(1)));
    check("IN", vec![one, int("10")], "TRUE");
    let decimal = |text, p, s| literal(text, &DataType::decimal(p, s));
    check("IN", vec![decimal("1.1", 2, 1), decimal("1.05", 3, 2)], "FALSE");
    check("IN", vec![text("ab"), literal("ab ", &ty(TypeRoot::Char(3)))], "FALSE");
}

#[test]
fn long_lists_are_looked_up() {
    let number = |n: i64| Expr::literal(Value::Int(n), DataType::int().not_null());
    for (value, expected) in [(3, "TRUE"), (30, "FALSE")] {
        let mut args = vec![number(value)];
        args.extend((1..20).map(number));
        check("IN", args.clone(), expected);
        args.push(Expr::null(DataType::int()));
        check("IN", args, if expected == "TRUE" { "TRUE" } else { "NULL" });
    }
    let word = |text: &str| Expr::literal(Value::string(text), DataType::string().not_null());
    for (value, expected) in [("c", "TRUE"), ("x", "FALSE")] {
        let args = [value, "a", "b", "c", "d", "e"].map(word).to_vec();
        check("IN", args, expected);
    }
}

#[test]
fn arrays_maps_and_rows() {
    let array =
        |items: Vec<Value>, ty: DataType| Expr::literal(Value::Array(items), DataType::array(ty));
    let ints =
        |items: &[i64]| array(items.iter().map(|n| Value::Int(*n)).collect(), DataType::int());
    check("=", vec![ints(&[1, 2]), ints(&[1, 2])], "TRUE");
    check("<>", vec![ints(&[1, 2]), ints(&[2, 1])], "TRUE");
    let with_null = || array(vec![Value::Int(1), Value::Null], DataType::int());
    check("=", vec![with_null(), with_null()], "TRUE");
    let decimals = array(vec![Value::Decimal(10)], DataType::decimal(3, 1));
    check("=", vec![ints(&[1]), decimals], "TRUE");
    let texts = array(vec![Value::string("1")], DataType::string());
    check("=", vec![ints(&[1]), texts], "FALSE");
    let nan = || array(vec![Value::Double(f64::NAN)], DataType::double());
    check("=", vec![nan(), nan()], "TRUE");
    assert!(Expr::builtin("<", vec![ints(&[1]), ints(&[2])]).is_err());

    let map = |entries: &[(&str, Value)]| {
        let entries = entries.iter().map(|(k, v)| (Value::string(k), v.clone())).collect();
        Expr::literal(Value::Map(entries), DataType::map(DataType::string(), DataType::int()))
    };
    let (one, two) = (Value::Int(1), Value::Int(2));
    let forward = map(&[("a", one.clone()), ("b", two.clone())]);
    let backward = map(&[("b", two), ("a", one.clone())]);
    check("=", vec![forward.clone(), backward], "TRUE");
    check("=", vec![forward, map(&[("a", one.clone())])], "FALSE");
    check("=", vec![map(&[("a", Value::Null)]), map(&[("a", Value::Null)])], "FALSE");

    let row = |x: Value, y: Value| {
        let fields = [RowField::new("x", DataType::int()), RowField::new("y", DataType::double())];
        Expr::literal(Value::Row(vec![x, y]), DataType::row(fields))
    };
    check("=", vec![row(one.clone(), Value::Null), row(one.clone(), Value::Null)], "TRUE");
    let nan = Value::Double(f64::NAN);
    check("=", vec![row(one.clone(), nan.clone()), row(one, nan)], "FALSE");
}

#[test]
fn rows_that_are_written_out_are_compared_by_fields() {
    let row = |fields: Vec<Expr>| call("ROW", fields);
    let int = |text| literal(text, &DataType::int());
    let null = || Expr::null(DataType::int());
    check("=", vec![row(vec![int("1"), null()]), row(vec![int("1"), null()])], "NULL");
    check("=", vec![row(vec![int("1"), null()]), row(vec![int("2"), int("3")])], "FALSE");
    check("<>", vec![row(vec![int("1"), text("a")]), row(vec![int("1"), text("b")])], "TRUE");
    let items = [["2", "x"], ["1", "a"]].map(|[n, s]| row(vec![int(n), text(s)]));
    let mut args = vec![row(vec![int("1"), text("a")])];
    args.extend(items);
    check("IN", args, "TRUE");
    let mixed = vec![row(vec![int("1")]), row(vec![text("1")])];
    assert!(Expr::builtin("=", mixed).is_err());
    let lengths = vec![row(vec![int("1")]), row(vec![int("1"), int("2")])];
    assert!(Expr::builtin("=", lengths).is_err());
}
