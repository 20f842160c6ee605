//! Reading tables of files.

#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;
use std::time::Duration;

use flott_catalog::connector::{Boundedness, FailOnBadRecord, ScanColumn, ScanRequest};
use flott_types::{DataType, TypeRoot};
use proptest::prelude::*;
use support::*;
use tempfile::tempdir;

fn columns() -> [(&'static str, DataType); 2] {
    [("id", DataType::int()), ("v", DataType::string())]
}

#[test]
fn directories_are_read_in_depth_without_hidden_names() {
    let dir = tempdir().unwrap();
    for (path, content) in [
        ("d/b.txt", "2|b\n"),
        ("d/a.txt", "1|a\n"),
        ("d/sub/c.txt", "3|c"),
        ("d/_hidden.txt", "9|x\n"),
        ("d/.hidden/x.txt", "9|x\n"),
        ("d/empty.txt", ""),
    ] {
        write(dir.path().join(path), content);
    }
    let table = Table::new(dir.path(), &columns(), &[("path", "d")]);
    assert_eq!(table.rows(), ["1|a", "2|b", "3|c"]);
    assert_eq!(Table::new(dir.path(), &columns(), &[("path", "d/b.txt")]).rows(), ["2|b"]);
    assert_eq!(Table::new(dir.path(), &columns(), &[("path", "d/[ab]*")]).rows().len(), 2);
    let file_uri = format!("file://{}/d/sub", dir.path().display());
    assert_eq!(Table::new(dir.path(), &columns(), &[("path", &file_uri)]).rows(), ["3|c"]);
    let pattern = [("path", "d"), ("source.path.regex-pattern", ".*/(a|c)\\.txt")];
    assert_eq!(Table::new(dir.path(), &columns(), &pattern).rows(), ["1|a", "3|c"]);
}

#[test]
fn metadata_and_projection_come_in_the_order_asked_for() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("d/a.txt");
    write(&path, "1|a\n2|b\n");
    let modified = std::time::UNIX_EPOCH + Duration::from_millis(1234);
    std::fs::File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
    let table = Table::new(dir.path(), &columns(), &[("path", "d")]);
    let request = ScanRequest {
        columns: vec![
            ScanColumn::Metadata("file.name".into()),
            ScanColumn::Physical(1),
            ScanColumn::Metadata("file.size".into()),
            ScanColumn::Metadata("file.modification-time".into()),
            ScanColumn::Physical(0),
            ScanColumn::Metadata("file.path".into()),
        ],
        ..Default::default()
    };
    let rows = table.try_rows(&request, Arc::new(FailOnBadRecord)).unwrap();
    let shown = path.to_str().unwrap();
    assert_eq!(rows[0], format!("a.txt|a|8|1234|1|{shown}"));
    let none = ScanRequest::default();
    assert_eq!(table.try_rows(&none, Arc::new(FailOnBadRecord)).unwrap().len(), 2);
    let three = ScanRequest { limit: Some(1), ..table.all_columns() };
    assert_eq!(table.try_rows(&three, Arc::new(FailOnBadRecord)).unwrap(), ["1|a"]);
}

#[test]
fn partition_columns_come_from_the_path() {
    let dir = tempdir().unwrap();
    for (path, content) in [
        ("t/k=1/s=a/f", "1|one\n"),
        ("t/k=2/s=b%2Fc/deep/f", "2|two\n"),
        ("t/k=__DEFAULT_PARTITION__/s=x/f", "3|three\n"),
        ("t/_tmp/s=x/f", "9|no\n"),
        ("t/stray", "9|no\n"),
    ] {
        write(dir.path().join(path), content);
    }
    let columns = [
        ("id", DataType::int()),
        ("s", DataType::string()),
        ("v", DataType::string()),
        ("k", DataType::int()),
    ];
    let table = Table::new(dir.path(), &columns, &[("path", "t")]).partitioned_by(&[3, 1]);
    assert_eq!(table.rows(), ["1|a|one|1", "2|b/c|two|2", "3|x|three|~"]);
    let keys_only = ScanRequest { columns: vec![ScanColumn::Physical(3)], ..Default::default() };
    let rows = table.try_rows(&keys_only, Arc::new(FailOnBadRecord)).unwrap();
    assert_eq!(rows, ["1", "2", "~"]);

    write(dir.path().join("t/k=x/s=a/f"), "4|four\n");
    let error = table.try_rows(&table.all_columns(), Arc::new(FailOnBadRecord)).unwrap_err();
    assert!(error.message.contains("partition column 'k'") && error.message.contains("'x'"));
    write(dir.path().join("t/z=1/f"), "5|five\n");
    let error = table.try_rows(&table.all_columns(), Arc::new(FailOnBadRecord)).unwrap_err();
    assert!(error.to_string().contains("z=1"), "{error}");
}

