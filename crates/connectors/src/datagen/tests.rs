//! Tables of the connector, read as the runtime reads them.

use std::time::{Duration, Instant};

use flott_catalog::connector::{
    FailOnBadRecord, Options, Registry, SourceEvent, TableContext, TableSource,
};
use flott_types::{DataType, Field, RowField, TypeRoot, Value};

use super::*;

fn context(columns: &[(&str, DataType)], options: &[(&str, &str)]) -> TableContext {
    let fields = columns.iter().map(|(name, ty)| Field::new(*name, ty.clone())).collect();
    let given = options.iter().map(|(k, v)| (k.to_string(), v.to_string()));
    TableContext {
        identifier: "c.d.t".into(),
        schema: Schema::new(fields),
        persisted: vec![],
        primary_key: vec![],
        partition_keys: vec![],
        options: Options::new(
            [("connector".to_string(), "datagen".to_string())].into_iter().chain(given),
        ),
        zone: TimeZone::UTC,
        batch: false,
        working_directory: "/".into(),
        registry: Arc::new(Registry::default()),
    }
}

fn table(columns: &[(&str, DataType)], options: &[(&str, &str)]) -> Arc<dyn TableSource> {
    source(&context(columns, options)).unwrap()
}

fn refusal(columns: &[(&str, DataType)], options: &[(&str, &str)]) -> ConnectorError {
    source(&context(columns, options)).err().expect("must be refused")
}

fn request(columns: usize, limit: Option<u64>) -> ScanRequest {
    let columns = (0..columns).map(ScanColumn::Physical).collect();
    ScanRequest { columns, limit, ..Default::default() }
}

fn reader_context(task: usize, parallelism: usize, max_rows: usize) -> ReaderContext {
    ReaderContext { task, parallelism, max_rows, bad_records: Arc::new(FailOnBadRecord) }
}

/// The rows of each of `readers` tasks, all columns.
fn read(
    table: &dyn TableSource,
    types: &[DataType],
    readers: usize,
    limit: Option<u64>,
) -> Vec<Vec<Vec<Value>>> {
    let request = request(types.len(), limit);
    let mut enumerator = table.enumerator(&request, None).unwrap();
    enumerator.start(readers);
    let found = enumerator.discover().unwrap();
    assert!(found.again_after.is_none());
    assert!(enumerator.discover().unwrap().splits.is_empty());
    (0..readers)
        .map(|task| {
            let mut reader = table.reader(&request, &reader_context(task, readers, 7)).unwrap();
            let own = found.tasks.iter().zip(&found.splits).filter(|(to, _)| **to == task);
            reader.add_splits(own.map(|(_, split)| split.clone()).collect()).unwrap();
            let mut rows = Vec::new();
            loop {
                match reader.poll(Duration::from_secs(2)).unwrap() {
                    SourceEvent::Rows { batch, .. } => {
                        assert!(batch.len() <= 7);
                        rows.extend((0..batch.len()).map(|row| {
                            let cell = |(i, ty)| Value::from_array(batch.column(i), row, ty);
                            types.iter().enumerate().map(cell).collect()
                        }));
                    }
                    SourceEvent::SplitEnd(_) => return rows,
                    SourceEvent::Pending => {}
                }
            }
        })
        .collect()
}

fn ints(rows: &[Vec<Value>]) -> Vec<i64> {
    rows.iter().map(|row| row[0].as_int().unwrap()).collect()
}

const SEQUENCE: &[(&str, &str)] =
    &[("fields.n.kind", "sequence"), ("fields.n.start", "1"), ("fields.n.end", "5")];

#[test]
fn tasks_share_a_sequence_as_in_flink() {
    let types = [DataType::int()];
    let table = table(&[("n", types[0].clone())], SEQUENCE);
    assert_eq!(table.boundedness(), Boundedness::Bounded);
    let tasks = read(&*table, &types, 2, None);
    assert_eq!(ints(&tasks[0]), [1, 3, 5]);
    assert_eq!(ints(&tasks[1]), [2, 4]);
    assert_eq!(ints(&read(&*table, &types, 1, Some(3))[0]), [1, 2, 3]);
}

