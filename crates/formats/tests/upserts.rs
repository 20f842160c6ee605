//! The format of keys and their newest rows.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Decoding, batch, encode};
use flott_types::{ChangelogBatch, DataType, RowKind, Value};

fn columns() -> [(&'static str, DataType); 3] {
    [("id", DataType::int()), ("v", DataType::string()), ("w", DataType::decimal(5, 2))]
}

#[test]
fn a_value_sets_the_row_of_its_key_and_null_deletes_it() {
    let decode = |pairs: &[(&str, &str)], text: &str| {
        Decoding::new("upsert-json", &columns(), pairs).stream(text)
    };
    for (text, rows) in [
        (r#"{"key":{"id":1},"value":{"id":1,"v":"a","w":1.5}}"#, &["+I[1, a, 1.50]"][..]),
        (r#"{"value":{"w":"2","v":"a","id":1},"key":{"id":1}}"#, &["+I[1, a, 2.00]"]),
        // The key is read from the key.
        (r#"{"key":{"id":1},"value":{"v":"a"}}"#, &["+I[1, a, NULL]"]),
        (r#"{"key":{"id":1},"value":{"v":"a","id":7}}"#, &["+I[1, a, NULL]"]),
        (r#"{"key":{"id":1},"value":null}"#, &["-D[1, NULL, NULL]"]),
        (r#"{"key":{"id":1}}"#, &["-D[1, NULL, NULL]"]),
        ("\n", &[]),
    ] {
        assert_eq!(decode(&[], text).unwrap(), rows, "{text}");
    }
    for (text, message) in [
        (r#"{"value":{"id":1}}"#, "\"key\" is missing"),
        (r#"{"key":{},"value":null}"#, "\"key\" lacks a column of the primary key"),
        (r#"{"key":{"id":"x"},"value":null}"#, "cannot read 'x' as INT for column 'id'"),
        (r#"{"key":{"id":1},"value":[]}"#, "not an object"),
        (r#"{"key":{"id":1},"value":"#, "broken JSON"),
    ] {
        let error = decode(&[], text).unwrap_err().to_string();
        assert!(error.contains(message), "{text}: {error}");
    }
    let broken = "{\"key\":{\"id\":1}\n{\"key\":{\"id\":2},\"value\":null}\n";
    assert_eq!(decode(&[("ignore-parse-errors", "true")], broken).unwrap(), ["-D[2, NULL, NULL]"]);
}

#[test]
fn the_key_is_read_wherever_its_column_stands() {
    let decoding = Decoding::new("upsert-json", &columns(), &[]).project(&[2, 0]);
    assert_eq!(
        decoding.stream(r#"{"key":{"id":1},"value":{"v":"a","w":1}}"#).unwrap(),
        ["+I[1.00, 1]"]
    );
}

#[test]
fn one_record_is_written_for_each_change() {
    let columns = [("id", DataType::int()), ("v", DataType::string())];
    let row = |v: Value| vec![Value::Int(1), v];
    let rows = [row(Value::string("a")), row(Value::string("b")), row(Value::Null)];
    let kinds = [RowKind::Insert, RowKind::UpdateAfter, RowKind::Delete];
    let rows = ChangelogBatch::new(batch(&columns, &rows).rows, kinds.into_iter().collect());
    let write =
        |pairs: &[(&str, &str)]| encode("upsert-json", &columns, pairs, &rows, b"\n").unwrap();
    assert_eq!(
        write(&[]),
        concat!(
            r#"{"key":{"id":1},"value":{"id":1,"v":"a"}}"#,
            "\n",
            r#"{"key":{"id":1},"value":{"id":1,"v":"b"}}"#,
            "\n",
            r#"{"key":{"id":1},"value":null}"#,
            "\n",
        )
    );
    assert_eq!(
        write(&[("value.fields-include", "EXCEPT_KEY")]).lines().next(),
        Some(r#"{"key":{"id":1},"value":{"v":"a"}}"#)
    );
}
