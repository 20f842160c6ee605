//! CAST and TRY_CAST of scalars.

use flott_functions::{CastMode, Evaluator, Expr, SessionSettings, cast};
use flott_types::{DataType, TypeRoot, Value};
use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::{literal, value, value_in};

const FAILS: &str = "FAILS";

fn ty(root: TypeRoot) -> DataType {
    root.nullable()
}

/// Casts a text along some types and back to a text; `FAILS` for an error.
fn chain(text: &str, types: &[DataType]) -> String {
    let start = Expr::literal(Value::string(text), DataType::string());
    let expr = types.iter().fold(start, super::cast);
    value(expr).unwrap_or_else(|_| FAILS.into())
}

fn check(cases: &[(&str, &[DataType], &str)]) {
    for (text, types, expected) in cases {
        assert_eq!(chain(text, types), *expected, "'{text}' as {types:?}");
    }
}

#[test]
fn texts_as_integers() {
    let int = DataType::int();
    let cases = [
        ("12", "12"),
        (" +12 ", "12"),
        ("-12.9", "-12"),
        (".5", "0"),
        (".", "0"),
        ("5.", "5"),
        ("2147483647", "2147483647"),
        ("-2147483648", "-2147483648"),
        ("2147483648", FAILS),
        ("", FAILS),
        (" ", FAILS),
        ("-", FAILS),
        ("1e2", FAILS),
        ("1.5.5", FAILS),
        ("\t5", FAILS),
        ("١٢", FAILS),
    ];
    for (text, expected) in cases {
        assert_eq!(chain(text, std::slice::from_ref(&int)), expected, "'{text}'");
    }
    check(&[
        ("-128", &[ty(TypeRoot::TinyInt)], "-128"),
        ("128", &[ty(TypeRoot::TinyInt)], FAILS),
        ("9223372036854775807", &[DataType::bigint()], "9223372036854775807"),
        ("-9223372036854775809", &[DataType::bigint()], FAILS),
    ]);
}

#[test]
fn texts_as_floats() {
    let cases = [
        ("1.5f", "1.5"),
        ("\t5 ", "5.0"),
        ("0x1.8p1", "3.0"),
        ("-0X.8P-1d", "-0.25"),
        ("0x1.fffffffffffff8p1", "4.0"),
        ("+NaN", "NaN"),
        ("-Infinity", "-Infinity"),
        ("1e400", "Infinity"),
        ("5.e5", "500000.0"),
        ("-0", "-0.0"),
        ("0x1F", FAILS),
        ("nan", FAILS),
        ("inf", FAILS),
        ("infinity", FAILS),
        ("Infinityd", FAILS),
        ("1e", FAILS),
        (".", FAILS),
        ("", FAILS),
        ("1 2", FAILS),
    ];
    for (text, expected) in cases {
        assert_eq!(chain(text, &[DataType::double()]), expected, "'{text}'");
    }
    check(&[("16777217.0000001", &[ty(TypeRoot::Float)], "1.6777218E7")]);
}

#[test]
fn texts_as_decimals() {
    let cases = [
        ("7.25", 5, 2, "7.25"),
        (" 5.5\n", 5, 2, "5.50"),
        (".5", 1, 1, "0.5"),
        ("0.5", 1, 1, FAILS),
        ("0.5", 19, 19, "0.5000000000000000000"),
        ("000012.5", 3, 1, FAILS),
        ("0000000000000000000000012.5", 3, 1, "12.5"),
        ("1e1", 3, 1, "10.0"),
        ("1E+1", 3, 1, "10.0"),
        ("1e-17", 3, 1, "0.0"),
        ("1e-20", 3, 1, FAILS),
        ("1e5x", 8, 1, "100000.0"),
        ("12x", 3, 1, "12.0"),
        ("12x", 30, 1, FAILS),
        ("1e", 3, 1, "1.0"),
        ("1e+", 3, 1, FAILS),
        ("1,000", 10, 2, FAILS),
        ("1.2.3", 10, 2, FAILS),
        ("1e1.5", 10, 2, FAILS),
        ("+-5", 3, 1, FAILS),
        ("", 3, 1, FAILS),
        ("99.95", 21, 1, "100.0"),
        ("9999999999999999999999999999999999999.95", 38, 1, FAILS),
        (
            "0.123456789012345678901234567890123456785",
            38,
            38,
            "0.12345678901234567890123456789012345679",
        ),
        ("12345678901234567890e-10", 38, 10, "1234567890.1234567890"),
        ("1e37", 38, 0, "10000000000000000000000000000000000000"),
        ("1e38", 38, 0, FAILS),
        ("1e999999999999", 38, 0, FAILS),
        ("0e999999999999", 38, 0, "0"),
    ];
    for (text, precision, scale, expected) in cases {
        let result = chain(text, &[DataType::decimal(precision, scale)]);
        assert_eq!(result, expected, "'{text}' as DECIMAL({precision}, {scale})");
    }
}

