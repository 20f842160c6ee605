use std::collections::BTreeMap;

use flott_state::Ttl;
use flott_types::RowKind::{self, Delete, Insert, UpdateAfter, UpdateBefore};
use flott_types::{ChangelogMode, Schema};
use proptest::prelude::*;

use super::{ConflictChecker, SinkUpsertMaterializer};
use crate::check::OutputContract;
use crate::operator::Operator;
use crate::operators::test_rows::{Change, Row, batch, changes, schema};
use crate::operators::testing::{Gathers, Side, Ways, cases};
use crate::testing::{Fed, OperatorHarness};

/// The sink's key is `c`, the query's is `k`.
fn columns() -> Schema {
    schema(&["k", "c", "w"])
}

fn contract() -> Option<OutputContract> {
    let schema = columns().to_arrow();
    Some(OutputContract { schema, mode: ChangelogMode::UPSERT, repeatable: true })
}

fn latest(upsert_key: &[usize]) -> OperatorHarness {
    let it = SinkUpsertMaterializer::new(&[1], upsert_key, &columns(), None);
    OperatorHarness::new(it, 1, contract()).unwrap()
}

fn checker(fail: bool) -> ConflictChecker {
    ConflictChecker::new(&[1], &[0], fail, &columns(), None)
}

fn feed(harness: &mut OperatorHarness, rows: &[Change]) -> Vec<Change> {
    harness.batch(0, batch(&columns(), rows)).unwrap();
    changes(&harness.take_batches())
}

fn row(kind: RowKind, k: i64, c: i64) -> Change {
    (kind, vec![Some(k), Some(c), Some(k * 10)])
}

/// What Flink 2.3 gives for sums by `k` that are written by `c`.
const SUMS: [(RowKind, i64, i64); 5] =
    [(Insert, 5, 1), (Insert, 7, 1), (UpdateBefore, 5, 1), (UpdateAfter, 5, 3), (Insert, 6, 1)];

fn sums() -> Vec<Change> {
    SUMS.iter().map(|(kind, k, c)| row(*kind, *k, *c)).collect()
}

#[test]
fn the_latest_row_of_a_key_is_given() {
    let expected =
        [row(Insert, 5, 1), row(UpdateAfter, 7, 1), row(Insert, 5, 3), row(UpdateAfter, 6, 1)];
    for upsert_key in [&[0][..], &[]] {
        let mut it = latest(upsert_key);
        assert_eq!(feed(&mut it, &sums()), expected);
        // The one before shows again when the last is taken back, and none is left in the end.
        assert_eq!(feed(&mut it, &[row(Delete, 6, 1)]), [row(UpdateAfter, 7, 1)]);
        assert_eq!(feed(&mut it, &[row(Delete, 9, 1)]), []);
        assert_eq!(feed(&mut it, &[row(Delete, 7, 1)]), [row(Delete, 7, 1)]);
        assert_eq!(feed(&mut it, &[row(Insert, 7, 1)]), [row(Insert, 7, 1)]);
    }
}

#[test]
fn the_first_row_of_a_key_stays_at_each_watermark() {
    let mut it = OperatorHarness::new(checker(false), 1, contract()).unwrap();
    let mut given = Vec::new();
    for (time, change) in sums().into_iter().enumerate() {
        assert_eq!(feed(&mut it, std::slice::from_ref(&change)), []);
        // The two halves of an update come between the same watermarks.
        if change.0 != UpdateBefore {
            it.watermark(0, time as i64).unwrap();
            given.extend(changes(&it.take_batches()));
        }
    }
    // The rows that Flink 2.3 prints; (7, 1) is forgotten.
    assert_eq!(given, [row(Insert, 5, 1), row(Delete, 5, 1), row(Insert, 5, 3), row(Insert, 6, 1)]);
}

#[test]
fn a_conflict_fails_only_if_it_is_there_at_a_watermark() {
    let mut it = OperatorHarness::new(checker(true), 1, contract()).unwrap();
    feed(&mut it, &[row(Insert, 5, 1), row(Insert, 7, 1), row(Delete, 5, 1)]);
    it.watermark(0, 1).unwrap();
    assert_eq!(changes(&it.take_batches()), [row(Insert, 7, 1)]);
    feed(&mut it, &[row(Insert, 5, 1)]);
    let error = it.watermark(0, 2).unwrap_err().to_string();
    assert!(error.contains("Conflicting key: [c=1]"), "{error}");
}

#[test]
fn idle_keys_are_forgotten() {
    let ttl = Ttl::from_millis(100);
    let it = SinkUpsertMaterializer::new(&[1], &[0], &columns(), ttl);
    let mut it = OperatorHarness::new(it, 1, contract()).unwrap();
    feed(&mut it, &[row(Insert, 5, 1)]);
    it.advance_clock(100).unwrap();
    assert_eq!(feed(&mut it, &[row(Delete, 5, 1)]), []);
    assert_eq!(feed(&mut it, &[row(Insert, 6, 1)]), [row(Insert, 6, 1)]);
}

/// What a table of one row a key holds after upserts and deletions by `c`.
fn fold(table: &mut BTreeMap<Option<i64>, Row>, changes: &[Change]) -> Result<(), String> {
    for (kind, row) in changes {
        let had = match kind {
            Delete => table.remove(&row[1]).is_some(),
            _ => table.insert(row[1], row.clone()).is_some(),
        };
        let fits = match kind {
            Insert => !had,
            UpdateAfter | Delete => had,
            UpdateBefore => false,
        };
        if !fits {
            return Err(format!("{kind} {row:?} where the key was there: {had}"));
        }
    }
    Ok(())
}

