//! Operators and functions of numbers, dates and intervals.

use flott_functions::Expr;
use flott_types::{DataType, TypeRoot};

use super::{call, literal, value, value_of_columns};

/// Calls a function on texts cast to types; checks type and value, constant and not.
fn check(name: &str, args: &[(&str, DataType)], ty: DataType, expected: Result<&str, &str>) {
    let args: Vec<Expr> = args.iter().map(|(text, ty)| literal(text, ty)).collect();
    let expr = call(name, args);
    assert_eq!(expr.data_type().root, ty.root, "{expr}");
    for result in [value(expr.clone()), value_of_columns(expr.clone())] {
        match (&result, expected) {
            (Ok(text), Ok(expected)) => assert_eq!(text, expected, "{expr}"),
            (Err(text), Err(expected)) => assert!(text.contains(expected), "{expr}: {text}"),
            _ => panic!("{expr}: {result:?} instead of {expected:?}"),
        }
    }
}

fn ty(root: TypeRoot) -> DataType {
    root.nullable()
}

#[test]
fn integers() {
    let (tiny, int, bigint) = (ty(TypeRoot::TinyInt), DataType::int(), DataType::bigint());
    let ints = |a, b| [(a, int.clone()), (b, int.clone())];
    check("+", &ints("2147483647", "1"), int.clone(), Ok("-2147483648"));
    check("*", &ints("65536", "65536"), int.clone(), Ok("0"));
    check("/", &ints("-7", "2"), int.clone(), Ok("-3"));
    check("/", &ints("-2147483648", "-1"), int.clone(), Ok("-2147483648"));
    check("/", &ints("1", "0"), int.clone(), Err("division by zero"));
    check("%", &ints("-7", "2"), int.clone(), Ok("-1"));
    check("%", &ints("-2147483648", "-1"), int.clone(), Ok("0"));
    check("%", &ints("1", "0"), int.clone(), Err("division by zero"));
    check("%", &[("1700", bigint), ("7", tiny.clone())], tiny.clone(), Ok("6"));
    check("-", &[("9", tiny.clone()), ("-100", int.clone())], int.clone(), Ok("109"));
    check("NEGATE", &[("-128", tiny.clone())], tiny.clone(), Ok("-128"));
    check("ABS", &[("-128", tiny.clone())], tiny.clone(), Ok("-128"));
    check("SIGN", &[("-7", tiny.clone())], tiny, Ok("-1"));
    check("ROUND", &[("125", int.clone()), ("-1", int.clone())], int.clone(), Ok("130"));
    check(
        "ROUND",
        &[("2147483647", int.clone()), ("-1", int.clone())],
        int.clone(),
        Ok("-2147483646"),
    );
    check("TRUNCATE", &[("129", int.clone()), ("-1", int.clone())], int, Ok("120"));
}

#[test]
fn floats() {
    let (float, double) = (ty(TypeRoot::Float), DataType::double());
    let doubles = |a, b| [(a, double.clone()), (b, double.clone())];
    check("/", &doubles("1", "0"), double.clone(), Ok("Infinity"));
    check("/", &doubles("0", "0"), double.clone(), Ok("NaN"));
    check(
        "/",
        &[("2.5", float.clone()), ("-1.5", double.clone())],
        float.clone(),
        Ok("-1.6666666"),
    );
    check(
        "+",
        &[("0.1", double.clone()), ("0.1", float.clone())],
        double.clone(),
        Ok("0.20000000149011612"),
    );
    check(
        "*",
        &[("7.25", double.clone()), ("-0.5", DataType::decimal(4, 1))],
        double.clone(),
        Ok("-3.625"),
    );
    check("CEIL", &[("-0.4", double.clone())], double.clone(), Ok("-0.0"));
    check("FLOOR", &[("-2.5", float.clone())], float.clone(), Ok("-3.0"));
    let int = DataType::int;
    check("ROUND", &[("2.675", double.clone()), ("2", int())], double.clone(), Ok("2.68"));
    check("ROUND", &[("2.675", float.clone()), ("2", int())], float, Ok("2.67"));
    check("ROUND", &[("1234.5678", double.clone()), ("-2", int())], double.clone(), Ok("1200.0"));
    check("ROUND", &[("1.5", double.clone()), ("400", int())], double.clone(), Ok("1.5"));
    check("ROUND", &[("1.5", double.clone()), ("-400", int())], double.clone(), Ok("0.0"));
    check("ROUND", &[("NaN", double.clone())], double.clone(), Ok("NaN"));
    check("TRUNCATE", &[("1e300", double.clone()), ("2", int())], double.clone(), Ok("1.0E300"));
    check("POWER", &doubles("-8", "0.5"), double.clone(), Ok("NaN"));
    check("POWER", &doubles("1", "NaN"), double.clone(), Ok("NaN"));
    check("LOG", &doubles("2", "8"), double.clone(), Ok("3.0"));
    check("LN", &[("-1", double.clone())], double, Ok("NaN"));
}

