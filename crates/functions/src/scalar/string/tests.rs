//! Calls from end to end: types, NULLs and constants beside columns.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, StringArray};
use flott_types::text::value_to_string;
use flott_types::{DataType, TypeRoot, Value};
use jiff::tz::TimeZone;

use crate::{EvalContext, Evaluator, Expr, SessionSettings, SignatureError, scalar_function};

/// The type and the text of a call's result; the error's text if it fails.
fn call(name: &str, args: Vec<Expr>) -> (String, String) {
    let expr = match Expr::builtin(name, args) {
        Ok(expr) => expr,
        Err(error) => return (String::new(), error.to_string()),
    };
    let ty = expr.data_type();
    let result = Evaluator::new(&expr, &SessionSettings::default())
        .map_err(|error| error.to_string())
        .and_then(|call| call.evaluate_constant(0).map_err(|error| error.to_string()));
    match result {
        Ok(value) => (ty.summary(), value_to_string(&value, &ty, &TimeZone::UTC)),
        Err(error) => (ty.summary(), error),
    }
}

fn s(text: &str) -> Expr {
    Expr::string(text)
}

fn i(value: i64) -> Expr {
    Expr::literal(Value::Int(value), DataType::int().not_null())
}

fn varchar(text: &str, length: u32) -> Expr {
    Expr::literal(Value::string(text), TypeRoot::Varchar(length).not_null())
}

fn null_string() -> Expr {
    Expr::null(DataType::string())
}

fn untyped_null() -> Expr {
    Expr::null(DataType::null())
}

#[test]
fn results_have_flink_s_types() {
    for (name, args, ty, value) in [
        ("||", vec![s("foo"), s("bar")], "CHAR(6) NOT NULL", "foobar"),
        ("||", vec![varchar("a", 3), s("b ")], "VARCHAR(5) NOT NULL", "ab "),
        ("||", vec![s("a"), null_string()], "STRING", "NULL"),
        ("CONCAT", vec![s("a"), s("b")], "STRING NOT NULL", "ab"),
        ("CONCAT_WS", vec![s("-"), s("a"), null_string(), s("c")], "STRING", "a-c"),
        ("UPPER", vec![s("éa")], "CHAR(2) NOT NULL", "ÉA"),
        ("LOWER", vec![varchar("ÀΣ", 9)], "VARCHAR(9) NOT NULL", "àς"),
        ("SUBSTRING", vec![s("abcdef"), i(2), i(3)], "VARCHAR(6)", "bcd"),
        ("SUBSTR", vec![s("abc"), i(2), i(-1)], "VARCHAR(3)", "NULL"),
        ("LEFT", vec![s("中文字"), i(2)], "VARCHAR(3)", "中文"),
        ("TRIM", vec![s("x"), s("xabx")], "VARCHAR(4) NOT NULL", "ab"),
        ("LTRIM", vec![s("ab"), null_string()], "VARCHAR(2)", "NULL"),
        ("BTRIM", vec![untyped_null()], "STRING", "NULL"),
        ("OVERLAY", vec![s("abc"), s("XY"), i(2)], "VARCHAR(5) NOT NULL", "aXY"),
        ("REPEAT", vec![s("ab"), i(2)], "STRING NOT NULL", "abab"),
        ("REVERSE", vec![s("ab")], "STRING", "ba"),
        ("TRANSLATE", vec![s("abc"), null_string(), s("b")], "STRING NOT NULL", "abc"),
        ("POSITION", vec![s("b"), s("abc")], "INT NOT NULL", "2"),
        ("CHAR_LENGTH", vec![s("a😀")], "INT NOT NULL", "2"),
        ("ASCII", vec![s("é")], "INT NOT NULL", "-61"),
        ("CHR", vec![i(353)], "STRING", "a"),
        ("STARTSWITH", vec![s("abc"), untyped_null()], "BOOLEAN", "NULL"),
        ("ELT", vec![i(2), s("a"), s("bcd")], "VARCHAR(3)", "bcd"),
        ("ELT", vec![i(1), s("ab"), s("cd")], "CHAR(2)", "ab"),
        ("ELT", vec![i(2), untyped_null(), s("a")], "VARCHAR(1)", "a"),
        ("SPLIT", vec![s("a,,c"), s(",")], "ARRAY<STRING> NOT NULL", "[a, , c]"),
        ("SPLIT_INDEX", vec![s("a,b"), i(44), i(1)], "STRING", "b"),
        ("STR_TO_MAP", vec![s("k=v,x")], "MAP<STRING, STRING>", "{x=NULL, k=v}"),
        ("PRINTF", vec![s("%d-%s"), i(5), s("x")], "STRING", "5-x"),
        ("TO_BASE64", vec![s("hello")], "STRING NOT NULL", "aGVsbG8="),
        ("MD5", vec![null_string()], "CHAR(32)", "NULL"),
        ("LIKE", vec![s("a%c"), s("a!%c"), s("!")], "BOOLEAN NOT NULL", "TRUE"),
        ("SIMILAR TO", vec![s("abc"), s("a(b|x)_")], "BOOLEAN NOT NULL", "TRUE"),
        ("REGEXP", vec![s("a"), s("(")], "BOOLEAN NOT NULL", "FALSE"),
        ("REGEXP", vec![s("a"), s("")], "BOOLEAN NOT NULL", "FALSE"),
        ("REGEXP_EXTRACT", vec![s("a1b2"), s("([a-z])(\\d)"), i(2)], "STRING", "1"),
        ("REGEXP_EXTRACT", vec![s("a"), s("a"), i(-1)], "STRING", "NULL"),
        ("REGEXP_EXTRACT_ALL", vec![s("a1b2"), s("\\d"), i(0)], "ARRAY<STRING>", "[1, 2]"),
        ("REGEXP_EXTRACT_ALL", vec![s("a1b2"), s("\\d")], "ARRAY<STRING>", "NULL"),
        ("REGEXP_COUNT", vec![s("banana"), s("")], "INT", "7"),
        ("REGEXP_INSTR", vec![s("😀x"), s("x")], "INT", "3"),
        ("REGEXP_REPLACE", vec![s("baac"), s("a*"), s("-")], "STRING NOT NULL", "-b--c-"),
        ("PARSE_URL", vec![s("http://h/p?k=1"), s("QUERY"), s("k")], "STRING", "1"),
        ("TYPEOF", vec![varchar("a", 2147483647)], "STRING", "STRING NOT NULL"),
        ("TYPEOF", vec![untyped_null()], "STRING", "NULL"),
        ("CURRENT_DATABASE", vec![], "STRING NOT NULL", "default_database"),
    ] {
        assert_eq!(call(name, args), (ty.to_owned(), value.to_owned()), "{name}");
    }
}