#[test]
fn texts_as_truth_values() {
    let cases = [("TrUe", "TRUE"), ("y", "TRUE"), ("1", "TRUE"), ("NO", "FALSE"), ("f", "FALSE")];
    for (text, expected) in cases {
        assert_eq!(chain(text, &[DataType::boolean()]), expected, "'{text}'");
    }
    for text in ["on", "2", "tru", " true", ""] {
        assert_eq!(chain(text, &[DataType::boolean()]), FAILS, "'{text}'");
    }
}

#[test]
fn texts_as_dates() {
    let cases = [
        ("2024-05-06", "2024-05-06"),
        ("2024-5-6", "2024-05-06"),
        ("2024-005-006", "2024-05-06"),
        ("2024-5", "2024-05-01"),
        ("12", "0012-01-01"),
        (" 2024-05-06 ", "2024-05-06"),
        ("2024-05-06 junk", "2024-05-06"),
        ("2024 -05-06", "2024-01-01"),
        ("2024-02-29", "2024-02-29"),
        ("1900-02-29", FAILS),
        ("2024-05-06T10:00:00", FAILS),
        ("2024-05-06-07", FAILS),
        ("20240506", FAILS),
        ("-2024-05-06", FAILS),
        ("2024--06", FAILS),
        ("", FAILS),
    ];
    for (text, expected) in cases {
        assert_eq!(chain(text, &[ty(TypeRoot::Date)]), expected, "'{text}'");
    }
}

#[test]
fn texts_as_times() {
    let cases = [
        ("7", "07:00:00.0"),
        ("7:8", "07:08:00.0"),
        ("07: 08: 09", "07:08:09.0"),
        ("07:08:09.", "07:08:09.0"),
        ("07:08:09.1239", "07:08:09.124"),
        ("07:08:09.9996", "07:08:10.0"),
        ("07:08:09.12x", "07:08:09.12"),
        ("07:08:09+01:30", "08:38:09.0"),
        ("07:08:09-1", "06:08:09.0"),
        ("24:00:00", FAILS),
        ("07:60:00", FAILS),
        ("07:08:", FAILS),
        ("07:08.5", FAILS),
        ("07:08:09:10", FAILS),
        ("07:08:09Z", FAILS),
        ("", FAILS),
    ];
    for (text, expected) in cases {
        assert_eq!(chain(text, &[ty(TypeRoot::Time(3))]), expected, "'{text}'");
    }
    check(&[
        ("07:08:09.987", &[ty(TypeRoot::Time(2))], "07:08:09.98"),
        ("07:08:09.987", &[ty(TypeRoot::Time(0)), ty(TypeRoot::Time(3))], "07:08:09.0"),
    ]);
}