#[test]
fn the_first_sequence_to_end_or_the_number_of_rows_ends_the_table() {
    let types = [DataType::int(), DataType::string()];
    let columns = [("n", types[0].clone()), ("s", types[1].clone())];
    let mut options = SEQUENCE.to_vec();
    options.extend([
        ("fields.s.kind", "sequence"),
        ("fields.s.start", "-1"),
        ("fields.s.end", "1"),
    ]);
    let rows = read(&*table(&columns, &options), &types, 1, None).remove(0);
    assert_eq!(ints(&rows), [1, 2, 3]);
    assert_eq!(rows[0][1], Value::string("-1"));
    options.push(("number-of-rows", "2"));
    assert_eq!(read(&*table(&columns, &options), &types, 1, None)[0].len(), 2);
    options.push(("number-of-rows", "-2"));
    assert_eq!(read(&*table(&columns, &options), &types, 1, None)[0].len(), 0);
}

#[test]
fn sequences_come_in_every_type_that_counts() {
    let types = [
        TypeRoot::TinyInt.into(),
        TypeRoot::Float.into(),
        DataType::double(),
        DataType::decimal(5, 2),
        TypeRoot::Char(3).into(),
        DataType::bytes(),
    ];
    let names = ["a", "b", "c", "d", "e", "f"];
    let columns: Vec<_> = names.into_iter().zip(types.clone()).collect();
    let mut options = Vec::new();
    let keys: Vec<_> = names
        .iter()
        .map(|n| ["kind", "start", "end"].map(|option| format!("fields.{n}.{option}")))
        .collect();
    for [kind, start, end] in &keys {
        options.extend([(kind.as_str(), "sequence"), (start.as_str(), "9"), (end.as_str(), "10")]);
    }
    let rows = read(&*table(&columns, &options), &types, 1, None).remove(0);
    assert_eq!(
        rows[1],
        [
            Value::Int(10),
            Value::Float(10.0),
            Value::Double(10.0),
            Value::Decimal(1000),
            Value::string("10 "),
            Value::Bytes(10i64.to_be_bytes().as_slice().into()),
        ]
    );
}

#[test]
fn every_type_has_random_values_within_its_bounds() {
    let row = DataType::row(vec![
        RowField::new("x", DataType::int()),
        RowField::new("y", DataType::array(DataType::string())),
    ]);
    let types = [
        DataType::boolean(),
        TypeRoot::TinyInt.into(),
        TypeRoot::SmallInt.into(),
        DataType::bigint(),
        TypeRoot::Float.into(),
        DataType::double(),
        DataType::decimal(38, 18),
        DataType::decimal(3, 3),
        TypeRoot::Char(5).into(),
        TypeRoot::Varchar(7).into(),
        DataType::string(),
        TypeRoot::Binary(3).into(),
        DataType::bytes(),
        TypeRoot::Date.into(),
        TypeRoot::Time(0).into(),
        DataType::timestamp(3),
        DataType::timestamp(9),
        DataType::timestamp_ltz(6),
        TypeRoot::IntervalYearMonth.into(),
        TypeRoot::IntervalDayTime.into(),
        row,
        DataType::map(TypeRoot::TinyInt.into(), DataType::string()),
        TypeRoot::Multiset(DataType::int().into()).into(),
    ];
    let names: Vec<_> = (0..types.len()).map(|i| format!("f{i}")).collect();
    let columns: Vec<_> = names.iter().map(String::as_str).zip(types.clone()).collect();
    let options = [
        ("number-of-rows", "100"),
        ("fields.f3.min", "-2"),
        ("fields.f3.max", "2"),
        ("fields.f15.max-past", "1 h"),
        ("fields.f20.x.min", "4"),
        ("fields.f20.x.max", "4"),
        ("fields.f20.y.length", "2"),
        ("fields.f20.y.element.length", "3"),
        ("fields.f21.length", "20"),
        ("fields.f21.key.min", "0"),
        ("fields.f21.key.max", "3"),
        ("fields.f22.element.null-rate", "1"),
    ];
    let rows = read(&*table(&columns, &options), &types, 3, None).concat();
    assert_eq!(rows.len(), 100);
    for row in &rows {
        assert!((-2..=2).contains(&row[3].as_int().unwrap()));
        assert!(matches!(row[7], Value::Decimal(digits) if (0..1000).contains(&digits)));
        assert_eq!(row[8].as_str().unwrap().len(), 5);
        assert_eq!(row[10].as_str().unwrap().len(), 100);
        let Value::Row(fields) = &row[20] else { panic!() };
        assert_eq!(fields[0], Value::Int(4));
        assert!(matches!(&fields[1], Value::Array(items) if items.len() == 2));
        let Value::Map(entries) = &row[21] else { panic!() };
        assert!((1..=4).contains(&entries.len()));
        assert!(matches!(&row[22], Value::Map(entries) if entries.len() == 1));
    }
}

