//! The format `avro` beside what Flink 2.3's own writes and reads.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Collect, Decoding, batch, hex, records, row, time, unhex};
use flott_types::{DataType, TypeRoot, Value};

type Columns = Vec<(&'static str, DataType)>;

const SQL: (&str, &str) = ("timestamp_mapping.legacy", "false");
const JSON: (&str, &str) = ("encoding", "json");

/// Checks a row in both encodings, and reads it again.
fn written(columns: &Columns, pairs: &[(&str, &str)], row: Vec<Value>, binary: &str, json: &str) {
    let rows = batch(columns, &[row]);
    let text = Decoding::new("avro", columns, pairs).texts(&rows);
    let record = records("avro", columns, pairs, &rows, b"").unwrap().bytes;
    assert_eq!(hex(&record), binary);
    assert_eq!(Decoding::new("avro", columns, pairs).message(&record).unwrap(), text);
    let pairs = [pairs, &[JSON]].concat();
    let record = records("avro", columns, &pairs, &rows, b"").unwrap().bytes;
    assert_eq!(String::from_utf8(record.clone()).unwrap(), json);
    assert_eq!(Decoding::new("avro", columns, &pairs).message(&record).unwrap(), text);
}

fn scalars() -> Columns {
    vec![
        ("a", DataType::boolean()),
        ("b", TypeRoot::TinyInt.nullable()),
        ("c", TypeRoot::SmallInt.nullable()),
        ("d", DataType::int()),
        ("e", DataType::bigint()),
        ("f", TypeRoot::Float.nullable()),
        ("g", DataType::double()),
        ("h", TypeRoot::Char(3).nullable()),
        ("i", DataType::string()),
        ("j", DataType::bytes()),
    ]
}

#[test]
fn scalars_are_written_as_flink_writes_them() {
    let values = vec![
        Value::Boolean(true),
        Value::Int(-5),
        Value::Int(300),
        Value::Int(-70000),
        Value::Int(1 << 40),
        Value::Float(1.5),
        Value::Double(-2.25),
        Value::string("abc"),
        Value::string("hé\"\n😀"),
        Value::Bytes(vec![0, 1, 255, 65].into()),
    ];
    written(
        &scalars(),
        &[],
        values,
        "0201020902d80402dfc50802808080808040020000c03f0200000000000002c00206616263021268c3a9220af09f\
         988002080001ff41",
        r#"{"a":{"boolean":true},"b":{"int":-5},"c":{"int":300},"d":{"int":-70000},"e":{"long":1099511627776},"f":{"float":1.5},"g":{"double":-2.25},"h":{"string":"abc"},"i":{"string":"hé\"\n\uD83D\uDE00"},"j":{"bytes":"\u0000\u0001ÿA"}}"#,
    );
    written(
        &scalars(),
        &[],
        vec![Value::Null; 10],
        "00000000000000000000",
        r#"{"a":null,"b":null,"c":null,"d":null,"e":null,"f":null,"g":null,"h":null,"i":null,"j":null}"#,
    );
    written(
        &vec![("a", DataType::int().not_null()), ("b", DataType::string().not_null())],
        &[],
        vec![Value::Int(64), Value::string("")],
        "800100",
        r#"{"a":64,"b":""}"#,
    );
    let float = || TypeRoot::Float.nullable();
    written(
        &vec![("a", float()), ("b", DataType::double()), ("c", float()), ("d", DataType::double())],
        &[],
        vec![
            Value::Float(f32::NAN),
            Value::Double(f64::NEG_INFINITY),
            Value::Float(1e10),
            Value::Double(1e-7),
        ],
        "020000c07f02000000000000f0ff02f90215500248afbc9af2d77a3e",
        r#"{"a":{"float":"NaN"},"b":{"double":"-Infinity"},"c":{"float":1.0E10},"d":{"double":1.0E-7}}"#,
    );
}

#[test]
fn decimals_dates_and_times_are_written_as_flink_writes_them() {
    written(
        &vec![
            ("a", TypeRoot::Date.nullable()),
            ("b", time(3)),
            ("c", DataType::decimal(10, 2)),
            ("d", DataType::decimal(38, 18)),
            ("e", DataType::decimal(4, 2)),
            ("f", DataType::decimal(4, 2)),
        ],
        &[],
        vec![
            Value::Date(19723),
            Value::Time(3_600_001),
            Value::Decimal(-1_234_567),
            Value::Decimal(99_999_999_999_999_999_999_123_456_789_012_345_678),
            Value::Decimal(128),
            Value::Decimal(0),
        ],
        "0296b4020282bab7030206ed297902204b3b4ca85a86c479fd6006d7feccf34e02040080020200",
        "{\"a\":{\"int\":19723},\"b\":{\"int\":3600001},\"c\":{\"bytes\":\"í)y\"},\"d\":{\"bytes\":\"K;L¨Z\u{86}Äyý`\\u0006×þÌóN\"},\"e\":{\"bytes\":\"\\u0000\u{80}\"},\"f\":{\"bytes\":\"\\u0000\"}}",
    );
    written(
        &vec![("a", DataType::timestamp(3)), ("b", DataType::timestamp(0))],
        &[],
        vec![Value::Timestamp(1_704_067_200_123_000_000), Value::Timestamp(-1_000_000)],
        "02f6d18fa598630201",
        r#"{"a":{"long":1704067200123},"b":{"long":-1}}"#,
    );
    written(
        &vec![
            ("a", DataType::timestamp(3)),
            ("b", DataType::timestamp(6)),
            ("c", DataType::timestamp_ltz(3)),
            ("d", DataType::timestamp_ltz(6)),
        ],
        &[SQL],
        vec![
            Value::Timestamp(1_704_067_200_123_000_000),
            Value::Timestamp(-1_000),
            Value::Timestamp(5_000_000),
            Value::Timestamp(7_001_000),
        ],
        "02f6d18fa598630201020a02b26d",
        r#"{"a":{"long":1704067200123},"b":{"long":-1},"c":{"long":5},"d":{"long":7001}}"#,
    );
}

#[test]
fn collections_are_written_as_flink_writes_them() {
    let map = |value| DataType::map(DataType::string(), value);
    let entry = |key, value| Value::Map(vec![(Value::string(key), Value::Int(value))]);
    let inner = row(&[("z", DataType::string().not_null())]);
    written(
        &vec![
            ("a", DataType::array(DataType::int())),
            ("b", DataType::array(DataType::int().not_null())),
            ("c", map(DataType::int())),
            ("d", DataType::new(TypeRoot::Multiset(DataType::string().into()))),
            ("e", row(&[("x", DataType::int()), ("y", inner)])),
        ],
        &[],
        vec![
            Value::Array(vec![Value::Int(1), Value::Null, Value::Int(3)]),
            Value::Array(Vec::new()),
            entry("k", 7),
            entry("m", 2),
            Value::Row(vec![Value::Int(5), Value::Row(vec![Value::string("q")])]),
        ],
        "020602020002060002000202026b020e000202026d02040002020a020271",
        r#"{"a":{"array":[{"int":1},null,{"int":3}]},"b":{"array":[]},"c":{"map":{"k":{"int":7}}},"d":{"map":{"m":{"int":2}}},"e":{"org.apache.flink.avro.generated.record_e":{"x":{"int":5},"y":{"org.apache.flink.avro.generated.record_e_y":{"z":"q"}}}}}"#,
    );
    let strings = DataType::array(DataType::array(DataType::string()));
    let rows = DataType::array(row(&[("x", DataType::int().not_null())]));
    written(
        &vec![("a", strings), ("b", rows)],
        &[],
        vec![
            Value::Array(vec![Value::Array(vec![Value::string("x")]), Value::Null]),
            Value::Array(vec![Value::Row(vec![Value::Int(1)]), Value::Row(vec![Value::Int(2)])]),
        ],
        "0204020202027800000002040202020400",
        r#"{"a":{"array":[{"array":[{"string":"x"}]},null]},"b":{"array":[{"org.apache.flink.avro.generated.record_b":{"x":1}},{"org.apache.flink.avro.generated.record_b":{"x":2}}]}}"#,
    );
    // Timestamps in arrays and maps are mapped the old way, whatever the option says.
    written(
        &vec![("a", DataType::array(DataType::timestamp(3))), ("b", map(DataType::timestamp(3)))],
        &[SQL],
        vec![
            Value::Array(vec![Value::Timestamp(1_000_000)]),
            Value::Map(vec![(Value::string("k"), Value::Timestamp(2_000_000))]),
        ],
        "02020202000202026b020400",
        r#"{"a":{"array":[{"long":1}]},"b":{"map":{"k":{"long":2}}}}"#,
    );
}

#[test]
fn records_are_read_as_flink_reads_them() {
    let narrow = vec![("a", TypeRoot::TinyInt.nullable()), ("b", TypeRoot::SmallInt.nullable())];
    let decimals = vec![("a", DataType::decimal(4, 2)), ("b", DataType::decimal(38, 0))];
    let times = vec![("a", TypeRoot::Date.nullable()), ("b", time(3))];
    let text = vec![("a", DataType::string()), ("b", DataType::boolean())];
    let collections = vec![
        ("a", DataType::array(DataType::int())),
        ("c", DataType::map(DataType::string(), DataType::int())),
    ];
    for (columns, record, rows) in [
        (&narrow, "02800202808004", "+I[-128, -32768]"),
        (&decimals, "020403e800", "+I[10.00, NULL]"),
        (&decimals, "020601000000", "+I[NULL, NULL]"),
        (&decimals, "020400ff00", "+I[2.55, NULL]"),
        (&decimals, "000222007fffffffffffffffffffffffffffffff", "+I[NULL, NULL]"),
        (&times, "020002ffffffff0f", "+I[1970-01-01, "),
        (&text, "0202ff0201", "+I[\u{fffd}, TRUE]"),
        (&text, "0202610202", "+I[a, FALSE]"),
        (&collections, "0204020202040000", "+I[[1, 2], NULL]"),
        // A block may tell its size.
        (&collections, "020308020202040000", "+I[[1, 2], NULL]"),
        (&collections, "0000", "+I[NULL, NULL]"),
    ] {
        let rows_read = Decoding::new("avro", columns, &[]).message(unhex(record));
        match rows_read {
            Ok(read) => assert!(read[0].starts_with(rows), "{record}: {read:?}"),
            Err(error) => panic!("{record}: {error}"),
        }
    }
    let pair = vec![("a", DataType::int()), ("b", DataType::string())];
    for (record, message) in [
        ("020402ff", "byte 4: the record ends too early"),
        ("0204020461", "ends too early"),
        ("", "byte 0: the record ends too early"),
        ("0402", "a union has no branch 2"),
        ("00000099", "2 bytes follow the record"),
        ("0002030000", "the length -2 is negative"),
        ("02ffffffffffff00", "a number does not end"),
    ] {
        let error = Decoding::new("avro", &pair, &[]).message(unhex(record)).unwrap_err();
        assert!(error.message.contains(message), "{record}: {error}");
    }
    let error =
        Decoding::new("avro", &collections, &[]).message(unhex("02feffffff0f")).unwrap_err();
    assert!(error.message.contains("more than there are bytes"), "{error}");
}

#[test]
fn json_records_are_read_as_flink_reads_them() {
    let pair = vec![("a", DataType::int()), ("b", DataType::string())];
    let decode = |columns: &Columns, text: &str| {
        Decoding::new("avro", columns, &[JSON]).message(text.as_bytes())
    };
    for (text, row) in [
        (r#"{"a":{"int":1},"b":null}"#, "+I[1, NULL]"),
        (r#"{"b":{"string":"x"},"a":null}"#, "+I[NULL, x]"),
        (r#"{"a":null,"b":null,"c":[1]}"#, "+I[NULL, NULL]"),
        (r#" {"a":{"int":1.0} , "b":{"string":"\u00e4"}}"#, "+I[1, ä]"),
        (r#"{"a":{"int":1,"b":2},"b":null}"#, "+I[1, NULL]"),
        (r#"{"a":{"int":1},"a":null,"b":null}"#, "+I[1, NULL]"),
        (r#"{"a":{"int":1},"b":null} {"a":null,"b":null}"#, "+I[1, NULL]"),
    ] {
        assert_eq!(decode(&pair, text).unwrap(), [row], "{text}");
    }
    for (text, message) in [
        (r#"{"a":null}"#, "the field 'b' is missing"),
        (r#"{"a":1,"b":null}"#, "null or {\"int\": …} is missing"),
        ("", "a record is missing"),
        ("[]", "a record is missing"),
        ("null", "a record is missing"),
        (r#"{"a":{"long":1},"b":null}"#, "the union has no branch 'long'"),
        (r#"{"a":{"int":99999999999},"b":null}"#, "outside of its column's range"),
        (r#"{"a":{"int":"1"},"b":null}"#, "a number is missing"),
        (r#"{"a":null,"b":null"#, "a comma or a closing brace is missing"),
    ] {
        let error = decode(&pair, text).unwrap_err();
        assert!(error.message.contains(message), "{text}: {error}");
    }
    let row = vec![("r", row(&[("x", DataType::int().not_null())]))];
    let name = "org.apache.flink.avro.generated.record_r";
    assert_eq!(decode(&row, &format!(r#"{{"r":{{"{name}":{{"x":5}}}}}}"#)).unwrap(), ["+I[(5)]"]);
    assert!(decode(&row, r#"{"r":{"record_r":{"x":5}}}"#).is_err());
    assert!(decode(&row, &format!(r#"{{"r":{{"{name}":{{}}}}}}"#)).is_err());
}

#[test]
fn bad_records_leave_no_trace() {
    let columns = vec![
        ("a", DataType::array(DataType::int())),
        ("m", DataType::map(DataType::string(), DataType::string())),
        ("t", DataType::string()),
    ];
    let bad = std::sync::Arc::new(Collect::default());
    let decoding = Decoding::new("avro", &columns, &[]);
    let mut decoder = decoding.decoder(bad.clone()).unwrap();
    for record in [
        "0202020200000202",
        "02020202000202026102027a000202780000",
        "020202020002020261020278000202",
        "000000",
        "0202020200020402610202780261020278000000",
    ] {
        decoder.decode_message(&unhex(record), &|| record.into()).unwrap();
    }
    assert_eq!(decoding.take(&mut *decoder).unwrap(), ["+I[NULL, NULL, NULL]"]);
    assert_eq!(bad.0.lock().unwrap().len(), 4);
}

#[test]
fn what_avro_does_not_know_is_refused() {
    let refused = |name: &'static str, ty: DataType, pairs: &[(&str, &str)]| {
        let columns = [(name, ty)];
        Decoding::new("avro", &columns, pairs).message([]).unwrap_err().to_string()
    };
    for ty in [
        time(6),
        DataType::timestamp(6),
        DataType::timestamp_ltz(3),
        TypeRoot::IntervalDayTime.nullable(),
        TypeRoot::Variant.nullable(),
    ] {
        assert!(refused("a", ty, &[]).starts_with("Avro has no type for"));
    }
    for ty in [
        DataType::timestamp(9),
        DataType::timestamp_ltz(9),
        DataType::array(DataType::timestamp(6)),
        DataType::map(DataType::string(), DataType::timestamp_ltz(3)),
    ] {
        assert!(refused("a", ty, &[SQL]).starts_with("Avro has no type for"));
    }
    let key = DataType::map(DataType::int(), DataType::int());
    assert!(refused("a", key, &[]).contains("only supports text as key"));
    assert!(refused("a b", DataType::int(), &[]).contains("'a b' is no name in Avro"));
    let columns = [("a", DataType::int())];
    let error = Decoding::new("avro", &columns, &[]).stream("x").unwrap_err();
    assert!(error.message.contains("have no end"), "{error}");
    let null = batch(&columns, &[vec![Value::Null]]);
    let columns = [("a", DataType::int().not_null())];
    let error = records("avro", &columns, &[], &null, b"").unwrap_err();
    assert!(error.message.contains("column 'a' is NULL"), "{error}");
}