#[test]
fn texts_as_timestamps() {
    let cases = [
        ("2024-05-06 07:08:09.123456789", "2024-05-06 07:08:09.123456789"),
        ("2024-5-6 7:8:9", "2024-05-06 07:08:09.000000000"),
        ("2024-05-06", "2024-05-06 00:00:00.000000000"),
        ("2024-05-06 07:08:09.", "2024-05-06 07:08:09.000000000"),
        ("2024-05-06 24:00:00", "2024-05-07 00:00:00.000000000"),
        ("2024-02-30 00:00:00", "2024-02-29 00:00:00.000000000"),
        ("2024-05-06 24:00:01", FAILS),
        ("2024-02-32 00:00:00", FAILS),
        ("2024-05-06 07:08:09.1234567890", FAILS),
        ("2024-05-06 07:08", FAILS),
        ("2024-05-06T07:08:09", FAILS),
        (" 2024-05-06 07:08:09", FAILS),
        ("2024-05-06 07:08:60", FAILS),
        ("2024-005-06", FAILS),
        ("10000-01-01", FAILS),
        ("0000-01-01", FAILS),
    ];
    for (text, expected) in cases {
        assert_eq!(chain(text, &[DataType::timestamp(9)]), expected, "'{text}'");
    }
    check(&[
        ("2024-05-06 07:08:09.987654321", &[DataType::timestamp(1)], "2024-05-06 07:08:09.9"),
        ("2024-05-06 07:08:09.987654321", &[DataType::timestamp(5)], "2024-05-06 07:08:09.98765"),
        ("+999999999-01-01", &[DataType::timestamp(6)], FAILS),
    ]);
}

#[test]
fn numbers_as_numbers() {
    let (tiny, int, double) = (ty(TypeRoot::TinyInt), DataType::int(), DataType::double());
    let decimal = DataType::decimal;
    check(&[
        ("300", &[int.clone(), tiny.clone()], "44"),
        ("300.7", &[double.clone(), tiny.clone()], "44"),
        ("1e20", &[double.clone(), tiny], "-1"),
        ("1e20", &[double.clone(), DataType::bigint()], "9223372036854775807"),
        ("NaN", &[double.clone(), int.clone()], "0"),
        ("NaN", &[double.clone(), DataType::boolean()], "TRUE"),
        ("0.0", &[decimal(3, 1), DataType::boolean()], "FALSE"),
        ("3000000000.5", &[decimal(20, 1), int.clone()], "-1294967296"),
        ("-123.956", &[decimal(10, 3), int.clone()], "-123"),
        ("12345678901234567890", &[decimal(38, 0), DataType::bigint()], "-6101065172474983726"),
        ("1.005", &[decimal(4, 3), decimal(5, 2)], "1.01"),
        ("-1.005", &[decimal(4, 3), decimal(5, 2)], "-1.01"),
        ("12345", &[int.clone(), decimal(4, 0)], "NULL"),
        ("0.1", &[ty(TypeRoot::Float), decimal(20, 15)], "0.100000001490116"),
        ("2.5", &[double.clone(), decimal(2, 0)], "3"),
        ("1e30", &[double.clone(), decimal(38, 2)], "1000000000000000000000000000000.00"),
        ("1e37", &[double, decimal(38, 2)], "NULL"),
        (
            "123456789012345678.123456789",
            &[decimal(38, 9), DataType::double()],
            "1.2345678901234568E17",
        ),
        ("TRUE", &[DataType::boolean(), decimal(5, 2)], "1.00"),
        ("TRUE", &[DataType::boolean(), decimal(1, 1)], "NULL"),
        ("14", &[int.clone(), ty(TypeRoot::IntervalYearMonth)], "+1-02"),
        ("42", &[int, ty(TypeRoot::IntervalDayTime)], "+0 00:00:00.042"),
    ]);
}

#[test]
fn texts_of_fixed_length() {
    let (char, varchar) = (|n| ty(TypeRoot::Char(n)), |n| ty(TypeRoot::Varchar(n)));
    let (binary, bytes) = (|n| ty(TypeRoot::Binary(n)), DataType::bytes());
    check(&[
        ("abc", &[char(5)], "abc  "),
        ("abc", &[char(2)], "ab"),
        ("abc", &[varchar(2)], "ab"),
        ("中文", &[char(4)], "中文  "),
        ("😀a", &[char(1)], "😀"),
        ("😀a", &[char(3)], "😀a "),
        ("12345", &[DataType::int(), char(3)], "123"),
        ("12", &[DataType::int(), char(4)], "12  "),
        ("abc", &[bytes.clone(), char(4)], "abc "),
        // Bytes are printed into a Java string, whose units are counted.
        ("😀a", &[bytes.clone(), char(3)], "😀a"),
        ("a😀", &[bytes, varchar(2)], "a?"),
        ("abc", &[binary(5)], "abc\0\0"),
        ("abc", &[binary(2)], "ab"),
    ]);
}

