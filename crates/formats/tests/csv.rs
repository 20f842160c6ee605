//! `csv` by Flink's rules.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Decoding, batch, encode, row, time};
use flott_types::{DataType, TypeRoot, Value};

fn strings(pairs: &[(&str, &str)]) -> Decoding {
    Decoding::new("csv", &[("a", DataType::string()), ("b", DataType::string())], pairs)
}

#[test]
fn rows_end_and_quotes_open_as_in_flink() {
    for (text, pairs, rows) in [
        ("a,b\r\nc,d", &[][..], &["+I[a, b]", "+I[c, d]"][..]),
        ("a,b\rc,d\r", &[], &["+I[a, b]", "+I[c, d]"]),
        ("a,\n,b\n", &[], &["+I[a, ]", "+I[, b]"]),
        ("a,b,\nc,d, \n", &[], &["+I[a, b]", "+I[c, d]"]),
        ("\"a,1\",\"b\n2\"\n", &[], &["+I[a,1, b\n2]"]),
        ("\"a\"\"b\",\"\"\n", &[], &["+I[a\"b, ]"]),
        ("\"a\" ,b\n", &[], &["+I[a, b]"]),
        (" \"a\",b\"c\n", &[], &["+I[ \"a\", b\"c]"]),
        ("\u{feff}a,b\n", &[], &["+I[a, b]"]),
        ("# x\n\n  a,b\n#y", &[("allow-comments", "true")], &["+I[a, b]"]),
        ("#a,b\n", &[], &["+I[#a, b]"]),
        (" a , b \n", &[("trim-spaces", "true")], &["+I[a, b]"]),
        (" \" a \" , b\n", &[("trim-spaces", "true")], &["+I[ a , b]"]),
        ("a,b,c,d\n", &[("ignore-trailing-unmappable", "true")], &["+I[a, b]"]),
        ("a\\,1,b\\n2\n", &[("escape-character", "\\")], &["+I[a,1, b\n2]"]),
        ("\"a\\\"b\",c\n", &[("escape-character", "\\")], &["+I[a\"b, c]"]),
        ("\"a\",b\n", &[("disable-quote-character", "true")], &["+I[\"a\", b]"]),
        ("'a;b';c\n", &[("quote-character", "'"), ("field-delimiter", ";")], &["+I[a;b, c]"]),
        ("a\tb\n", &[("field-delimiter", "\\t")], &["+I[a, b]"]),
        ("a§\"b§c\"\n", &[("field-delimiter", "§")], &["+I[a, b§c]"]),
        ("-,\"-\"\n", &[("null-literal", "-")], &["+I[NULL, NULL]"]),
        (",x\n", &[("empty-string-as-null", "true")], &["+I[NULL, x]"]),
        ("a\nb,c\n", &[("ignore-parse-errors", "true")], &["+I[a, NULL]", "+I[b, c]"]),
        ("a,b,c\nd,e\n", &[("ignore-parse-errors", "true")], &["+I[d, e]"]),
        ("\"a\"b,c\nd,e\n", &[("ignore-parse-errors", "true")], &["+I[d, e]"]),
        ("\n", &[("ignore-parse-errors", "true")], &["+I[, NULL]"]),
        ("", &[], &[]),
    ] {
        assert_eq!(strings(pairs).stream(text).unwrap(), rows, "{text:?} with {pairs:?}");
    }
}

#[test]
fn broken_rows_are_refused_with_their_reason() {
    for (text, pairs, message) in [
        ("a\n", &[][..], "byte 0: row has 1 values, but 2 columns are read"),
        ("a,b\n\n", &[], "byte 4: row has 1 values, but 2 columns are read"),
        ("a,b,c\n", &[], "byte 0: row has more values than the table has columns (2)"),
        ("a,b,,\n", &[], "byte 0: row has more values than the table has columns (2)"),
        ("a,b,\n", &[("allow-trailing-comma", "false")], "byte 0: row has more values"),
        ("a\n", &[("fail-on-missing-columns", "true")], "byte 0: row has 1 values, but the table"),
        ("\"a\"b,c\n", &[], "byte 0: text follows the closing quote of a value"),
        ("x,y\n\"a,b\n", &[], "byte 4: closing quote is missing"),
        ("a,b\\", &[("escape-character", "\\")], "byte 0: input ends after an escape character"),
    ] {
        let error = strings(pairs).stream(text).unwrap_err().to_string();
        assert!(error.starts_with(message), "{text:?}: {error}");
    }
}

