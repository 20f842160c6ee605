//! What is asked for, what is remembered, and what comes out.

mod model;

use std::sync::{Arc, Mutex};

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::Int64Type;
use flott_catalog::connector::{
    Boundedness, ConnectorError, FailOnBadRecord, LookupReader, LookupRequest, LookupRows,
    LookupSource, Options, ReaderContext, ScanRequest, SourceReader, SplitEnumerator, TableSource,
};
use flott_catalog::{Column, ColumnKind, ObjectPath, Table};
use flott_plan::logical::{OnBadRecord, Scan};
use flott_plan::physical::LookupKey;
use flott_types::RowKind::{self, Insert};
use flott_types::Schema;

use super::*;
use crate::operators::test_rows::{Change, batch, changes, schema};
use crate::testing::OperatorHarness;

/// A table of (id, v) that counts what it is asked: key `k` has the rows (k, 10k) and (k, 10k + 1) when
/// it is even, else none.
#[derive(Clone, Default)]
struct Numbers {
    asked: Arc<Mutex<Vec<i64>>>,
}

impl TableSource for Numbers {
    fn boundedness(&self) -> Boundedness {
        Boundedness::Bounded
    }

    fn lookup(&self) -> Option<Arc<dyn LookupSource>> {
        Some(Arc::new(self.clone()))
    }

    fn enumerator(
        &self,
        _request: &ScanRequest,
        _state: Option<&[u8]>,
    ) -> Result<Box<dyn SplitEnumerator>, ConnectorError> {
        Err(ConnectorError::new("not to be scanned"))
    }

    fn reader(
        &self,
        _request: &ScanRequest,
        _context: &ReaderContext,
    ) -> Result<Box<dyn SourceReader>, ConnectorError> {
        Err(ConnectorError::new("not to be scanned"))
    }
}

impl LookupSource for Numbers {
    fn reader(&self, _request: &LookupRequest) -> Result<Box<dyn LookupReader>, ConnectorError> {
        Ok(Box::new(self.clone()))
    }
}

impl LookupReader for Numbers {
    fn lookup(&mut self, keys: &RecordBatch) -> Result<LookupRows, ConnectorError> {
        let ids = keys.column(0).as_primitive::<Int64Type>();
        let (mut rows, mut of) = (Vec::new(), Vec::new());
        for (i, id) in ids.values().iter().enumerate() {
            self.asked.lock().unwrap().push(*id);
            if id % 2 == 0 {
                for v in 0..2 {
                    rows.push((Insert, vec![Some(*id), Some(id * 10 + v)]));
                    of.push(i as u32);
                }
            }
        }
        Ok(LookupRows { rows: batch(&table_schema(), &rows).rows, keys: of })
    }
}

fn table_schema() -> Schema {
    schema(&["id", "v"])
}

fn table(options: &[(&str, &str)]) -> Table {
    let column = |name: &str| Column {
        name: name.to_string(),
        data_type: DataType::bigint(),
        kind: ColumnKind::Physical,
        comment: None,
    };
    let options = options.iter().map(|(key, value)| (key.to_string(), value.to_string()));
    Table {
        columns: vec![column("id"), column("v")],
        watermark: None,
        primary_key: None,
        partition_keys: Vec::new(),
        distribution: None,
        comment: None,
        options: Options::new(options),
    }
}

fn operator(
    source: Arc<dyn TableSource>,
    kind: JoinKind,
    options: &[(&str, &str)],
) -> LookupJoinOperator {
    operator_with(source, kind, options, None)
}

fn operator_with(
    source: Arc<dyn TableSource>,
    kind: JoinKind,
    options: &[(&str, &str)],
    condition: Option<Expr>,
) -> LookupJoinOperator {
    let column = |index| Expr::column(index, DataType::bigint());
    let spec = LookupJoin {
        kind,
        table: Scan {
            path: ObjectPath::new("c", "d", "numbers"),
            table: Arc::new(table(options)),
            source,
            identity: String::new(),
            columns: vec![ScanColumn::Physical(0), ScanColumn::Physical(1)],
            watermark: None,
            idle_timeout: None,
            limit: None,
            filters: Vec::new(),
            predicates: Vec::new(),
            on_error: OnBadRecord::Fail,
        },
        keys: vec![LookupKey { column: 0, value: LookupValue::Column(0) }],
        projection: vec![column(1)],
        condition,
        residual: Some(Expr::builtin("<>", vec![column(1), column(2)]).unwrap()),
        retry: None,
    };
    let schema = schema(&["k", "w", "v"]).to_arrow();
    let settings = SessionSettings::default();
    LookupJoinOperator::new(&spec, schema, &settings, Arc::new(FailOnBadRecord)).unwrap()
}

fn feed(it: &mut OperatorHarness, rows: &[(RowKind, Option<i64>, i64)]) -> Vec<Change> {
    let rows: Vec<Change> = rows.iter().map(|(kind, k, w)| (*kind, vec![*k, Some(*w)])).collect();
    it.batch(0, batch(&schema(&["k", "w"]), &rows)).unwrap();
    changes(&it.take_batches())
}