#[test]
fn times_as_times() {
    let (date, time) = (ty(TypeRoot::Date), |p| ty(TypeRoot::Time(p)));
    let timestamp = DataType::timestamp;
    check(&[
        ("2024-05-06", &[date.clone(), timestamp(3)], "2024-05-06 00:00:00.000"),
        ("07:08:09.5", &[time(3), timestamp(3)], "1970-01-01 07:08:09.500"),
        ("2024-05-06 07:08:09.987654321", &[timestamp(9), timestamp(3)], "2024-05-06 07:08:09.987"),
        (
            "2024-05-06 07:08:09.987654321",
            &[timestamp(9), timestamp(4)],
            "2024-05-06 07:08:09.9876",
        ),
        ("2024-05-06 07:08:09.9", &[timestamp(1), timestamp(9)], "2024-05-06 07:08:09.900000000"),
        ("2024-05-06 07:08:09.987", &[timestamp(3), time(0)], "07:08:09"),
        ("1969-07-20 20:17:40.5", &[timestamp(3), date], "1969-07-20"),
        ("1969-07-20 20:17:40.5", &[timestamp(9), time(3)], "20:17:40.5"),
        ("1969-12-31 23:59:59.999", &[timestamp(3), timestamp(0)], "1969-12-31 23:59:59"),
    ]);
}

#[test]
fn instants_are_seen_in_the_session_zone() {
    let zone = TimeZone::get("America/New_York").expect("the zone is known");
    let settings = SessionSettings { zone, ..SessionSettings::default() };
    let ltz = DataType::timestamp_ltz(3);
    let cases = [
        // Into a gap: later by its length. Into an overlap: the first of the two.
        ("2024-03-10 02:30:00", "2024-03-10 03:30:00.000", "1710055800000"),
        ("2024-11-03 01:30:00", "2024-11-03 01:30:00.000", "1730611800000"),
        ("2024-07-01 00:00:00", "2024-07-01 00:00:00.000", "1719806400000"),
        ("0001-01-01 00:00:00", "0001-01-01 00:00:00.000", "-62135579038000"),
        ("2200-07-01 00:00:00", "2200-07-01 00:00:00.000", "7273771200000"),
    ];
    for (text, shown, millis) in cases {
        for source in [DataType::timestamp(3), DataType::timestamp(9), DataType::string()] {
            let instant = super::cast(literal(text, &source), &ltz);
            assert_eq!(value_in(instant.clone(), &settings).as_deref(), Ok(shown), "'{text}'");
            let evaluator = Evaluator::new(&instant, &settings).expect("a cast");
            let value = evaluator.evaluate_constant(0).expect("a timestamp");
            let nanos: i128 = millis.parse::<i128>().expect("a number") * 1_000_000;
            assert_eq!(value, Value::Timestamp(nanos), "'{text}' of {source}");
        }
    }
    let back = super::cast(literal("2024-07-01 10:00:00", &ltz), &DataType::timestamp(6));
    assert_eq!(value_in(back, &settings).as_deref(), Ok("2024-07-01 10:00:00.000000"));
}

#[test]
fn try_cast_gives_null() {
    for (text, to) in [("x", DataType::int()), ("2024-02-30", ty(TypeRoot::Date))] {
        let input = Expr::literal(Value::string(text), DataType::string());
        let expr = Expr::Cast { input: Box::new(input), mode: CastMode::Try, data_type: to };
        assert_eq!(value(expr).as_deref(), Ok("NULL"), "'{text}'");
    }
}