#[test]
fn a_value_of_the_wrong_type_is_named() {
    let decoding = Decoding::new("csv", &[("id", DataType::int()), ("qty", DataType::int())], &[]);
    let error = decoding.stream("1,abc\n").unwrap_err();
    assert_eq!(error.message, "cannot read 'abc' as INT for column 'qty'");
    assert_eq!(error.place.as_deref(), Some("byte 0"));
    let error = decoding.stream("1,\n").unwrap_err();
    assert!(error.hint.is_some_and(|hint| hint.contains("csv.null-literal")));
}

#[test]
fn skipped_records_leave_no_trace() {
    let decoding = Decoding::new(
        "csv",
        &[("id", DataType::int()), ("s", DataType::string()), ("n", DataType::int())],
        &[],
    );
    let (rows, bad) = decoding.lenient("1,a,1\n2,b,x\n3,\"c\nd\"e,3\n4\n5,f,5\n");
    assert_eq!(rows, ["+I[1, a, 1]", "+I[5, f, 5]"]);
    assert_eq!(
        bad,
        [
            "byte 6: cannot read 'x' as INT for column 'n' <- \"2,b,x\\n\"",
            "byte 12: text follows the closing quote of a value <- \"3,\\\"c\\nd\\\"e,3\\n\"",
            "byte 23: row has 1 values, but 3 columns are read <- \"4\\n\"",
        ]
    );
}

#[test]
fn projection_picks_by_position() {
    let columns = [("a", DataType::string()), ("b", DataType::int()), ("c", DataType::string())];
    let decoding = Decoding::new("csv", &columns, &[]);
    let text = "x,no number,\"z\"\"q\"\n";
    assert_eq!(decoding.clone().project(&[2, 0]).stream(text).unwrap(), ["+I[z\"q, x]"]);
    assert_eq!(decoding.clone().project(&[]).stream(text).unwrap(), ["+I[]"]);
    // Flink compares a row's length with the columns that are read.
    assert_eq!(decoding.clone().project(&[0]).stream("x\n").unwrap(), ["+I[x]"]);
    assert!(decoding.project(&[0, 2]).stream("x\n").is_err());
}

#[test]
fn types_read_their_text() {
    let ltz = DataType::timestamp_ltz(3);
    for (ty, text, value) in [
        (DataType::boolean(), " TRUE ", "TRUE"),
        (DataType::boolean(), "yes", "FALSE"),
        (TypeRoot::TinyInt.nullable(), "-128", "-128"),
        (DataType::bigint(), " +7 ", "7"),
        (TypeRoot::Float.nullable(), "1e39", "Infinity"),
        (DataType::double(), "NaN", "NaN"),
        (DataType::decimal(5, 2), "1.005", "1.01"),
        (DataType::decimal(5, 2), "999.995", "NULL"),
        (DataType::bytes(), "YWJj", "abc"),
        (TypeRoot::Date.nullable(), "2024-2-30", "2024-03-01"),
        (time(0), "10:11:12.9", "10:11:12"),
        (time(0), "10:11", "10:11:00"),
        (DataType::timestamp(3), " 2024-02-30 10:11:12.5 ", "2024-02-29 10:11:12.500"),
        (DataType::timestamp(9), "2024-02-29 10:11:12.123456789", "2024-02-29 10:11:12.123456789"),
        (ltz, "2024-02-29 10:11:12Z", "2024-02-29 10:11:12.000"),
        (DataType::array(DataType::int()), "1;2;", "ERROR"),
        (DataType::array(DataType::string()), "1;2;", "[1, 2, ]"),
        (DataType::array(DataType::int()), " ", "[]"),
        (row(&[("x", DataType::int()), ("y", DataType::string())]), "1;a", "(1, a)"),
        (row(&[("x", DataType::int()), ("y", DataType::string())]), "1", "ERROR"),
        (row(&[("x", DataType::int()), ("y", DataType::string())]), "", "NULL"),
        (DataType::int(), "1.0", "ERROR"),
        (DataType::int(), "2147483648", "ERROR"),
        (DataType::decimal(5, 2), " 1", "ERROR"),
        (DataType::double(), "inf", "ERROR"),
        (DataType::bytes(), "YWJ", "ERROR"),
        (TypeRoot::Date.nullable(), " 2024-01-01", "ERROR"),
        (time(3), "24:00:00", "ERROR"),
        (DataType::timestamp(3), "2024-02-29T10:11:12", "ERROR"),
        (DataType::timestamp_ltz(3), "2024-02-29 10:11:12", "ERROR"),
    ] {
        let columns = [("a", ty.clone()), ("b", DataType::int())];
        let strict = Decoding::new("csv", &columns, &[]).stream(format!("{text},7\n"));
        let expected = format!("+I[{value}, 7]");
        match strict {
            Ok(rows) => assert_eq!(rows, [expected], "{text:?} as {ty}"),
            Err(error) => assert_eq!(value, "ERROR", "{text:?} as {ty}: {error}"),
        }
    }
}

