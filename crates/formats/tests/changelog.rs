//! The change-log formats by Flink's rules.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Decoding, batch, encode};
use flott_types::{ChangelogBatch, DataType, RowKind, Value};

const IGNORE: (&str, &str) = ("ignore-parse-errors", "true");

fn columns() -> [(&'static str, DataType); 3] {
    [("id", DataType::int()), ("v", DataType::string()), ("w", DataType::decimal(5, 2))]
}

#[test]
fn debezium_changes_become_rows() {
    let decode = |pairs: &[(&str, &str)], text: &str| {
        Decoding::new("debezium-json", &columns(), pairs).stream(text)
    };
    for (text, rows) in [
        (r#"{"before":null,"after":{"id":1,"v":"a","w":1.5},"op":"c"}"#, &["+I[1, a, 1.50]"][..]),
        (r#"{"op":"r","after":{"id":1}}"#, &["+I[1, NULL, NULL]"]),
        (
            r#"{"before":{"id":1,"v":"a"},"after":{"id":1,"v":"b"},"op":"u","ts_ms":1}"#,
            &["-U[1, a, NULL]", "+U[1, b, NULL]"],
        ),
        (r#"{"before":{"id":1},"after":null,"op":"d"}"#, &["-D[1, NULL, NULL]"]),
        (r#"[{"op":"c","after":{"id":7}}]"#, &["+I[7, NULL, NULL]"]),
        ("\n\n", &[]),
    ] {
        assert_eq!(decode(&[], text).unwrap(), rows, "{text}");
    }
    for (text, message) in [
        (
            r#"{"before":null,"after":{"id":1},"op":"u"}"#,
            "the \"before\" field of UPDATE message is null",
        ),
        (r#"{"before":null,"op":"d"}"#, "the \"before\" field of DELETE message is null"),
        (r#"{"after":{"id":1},"op":"?"}"#, "unknown \"op\" value \"?\""),
        (r#"{"after":{"id":1}}"#, "\"op\" is missing"),
        (r#"{"after":null,"op":"c"}"#, "the \"after\" field is null"),
        (r#"{"after":{"id":"x"},"op":"c"}"#, "cannot read 'x' as INT for column 'id'"),
        (r#"{"before":{"id":"x"},"after":{"id":1},"op":"c"}"#, "cannot read 'x' as INT"),
        (r#"{"after":{"id":1},"op":"c""#, "broken JSON"),
        (r#"{"before":null,"op":"u"}"#, "REPLICA IDENTITY"),
    ] {
        let error = decode(&[], text).unwrap_err().to_string();
        assert!(error.contains(message), "{text}: {error}");
        assert!(decode(&[IGNORE], text).unwrap().len() <= 1);
    }
    let enveloped = r#"{"schema":{"t":1},"payload":{"after":{"id":1},"op":"c"}}"#;
    assert_eq!(decode(&[("schema-include", "true")], enveloped).unwrap(), ["+I[1, NULL, NULL]"]);
}

#[test]
fn debezium_metadata_comes_from_the_message() {
    let keys = [
        "schema",
        "ingestion-timestamp",
        "source.timestamp",
        "source.database",
        "source.schema",
        "source.table",
        "source.properties",
    ];
    let decoding = Decoding::new("debezium-json", &columns(), &[("schema-include", "true")])
        .project(&[0])
        .metadata(&keys);
    let text = r#"{"schema":{"a":[1.0]},"payload":{"before":{"id":1},"after":{"id":2},"op":"u","ts_ms":1500,
        "source":{"ts_ms":7,"db":"d","schema":"s","table":"t"}}}"#.replace('\n', "");
    let meta = "{\"a\":[1.0]}, 1970-01-01 00:00:01.500, 1970-01-01 00:00:00.007, d, s, t, \
                {ts_ms=7, db=d, schema=s, table=t}";
    assert_eq!(
        decoding.stream(text).unwrap(),
        [format!("-U[1, {meta}]"), format!("+U[2, {meta}]")]
    );
    let bare = r#"{"payload":{"after":{"id":2},"op":"c"}}"#;
    assert_eq!(decoding.stream(bare).unwrap(), ["+I[2, NULL, NULL, NULL, NULL, NULL, NULL, NULL]"]);
}

#[test]
fn canal_updates_patch_the_row() {
    let decode = |pairs: &[(&str, &str)], text: &str| {
        Decoding::new("canal-json", &columns(), pairs).stream(text)
    };
    for (text, rows) in [
        (
            r#"{"data":[{"id":"1","v":"a","w":"1.5"},{"id":2}],"type":"INSERT"}"#,
            &["+I[1, a, 1.50]", "+I[2, NULL, NULL]"][..],
        ),
        (
            r#"{"data":[{"id":1,"v":"n","w":1}],"old":[{"v":"o"}],"type":"UPDATE"}"#,
            &["-U[1, o, 1.00]", "+U[1, n, 1.00]"],
        ),
        (
            r#"{"data":[{"id":1,"v":"n"}],"old":[{"v":null}],"type":"UPDATE"}"#,
            &["-U[1, NULL, NULL]", "+U[1, n, NULL]"],
        ),
        // A field that any old row speaks of is taken as changed in all of them.
        (
            r#"{"data":[{"id":1,"v":"n"},{"id":2,"v":"m"}],"old":[{"v":"o"},{"id":9}],"type":"UPDATE"}"#,
            &["-U[NULL, o, NULL]", "+U[1, n, NULL]", "-U[9, NULL, NULL]", "+U[2, m, NULL]"],
        ),
        (r#"{"data":[{"id":1}],"type":"DELETE"}"#, &["-D[1, NULL, NULL]"]),
        (r#"{"data":null,"type":"CREATE"}"#, &[]),
    ] {
        assert_eq!(decode(&[], text).unwrap(), rows, "{text}");
    }
    let short = r#"{"data":[{"id":1},{"id":2}],"old":[{"id":8}],"type":"UPDATE"}"#;
    assert!(decode(&[], short).is_err());
    // What was whole before the fault has gone out in Flink.
    assert_eq!(decode(&[IGNORE], short).unwrap(), ["-U[8, NULL, NULL]", "+U[1, NULL, NULL]"]);
    let error = decode(&[], r#"{"data":null,"type":"ALTER"}"#).unwrap_err();
    assert!(error.message.contains("unknown \"type\" value \"ALTER\""), "{error}");
}

#[test]
fn canal_reads_chosen_tables_only() {
    let text = "{\"data\":[{\"id\":1}],\"type\":\"INSERT\",\"database\":\"db1\",\"table\":\"ab\"}\n\
                {\"data\":[{\"id\":2}],\"type\":\"INSERT\",\"database\":\"db2\",\"table\":\"b\"}\n";
    for (pairs, rows) in [
        (&[("table.include", "b")][..], &["+I[2, NULL, NULL]"][..]),
        (&[("database.include", "db.*")], &["+I[1, NULL, NULL]", "+I[2, NULL, NULL]"]),
        (&[("database.include", "x")], &[]),
    ] {
        assert_eq!(Decoding::new("canal-json", &columns(), pairs).stream(text).unwrap(), rows);
    }
    let broken = Decoding::new("canal-json", &columns(), &[("table.include", "(")]);
    assert!(broken.stream("").unwrap_err().message.contains("canal-json.table.include"));
}

#[test]
fn canal_metadata_comes_from_the_message() {
    let decoding = Decoding::new("canal-json", &columns(), &[]).project(&[0]).metadata(&[
        "database",
        "table",
        "sql-type",
        "pk-names",
        "ingestion-timestamp",
        "event-timestamp",
    ]);
    let text = r#"{"data":[{"id":1}],"type":"INSERT","database":"d","table":"t","sqlType":{"id":4},"pkNames":["id"],"ts":2000,"es":1000}"#;
    assert_eq!(
        decoding.stream(text).unwrap(),
        ["+I[1, d, t, {id=4}, [id], 1970-01-01 00:00:02.000, 1970-01-01 00:00:01.000]"]
    );
}

#[test]
fn maxwell_changes_become_rows() {
    let decoding =
        Decoding::new("maxwell-json", &columns(), &[]).metadata(&["ingestion-timestamp"]);
    for (text, rows) in [
        (
            r#"{"data":{"id":1},"type":"insert","ts":2}"#,
            &["+I[1, NULL, NULL, 1970-01-01 00:00:02.000]"][..],
        ),
        (r#"{"data":{"id":1},"type":"delete"}"#, &["-D[1, NULL, NULL, NULL]"]),
        (
            r#"{"data":{"id":1,"v":"n"},"old":{"v":"o"},"type":"update"}"#,
            &["-U[1, o, NULL, NULL]", "+U[1, n, NULL, NULL]"],
        ),
    ] {
        assert_eq!(decoding.stream(text).unwrap(), rows, "{text}");
    }
    assert!(decoding.stream(r#"{"data":{"id":1},"type":"bootstrap-insert"}"#).is_err());
    assert!(decoding.stream(r#"{"data":{"id":1},"type":"update"}"#).is_err());
}

#[test]
fn ogg_changes_become_rows() {
    let decoding = Decoding::new("ogg-json", &columns(), &[]).metadata(&[
        "table",
        "primary-keys",
        "ingestion-timestamp",
        "event-timestamp",
    ]);
    let text = r#"{"table":"S.T","op_type":"U","op_ts":"2020-05-13 15:40:06.123456","current_ts":"2020-05-13T15:40:07.000001","primary_keys":["id"],"before":{"id":1},"after":{"id":2}}"#;
    // Flink reads both times to the millisecond.
    let meta = "S.T, [id], 2020-05-13 15:40:07.000000, 2020-05-13 15:40:06.123000";
    assert_eq!(
        decoding.stream(text).unwrap(),
        [format!("-U[1, NULL, NULL, {meta}]"), format!("+U[2, NULL, NULL, {meta}]")]
    );
    let error = decoding.stream(r#"{"op_type":"T"}"#).unwrap_err();
    assert!(error.message.contains("unknown \"op_type\" value \"T\""), "{error}");
}

#[test]
fn changes_are_written_as_additions_and_deletions() {
    let columns = [("id", DataType::int()), ("v", DataType::string())];
    let rows = batch(
        &columns,
        &[
            vec![Value::Int(1), Value::string("a")],
            vec![Value::Int(1), Value::string("a")],
            vec![Value::Int(1), Value::Null],
        ],
    );
    let kinds = [RowKind::Insert, RowKind::UpdateBefore, RowKind::UpdateAfter];
    let rows = ChangelogBatch::new(rows.rows, kinds.into_iter().collect());
    let write = |format: &str, pairs: &[(&str, &str)]| {
        encode(format, &columns, pairs, &rows, b"\n").unwrap()
    };
    assert_eq!(
        write("debezium-json", &[]),
        concat!(
            r#"{"before":null,"after":{"id":1,"v":"a"},"op":"c"}"#,
            "\n",
            r#"{"before":{"id":1,"v":"a"},"after":null,"op":"d"}"#,
            "\n",
            r#"{"before":null,"after":{"id":1,"v":null},"op":"c"}"#,
            "\n",
        )
    );
    assert_eq!(
        write("ogg-json", &[("encode.ignore-null-fields", "true")]),
        concat!(
            r#"{"after":{"id":1,"v":"a"},"op_type":"I"}"#,
            "\n",
            r#"{"before":{"id":1,"v":"a"},"op_type":"D"}"#,
            "\n",
            r#"{"after":{"id":1},"op_type":"I"}"#,
            "\n",
        )
    );
    assert_eq!(
        write("canal-json", &[]),
        concat!(
            r#"{"data":[{"id":1,"v":"a"}],"type":"INSERT"}"#,
            "\n",
            r#"{"data":[{"id":1,"v":"a"}],"type":"DELETE"}"#,
            "\n",
            r#"{"data":[{"id":1,"v":null}],"type":"INSERT"}"#,
            "\n",
        )
    );
    assert_eq!(
        write("maxwell-json", &[]),
        concat!(
            r#"{"data":{"id":1,"v":"a"},"type":"insert"}"#,
            "\n",
            r#"{"data":{"id":1,"v":"a"},"type":"delete"}"#,
            "\n",
            r#"{"data":{"id":1,"v":null},"type":"insert"}"#,
            "\n",
        )
    );
    let error = encode("debezium-json", &columns, &[("schema-include", "true")], &rows, b"");
    assert!(error.is_err());
}