#[test]
fn compressed_files_are_read_by_their_extension() {
    use std::io::Write;
    let dir = tempdir().unwrap();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(b"1|a\n2|b\nx|c\n").unwrap();
    write(dir.path().join("d/a.txt.gz"), encoder.finish().unwrap());
    let table = Table::new(dir.path(), &columns(), &[("path", "d")]);
    let bad = Arc::new(Collected::default());
    assert_eq!(table.try_rows(&table.all_columns(), bad.clone()).unwrap(), ["1|a", "2|b"]);
    assert_eq!(*bad.0.lock().unwrap(), ["a.txt.gz:3 x|c: 'x' is not a number"]);
}

#[test]
fn bad_records_are_named_by_file_and_line() {
    let dir = tempdir().unwrap();
    write(dir.path().join("d/a.txt"), "1|a\nx|b\n3|c\n4\n");
    let table = Table::new(dir.path(), &columns(), &[("path", "d")]);
    let error = table.try_rows(&table.all_columns(), Arc::new(FailOnBadRecord)).unwrap_err();
    assert!(error.place.as_deref().unwrap().ends_with("d/a.txt:2"), "{error}");
    let bad = Arc::new(Collected::default());
    assert_eq!(table.try_rows(&table.all_columns(), bad.clone()).unwrap(), ["1|a", "3|c"]);
    let expected = ["a.txt:2 x|b: 'x' is not a number", "a.txt:4 4: 1 columns instead of 2"];
    assert_eq!(*bad.0.lock().unwrap(), expected);
}

#[test]
fn a_watched_directory_gives_new_files_once() {
    let dir = tempdir().unwrap();
    write(dir.path().join("d/a.txt"), "1|a\n");
    let options = [("path", "d"), ("source.monitor-interval", "1 s")];
    let table = Table::new(dir.path(), &columns(), &options);
    let source = table.source();
    assert_eq!(source.boundedness(), Boundedness::Unbounded);
    let mut enumerator = source.enumerator(&table.all_columns(), None).unwrap();
    let found = enumerator.discover().unwrap();
    assert_eq!((found.splits.len(), found.again_after), (1, Some(Duration::from_secs(1))));
    assert!(enumerator.discover().unwrap().splits.is_empty());
    write(dir.path().join("d/b.txt"), "2|b\n");
    let state = enumerator.snapshot();
    let mut restored = source.enumerator(&table.all_columns(), Some(&state)).unwrap();
    let found = restored.discover().unwrap().splits;
    assert!(found.len() == 1 && found[0].id.ends_with("b.txt"));
}

#[test]
fn a_bounded_table_is_listed_once() {
    let dir = tempdir().unwrap();
    write(dir.path().join("d/a.txt"), "1|a\n");
    let table = Table::new(dir.path(), &columns(), &[("path", "d")]);
    let source = table.source();
    let mut enumerator = source.enumerator(&table.all_columns(), None).unwrap();
    assert_eq!(enumerator.discover().unwrap().splits.len(), 1);
    let state = enumerator.snapshot();
    let mut restored = source.enumerator(&table.all_columns(), Some(&state)).unwrap();
    assert!(restored.discover().unwrap().splits.is_empty());
}

