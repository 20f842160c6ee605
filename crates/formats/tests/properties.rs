//! What holds for all schemas, values and bytes.

#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Arc;

use common::whole::Files;
use common::{Collect, Decoding, batch, encode, format, records};
use flott_types::{ChangelogBatch, DataType, RowField, TypeRoot, Value};
use proptest::prelude::*;

const FORMATS: [&str; 6] =
    ["csv", "json", "debezium-json", "canal-json", "maxwell-json", "ogg-json"];

/// Types that every format knows.
fn scalar_type() -> impl Strategy<Value = DataType> {
    prop_oneof![
        Just(DataType::boolean()),
        Just(TypeRoot::TinyInt.nullable()),
        Just(TypeRoot::SmallInt.nullable()),
        Just(DataType::int()),
        Just(DataType::bigint()),
        Just(TypeRoot::Float.nullable()),
        Just(DataType::double()),
        (1u8..=38).prop_flat_map(|p| (Just(p), 0..=p)).prop_map(|(p, s)| DataType::decimal(p, s)),
        Just(DataType::string()),
        Just(DataType::bytes()),
        Just(TypeRoot::Date.nullable()),
        Just(TypeRoot::Time(3).nullable()),
        (0u8..=9).prop_map(DataType::timestamp),
        (0u8..=9).prop_map(DataType::timestamp_ltz),
    ]
}

fn json_type() -> impl Strategy<Value = DataType> {
    scalar_type().prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(DataType::array),
            inner.clone().prop_map(|value| DataType::map(DataType::string(), value)),
            prop::collection::vec(inner, 1..4).prop_map(row),
        ]
    })
}

/// Types that Avro knows with SQL timestamps; those in arrays and maps are mapped the old way.
fn avro_type() -> impl Strategy<Value = DataType> {
    let nested = scalar_type().prop_filter("has a type in arrays", |ty| match ty.root {
        TypeRoot::Timestamp(p) => p <= 3,
        TypeRoot::TimestampLtz(_) => false,
        _ => true,
    });
    let top = scalar_type().prop_filter("has a type", |ty| match ty.root {
        TypeRoot::Timestamp(p) | TypeRoot::TimestampLtz(p) => p <= 6,
        _ => true,
    });
    let nested = (nested, any::<bool>()).prop_map(|(ty, null)| ty.with_nullable(null));
    let top = (top, any::<bool>()).prop_map(|(ty, null)| ty.with_nullable(null)).boxed();
    let collection = nested.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(DataType::array),
            inner.clone().prop_map(|value| DataType::map(DataType::string(), value).not_null()),
            prop::collection::vec(inner, 1..4).prop_map(row),
        ]
    });
    prop_oneof![top.clone(), collection, prop::collection::vec(top, 1..4).prop_map(row)]
}

fn row(types: Vec<DataType>) -> DataType {
    let fields = types.into_iter().enumerate();
    let fields = fields.map(|(at, ty)| RowField::new(format!("f{at}"), ty)).collect::<Vec<_>>();
    DataType::row(fields)
}

fn value(ty: &DataType) -> BoxedStrategy<Value> {
    let some = match &ty.root {
        TypeRoot::Boolean => any::<bool>().prop_map(Value::Boolean).boxed(),
        TypeRoot::TinyInt => any::<i8>().prop_map(|v| Value::Int(v.into())).boxed(),
        TypeRoot::SmallInt => any::<i16>().prop_map(|v| Value::Int(v.into())).boxed(),
        TypeRoot::Int => any::<i32>().prop_map(|v| Value::Int(v.into())).boxed(),
        TypeRoot::BigInt => any::<i64>().prop_map(Value::Int).boxed(),
        TypeRoot::Float => any::<f32>().prop_map(Value::Float).boxed(),
        TypeRoot::Double => any::<f64>().prop_map(Value::Double).boxed(),
        TypeRoot::Decimal { precision, .. } => {
            let limit = 10i128.pow(u32::from(*precision));
            (-limit + 1..limit).prop_map(Value::Decimal).boxed()
        }
        TypeRoot::Varchar(_) => any::<String>().prop_map(Value::string).boxed(),
        TypeRoot::Varbinary(_) => prop::collection::vec(any::<u8>(), 0..20)
            .prop_map(|bytes| Value::Bytes(bytes.into()))
            .boxed(),
        // `java.sql.Date` has another calendar before 1583.
        TypeRoot::Date => (-141_000..2_932_896i32).prop_map(Value::Date).boxed(),
        TypeRoot::Time(_) => (0..86_400_000i32).prop_map(Value::Time).boxed(),
        TypeRoot::Timestamp(p) | TypeRoot::TimestampLtz(p) => {
            let unit = match p {
                0..=3 => 1_000_000,
                4..=6 => 1_000,
                _ => 1,
            };
            let day = 86_400_000_000_000i128;
            (-700_000 * day / unit..2_900_000 * day / unit)
                .prop_map(move |steps| Value::Timestamp(steps * unit))
                .boxed()
        }
        TypeRoot::Array(element) => {
            prop::collection::vec(value(element), 0..4).prop_map(Value::Array).boxed()
        }
        TypeRoot::Map(_, inner) => prop::collection::vec(value(inner), 0..4)
            .prop_map(|values| {
                let keys = ["a", "b\"", "ü", ""];
                let entries = keys.into_iter().map(Value::string).zip(values);
                Value::Map(entries.collect())
            })
            .boxed(),
        TypeRoot::Row(fields) => fields
            .iter()
            .map(|field| value(&field.data_type))
            .collect::<Vec<_>>()
            .prop_map(Value::Row)
            .boxed(),
        _ => Just(Value::Null).boxed(),
    };
    match ty.nullable {
        true => prop_oneof![1 => Just(Value::Null), 4 => some].boxed(),
        false => some,
    }
}