#[test]
fn rows_meet_what_is_found_and_the_rest_is_tested() {
    let source = Numbers::default();
    let mut it =
        OperatorHarness::new(operator(Arc::new(source.clone()), JoinKind::Left, &[]), 1, None)
            .unwrap();
    let rows = [
        (Insert, Some(2), 20),
        (RowKind::UpdateBefore, Some(3), 7),
        (RowKind::UpdateAfter, None, 8),
        (Insert, Some(2), 0),
    ];
    let given = feed(&mut it, &rows);
    let expected = [
        (Insert, vec![Some(2), Some(20), Some(21)]),
        (RowKind::UpdateBefore, vec![Some(3), Some(7), None]),
        (RowKind::UpdateAfter, vec![None, Some(8), None]),
        (Insert, vec![Some(2), Some(0), Some(20)]),
        (Insert, vec![Some(2), Some(0), Some(21)]),
    ];
    assert_eq!(given, expected);
    assert_eq!(*source.asked.lock().unwrap(), [2, 3]);
    feed(&mut it, &[(Insert, Some(2), 1)]);
    assert_eq!(*source.asked.lock().unwrap(), [2, 3, 2]);
}

#[test]
fn a_partial_cache_asks_once_until_keys_expire() {
    let source = Numbers::default();
    let options = [
        ("lookup.cache", "PARTIAL"),
        ("lookup.partial-cache.expire-after-write", "100 ms"),
        ("lookup.partial-cache.cache-missing-key", "false"),
    ];
    let join = operator(Arc::new(source.clone()), JoinKind::Inner, &options);
    let mut it = OperatorHarness::new(join, 1, None).unwrap();
    for _ in 0..2 {
        assert_eq!(feed(&mut it, &[(Insert, Some(4), 0), (Insert, Some(5), 0)]).len(), 2);
    }
    assert_eq!(*source.asked.lock().unwrap(), [4, 5, 5]);
    it.advance_clock(100).unwrap();
    feed(&mut it, &[(Insert, Some(4), 0)]);
    assert_eq!(*source.asked.lock().unwrap(), [4, 5, 5, 4]);
}

/// A table that is read whole: one row (1, n) at the n-th reading.
#[derive(Clone, Default)]
struct Readings(Arc<Mutex<i64>>);

impl TableSource for Readings {
    fn boundedness(&self) -> Boundedness {
        Boundedness::Bounded
    }

    fn enumerator(
        &self,
        _request: &ScanRequest,
        _state: Option<&[u8]>,
    ) -> Result<Box<dyn SplitEnumerator>, ConnectorError> {
        let rows = vec![(Insert, vec![Some(1), Some(*self.0.lock().unwrap() + 1)])];
        *self.0.lock().unwrap() += 1;
        let values = crate::operators::ValuesSource::new(batch(&table_schema(), &rows));
        values.enumerator(&ScanRequest::default(), None)
    }

    fn reader(
        &self,
        _request: &ScanRequest,
        context: &ReaderContext,
    ) -> Result<Box<dyn SourceReader>, ConnectorError> {
        let rows = vec![(Insert, vec![Some(1), Some(*self.0.lock().unwrap())])];
        let values = crate::operators::ValuesSource::new(batch(&table_schema(), &rows));
        values.reader(&ScanRequest::default(), context)
    }
}

#[test]
fn a_full_cache_is_read_again_on_schedule() {
    const MINUTE: i64 = 60_000;
    let readings = |options: &[(&str, &str)], steps: &[i64]| -> Vec<Option<i64>> {
        let options: Vec<_> = options
            .iter()
            .map(|(key, value)| (format!("lookup.full-cache.{key}"), *value))
            .chain([("lookup.cache".to_string(), "FULL")])
            .collect();
        let options: Vec<_> = options.iter().map(|(key, value)| (key.as_str(), *value)).collect();
        let join = operator(Arc::new(Readings::default()), JoinKind::Left, &options);
        let mut it = OperatorHarness::new(join, 1, None).unwrap();
        let mut given = Vec::new();
        for step in steps {
            it.advance_clock(*step).unwrap();
            given.push(feed(&mut it, &[(Insert, Some(1), -1)])[0].1[2]);
        }
        given
    };
    let steps = [0, MINUTE, 9 * MINUTE, 20 * MINUTE, 24 * 60 * MINUTE];
    let once = readings(&[], &steps);
    assert_eq!(once, [Some(1); 5]);
    let periodic = readings(&[("periodic-reload.interval", "10 min")], &steps);
    assert_eq!(periodic, [1, 1, 2, 3, 4].map(Some));
    // Time begins at midnight UTC.
    let timed = [("reload-strategy", "TIMED"), ("timed-reload.iso-time", "00:25Z")];
    assert_eq!(readings(&timed, &steps), [1, 1, 1, 2, 3].map(Some));
}

#[test]
fn a_partial_cache_keeps_no_more_rows_than_it_may() {
    let source = Numbers::default();
    let options = [("lookup.cache", "PARTIAL"), ("lookup.partial-cache.max-rows", "100")];
    let join = operator(Arc::new(source.clone()), JoinKind::Inner, &options);
    let mut it = OperatorHarness::new(join, 1, None).unwrap();
    let mut sizes = Vec::new();
    for round in 0..50i64 {
        let rows: Vec<_> = (0..40).map(|i| (Insert, Some((round * 40 + i) * 2), -1)).collect();
        assert_eq!(feed(&mut it, &rows).len(), 80);
        sizes.push(it.counts().state_bytes);
    }
    assert!(sizes[49] <= sizes[5] * 2, "{sizes:?}");
}
