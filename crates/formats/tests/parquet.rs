//! Parquet files of Flink, pyarrow and our own.

#![allow(clippy::unwrap_used)]

mod common;

use std::fs::File;
use std::path::PathBuf;

use common::whole::{Files, Part};
use common::{batch, row, time};
use flott_types::{DataType, TypeRoot, Value};
use proptest::prelude::*;

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/parquet").join(name)
}

const UTC: &[(&str, &str)] = &[("utc-timezone", "true")];

fn files<'a>(columns: &'a [(&'a str, DataType)]) -> Files<'a> {
    Files { format: "parquet", columns, pairs: UTC }
}

/// The values of one column of a file.
fn column(file: &str, name: &str, ty: DataType) -> Result<Vec<String>, String> {
    let columns = [(name, ty)];
    files(&columns).read_path(fixture(file)).map_err(|error| error.to_string())
}

fn tinyint() -> DataType {
    TypeRoot::TinyInt.nullable()
}

fn smallint() -> DataType {
    TypeRoot::SmallInt.nullable()
}

fn float() -> DataType {
    TypeRoot::Float.nullable()
}

fn date() -> DataType {
    TypeRoot::Date.nullable()
}

#[test]
fn files_of_flink_are_read() {
    let columns = [
        ("b", DataType::boolean()),
        ("ti", tinyint()),
        ("si", smallint()),
        ("i", DataType::int().not_null()),
        ("bi", DataType::bigint()),
        ("f", float()),
        ("d", DataType::double()),
        ("de", DataType::decimal(9, 2)),
        ("de2", DataType::decimal(18, 4)),
        ("de3", DataType::decimal(38, 10)),
        ("c", TypeRoot::Char(5).nullable()),
        ("s", DataType::string()),
        ("bin", TypeRoot::Binary(3).nullable()),
        ("vb", DataType::bytes()),
        ("dt", date()),
        ("tm", time(0)),
        ("ts3", DataType::timestamp(3)),
        ("l3", DataType::timestamp_ltz(3)),
        ("l6", DataType::timestamp_ltz(6)),
        ("a", DataType::array(DataType::int())),
        ("ar", DataType::array(row(&[("x", DataType::int()), ("t", DataType::timestamp(3))]))),
        ("m", DataType::map(DataType::string(), DataType::bigint())),
        ("r", row(&[("x", DataType::int()), ("y", DataType::string())])),
        ("n", DataType::string()),
    ];
    let expected = "TRUE, 1, -2, 3, 4, 1.5, -2.25, 1234567.89, -12345678901234.5678, \
         -0.0000000001, ab   , text, \u{1}\u{2}\u{3}, \u{fffd}\u{0}, 1969-12-31, 12:34:56, \
         2024-03-10 02:30:00.123, 2024-01-01 00:00:00.123, 2024-07-03 09:46:40.456000, \
         [1, NULL, 3], [(1, 2024-01-01 00:00:00.001)], {k=7, l=NULL}, (5, y), NULL";
    for file in ["flink_int96.parquet", "flink_int64.parquet"] {
        assert_eq!(files(&columns).read_path(fixture(file)).unwrap(), [expected], "{file}");
    }
    let finest = [("ts9", DataType::timestamp(9)), ("ts6", DataType::timestamp(6))];
    for (file, expected) in [
        ("flink_int96.parquet", "9999-12-31 23:59:59.123456789, 2600-01-01 00:00:00.123456"),
        ("flink_int64.parquet", "9999-12-31 23:59:59.123456000, 2600-01-01 00:00:00.123456"),
    ] {
        assert_eq!(files(&finest).read_path(fixture(file)).unwrap(), [expected]);
    }
}

#[test]
fn files_of_pyarrow_are_read() {
    let ty = DataType::string;
    for file in ["types.parquet", "types_v2.parquet", "types_plain.parquet"] {
        for (name, ty, first, last) in [
            ("b", DataType::boolean(), "TRUE", "FALSE"),
            ("i8", tinyint(), "1", "-128"),
            ("i8", DataType::bigint(), "1", "-128"),
            ("i16", smallint(), "2", "-32768"),
            ("i32", DataType::int(), "3", "-2147483648"),
            ("i32", DataType::bigint(), "3", "-2147483648"),
            ("i64", DataType::bigint(), "4", "-9223372036854775808"),
            ("u8", smallint(), "5", "255"),
            ("u16", DataType::int(), "6", "65535"),
            ("u32", DataType::bigint(), "7", "4294967295"),
            ("u64", DataType::bigint(), "8", "9223372036854775807"),
            ("f16", float(), "1.5", "-2.0"),
            ("f32", DataType::double(), "1.5", "Infinity"),
            ("f64", DataType::double(), "-2.25", "1.0E300"),
            ("d9", DataType::decimal(9, 2), "1234567.89", "-9999999.99"),
            ("d9", DataType::decimal(20, 5), "1234567.89000", "-9999999.99000"),
            ("d9", DataType::decimal(38, 2), "1234567.89", "-9999999.99"),
            (
                "d38",
                DataType::decimal(38, 10),
                "-0.0000000001",
                "9999999999999999999999999999.9999999999",
            ),
            ("s", ty(), "text", "ü€😀"),
            ("ls", ty(), "large", ""),
            ("fix", DataType::bytes(), "abc", "\u{0}\u{1}\u{2}"),
            ("s", DataType::bytes(), "text", "ü€😀"),
            ("date", date(), "1969-12-31", "9999-12-31"),
            ("t32", time(3), "12:34:56.789", "00:00:00.0"),
            ("t64", time(3), "12:34:56.789", "23:59:59.999"),
            ("ms", DataType::timestamp(3), "2024-07-01 12:00:00.123", "0001-01-01 00:00:00.000"),
            (
                "ms",
                DataType::timestamp(9),
                "2024-07-01 12:00:00.123000000",
                "0001-01-01 00:00:00.000000000",
            ),
            (
                "us",
                DataType::timestamp(6),
                "2024-07-01 12:00:00.123456",
                "9999-12-31 23:59:59.999999",
            ),
            ("us", DataType::timestamp(3), "2024-07-01 12:00:00.123", "9999-12-31 23:59:59.999"),
            (
                "ns",
                DataType::timestamp(6),
                "2024-07-01 12:00:00.123456",
                "1700-01-01 00:00:00.000000",
            ),
            (
                "tz",
                DataType::timestamp_ltz(6),
                "2024-07-01 12:00:00.123456",
                "2024-07-01 12:00:00.123456",
            ),
            ("dic", ty(), "x", "y"),
            ("list", DataType::array(DataType::bigint()), "[1, NULL, 3]", "[]"),
            ("map", DataType::map(ty(), DataType::int()), "{k=7, l=NULL}", "{}"),
            ("row", row(&[("y", ty()), ("x", DataType::bigint())]), "(y, 5)", "(NULL, NULL)"),
            ("row", row(&[("z", ty()), ("x", DataType::int())]), "(NULL, 5)", "(NULL, NULL)"),
            ("row", row(&[("z", ty())]), "(NULL)", "(NULL)"),
        ] {
            let label = format!("{file}: {name} as {ty}");
            let values = column(file, name, ty).unwrap_or_else(|error| panic!("{label}: {error}"));
            assert_eq!(values, [first, "NULL", last], "{label}");
        }
    }
    let deep = DataType::map(ty(), DataType::array(DataType::timestamp(3)));
    let values = column("types.parquet", "deep", DataType::array(row(&[("m", deep)]))).unwrap();
    assert_eq!(values[0], "[({k=[2024-07-01 12:00:00.123, NULL]}), NULL, (NULL)]");
    assert_eq!(column("types.parquet", "nul", DataType::int()).unwrap(), ["NULL"; 3]);
    let int96 = column("int96.parquet", "us", DataType::timestamp(6)).unwrap();
    assert_eq!(int96, ["2024-07-01 12:00:00.123456", "NULL", "9999-12-31 23:59:59.999999"]);
    let int96 = column("int96.parquet", "ms", DataType::timestamp(9)).unwrap();
    assert_eq!(int96[2], "0001-01-01 00:00:00.000000000");
}

#[test]
fn what_a_type_cannot_hold_is_told_with_column_and_types() {
    for (name, ty, told) in [
        ("i32", tinyint(), "column 'i32' has a value in the file that TINYINT cannot hold"),
        ("u64", DataType::int(), "column 'u64' has a value"),
        ("d9", DataType::decimal(5, 2), "column 'd9' has a value in the file that DECIMAL(5, 2)"),
        (
            "d9",
            DataType::decimal(9, 1),
            "column 'd9' is DECIMAL(9, 2) in the file, which cannot be",
        ),
        ("f64", float(), "column 'f64' is DOUBLE in the file, which cannot be read as FLOAT"),
        ("s", DataType::int(), "column 's' is STRING in the file, which cannot be read as INT"),
        ("bin", DataType::string(), "column 'bin' has a value in the file that STRING cannot hold"),
        ("i64", DataType::timestamp(3), "column 'i64' is BIGINT in the file"),
        ("row", DataType::array(DataType::int()), "column 'row' is ROW in the file"),
        ("b", DataType::string(), "column 'b' is BOOLEAN in the file"),
    ] {
        let error = column("types.parquet", name, ty).unwrap_err();
        assert!(error.contains(told), "{error}");
        assert!(error.contains("hint: declare the column"), "{error}");
    }
}

#[test]
fn a_column_that_files_have_not_is_null() {
    let columns = [("x", DataType::int()), ("i8", tinyint()), ("I8", tinyint())];
    let rows = files(&columns).read_path(fixture("types.parquet")).unwrap();
    assert_eq!(rows, ["NULL, 1, NULL", "NULL, NULL, NULL", "NULL, -128, NULL"]);
    let error = column("types.parquet", "x", DataType::int().not_null()).unwrap_err();
    assert!(error.contains("no column 'x'"), "{error}");
    assert_eq!(files(&[]).read_path(fixture("types.parquet")).unwrap(), [""; 3]);
    assert_eq!(column("types.parquet", "x", DataType::int()).unwrap(), ["NULL"; 3]);
}

#[test]
fn reading_goes_on_at_any_row_and_ranges_share_the_rows() {
    let columns = [("id", DataType::bigint()), ("at", DataType::timestamp(6))];
    let files = files(&columns);
    let file = || File::open(fixture("groups.parquet")).unwrap();
    let all = files.read(file()).unwrap();
    assert_eq!(all.len(), 1000);
    assert!(all[999].starts_with("999, "));
    for position in [0, 1, 249, 250, 251, 600, 999, 1000, 5000] {
        let part = Part { position: Some(position), ..Part::default() };
        let rows = files.rows(&mut *files.open(file(), part).unwrap()).unwrap();
        assert_eq!(rows, all[all.len().min(position as usize)..], "from {position}");
    }
    let mut reader = files.open(file(), Part { max_rows: Some(77), ..Part::default() }).unwrap();
    let mut at = 0;
    while let Some(batch) = reader.next().unwrap() {
        at += batch.len() as u64;
        assert!(batch.len() <= 77 && reader.position() == at);
    }
    let size = file().metadata().unwrap().len();
    for parts in [1, 2, 3, 7] {
        let mut shared = Vec::new();
        for i in 0..parts {
            let range = Some((size * i / parts, size * (i + 1) / parts));
            let part = Part { range, ..Part::default() };
            shared.extend(files.rows(&mut *files.open(file(), part).unwrap()).unwrap());
        }
        assert_eq!(shared, all, "{parts} parts");
    }
}

#[test]
fn timestamps_are_local_where_files_have_instants() {
    // The zone is the program's: what it writes so, it reads so.
    let columns = [("t", DataType::timestamp(3)), ("l", DataType::timestamp_ltz(9))];
    let noon = Value::Timestamp(1_720_000_000_123_000_000);
    let rows = batch(&columns, &[vec![noon.clone(), noon], vec![Value::Null, Value::Null]]);
    for unit in ["millis", "micros", "nanos"] {
        for int64 in ["true", "false"] {
            let pairs = [("timestamp.time.unit", unit), ("write.int64.timestamp", int64)];
            let files = Files { format: "parquet", columns: &columns, pairs: &pairs };
            let bytes = files.write(std::slice::from_ref(&rows)).unwrap();
            assert_eq!(files.read_bytes(&bytes).unwrap(), files.texts(&rows), "{unit} {int64}");
        }
    }
    let early = Value::Timestamp(-80_000_000_000_000_000_000);
    let rows = batch(&columns[..1], &[vec![early]]);
    let pairs = [("timestamp.time.unit", "nanos"), ("write.int64.timestamp", "true")];
    let files = Files { format: "parquet", columns: &columns[..1], pairs: &pairs };
    let error = files.write(&[rows]).unwrap_err().to_string();
    assert!(error.contains("column 't'") && error.contains("micros"), "{error}");
}

#[test]
fn null_is_refused_where_the_schema_has_no_place_for_it() {
    let columns = [("n", DataType::int().not_null())];
    let nullable = [("n", DataType::int())];
    let rows = batch(&nullable, &[vec![Value::Null]]);
    let error = files(&columns).write(&[rows]).unwrap_err().to_string();
    assert!(error.contains("column 'n'") && error.contains("NOT NULL"), "{error}");
    let columns = [("m", DataType::map(DataType::string(), DataType::int()))];
    let rows = batch(&columns, &[vec![Value::Map(vec![(Value::Null, Value::Int(1))])]]);
    let error = files(&columns).write(&[rows]).unwrap_err().to_string();
    assert!(error.contains("key of a map"), "{error}");
    let columns = [("i", TypeRoot::IntervalYearMonth.nullable())];
    let error = files(&columns).write(&[]).unwrap_err().to_string();
    assert!(error.contains("does not support type INTERVAL"), "{error}");
}

#[test]
fn other_files_are_told_apart() {
    let columns = [("id", DataType::bigint())];
    for bytes in [&b""[..], b"PAR1", b"id,name\n1,a\n", &[0; 64], b"PAR1\0\0\0\0\0\0\0\0PAR1"] {
        let error = files(&columns).read_bytes(bytes).unwrap_err().to_string();
        assert!(error.contains("not a Parquet file"), "{error}");
    }
    let error = column("brotli.parquet", "id", DataType::bigint()).unwrap_err();
    assert!(error.contains("brotli") && error.contains("hint"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// A damaged file gives an error or other rows, never a panic.
    #[test]
    fn damage_never_panics(
        hits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in prop::option::weighted(0.2, any::<prop::sample::Index>()),
        in_footer in any::<bool>(),
    ) {
        let columns = [
            ("i64", DataType::bigint()),
            ("s", DataType::string()),
            ("d38", DataType::decimal(38, 10)),
            ("us", DataType::timestamp(9)),
            ("map", DataType::map(DataType::string(), DataType::bigint())),
            ("list", DataType::array(DataType::int())),
        ];
        let mut bytes = std::fs::read(fixture("types_v2.parquet")).unwrap();
        let from = if in_footer { bytes.len() - 2000 } else { 0 };
        for (at, byte) in hits {
            let at = from + at.index(bytes.len() - from);
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let _ = files(&columns).read_bytes(&bytes);
    }
}