type Table = (Vec<DataType>, Vec<Vec<Value>>);

fn table(ty: impl Strategy<Value = DataType>) -> impl Strategy<Value = Table> {
    prop::collection::vec(ty, 1..5).prop_flat_map(|types| {
        let row = types.iter().map(value).collect::<Vec<_>>();
        (Just(types), prop::collection::vec(row, 0..6))
    })
}

/// A table's columns with names, and its rows.
fn named(table: &Table, prefix: &str) -> (Vec<(&'static str, DataType)>, ChangelogBatch) {
    let name = |at: usize| -> &'static str { format!("{prefix}{at}").leak() };
    let columns: Vec<_> =
        table.0.iter().cloned().enumerate().map(|(at, ty)| (name(at), ty)).collect();
    let rows = batch(&columns, &table.1);
    (columns, rows)
}

/// Writes a table and reads it again.
fn round_trip(name: &'static str, pairs: &[(&str, &str)], (types, rows): &Table) {
    let names: Vec<_> = (0..types.len()).map(|at| format!("c {at}")).collect();
    let columns: Vec<_> = names.iter().map(String::as_str).zip(types.iter().cloned()).collect();
    let written = batch(&columns, rows);
    let text = encode(name, &columns, pairs, &written, b"\n").unwrap();
    let decoding = Decoding::new(name, &columns, pairs);
    let read = decoding.stream(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(read, decoding.texts(&written), "{name}: {text}");
}

fn strip(value: &Value, avoid: &str) -> bool {
    !matches!(value, Value::String(text) if &**text == avoid)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn json_formats_read_what_they_write(table in table(json_type())) {
        for name in &FORMATS[1..] {
            round_trip(name, &[], &table);
        }
        let plain = [
            ("encode.decimal-as-plain-number", "true"),
            ("encode.ignore-null-fields", "true"),
            ("timestamp-format.standard", "ISO-8601"),
        ];
        round_trip("json", &plain, &table);
        let tree = [("decode.json-parser.enabled", "false")];
        round_trip("json", &tree, &table);
    }

    #[test]
    fn csv_reads_what_it_writes(table in table(scalar_type())) {
        prop_assume!(table.1.iter().flatten().all(|value| strip(value, "n/a")));
        for pairs in [
            &[("null-literal", "n/a")][..],
            &[("null-literal", "n/a"), ("field-delimiter", "|"), ("escape-character", "\\")],
            &[("null-literal", "n/a"), ("quote-character", "'"), ("field-delimiter", "\\t")],
        ] {
            // An escape character stands for some control characters, which Flink writes as they are.
            round_trip("csv", pairs, &table);
        }
    }

    #[test]
    fn parquet_reads_what_it_writes((types, rows) in table(json_type())) {
        let names: Vec<_> = (0..types.len()).map(|at| format!("c {at}")).collect();
        let columns: Vec<_> = names.iter().map(String::as_str).zip(types.iter().cloned()).collect();
        let written = batch(&columns, &rows);
        for pairs in [
            &[][..],
            &[("utc-timezone", "true"), ("compression", "ZSTD"), ("writer.version", "v2")],
            &[("block.size", "1"), ("enable.dictionary", "false"), ("compression", "LZ4")],
        ] {
            let files = Files { format: "parquet", columns: &columns, pairs };
            // Two row groups where a group ends as soon as it has a row.
            let bytes = files.write(&[written.clone(), written.clone()]).unwrap();
            let expected = [files.texts(&written), files.texts(&written)].concat();
            prop_assert_eq!(files.read_bytes(&bytes).unwrap(), expected);
        }
    }

    #[test]
    fn avro_files_read_what_they_write(table in table(avro_type())) {
        let (columns, written) = named(&table, "c");
        for codec in ["null", "deflate", "snappy", "bzip2", "zstandard"] {
            let pairs = [("codec", codec), ("timestamp_mapping.legacy", "false")];
            let files = Files { format: "avro", columns: &columns, pairs: &pairs };
            let bytes = files.write(&[written.clone(), written.clone()]).unwrap();
            let expected = [files.texts(&written), files.texts(&written)].concat();
            prop_assert_eq!(files.read_bytes(&bytes).unwrap(), expected);
        }
    }

    #[test]
    fn avro_reads_what_it_writes(table in table(avro_type()), wanted in any::<u64>()) {
        for encoding in ["binary", "json"] {
            let pairs = [("encoding", encoding), ("timestamp_mapping.legacy", "false")];
            let (columns, written) = named(&table, "c");
            let records = records("avro", &columns, &pairs, &written, b"").unwrap();
            let decoding = Decoding::new("avro", &columns, &pairs);
            let wanted: Vec<_> = (0..columns.len()).filter(|at| wanted >> at & 1 == 1).collect();
            let part = decoding.clone().project(&wanted);
            let mut rows = Vec::new();
            for record in records.records() {
                rows.extend(decoding.message(record).unwrap());
                prop_assert_eq!(part.message(record).unwrap().len(), 1);
                // What is cut off is missed.
                if !record.is_empty() {
                    prop_assert!(decoding.message(&record[..record.len() - 1]).is_err());
                }
            }
            prop_assert_eq!(rows, decoding.texts(&written));
        }
    }

    #[test]
    fn no_bytes_make_the_avro_decoder_panic(
        types in prop::collection::vec(avro_type(), 1..5),
        bytes in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..200),
            prop::collection::vec(0u8..6, 0..200),
            "(\\{\"(c0|c1|c2|int|string|array|map)\":(\"[a-d]\"|[0-9]|null|\\{|\\[|\\]|\\}|,)*)*"
                .prop_map(String::into_bytes),
        ],
        json in any::<bool>(),
    ) {
        let (columns, _) = named(&(types, Vec::new()), "c");
        let pairs = [
            ("encoding", if json { "json" } else { "binary" }),
            ("timestamp_mapping.legacy", "false"),
        ];
        let _ = Decoding::new("avro", &columns, &pairs).message(bytes);
    }

    #[test]
    fn no_bytes_make_a_decoder_panic(
        bytes in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..200),
            "[\\[\\]{}:,\"\\\\ntfu0-9.eE+a-c \n\r-]{0,120}".prop_map(String::into_bytes),
            "(\\{\"(a|b|c|d|before|after|op|data|old|type)\":(\"[a-d]\"|[0-9]|null|\\{|\\[|\\]|\\}|,)*)*"
                .prop_map(String::into_bytes),
            "[a-c\",;\\\\'# \n\r1]{0,80}".prop_map(String::into_bytes),
        ],
        cuts in prop::collection::vec(0usize..200, 0..4),
        ignore in any::<bool>(),
        tree in any::<bool>(),
    ) {
        for name in FORMATS.into_iter().chain(["raw"]) {
            let mut columns = vec![
                ("a", DataType::string()),
                ("b", DataType::int()),
                ("c", DataType::array(DataType::int())),
                ("d", DataType::row(vec![RowField::new("a", DataType::boolean())])),
            ];
            if name == "raw" {
                columns.truncate(1);
            }
            let mut pairs = Vec::new();
            if ignore && name != "raw" {
                pairs.push(("ignore-parse-errors", "true"));
            }
            if tree && name == "json" {
                pairs.push(("decode.json-parser.enabled", "false"));
            }
            if tree && name == "csv" {
                pairs.push(("escape-character", "\\"));
                pairs.push(("allow-comments", "true"));
            }
            let decoding = Decoding::new(name, &columns, &pairs);
            let whole = decoding.lenient(&bytes);
            let pieces = in_pieces(&decoding, &bytes, &cuts);
            prop_assert_eq!(whole, pieces, "{} {:?}", name, pairs);
            let _ = decoding.message(&bytes);
        }
    }
}

