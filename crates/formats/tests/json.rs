//! `json` by Flink's rules, token by token and by way of a tree.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Decoding, batch, encode, row, time};
use flott_types::{DataType, TypeRoot, Value};

const TREE: (&str, &str) = ("decode.json-parser.enabled", "false");
const IGNORE: (&str, &str) = ("ignore-parse-errors", "true");

fn two(pairs: &[(&str, &str)]) -> Decoding {
    Decoding::new("json", &[("a", DataType::int()), ("b", DataType::string())], pairs)
}

/// What both ways of decoding give.
fn both(
    decoding: impl Fn(&[(&str, &str)]) -> Decoding,
    pairs: &[(&str, &str)],
    text: &str,
) -> Vec<String> {
    let streamed = decoding(pairs).stream(text).unwrap();
    let tree = decoding(&[pairs, &[TREE]].concat()).stream(text).unwrap();
    assert_eq!(streamed, tree, "{text}");
    streamed
}

#[test]
fn fields_go_by_name_in_any_order() {
    for (text, rows) in [
        (r#"{"a":1,"b":"x"}"#, &["+I[1, x]"][..]),
        (r#" { "b" : "x" , "a" : 1 } "#, &["+I[1, x]"]),
        (r#"{"B":"x","c":[1,{"a":7}],"a":1}"#, &["+I[1, NULL]"]),
        (r#"{"\u0061":1,"b":"\u00e4\n\ud83d\ude00"}"#, &["+I[1, ä\n😀]"]),
        (r#"{}"#, &["+I[NULL, NULL]"]),
        (r#"{"a":null,"b":null}"#, &["+I[NULL, NULL]"]),
        (r#"[{"a":1},{"a":2,"b":"x"}]"#, &["+I[1, NULL]", "+I[2, x]"]),
        ("[]", &[]),
        ("{\"a\":1}\r\n\r\n\n{\"a\":2} rest\n", &["+I[1, NULL]", "+I[2, NULL]"]),
        ("\u{feff}{\"a\":1}", &["+I[1, NULL]"]),
        ("{\"b\":\"tab\there\"}", &["+I[NULL, tab\there]"]),
    ] {
        assert_eq!(both(two, &[], text), rows);
    }
}

#[test]
fn broken_records_are_refused_with_their_reason() {
    for (text, message) in [
        (r#"{"a":1"#, "byte 0: broken JSON at byte 6: a comma or a closing b"),
        (r#"{"a":01}"#, "byte 0: broken JSON at byte 5: a number starts with a zero"),
        (r#"{"a":1,"zz":tru}"#, "byte 0: broken JSON at byte 12: an unknown word"),
        (r#"{"b":"x}"#, "byte 0: broken JSON at byte 6: a string does not end"),
        (r#"{"b":"\x"}"#, "byte 0: broken JSON at byte 6: an unknown escape in a string"),
        ("\n{\"a\":\"x\"}", "byte 1: cannot read 'x' as INT for column 'a'"),
        ("{\"a\":{\"x\":1}}", "byte 0: cannot read '{\"x\":1}' as INT for column 'a'"),
        ("7", "byte 0: JSON value is a number, not an object"),
    ] {
        for pairs in [&[][..], &[TREE]] {
            let error = two(pairs).stream(text).unwrap_err().to_string();
            assert!(error.starts_with(message), "{text}: {error}");
        }
    }
    assert!(two(&[]).stream("null").is_err());
    assert!(two(&[]).stream(" ").is_err());
    assert!(two(&[TREE]).stream("null\n ").unwrap().is_empty());
    assert!(two(&[]).stream(b"{\"b\":\"\xff\"}").is_err());
}

#[test]
fn nested_values_are_named_by_their_path() {
    let columns = [("r", row(&[("l", DataType::array(row(&[("n", DataType::int())])))]))];
    for pairs in [&[][..], &[TREE]] {
        let decoding = Decoding::new("json", &columns, pairs);
        let error = decoding.stream(r#"{"r":{"l":[{"n":1},{"n":"x"}]}}"#).unwrap_err();
        assert_eq!(error.message, "cannot read 'x' as INT for column 'r.l.n'");
    }
}

#[test]
fn repeated_keys_differ_between_the_two_ways() {
    let text = r#"{"a":1,"a":2,"b":"x"}"#;
    // Token by token the second one is the last that is looked at.
    assert_eq!(two(&[]).stream(text).unwrap(), ["+I[2, NULL]"]);
    assert_eq!(two(&[TREE]).stream(text).unwrap(), ["+I[2, x]"]);
    let text = r#"{"a":1,"b":"x","a":3}"#;
    assert_eq!(two(&[]).stream(text).unwrap(), ["+I[1, x]"]);
    assert_eq!(two(&[TREE]).stream(text).unwrap(), ["+I[3, x]"]);
}

#[test]
fn forgiven_values_are_null_and_broken_records_go() {
    let text = "{\"a\":1,\"b\":\"one\"}\n{\"a\":2,\"b\":\"tw\n{\"a\":\"three\",\"b\":\"3\"}\n[1,2]\n\
                {\"b\":\"only b\"}\n{\"a\":5,\"b\":{\"x\":1}}\n{\"a\":6.7,\"b\":true}\n";
    let rows = ["+I[1, one]", "+I[NULL, 3]", "+I[NULL, only b]", "+I[5, {\"x\":1}]", "+I[6, true]"];
    assert_eq!(both(two, &[IGNORE], text), rows);
}

#[test]
fn a_forgiven_container_is_read_on_into_token_by_token() {
    for (text, streamed, tree) in [
        (r#"{"a":{"x":1},"b":"y"}"#, &["+I[NULL, NULL]"][..], &["+I[NULL, y]"][..]),
        (r#"{"a":[1],"b":"y"}"#, &["+I[NULL, y]"], &["+I[NULL, y]"]),
        (r#"{"a":[],"b":"y"}"#, &[], &["+I[NULL, y]"]),
        (r#"{"a":{"b":"in"},"b":"out"}"#, &["+I[NULL, in]"], &["+I[NULL, out]"]),
    ] {
        assert_eq!(two(&[IGNORE]).stream(text).unwrap(), streamed, "{text}");
        assert_eq!(two(&[IGNORE, TREE]).stream(text).unwrap(), tree, "{text}");
    }
}

#[test]
fn fields_may_be_required() {
    let required = [("fail-on-missing-field", "true")];
    assert_eq!(both(two, &required, r#"{"b":null,"a":1}"#), ["+I[1, NULL]"]);
    for pairs in [&required[..], &[required[0], TREE]] {
        let error = two(pairs).stream(r#"{"a":1}"#).unwrap_err();
        assert_eq!(error.message, "column 'b' is missing in the JSON object");
    }
    assert!(two(&[required[0], IGNORE]).stream("").is_err());
}

#[test]
fn types_take_json_values_as_in_flink() {
    let string_map = DataType::map(DataType::string(), DataType::int());
    let multiset = TypeRoot::Multiset(std::sync::Arc::new(DataType::string())).nullable();
    for (ty, text, streamed, tree) in [
        (DataType::boolean(), r#"" TRUE ""#, "TRUE", "TRUE"),
        (DataType::boolean(), "1", "FALSE", "FALSE"),
        (TypeRoot::TinyInt.nullable(), "127", "127", "127"),
        (TypeRoot::TinyInt.nullable(), "1.0", "ERROR", "ERROR"),
        (TypeRoot::SmallInt.nullable(), "40000", "ERROR", "ERROR"),
        (DataType::int(), "-1.9", "-1", "-1"),
        (DataType::int(), r#"" 12 ""#, "12", "12"),
        (DataType::int(), r#""1.5""#, "ERROR", "ERROR"),
        (DataType::int(), "2147483648", "ERROR", "ERROR"),
        (DataType::bigint(), "9223372036854775807", "9223372036854775807", "9223372036854775807"),
        (DataType::bigint(), "1e2", "100", "100"),
        (DataType::double(), r#""NaN""#, "NaN", "NaN"),
        (DataType::double(), "true", "ERROR", "ERROR"),
        (TypeRoot::Float.nullable(), "0.1", "0.1", "0.1"),
        (DataType::decimal(6, 2), "12345.675", "NULL", "NULL"),
        (DataType::decimal(6, 2), "1234.565", "1234.57", "1234.57"),
        (DataType::decimal(6, 2), r#"" 1.5 ""#, "1.50", "ERROR"),
        (DataType::string(), "1.50", "1.50", "1.5"),
        (DataType::string(), "true", "true", "true"),
        (
            DataType::string(),
            r#"{ "k" : [1.0, null] }"#,
            r#"{"k":[1.0,null]}"#,
            r#"{"k":[1.0,null]}"#,
        ),
        (DataType::bytes(), r#""YWJj""#, "abc", "abc"),
        (DataType::bytes(), "1", "ERROR", "NULL"),
        (TypeRoot::Date.nullable(), r#""2024-02-29""#, "2024-02-29", "2024-02-29"),
        (TypeRoot::Date.nullable(), r#""2023-02-29""#, "ERROR", "ERROR"),
        (time(3), r#""10:11:12.5""#, "10:11:12.5", "10:11:12.5"),
        (time(3), r#""10:11""#, "ERROR", "ERROR"),
        (
            DataType::timestamp(3),
            r#""2024-02-31 10:11:12""#,
            "2024-02-29 10:11:12.000",
            "2024-02-29 10:11:12.000",
        ),
        (DataType::timestamp(3), r#""2024-02-29T10:11:12""#, "ERROR", "ERROR"),
        (
            DataType::timestamp_ltz(3),
            r#""2024-02-29 10:11:12Z""#,
            "2024-02-29 10:11:12.000",
            "2024-02-29 10:11:12.000",
        ),
        (DataType::array(DataType::int()), r#"[1,null,"3"]"#, "[1, NULL, 3]", "[1, NULL, 3]"),
        (DataType::array(DataType::int()), "{}", "ERROR", "ERROR"),
        (string_map.clone(), r#"{"k":1,"l":null,"k":3}"#, "{l=NULL, k=3}", "{l=NULL, k=3}"),
        (string_map, "7", "ERROR", "{}"),
        (multiset, r#"{"x":2}"#, "{x=2}", "{x=2}"),
    ] {
        let columns = [("a", ty.clone()), ("z", DataType::int())];
        for (pairs, value) in [(&[][..], streamed), (&[TREE], tree)] {
            let record = format!(r#"{{"a":{text},"z":7}}"#);
            match Decoding::new("json", &columns, pairs).stream(record) {
                Ok(rows) => assert_eq!(rows, [format!("+I[{value}, 7]")], "{text} as {ty}"),
                Err(error) => assert_eq!(value, "ERROR", "{text} as {ty}: {error}"),
            }
        }
    }
}

#[test]
fn iso_timestamps_are_an_option() {
    let columns = [("ts", DataType::timestamp(3)), ("l", DataType::timestamp_ltz(3))];
    let iso = [("timestamp-format.standard", "ISO-8601")];
    let text = r#"{"ts":"2025-03-01T10:00:00.123","l":"2025-03-01T10:00Z"}"#;
    assert_eq!(
        Decoding::new("json", &columns, &iso).stream(text).unwrap(),
        ["+I[2025-03-01 10:00:00.123, 2025-03-01 10:00:00.000]"]
    );
    for value in ["RFC-9999", "iso-8601"] {
        let error = Decoding::new("json", &columns, &[("timestamp-format.standard", value)])
            .stream(text)
            .unwrap_err();
        assert!(error.to_string().contains("timestamp-format.standard"), "{error}");
    }
}

#[test]
fn skipped_records_leave_no_trace() {
    let (rows, bad) =
        two(&[]).lenient("{\"a\":1}\n{\"b\":\"x\",\"a\":{}}\n[{\"a\":2},{\"a\":\"q\"}]\n{\"a\":3}");
    assert_eq!(rows, ["+I[1, NULL]", "+I[3, NULL]"]);
    assert_eq!(bad.len(), 2, "{bad:?}");
    assert!(bad[1].starts_with("byte 25: cannot read 'q' as INT for column 'a'"), "{bad:?}");
}

#[test]
fn types_that_json_lacks_are_refused() {
    for (ty, part) in [
        (DataType::map(DataType::int(), DataType::string()), "MAP<INT, STRING>"),
        (row(&[("x", TypeRoot::Bitmap.nullable())]), "BITMAP"),
    ] {
        let error = Decoding::new("json", &[("m", ty)], &[]).stream("").unwrap_err();
        assert!(error.message.contains(part), "{error}");
    }
}

#[test]
fn variants_take_any_value() {
    let x = |pairs: &[(&str, &str)]| {
        Decoding::new("json", &[("x", TypeRoot::Variant.nullable())], pairs)
    };
    for (text, rows) in [
        (r#"{"x":{"b":[1,2.50,"t",null,true],"a":{}}}"#, r#"{"a":{},"b":[1,2.5,"t",null,true]}"#),
        (r#"{"x":"\u00e4\n"}"#, r#""ä\n""#),
        (r#"{"x":-12345678901234567890}"#, "-12345678901234567890"),
        (r#"{"x":1e3}"#, "1000.0"),
        (r#"{"x":{"a":1,"a":2}}"#, r#"{"a":2}"#),
        (r#"{"y":1,"x":null}"#, "NULL"),
        // Escaped names go the long way.
        (r#"{"\u0078":[]}"#, "[]"),
        (r#"{"\u0078":-1.50}"#, "-1.5"),
    ] {
        assert_eq!(both(x, &[], text), [format!("+I[{rows}]")], "{text}");
    }
    assert!(x(&[]).stream(r#"{"x":[1,}"#).is_err());
}

#[test]
fn many_fields_are_found_too() {
    let names: Vec<String> = (0..40).map(|n| format!("f{n}")).collect();
    let columns: Vec<_> = names.iter().map(|name| (name.as_str(), DataType::int())).collect();
    let body: Vec<_> =
        names.iter().rev().map(|name| format!("\"{name}\":{}", &name[1..])).collect();
    let rows =
        Decoding::new("json", &columns, &[]).stream(format!("{{{}}}", body.join(","))).unwrap();
    let expected: Vec<_> = (0..40).map(|n| n.to_string()).collect();
    assert_eq!(rows, [format!("+I[{}]", expected.join(", "))]);
}

#[test]
fn values_are_written_as_jackson_writes_them() {
    let columns = [
        ("s \"q\"", DataType::string()),
        ("d", DataType::decimal(8, 2)),
        ("x", DataType::double()),
        ("t", DataType::timestamp(3)),
        ("l", DataType::timestamp_ltz(3)),
        ("b", DataType::bytes()),
        ("r", row(&[("n", DataType::int()), ("a", DataType::array(DataType::boolean()))])),
    ];
    let rows = batch(
        &columns,
        &[
            vec![
                Value::string("é\"\\\n\u{1}"),
                Value::Decimal(10_000),
                Value::Double(1e7),
                Value::Timestamp(1_500_000_000),
                Value::Timestamp(0),
                Value::Bytes(b"abc".as_slice().into()),
                Value::Row(vec![
                    Value::Null,
                    Value::Array(vec![Value::Boolean(true), Value::Null]),
                ]),
            ],
            vec![
                Value::Null,
                Value::Null,
                Value::Double(f64::INFINITY),
                Value::Null,
                Value::Null,
                Value::Null,
                Value::Null,
            ],
        ],
    );
    assert_eq!(
        encode("json", &columns, &[], &rows, b"\n").unwrap(),
        concat!(
            r#"{"s \"q\"":"é\"\\\n\u0001","d":1E+2,"x":1.0E7,"t":"1970-01-01 00:00:01.5","#,
            r#""l":"1970-01-01 00:00:00Z","b":"YWJj","r":{"n":null,"a":[true,null]}}"#,
            "\n",
            r#"{"s \"q\"":null,"d":null,"x":"Infinity","t":null,"l":null,"b":null,"r":null}"#,
            "\n"
        )
    );
    let pairs = [
        ("encode.ignore-null-fields", "true"),
        ("encode.decimal-as-plain-number", "true"),
        ("timestamp-format.standard", "ISO-8601"),
    ];
    assert_eq!(
        encode("json", &columns, &pairs, &rows, b"").unwrap(),
        concat!(
            r#"{"s \"q\"":"é\"\\\n\u0001","d":100.00,"x":1.0E7,"t":"1970-01-01T00:00:01.5","#,
            r#""l":"1970-01-01T00:00:00Z","b":"YWJj","r":{"a":[true,null]}}"#,
            r#"{"x":"Infinity"}"#
        )
    );
}

#[test]
fn null_keys_of_maps_are_an_option() {
    let columns = [("m", DataType::map(DataType::string(), DataType::int()))];
    let map = Value::Map(vec![
        (Value::string("a"), Value::Int(1)),
        (Value::Null, Value::Int(2)),
        (Value::string("null"), Value::Int(3)),
    ]);
    let rows = batch(&columns, &[vec![map]]);
    let error = encode("json", &columns, &[], &rows, b"").unwrap_err();
    assert!(error.message.contains("'m'"), "{error}");
    for (mode, text) in
        [("DROP", r#"{"m":{"a":1,"null":3}}"#), ("literal", r#"{"m":{"a":1,"null":3}}"#)]
    {
        let pairs = [("map-null-key.mode", mode)];
        assert_eq!(encode("json", &columns, &pairs, &rows, b"").unwrap(), text);
    }
    let pairs = [("map-null-key.mode", "LITERAL"), ("map-null-key.literal", "none")];
    let text = r#"{"m":{"a":1,"none":2,"null":3}}"#;
    assert_eq!(encode("json", &columns, &pairs, &rows, b"").unwrap(), text);
}