/// Whether several tasks give what one gives.
fn agree<O: Operator + 'static>(
    fed: &[Fed],
    operator: impl Fn() -> O,
) -> Result<(), TestCaseError> {
    let make = |_| -> Box<dyn Operator> { Box::new(operator()) };
    let inputs = vec![Side::by(columns(), &[1])];
    Ways { make: &make, inputs, output: columns(), gathers: Gathers::No }.agree(fed)
}

/// A changelog that is keyed by `k`, as a query gives it: choices of a key and its new row or none.
fn changelog(choices: &[(i64, Option<(i64, i64)>)], now: &mut BTreeMap<i64, Row>) -> Vec<Change> {
    let mut changes = Vec::new();
    for (k, value) in choices {
        let new = value.map(|(c, w)| vec![Some(*k), Some(c), Some(w)]);
        let old = match &new {
            Some(new) => now.insert(*k, new.clone()),
            None => now.remove(k),
        };
        match (old, new) {
            (None, Some(new)) => changes.push((Insert, new)),
            (Some(old), None) => changes.push((Delete, old)),
            (Some(old), Some(new)) => changes.extend([(UpdateBefore, old), (UpdateAfter, new)]),
            (None, None) => {}
        }
    }
    changes
}

fn choices() -> impl Strategy<Value = Vec<(i64, Option<(i64, i64)>)>> {
    let value = prop::option::weighted(0.8, (0..3i64, 0..2i64));
    prop::collection::vec((0..5i64, value), 1..10)
}

proptest! {
    #![proptest_config(cases(256))]

    /// Whatever rows share a key, the sink holds for each key one of the query's rows: the one that came
    /// last.
    #[test]
    fn the_sink_has_the_latest_row_of_each_key(
        batches in prop::collection::vec((choices(), any::<bool>()), 1..8),
        by_key in any::<bool>(),
    ) {
        let upsert_key: &[usize] = if by_key { &[0] } else { &[] };
        let make = || SinkUpsertMaterializer::new(&[1], upsert_key, &columns(), None);
        let mut it = latest(upsert_key).keeping_feed();
        let (mut query, mut order, mut table) = (BTreeMap::new(), Vec::new(), BTreeMap::new());
        for (choices, resume) in &batches {
            let input = changelog(choices, &mut query);
            for (kind, row) in &input {
                match kind.adds() {
                    true => order.push(row.clone()),
                    false => {
                        let place = order.iter().position(|known| known == row).unwrap();
                        order.remove(place);
                    }
                }
            }
            if !input.is_empty() {
                fold(&mut table, &feed(&mut it, &input)).map_err(TestCaseError::fail)?;
            }
            let expected: BTreeMap<_, _> = order.iter().map(|row| (row[1], row.clone())).collect();
            prop_assert_eq!(&table, &expected);
            if *resume {
                it = it.restarted(make()).unwrap();
            }
        }
        agree(it.fed(), make)?;
    }

    /// At each watermark the sink holds for each key the row that was there first since the key was last
    /// without one, and a conflict is found if and only if there is another.
    #[test]
    fn the_first_row_of_each_key_counts(
        batches in prop::collection::vec((choices(), any::<bool>()), 1..8),
    ) {
        let it = OperatorHarness::new(checker(false), 1, contract()).unwrap();
        let mut it = it.keeping_feed();
        let mut strict = OperatorHarness::new(checker(true), 1, contract()).unwrap();
        let mut failed = false;
        let (mut query, mut table) = (BTreeMap::new(), BTreeMap::new());
        // For each key the rows that were not forgotten, in the order in which they came.
        let mut rows: BTreeMap<Option<i64>, Vec<Row>> = BTreeMap::new();
        for (time, (choices, resume)) in batches.iter().enumerate() {
            let input = changelog(choices, &mut query);
            for (kind, row) in &input {
                let rows = rows.entry(row[1]).or_default();
                match (kind.adds(), rows.iter().position(|known| known[0] == row[0])) {
                    (true, Some(place)) => rows[place] = row.clone(),
                    (true, None) => rows.push(row.clone()),
                    (false, Some(place)) => drop(rows.remove(place)),
                    (false, None) => {}
                }
            }
            let conflict = rows.values().any(|rows| rows.len() > 1);
            rows.values_mut().for_each(|rows| rows.truncate(1));
            if !input.is_empty() {
                prop_assert_eq!(feed(&mut it, &input), []);
            }
            if *resume {
                it = it.restarted(checker(false)).unwrap();
            }
            it.watermark(0, time as i64).unwrap();
            fold(&mut table, &changes(&it.take_batches())).map_err(TestCaseError::fail)?;
            let expected: BTreeMap<_, _> =
                rows.iter().filter_map(|(key, rows)| Some((*key, rows.first()?.clone()))).collect();
            prop_assert_eq!(&table, &expected);
            if !failed {
                if !input.is_empty() {
                    strict.batch(0, batch(&columns(), &input)).unwrap();
                }
                failed = strict.watermark(0, time as i64).is_err();
                prop_assert_eq!(failed, conflict);
            }
        }
        agree(it.fed(), || checker(false))?;
    }
}

#[test]
fn rows_on_disk_are_as_good() {
    crate::testing::on_disk(1, || {
        the_sink_has_the_latest_row_of_each_key();
        the_latest_row_of_a_key_is_given();
        idle_keys_are_forgotten();
    });
}