#[test]
fn the_null_literal_is_an_element_of_collections() {
    let columns = [("a", DataType::array(DataType::int())), ("b", DataType::int())];
    let decoding = Decoding::new("csv", &columns, &[("null-literal", "-")]);
    let rows = decoding.stream("-,-\n1;-;3,4\n").unwrap();
    assert_eq!(rows, ["+I[[NULL], NULL]", "+I[[1, NULL, 3], 4]"]);
}

#[test]
fn types_that_csv_lacks_are_refused() {
    for ty in [
        DataType::map(DataType::string(), DataType::int()),
        row(&[("a", row(&[("b", DataType::int())]))]),
        DataType::array(DataType::array(DataType::int())),
        TypeRoot::IntervalDayTime.nullable(),
        time(4),
    ] {
        let error = Decoding::new("csv", &[("r", ty.clone())], &[]).stream("").unwrap_err();
        assert!(error.message.contains("'r'"), "{ty}: {error}");
    }
}

#[test]
fn a_message_is_one_row() {
    let decoding = strings(&[]);
    assert_eq!(decoding.message("a,b\nc,d\n").unwrap(), ["+I[a, b]"]);
    assert!(decoding.message("").is_err());
    assert!(strings(&[("ignore-parse-errors", "true")]).message("").unwrap().is_empty());
}

#[test]
fn values_are_written_as_jackson_writes_them() {
    let columns = [
        ("s", DataType::string()),
        ("d", DataType::decimal(8, 2)),
        ("x", DataType::double()),
        ("t", DataType::timestamp(3)),
        ("l", DataType::array(DataType::int())),
        ("y", DataType::boolean()),
    ];
    let rows = batch(
        &columns,
        &[
            vec![
                Value::string("a b"),
                Value::Decimal(10_000),
                Value::Double(1e7),
                Value::Timestamp(1_500_000_000),
                Value::Array(vec![Value::Int(1), Value::Null]),
                Value::Boolean(true),
            ],
            vec![
                Value::string("say \"hi\"-to-everybody-in-here"),
                Value::Decimal(-50),
                Value::Double(f64::NAN),
                Value::Null,
                Value::Array(vec![]),
                Value::Null,
            ],
            vec![
                Value::string("plain"),
                Value::Decimal(0),
                Value::Double(0.5),
                Value::Null,
                Value::Null,
                Value::Boolean(false),
            ],
        ],
    );
    assert_eq!(
        encode("csv", &columns, &[], &rows, b"\n").unwrap(),
        "\"a b\",1E+2,1.0E7,\"1970-01-01 00:00:01.5\",1;,true\n\
         \"say \"\"hi\"\"-to-everybody-in-here\",-0.5,NaN,,,\n\
         plain,0,0.5,,,false\n"
    );
    let plain = [("write-bigdecimal-in-scientific-notation", "false"), ("null-literal", "n/a")];
    assert_eq!(
        encode("csv", &columns, &plain, &rows.slice(2, 1), b"\n").unwrap(),
        "plain,0.00,0.5,n/a,n/a,false\n"
    );
    // Messages keep all digits unless told otherwise.
    let message = encode("csv", &columns, &[], &rows.slice(0, 1), b"").unwrap();
    assert!(message.starts_with("\"a b\",100.00,"), "{message}");
    let escaped = [("escape-character", "\\"), ("field-delimiter", "|")];
    let text = [("s", DataType::string())];
    let rows = batch(&text, &[vec![Value::string("a\\b|c")], vec![Value::string("x,y")]]);
    assert_eq!(encode("csv", &text, &escaped, &rows, b"\n").unwrap(), "\"a\\\\b|c\"\n\"x,y\"\n");
}