#[test]
fn a_seed_gives_the_same_rows_whatever_the_parallelism() {
    let types = [DataType::bigint(), DataType::string()];
    let columns = [("a", types[0].clone()), ("s", types[1].clone())];
    let options = [("seed", "42"), ("number-of-rows", "20"), ("fields.s.null-rate", "0.5")];
    let one = read(&*table(&columns, &options), &types, 1, None).remove(0);
    let three = read(&*table(&columns, &options), &types, 3, None);
    for (n, row) in one.iter().enumerate() {
        assert_eq!(row, &three[n % 3][n / 3]);
    }
    let nulls = one.iter().filter(|row| row[1].is_null()).count();
    assert!((2..=18).contains(&nulls), "{nulls}");
}

#[test]
fn a_reader_goes_on_where_it_was_stopped() {
    let types = [DataType::bigint()];
    let table = table(&[("a", types[0].clone())], &[("number-of-rows", "20")]);
    let request = request(1, None);
    let split = table.enumerator(&request, None).unwrap().discover().unwrap().splits.remove(0);
    let mut values = Vec::new();
    let mut splits = vec![split];
    // A new reader for every batch.
    while !splits.is_empty() {
        let mut reader = table.reader(&request, &reader_context(0, 1, 7)).unwrap();
        reader.add_splits(splits).unwrap();
        if let SourceEvent::Rows { batch, .. } = reader.poll(Duration::ZERO).unwrap() {
            values.extend(
                (0..batch.len()).map(|row| Value::from_array(batch.column(0), row, &types[0])),
            );
        }
        splits = reader.snapshot().unwrap();
    }
    let whole: Vec<_> = read(&*table, &types, 1, None).concat().concat();
    assert_eq!(values, whole);
}

#[test]
fn rows_keep_to_the_rate_without_busy_waiting() {
    let table = table(&[("a", DataType::bigint())], &[("rows-per-second", "5")]);
    assert_eq!(table.boundedness(), Boundedness::Unbounded);
    let request = request(1, None);
    let mut reader = table.reader(&request, &reader_context(0, 1, 3)).unwrap();
    let splits = table.enumerator(&request, None).unwrap().discover().unwrap().splits;
    let start = Instant::now();
    reader.add_splits(splits).unwrap();
    let mut rows = 0;
    while rows < 5 {
        let SourceEvent::Rows { batch, .. } = reader.poll(Duration::ZERO).unwrap() else {
            panic!()
        };
        rows += batch.len();
    }
    assert!(matches!(reader.poll(Duration::from_millis(20)).unwrap(), SourceEvent::Pending));
    assert!(start.elapsed() >= Duration::from_millis(20));
    assert!(matches!(reader.poll(Duration::from_secs(5)).unwrap(), SourceEvent::Rows { .. }));
    assert!((1000..1900).contains(&start.elapsed().as_millis()));
}