#[test]
fn what_cannot_be_read_is_told_with_its_cure() {
    let dir = tempdir().unwrap();
    std::fs::create_dir(dir.path().join("empty")).unwrap();
    let error = |options: &[(&str, &str)]| {
        let table = Table::new(dir.path(), &columns(), options);
        table.try_rows(&table.all_columns(), Arc::new(FailOnBadRecord)).unwrap_err().to_string()
    };
    for (options, culprit) in [
        (&[("path", "missing")][..], "missing' does not exist"),
        (&[("path", "missing")], "hint:"),
        (&[("path", "missing*")], "no file matches"),
        (&[("path", "s3://bucket/x")], "'s3'"),
        (&[("format", "nope")], "'nope'"),
        (&[("bogus", "1")], "'bogus'"),
        (&[("lines.bogus", "1")], "'bogus'"),
        (&[("csv.null-literal", "")], "'csv.null-literal'"),
        (&[("source.monitor-interval", "0 s")], "'source.monitor-interval'"),
        (&[("source.path.regex-pattern", "(")], "'source.path.regex-pattern'"),
        (&[("on-error", "dead-letter")], "'on-error.table'"),
    ] {
        let message = error(options).replace("': it does", "' does");
        assert!(message.contains(culprit), "{message} does not name {culprit}");
    }
    let empty = Table::new(dir.path(), &columns(), &[("path", "empty")]);
    assert!(empty.rows().is_empty());
    // Nothing was written yet, as for Flink.
    let partitioned = Table::new(dir.path(), &columns(), &[("path", "missing")]);
    assert!(partitioned.partitioned_by(&[1]).rows().is_empty());
}

#[test]
fn a_missing_option_is_named() {
    let dir = tempdir().unwrap();
    for missing in ["path", "format"] {
        let mut table = Table::new(dir.path(), &columns(), &[]);
        table.context.options.remove(missing);
        let error = table.try_source().err().unwrap().to_string();
        assert!(error.contains(&format!("'{missing}'")), "{error}");
    }
}

#[test]
fn a_type_that_cannot_be_partitioned_by_is_told_with_the_data() {
    let dir = tempdir().unwrap();
    write(dir.path().join("t/k=1/f"), "1\n");
    let columns = [("id", DataType::int()), ("k", TypeRoot::Binary(3).into())];
    let table = Table::new(dir.path(), &columns, &[("path", "t")]).partitioned_by(&[1]);
    let error = table.try_rows(&table.all_columns(), Arc::new(FailOnBadRecord)).unwrap_err();
    assert!(error.message.contains("BINARY(3)"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A reader that is replaced after any number of batches gives the rows of an undisturbed one.
    #[test]
    fn a_reader_resumes_at_any_position(
        files in prop::collection::vec(prop::collection::vec((0i64..1000, "[a-z]{0,12}"), 0..30), 1..4),
        stops in prop::collection::vec(1usize..4, 0..20),
        max_rows in 1usize..9,
        end_with_newline: bool,
    ) {
        let dir = tempdir().unwrap();
        let mut expected = Vec::new();
        for (i, rows) in files.iter().enumerate() {
            let lines: Vec<_> = rows.iter().map(|(id, v)| format!("{id}|{v}")).collect();
            let end = if end_with_newline && !lines.is_empty() { "\n" } else { "" };
            write(dir.path().join(format!("d/{i}.txt")), lines.join("\n") + end);
            expected.extend(lines);
        }
        let table = Table::new(dir.path(), &columns(), &[("path", "d")]);
        let (source, request) = (table.source(), table.all_columns());
        let new_reader = |splits| {
            let context = reader_context(max_rows, Arc::new(FailOnBadRecord));
            let mut reader = source.reader(&request, &context).unwrap();
            reader.add_splits(splits).unwrap();
            reader
        };
        let mut reader = new_reader(splits(&table));
        let mut stops = stops.into_iter();
        let mut until_stop = stops.next();
        let mut rows = Vec::new();
        let mut left = files.len();
        while left > 0 {
            match next(&mut *reader).unwrap() {
                Some(batch) => rows.extend(table.texts(&request, &batch)),
                None => left -= 1,
            }
            until_stop = until_stop.and_then(|n| n.checked_sub(1));
            if until_stop == Some(0) {
                reader = new_reader(reader.snapshot().unwrap());
                until_stop = stops.next();
            }
        }
        prop_assert_eq!(rows, expected);
    }
}