/// Decodes bytes that arrive piece by piece, as they do from a file.
fn in_pieces(decoding: &Decoding, bytes: &[u8], cuts: &[usize]) -> (Vec<String>, Vec<String>) {
    let bad = Arc::new(Collect::default());
    let mut decoder = decoding.decoder(bad.clone()).unwrap();
    let mut ends: Vec<_> = cuts.iter().copied().filter(|cut| *cut < bytes.len()).collect();
    ends.sort_unstable();
    ends.push(bytes.len());
    let mut rows = Vec::new();
    let mut at = 0;
    for end in ends {
        let last = end == bytes.len();
        loop {
            let start = at;
            let place = |offset: usize| format!("byte {}", start + offset);
            at += decoder.decode_stream(&bytes[at..end], last, 2, &place).unwrap();
            let taken = decoding.take(&mut *decoder).unwrap();
            let idle = taken.is_empty() && at == start;
            rows.extend(taken);
            if idle || at == end {
                break;
            }
        }
    }
    assert_eq!(at, bytes.len(), "all bytes are used in the end");
    (rows, bad.0.lock().unwrap().clone())
}

#[test]
fn every_option_has_a_sound_default() {
    for name in FORMATS.into_iter().chain(["raw", "avro"]) {
        for option in format(name).options {
            if let Some(default) = option.default {
                option.check(option.key, default).unwrap();
            }
            assert!(!option.help.is_empty());
        }
    }
}
