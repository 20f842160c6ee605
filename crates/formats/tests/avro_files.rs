//! Avro container files of Flink and our own.

#![allow(clippy::unwrap_used)]

mod common;

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use common::batch;
use common::whole::{Files, Part};
use flott_types::{DataType, Value};
use proptest::prelude::*;

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/avro-files").join(name)
}

fn files<'a>(columns: &'a [(&'a str, DataType)], pairs: &'a [(&'a str, &'a str)]) -> Files<'a> {
    Files { format: "avro", columns, pairs }
}

fn columns() -> [(&'static str, DataType); 2] {
    [("id", DataType::bigint()), ("name", DataType::string())]
}

/// A file of so many rows.
fn written(codec: &str, rows: i64) -> Vec<u8> {
    let columns = columns();
    let row = |id| vec![Value::Int(id), Value::string(format!("name {id} {}", id * 7_919 % 1_000))];
    let rows = batch(&columns, &(0..rows).map(row).collect::<Vec<_>>());
    files(&columns, &[("codec", codec)]).write(&[rows]).unwrap()
}

fn file(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    std::io::Seek::rewind(&mut file).unwrap();
    file
}

#[test]
fn files_of_flink_are_read() {
    let columns = [
        ("ts", DataType::timestamp(3)),
        ("id", DataType::int()),
        ("name", DataType::string()),
        ("missing", DataType::bigint()),
        ("price", DataType::decimal(10, 2)),
        ("tags", DataType::map(DataType::string(), DataType::int())),
    ];
    for codec in ["snappy", "deflate", "null", "bzip2"] {
        let path = fixture(&format!("flink_{codec}.avro"));
        assert_eq!(
            files(&columns, &[]).read_path(path).unwrap(),
            [
                "2024-01-01 00:00:00.001, 1, one, NULL, 12.50, {a=1}",
                "NULL, 2, NULL, NULL, NULL, NULL"
            ],
            "{codec}"
        );
    }
}

#[test]
fn reading_goes_on_at_any_row_and_ranges_share_the_rows() {
    let columns = columns();
    for codec in ["null", "snappy", "zstandard"] {
        let bytes = written(codec, 20_000);
        let files = files(&columns, &[]);
        let all = files.read_bytes(&bytes).unwrap();
        assert_eq!(all.len(), 20_000);
        for position in [0, 1, 2_900, 3_100, 19_999, 20_000] {
            let part = Part { position: Some(position), ..Part::default() };
            let mut rows = files.open(file(&bytes), part).unwrap();
            assert_eq!(rows.position(), position);
            assert_eq!(files.rows(&mut *rows).unwrap(), all[position as usize..], "{position}");
        }
        let size = bytes.len() as u64;
        for parts in [1, 2, 3, 10, 97] {
            let mut shared = Vec::new();
            for i in 0..parts {
                let range = Some((size * i / parts, size * (i + 1) / parts));
                let part = Part { range, max_rows: Some(700), ..Part::default() };
                let mut rows = files.open(file(&bytes), part).unwrap();
                let first = rows.next().unwrap();
                shared.extend(first.iter().flat_map(|batch| files.texts(batch)));
                // Another reader goes on where this one is.
                let part = Part { position: Some(rows.position()), ..part };
                let mut rows = files.open(file(&bytes), part).unwrap();
                shared.extend(files.rows(&mut *rows).unwrap());
            }
            assert!(shared == all, "{codec}, {parts} parts");
        }
    }
}

#[test]
fn other_files_are_told_apart() {
    let columns = columns();
    let whole = written("null", 10);
    for bytes in [&b""[..], b"Obj", b"Obj\x01", b"id,name\n1,a\n", &whole[..whole.len() - 1]] {
        let error = files(&columns, &[]).read_bytes(bytes).unwrap_err().to_string();
        assert!(error.contains("not an Avro file") && error.contains("hint"), "{error}");
    }
    let mut bytes = whole.clone();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    let error = files(&columns, &[]).read_bytes(&bytes).unwrap_err().to_string();
    assert!(error.contains("marker"), "{error}");
    let mut bytes = written("snappy", 10);
    let last = bytes.len() - 17;
    bytes[last] ^= 1;
    let error = files(&columns, &[]).read_bytes(&bytes).unwrap_err().to_string();
    assert!(error.contains("checksum"), "{error}");
    let other = [("id", DataType::boolean())];
    assert!(files(&other, &[]).read_bytes(&whole).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// A damaged file gives an error or other rows, never a panic.
    #[test]
    fn damage_never_panics(
        hits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in prop::option::weighted(0.2, any::<prop::sample::Index>()),
        codec in prop::sample::select(vec!["null", "deflate", "snappy", "bzip2", "zstandard"]),
        range in prop::option::of((0u64..400, 0u64..800)),
    ) {
        let columns = columns();
        let mut bytes = written(codec, 20);
        for (at, byte) in hits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let files = files(&columns, &[]);
        if let Ok(mut rows) = files.open(file(&bytes), Part { range, ..Part::default() }) {
            let _ = files.rows(&mut *rows);
        }
    }
}