#[test]
fn arguments_of_other_types_are_refused() {
    for (name, args) in [
        ("||", vec![s("a"), i(1)]),
        ("UPPER", vec![i(1)]),
        ("UPPER", vec![untyped_null()]),
        ("CONCAT", vec![]),
        ("SUBSTRING", vec![s("abc"), s("2")]),
        ("RPAD", vec![s("hi"), i(5)]),
        ("STARTSWITH", vec![s("abc"), i(1)]),
        ("ELT", vec![s("1"), s("a")]),
        ("PRINTF", vec![i(5), i(1)]),
        ("STR_TO_MAP", vec![s("a=1;b=2"), s(";")]),
        ("LIKE", vec![i(1), s("1")]),
        ("TYPEOF", vec![s("a"), i(1)]),
    ] {
        let error = Expr::builtin(name, args).err();
        assert!(matches!(error, Some(SignatureError::NoMatch { .. })), "{name}");
    }
}

#[test]
fn bad_patterns_and_arguments_are_errors() {
    for (name, args, message) in [
        ("LIKE", vec![s("a"), s("a!b"), s("!")], "invalid escape sequence 'a!b', 1"),
        ("SIMILAR TO", vec![s("a"), s("[a")], "invalid regular expression '[a'"),
        ("SIMILAR TO", vec![s("a"), s("a"), s("")], "invalid escape character ''"),
        ("STR_TO_MAP", vec![s("a"), s("["), s("=")], "unclosed character class"),
        ("FROM_BASE64", vec![s("!!!")], "'!!!' is not Base64"),
        ("ENCODE", vec![s("a"), s("nope")], "unknown character set 'nope'"),
        ("INSTR", vec![s("a"), s("a"), i(1), i(0)], "must be positive"),
        ("REPEAT", vec![s("abc"), i(2147483647)], "longer than 256 MB"),
        ("SHA2", vec![s("a"), i(160)], "no SHA-2 hash has 160 bits"),
    ] {
        let (_, error) = call(name, args);
        assert!(error.contains(message), "{name}: {error}");
    }
}

#[test]
fn constants_and_columns_mix() {
    let text: ArrayRef = Arc::new(StringArray::from(vec![Some("a,b"), None, Some("c")]));
    let place: ArrayRef = Arc::new(Int32Array::from(vec![1, 0, 0]));
    let column = |index, ty: DataType| Expr::column(index, ty);
    for (name, args, wanted) in [
        (
            "SPLIT_INDEX",
            vec![column(0, DataType::string()), s(","), column(1, DataType::int())],
            ["b", "NULL", "c"],
        ),
        ("LIKE", vec![column(0, DataType::string()), s("%b")], ["TRUE", "NULL", "FALSE"]),
        ("LIKE", vec![s("a,b"), column(0, DataType::string())], ["TRUE", "NULL", "FALSE"]),
        ("UPPER", vec![column(0, DataType::string())], ["A,B", "NULL", "C"]),
        (
            "REGEXP_EXTRACT",
            vec![s("xa,by"), column(0, DataType::string())],
            ["a,b", "NULL", "NULL"],
        ),
    ] {
        let function = scalar_function(name).expect(name);
        let expr = Expr::call(function, args, Vec::new(), None).expect(name);
        let evaluator = Evaluator::new(&expr, &SessionSettings::default()).expect(name);
        let columns = [text.clone(), place.clone()];
        let result = evaluator.evaluate(&columns, &EvalContext::new(3, 0)).expect(name);
        let ty = expr.data_type();
        let texts: Vec<String> = (0..3)
            .map(|row| Value::from_array(&result, row, &ty))
            .map(|value| value_to_string(&value, &ty, &TimeZone::UTC))
            .collect();
        assert_eq!(texts, wanted, "{name}");
    }
}