#[test]
fn casts_that_do_not_exist_are_refused() {
    let boolean = DataType::boolean();
    let interval = ty(TypeRoot::IntervalDayTime);
    let refused = [
        (boolean.clone(), ty(TypeRoot::Date)),
        (DataType::int(), DataType::timestamp(3)),
        (DataType::timestamp(3), DataType::bigint()),
        (DataType::int(), DataType::bytes()),
        (ty(TypeRoot::Date), ty(TypeRoot::Time(0))),
        (ty(TypeRoot::IntervalYearMonth), interval.clone()),
        (interval.clone(), DataType::bigint()),
        (DataType::string(), interval.clone()),
        (DataType::double(), interval.clone()),
        (DataType::decimal(5, 2), interval),
        (DataType::bytes(), DataType::int()),
        (ty(TypeRoot::Variant), ty(TypeRoot::Variant)),
        (DataType::array(DataType::int()), DataType::map(DataType::int(), DataType::int())),
        (DataType::array(ty(TypeRoot::Date)), DataType::array(DataType::int())),
        (boolean, DataType::row([])),
    ];
    for (from, to) in refused {
        assert!(cast::check(&from, &to).is_err(), "{from} to {to}");
    }
}

proptest! {
    #[test]
    fn integers_come_back_from_their_text(number: i64) {
        prop_assert_eq!(cast::parse_integer(&number.to_string(), i64::MIN, i64::MAX), Ok(number));
    }

    #[test]
    fn doubles_come_back_from_their_text(number in any::<f64>()) {
        let text = chain_value(Value::Double(number), DataType::double());
        let back = cast::parse_double(&text).expect("a number");
        prop_assert!(back == number || back.is_nan() && number.is_nan());
    }

    #[test]
    fn floats_come_back_from_their_text(number in any::<f32>()) {
        let text = chain_value(Value::Float(number), ty(TypeRoot::Float));
        let back = cast::parse_float(&text).expect("a number");
        prop_assert!(back == number || back.is_nan() && number.is_nan());
    }

    #[test]
    fn decimals_come_back_from_their_text(digits in -(10i128.pow(38) - 1)..10i128.pow(38), scale in 0u8..=38) {
        let text = chain_value(Value::Decimal(digits), DataType::decimal(38, scale));
        prop_assert_eq!(cast::parse_decimal(&text, 38, scale), Ok(digits));
    }

    #[test]
    fn times_come_back_from_their_text(
        seconds in -62_135_596_800i64..253_402_300_800,
        nanos in 0i128..1_000_000_000,
    ) {
        let value = Value::Timestamp(i128::from(seconds) * 1_000_000_000 + nanos);
        let text = chain_value(value.clone(), DataType::timestamp(9));
        let back = literal(&text, &DataType::timestamp(9));
        let evaluator = Evaluator::new(&back, &SessionSettings::default()).expect("a cast");
        prop_assert_eq!(evaluator.evaluate_constant(0).expect("a timestamp"), value);

        let date = Value::Date((seconds.div_euclid(86_400)) as i32);
        let text = chain_value(date.clone(), ty(TypeRoot::Date));
        let evaluator = Evaluator::new(&literal(&text, &ty(TypeRoot::Date)), &SessionSettings::default());
        prop_assert_eq!(evaluator.expect("a cast").evaluate_constant(0).expect("a date"), date);
    }

    #[test]
    fn no_text_makes_a_cast_panic(text in "\\PC{0,24}|[-+0-9.eE:xX ]{0,24}") {
        let targets = [
            DataType::boolean(), DataType::int(), DataType::bigint(), DataType::double(),
            ty(TypeRoot::Float), DataType::decimal(5, 2), DataType::decimal(38, 10),
            ty(TypeRoot::Date), ty(TypeRoot::Time(3)), DataType::timestamp(3),
            DataType::timestamp_ltz(9), ty(TypeRoot::Char(3)), ty(TypeRoot::Binary(3)),
        ];
        for target in targets {
            let _ = chain(&text, &[target]);
        }
    }
}

fn chain_value(value: Value, ty: DataType) -> String {
    super::value(Expr::literal(value, ty)).expect("every value has a text")
}
