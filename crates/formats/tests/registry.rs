//! The formats of a schema registry beside what Flink 2.3's own write and read.

#![allow(clippy::unwrap_used)]

mod common;
#[path = "common/registry.rs"]
mod registry;

use std::sync::Arc;

use common::{Collect, Decoding, batch, hex, records, row, time, unhex};
use flott_catalog::connector::ConnectorError;
use flott_types::{ChangelogBatch, DataType, RowKind, TypeRoot, Value};
use registry::Registry;

type Columns = Vec<(&'static str, DataType)>;

fn columns() -> Columns {
    vec![
        ("id", DataType::int().not_null()),
        ("v", DataType::string()),
        ("r", row(&[("x", DataType::int())])),
    ]
}

/// What a table's rows are that a writer wrote with this schema.
fn read(columns: &Columns, schema: &str, record: &str) -> Result<Vec<String>, ConnectorError> {
    let registry = Registry::start();
    let id = registry.register("w", schema, "");
    let decoding = Decoding::new("avro-confluent", columns, &[("url", &registry.url)]);
    decoding.message(unhex(&format!("00{id:08x}{record}")))
}

fn record(fields: &str) -> String {
    format!(r#"{{"type":"record","name":"W","namespace":"n","fields":[{fields}]}}"#)
}

const DERIVED: &str = r#"{"type":"record","name":"record","namespace":"org.apache.flink.avro.generated","fields":[{"name":"id","type":"int"},{"name":"v","type":["null","string"],"default":null},{"name":"r","type":["null",{"type":"record","name":"record_r","fields":[{"name":"x","type":["null","int"],"default":null}]}],"default":null}]}"#;

#[test]
fn rows_are_written_by_a_registered_schema() {
    let registry = Registry::start();
    let pairs = [("url", &*registry.url), ("subject", "t value")];
    let rows = batch(&columns(), &[vec![Value::Int(7), Value::string("a"), Value::Null]]);
    let written = records("avro-confluent", &columns(), &pairs, &rows, b"").unwrap().bytes;
    assert_eq!(hex(&written), "00000000010e02026100");
    assert_eq!(registry.subject("t value"), [DERIVED]);
    assert_eq!(registry.requests(), ["POST /subjects/t%20value/versions"]);
    let decoding = Decoding::new("avro-confluent", &columns(), &pairs);
    let mut decoder = decoding.decoder(Arc::new(Collect::default())).unwrap();
    for _ in 0..3 {
        decoder.decode_message(&written, &String::new).unwrap();
    }
    assert_eq!(decoding.take(&mut *decoder).unwrap(), ["+I[7, a, NULL]"; 3]);
    assert_eq!(registry.requests(), ["GET /schemas/ids/1"]);
    // Another schema under the same subject is not compatible, says the registry.
    let other = [("id", DataType::string())];
    let rows = batch(&other, &[vec![Value::string("a")]]);
    let error = records("avro-confluent", &other, &pairs, &rows, b"").unwrap_err();
    assert!(error.message.contains("Could not register schema in registry"), "{error}");
    assert!(error.message.contains("incompatible with an earlier"), "{error}");
    assert!(error.hint.unwrap().contains("compatib"));
}

#[test]
fn fields_of_other_writers_are_found_by_name() {
    for (schema, bytes, rows) in [
        (
            record(r#"{"name":"v","type":"string"},{"name":"id","type":"int"}"#),
            "026104",
            "+I[2, a, NULL]",
        ),
        (
            record(r#"{"name":"id","type":["null","int"]},{"name":"v","type":"bytes"}"#),
            "02040261",
            "+I[2, a, NULL]",
        ),
        (
            format!(r#"["null",{}]"#, record(r#"{"name":"id","type":"int"}"#)),
            "0204",
            "+I[2, NULL, NULL]",
        ),
        (
            record(r#"{"name":"id","type":"int"},{"name":"v","type":["int","string"]}"#),
            "04020261",
            "+I[2, a, NULL]",
        ),
        // What nobody asks for is passed over, recursive types and all.
        (
            record(
                r#"{"name":"more","type":{"type":"array","items":["null","string","W"]}},
                   {"name":"m","type":{"type":"map","values":"double"}},{"name":"id","type":"int"}"#,
            ),
            "0600020278040000080002026b00000000000000000006",
            "+I[3, NULL, NULL]",
        ),
        (
            record(
                r#"{"name":"id","type":"int"},{"name":"r","type":["null",{"type":"record",
                   "name":"other.Name","fields":[{"name":"y","type":"string"},{"name":"x","type":"int"}]}]}"#,
            ),
            "0402026206",
            "+I[2, NULL, (3)]",
        ),
    ] {
        let got = read(&columns(), &schema, bytes).unwrap();
        assert_eq!(got, [rows], "{schema}");
    }
    for (schema, bytes, message) in [
        (record(r#"{"name":"id","type":"long"}"#), "04", "found long, not int"),
        (record(r#"{"name":"v","type":"string"}"#), "0261", "lacks the field 'id'"),
        (record(r#"{"name":"id","type":["null","int"]}"#), "00", "found null, not int"),
        (
            format!(r#"["null",{}]"#, record(r#"{"name":"id","type":"int"}"#)),
            "00",
            "found null, not a record",
        ),
        (
            record(r#"{"name":"id","type":"int"},{"name":"v","type":["int","string"]}"#),
            "040002",
            "found int, not string",
        ),
        (r#""string""#.into(), "0261", "found string, not a record"),
    ] {
        let error = read(&columns(), &schema, bytes).unwrap_err();
        assert!(error.message.contains(message), "{schema}: {error}");
    }
}

#[test]
fn numbers_are_promoted_and_units_converted() {
    let field = |ty: &str| record(&format!(r#"{{"name":"a","type":{ty}}}"#));
    let float = TypeRoot::Float.nullable();
    let time = time(3);
    for (ty, written, bytes, value) in [
        (DataType::bigint(), r#""int""#, "03", "-2"),
        (float.clone(), r#""int""#, "06", "3.0"),
        (DataType::double(), r#""long""#, "06", "3.0"),
        (DataType::double(), r#""float""#, "0000c03f", "1.5"),
        (DataType::string(), r#""bytes""#, "0261", "a"),
        (DataType::bytes(), r#""string""#, "0261", "a"),
        // Beyond the specification.
        (DataType::string(), r#"{"type":"enum","name":"E","symbols":["P","Q"]}"#, "02", "Q"),
        (DataType::bytes(), r#"{"type":"fixed","name":"F","size":2}"#, "6162", "ab"),
        (
            DataType::timestamp(3),
            r#"{"type":"long","logicalType":"timestamp-micros"}"#,
            "d00f",
            "1970-01-01 00:00:00.001",
        ),
        (DataType::timestamp(3), r#""long""#, "02", "1970-01-01 00:00:00.001"),
        (time, r#"{"type":"long","logicalType":"time-micros"}"#, "c08db701", "00:00:01.5"),
        (
            DataType::decimal(10, 2),
            r#"{"type":"bytes","logicalType":"decimal","precision":8,"scale":1}"#,
            "020f",
            "1.50",
        ),
        (
            DataType::decimal(10, 2),
            r#"{"type":"fixed","size":2,"name":"D","logicalType":"decimal","precision":4,"scale":3}"#,
            "ffff",
            "0.00",
        ),
    ] {
        let columns = vec![("a", ty.clone())];
        let rows = read(&columns, &field(written), bytes).unwrap();
        assert_eq!(rows, [format!("+I[{value}]")], "{ty} from {written}");
    }
}

#[test]
fn defaults_and_aliases_are_the_readers() {
    let registry = Registry::start();
    let reader = record(
        r#"{"name":"id","type":"int","aliases":["number"]},
           {"name":"e","type":{"type":"enum","name":"E","symbols":["P","Q"],"default":"P"}},
           {"name":"d","type":{"type":"bytes","logicalType":"decimal","precision":4,"scale":2},"default":"\u0005"},
           {"name":"l","type":{"type":"array","items":"int"},"default":[1,2]},
           {"name":"t","type":["string","null"],"default":"none"}"#,
    );
    let columns = vec![
        ("id", DataType::int().not_null()),
        ("e", DataType::string().not_null()),
        ("d", DataType::decimal(4, 2).not_null()),
        ("l", DataType::array(DataType::int().not_null()).not_null()),
        ("t", DataType::string()),
    ];
    let writer = record(
        r#"{"name":"number","type":"int"},
           {"name":"e","type":{"type":"enum","name":"E","symbols":["Q","R"]}}"#,
    );
    registry.register("w", &writer, "");
    let pairs = [("url", &*registry.url), ("schema", &*reader), ("subject", "s")];
    let decoding = Decoding::new("avro-confluent", &columns, &pairs);
    let of = |bytes: &str| decoding.message(unhex(&format!("0000000001{bytes}"))).unwrap();
    assert_eq!(of("0a00"), ["+I[5, Q, 0.05, [1, 2], none]"]);
    assert_eq!(of("0a02"), ["+I[5, P, 0.05, [1, 2], none]"]);
    assert_eq!(
        decoding.clone().project(&[4, 0]).message(unhex("00000000010a02")).unwrap(),
        ["+I[none, 5]"]
    );
    // The given schema is also the one that is registered and written by.
    let rows = batch(
        &columns,
        &[vec![
            Value::Int(1),
            Value::string("Q"),
            Value::Decimal(5),
            Value::Array(Vec::new()),
            Value::Null,
        ]],
    );
    let written = records("avro-confluent", &columns, &pairs, &rows, b"").unwrap().bytes;
    assert_eq!(hex(&written), "0000000002020202050002");
    assert_eq!(registry.subject("s"), [&*reader]);
    assert_eq!(decoding.message(&written).unwrap(), decoding.texts(&rows));
    let wrong = vec![("id", DataType::bigint().not_null())];
    let decoding = Decoding::new("avro-confluent", &wrong, &pairs);
    let error = decoding.message("").unwrap_err().to_string();
    assert!(error.contains("the Avro schema has"), "{error}");
}

#[test]
fn schemas_may_refer_to_others() {
    let registry = Registry::start();
    registry.register("a", r#"{"type":"fixed","name":"n.F","size":1}"#, "");
    let more = r#","references":[{"name":"n.F","subject":"a","version":1}]"#;
    registry.register("w", &record(r#"{"name":"f","type":"F"},{"name":"id","type":"int"}"#), more);
    let decoding = Decoding::new("avro-confluent", &columns(), &[("url", &registry.url)]);
    assert_eq!(decoding.message(unhex("0000000002ff06")).unwrap(), ["+I[3, NULL, NULL]"]);
}

#[test]
fn what_the_registry_does_not_know_is_a_bad_record() {
    let registry = Registry::start();
    registry.register("p", "syntax = \"proto3\";", r#","schemaType":"PROTOBUF""#);
    let decoding = Decoding::new("avro-confluent", &columns(), &[("url", &registry.url)]);
    let bad = Arc::new(Collect::default());
    let mut decoder = decoding.decoder(bad.clone()).unwrap();
    for message in ["", "0000", "0100000001", "000000002a00", "000000002a00", "000000000100"] {
        decoder.decode_message(&unhex(message), &|| message.into()).unwrap();
    }
    let said = bad.0.lock().unwrap().join("\n");
    for part in [
        "ends before the number of its schema",
        "Magic number does not match",
        "Could not find schema with id 42 in registry: Schema not found (status 404)",
        "of PROTOBUF, not of Avro",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(decoder.rows(), 0);
    // What is unknown is not asked for with each record.
    assert_eq!(registry.requests(), ["GET /schemas/ids/42", "GET /schemas/ids/1"]);
}

#[test]
fn logins_are_shown_and_pauses_waited_for() {
    let registry = Registry::start();
    registry.register("w", DERIVED, "");
    registry.fail(2);
    registry.require("Basic YTpi");
    let message = unhex("00000000010e0000");
    let with = |pairs: &[(&str, &str)]| {
        Decoding::new("avro-confluent", &columns(), pairs).message(&message)
    };
    let url = ("url", &*registry.url);
    assert_eq!(with(&[url, ("basic-auth.user-info", "a:b")]).unwrap(), ["+I[7, NULL, NULL]"]);
    assert_eq!(registry.requests().len(), 3);
    let source = ("basic-auth.credentials-source", "USER_INFO");
    assert!(with(&[url, source, ("properties.basic.auth.user.info", "a:b")]).is_ok());
    let in_url = registry.url.replace("http://", "http://a:b@");
    assert!(with(&[("schema-registry.url", &format!("{in_url}/"))]).is_ok());
    let error = with(&[url, ("basic-auth.user-info", "a:c")]).unwrap_err();
    assert!(error.message.contains("lets nobody in without a login"), "{error}");
    registry.require("Bearer t");
    assert!(with(&[url, ("bearer-auth.token", "t")]).is_ok());
    for (pairs, message) in [
        (&[][..], "needs the option 'url', which is missing"),
        (&[("url", "localhost:8081")], "is no address of a schema registry"),
        (&[("url", "https://localhost")], "no TLS"),
        (&[url, source], "lacks 'avro-confluent.basic-auth.user-info'"),
        (&[url, ("ssl.keystore.password", "x")], "for Java key stores"),
    ] {
        if message == "no TLS" && cfg!(feature = "tls") {
            continue;
        }
        let error = with(pairs).unwrap_err();
        assert!(error.message.contains(message), "{error}");
    }
    let down = with(&[("url", "http://127.0.0.1:9")]).unwrap_err();
    assert!(down.message.contains("the schema registry does not answer"), "{down}");
    assert!(down.transient);
    let rows = batch(&columns(), &[vec![Value::Int(7), Value::Null, Value::Null]]);
    let error = records("avro-confluent", &columns(), &[url], &rows, b"").unwrap_err();
    assert!(error.message.contains("'avro-confluent.subject' is required"), "{error}");
}

const DEBEZIUM: &str = "debezium-avro-confluent";

#[test]
fn changes_are_written_as_flink_writes_them() {
    let registry = Registry::start();
    let pairs = [("url", &*registry.url), ("subject", "s-value")];
    let value = vec![Value::Int(7), Value::string("a"), Value::Row(vec![Value::Int(1)])];
    let kinds = [RowKind::Insert, RowKind::UpdateBefore, RowKind::UpdateAfter, RowKind::Delete];
    let rows = batch(&columns(), &vec![value; 4]).rows;
    let rows = ChangelogBatch::new(rows, kinds.into_iter().collect());
    let written = records(DEBEZIUM, &columns(), &pairs, &rows, b"").unwrap();
    let written: Vec<_> = written.records().map(hex).collect();
    assert_eq!(
        written,
        [
            "00000000010200020e020261020202020263",
            "000000000102020e02026102020200020264",
            "00000000010200020e020261020202020263",
            "000000000102020e02026102020200020264",
        ]
    );
    assert_eq!(
        registry.subject("s-value"),
        [r#"["null",{"type":"record","name":"record","namespace":"org.apache.flink.avro.generated","fields":[{"name":"before","type":["null",{"type":"record","name":"record_before","fields":[{"name":"id","type":"int"},{"name":"v","type":["null","string"],"default":null},{"name":"r","type":["null",{"type":"record","name":"record_before_r","fields":[{"name":"x","type":["null","int"],"default":null}]}],"default":null}]}],"default":null},{"name":"after","type":["null",{"type":"record","name":"record_after","fields":[{"name":"id","type":"int"},{"name":"v","type":["null","string"],"default":null},{"name":"r","type":["null",{"type":"record","name":"record_after_r","fields":[{"name":"x","type":["null","int"],"default":null}]}],"default":null}]}],"default":null},{"name":"op","type":["null","string"],"default":null}]}"#.to_string() + "]"]
    );
    let decoding = Decoding::new(DEBEZIUM, &columns(), &pairs);
    let read = |message: &str| decoding.message(unhex(message)).unwrap();
    assert_eq!(read(&written[0]), ["+I[7, a, (1)]"]);
    assert_eq!(read(&written[1]), ["-D[7, a, (1)]"]);
    assert!(read("").is_empty());
}

#[test]
fn changes_of_debezium_are_read() {
    let registry = Registry::start();
    // As Debezium's own converter writes them: more fields, `op` behind them, and no null.
    let value = r#"{"type":"record","name":"Value","fields":[{"name":"v","type":["null","string"]},{"name":"id","type":"int"}]}"#;
    let envelope = format!(
        r#"{{"type":"record","name":"Envelope","namespace":"s.t","fields":[
            {{"name":"before","type":["null",{value}],"default":null}},
            {{"name":"after","type":["null","Value"],"default":null}},
            {{"name":"source","type":{{"type":"record","name":"Source","fields":[{{"name":"db","type":"string"}}]}}}},
            {{"name":"op","type":"string"}},{{"name":"ts_ms","type":["null","long"]}}]}}"#
    );
    registry.register("d", &envelope, "");
    let columns = vec![("id", DataType::int().not_null()), ("v", DataType::string())];
    let decoding = Decoding::new(DEBEZIUM, &columns, &[("url", &registry.url)]);
    let (source, one, two) = ("026d", "02020261 02", "02020262 04");
    for (message, rows) in [
        (format!("00 {one} {source} 0272 00"), &["+I[1, a]"][..]),
        (format!("{one} {two} {source} 0275 0202"), &["-U[1, a]", "+U[2, b]"]),
        (format!("{two} 00 {source} 0264 00"), &["-D[2, b]"]),
    ] {
        let message = unhex(&format!("0000000001{message}").replace(' ', ""));
        assert_eq!(decoding.message(&message).unwrap(), rows);
        let ids: Vec<_> = decoding.clone().project(&[0]).message(&message).unwrap();
        assert_eq!(ids.len(), rows.len());
        // What is cut off is missed, and leaves no trace.
        let bad = Arc::new(Collect::default());
        let mut decoder = decoding.decoder(bad.clone()).unwrap();
        decoder.decode_message(&message[..message.len() - 1], &String::new).unwrap();
        assert_eq!((decoder.rows(), bad.0.lock().unwrap().len()), (0, 1));
    }
    for (message, error) in [
        (format!("00 {one} {source} 0275 00"), "\"before\" field of UPDATE message is null"),
        (format!("00 00 {source} 0264 00"), "\"before\" field of DELETE message is null"),
        (format!("{one} 00 {source} 0275 00"), "the \"after\" field is null"),
        (format!("00 {one} {source} 0278 00"), "unknown \"op\" value \"x\""),
    ] {
        let message = unhex(&format!("0000000001{message}").replace(' ', ""));
        let said = decoding.message(message).unwrap_err().to_string();
        assert!(said.contains(error), "{said}");
    }
    registry.register("e", r#"{"type":"record","name":"X","fields":[]}"#, "");
    let said = decoding.message(unhex("0000000002")).unwrap_err().to_string();
    assert!(said.contains("lacks \"before\", \"after\" or \"op\""), "{said}");
}