#[test]
fn decimals() {
    let dec = DataType::decimal;
    check("+", &[("7.25", dec(5, 2)), ("1", DataType::bigint())], dec(22, 2), Ok("8.25"));
    check("/", &[("22.0", dec(3, 1)), ("7", dec(1, 0))], dec(8, 6), Ok("3.142857"));
    check("/", &[("-2", dec(1, 0)), ("3", dec(1, 0))], dec(7, 6), Ok("-0.666667"));
    check("/", &[("1", dec(5, 0)), ("0", dec(5, 0))], dec(11, 6), Err("division by zero"));
    check("%", &[("10.5", dec(10, 4)), ("3", dec(5, 2))], dec(7, 4), Ok("1.5000"));
    check("%", &[("-128", DataType::int()), ("123", dec(12, 0))], dec(12, 0), Ok("-5"));
    check("%", &[("10", dec(10, 0)), ("7", DataType::int())], DataType::int(), Ok("3"));
    let most = "99999999999999999999999999999999999999";
    check("+", &[(most, dec(38, 0)), ("1", dec(38, 0))], dec(38, 0), Ok("NULL"));
    check("*", &[(most, dec(38, 0)), ("10", dec(2, 0))], dec(38, 0), Ok("NULL"));
    check("%", &[(most, dec(38, 0)), ("0.07", dec(38, 38))], dec(38, 38), Err("38 digits"));
    check("CEIL", &[("-9.5", dec(2, 1))], dec(2, 0), Ok("-9"));
    check("FLOOR", &[("-9.5", dec(2, 1))], dec(2, 0), Ok("-10"));
    check("SIGN", &[("-9.5", dec(2, 1))], dec(2, 1), Ok("-1.0"));
    // The number of places is no literal, so the scale stays.
    let places = ("1", DataType::int());
    check("ROUND", &[("2.55", dec(5, 2)), places.clone()], dec(5, 2), Ok("2.60"));
    check("TRUNCATE", &[("2.55", dec(5, 2)), places], dec(5, 2), Ok("2.50"));
}

#[test]
fn dates_and_intervals() {
    let (date, time) = (ty(TypeRoot::Date), |p| ty(TypeRoot::Time(p)));
    let (months, days) = (ty(TypeRoot::IntervalYearMonth), ty(TypeRoot::IntervalDayTime));
    let interval = |n, ty: &DataType| super::cast(literal(n, &DataType::bigint()), ty);
    let cases = [
        ("+", "2024-01-31", date.clone(), "1", &months, "2024-02-29"),
        ("-", "2024-02-29", date.clone(), "12", &months, "2023-02-28"),
        ("+", "2024-01-01", date.clone(), "129600000", &days, "2024-01-02"),
        ("-", "2024-01-01", date.clone(), "1000", &days, "2024-01-01"),
        ("-", "00:30:00", time(0), "3600000", &days, "23:30:00"),
        ("+", "10:00:00", time(0), "1", &months, "10:00:00"),
        ("+", "1969-07-20 20:17:40", DataType::timestamp(0), "1", &months, "1969-08-20 20:17:40"),
        (
            "-",
            "2024-01-31 23:00:00.123456789",
            DataType::timestamp(9),
            "1",
            &months,
            "2023-12-31 23:00:00.123456789",
        ),
        (
            "+",
            "2024-01-31 23:00:00.123456",
            DataType::timestamp(6),
            "1000",
            &days,
            "2024-01-31 23:00:01.123456",
        ),
    ];
    for (operator, point, ty, amount, unit, expected) in cases {
        let expr = call(operator, vec![literal(point, &ty), interval(amount, unit)]);
        assert_eq!(expr.data_type().root, ty.root, "{expr}");
        assert_eq!(value(expr.clone()).as_deref(), Ok(expected), "{expr}");
        assert_eq!(value_of_columns(expr.clone()).as_deref(), Ok(expected), "{expr}");
    }
    let sum = call("+", vec![interval("86400000", &days), interval("7200000", &days)]);
    assert_eq!(value(sum).as_deref(), Ok("+1 02:00:00.000"));
    let product = call("*", vec![interval("5", &months), literal("2", &DataType::int())]);
    assert_eq!(value(product).as_deref(), Ok("+0-10"));
    let huge =
        call("+", vec![literal("2024-01-01", &date), interval("9223372036854775807", &days)]);
    assert!(value(huge).is_err());
    for (left, right) in [(&months, &days), (&days, &months)] {
        let args = vec![interval("1", left), interval("1", right)];
        assert!(Expr::builtin("+", args).is_err(), "{left} + {right}");
    }
    assert!(
        Expr::builtin("/", vec![interval("1", &days), literal("2", &DataType::int())]).is_err()
    );
}