#[test]
fn batches_of_large_rows_are_small() {
    let table = table(&[("s", DataType::string())], &[("fields.s.length", "10000000")]);
    let request = request(1, None);
    let mut reader = table.reader(&request, &reader_context(0, 1, 8192)).unwrap();
    reader
        .add_splits(table.enumerator(&request, None).unwrap().discover().unwrap().splits)
        .unwrap();
    let SourceEvent::Rows { batch, .. } = reader.poll(Duration::ZERO).unwrap() else { panic!() };
    assert_eq!(batch.len(), 3);
}

#[test]
fn what_makes_no_sense_is_refused_by_name() {
    let int = [("i", DataType::int())];
    let sequence = ("fields.i.kind", "sequence");
    for (columns, options, culprit) in [
        (&int, &[sequence, ("fields.i.end", "3")][..], "'fields.i.start'"),
        (&int, &[sequence, ("fields.i.start", "3")], "'fields.i.end'"),
        (&int, &[sequence, ("fields.i.start", "5"), ("fields.i.end", "3")], "before its start"),
        (&int, &[("fields.i.kind", "foo")], "'foo'"),
        (&int, &[("fields.j.kind", "random")], "'fields.j.kind'"),
        (&int, &[("fields.i.length", "3")], "'fields.i.length'"),
        (&int, &[("fields.i.min", "3"), ("fields.i.max", "2")], "from 3 to 2"),
        (&int, &[("fields.i.min", "3000000000")], "'fields.i.min'"),
        (&int, &[("fields.i.min", "abc")], "'abc'"),
        (&int, &[("rows-per-second", "0")], "'rows-per-second'"),
        (&int, &[("rows-per-second", "abc")], "'rows-per-second'"),
        (&int, &[("bogus", "1")], "'bogus'"),
        (&int, &[("scan.parallelism", "0")], "'scan.parallelism'"),
        (&[("i", TypeRoot::Char(5).into())], &[("fields.i.length", "3")], "fixed length"),
        (&[("i", TypeRoot::Varchar(5).into())], &[("fields.i.length", "8")], "'8'"),
        (&[("i", TypeRoot::Variant.into())], &[], "VARIANT"),
        (
            &[("i", DataType::array(DataType::string()))],
            &[("fields.i.length", "2000000000")],
            "'i' would take",
        ),
        (&[("i", DataType::double())], &[("fields.i.max", "NaN")], "'NaN'"),
        (&[("i", TypeRoot::Float.into())], &[("fields.i.max", "1e39")], "'1e39'"),
        (
            &[("i", DataType::timestamp(3))],
            &[sequence, ("fields.i.start", "1"), ("fields.i.end", "3")],
            "TIMESTAMP(3)",
        ),
    ] {
        let message = refusal(columns, options).to_string();
        assert!(message.contains(culprit), "{message} does not name {culprit}");
    }
}

/// `cargo test --release -p flott-connectors datagen_speed -- --ignored --nocapture`
#[test]
#[ignore = "a measurement"]
fn datagen_speed() {
    let columns = [("a", DataType::bigint()), ("b", DataType::int()), ("c", DataType::double())];
    let texts = [("n", DataType::bigint()), ("b", DataType::string()), ("c", DataType::string())];
    for columns in [columns, texts] {
        let options = [("rows-per-second", "1000000000000")];
        let table = table(&columns, &options);
        let request = request(3, None);
        let mut reader = table.reader(&request, &reader_context(0, 1, 8192)).unwrap();
        reader
            .add_splits(table.enumerator(&request, None).unwrap().discover().unwrap().splits)
            .unwrap();
        let start = Instant::now();
        let mut rows = 0;
        while start.elapsed() < Duration::from_secs(1) {
            if let SourceEvent::Rows { batch, .. } = reader.poll(Duration::ZERO).unwrap() {
                rows += batch.len();
            }
        }
        println!("{} rows/s", rows as f64 / start.elapsed().as_secs_f64());
    }
}
