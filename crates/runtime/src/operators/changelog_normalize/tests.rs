use std::collections::BTreeMap;

use flott_state::Ttl;
use flott_types::RowKind::{self, Delete, Insert, UpdateAfter, UpdateBefore};
use flott_types::{ChangelogMode, Schema};
use proptest::prelude::*;

use super::ChangelogNormalize;
use crate::check::OutputContract;
use crate::operator::Operator;
use crate::operators::test_rows::{Change, Row, Table, apply, batch, changes, schema};
use crate::operators::testing::{Gathers, Side, Ways, cases};
use crate::testing::OperatorHarness;

fn columns() -> Schema {
    schema(&["k", "v", "w"])
}

fn operator(ttl: Option<Ttl>) -> ChangelogNormalize {
    ChangelogNormalize::new(&[0], true, &columns(), ttl)
}

fn harness(ttl: Option<Ttl>) -> OperatorHarness {
    let contract =
        OutputContract { schema: columns().to_arrow(), mode: ChangelogMode::ALL, repeatable: true };
    OperatorHarness::new(operator(ttl), 1, Some(contract)).unwrap()
}

fn feed(harness: &mut OperatorHarness, rows: &[Change]) -> Vec<Change> {
    harness.batch(0, batch(&columns(), rows)).unwrap();
    changes(&harness.take_batches())
}

fn row(kind: RowKind, k: i64, v: i64) -> Change {
    (kind, vec![Some(k), Some(v), Some(-v)])
}

/// A deletion as a compacted topic gives it.
fn tombstone(k: i64) -> Change {
    (Delete, vec![Some(k), None, None])
}

#[test]
fn kinds_follow_from_what_is_kept() {
    let mut it = harness(None);
    let given = feed(
        &mut it,
        &[
            row(UpdateAfter, 1, 10),
            row(Insert, 2, 20),
            row(Insert, 2, 20),
            tombstone(3),
            row(UpdateBefore, 1, 10),
            row(Insert, 1, 11),
            tombstone(1),
            tombstone(1),
            row(UpdateAfter, 1, 12),
        ],
    );
    let expected = [
        row(Insert, 1, 10),
        row(Insert, 2, 20),
        row(UpdateBefore, 1, 10),
        row(UpdateAfter, 1, 11),
        row(Delete, 1, 11),
        row(Insert, 1, 12),
    ];
    assert_eq!(given, expected);
    assert_eq!(feed(&mut it, &[row(UpdateBefore, 2, 20)]), []);
    assert_eq!(feed(&mut it, &[tombstone(2), tombstone(9)]), [row(Delete, 2, 20)]);
    assert_eq!(feed(&mut it, &[row(Insert, 1, 12)]), []);
}

#[test]
fn state_expires_and_unchanged_rows_renew_it() {
    let mut it = harness(Ttl::from_millis(100));
    assert_eq!(feed(&mut it, &[row(Insert, 1, 10)]), [row(Insert, 1, 10)]);
    it.advance_clock(60).unwrap();
    let renewed = [row(UpdateBefore, 1, 10), row(UpdateAfter, 1, 10)];
    assert_eq!(feed(&mut it, &[row(Insert, 1, 10)]), renewed);
    it.advance_clock(60).unwrap();
    assert_eq!(feed(&mut it, &[tombstone(1)]), [row(Delete, 1, 10)]);
    assert_eq!(feed(&mut it, &[row(Insert, 1, 11)]), [row(Insert, 1, 11)]);
    it.advance_clock(100).unwrap();
    assert_eq!(feed(&mut it, &[tombstone(1)]), []);
    assert_eq!(feed(&mut it, &[row(Insert, 1, 12)]), [row(Insert, 1, 12)]);
    it.advance_clock(100).unwrap();
    assert_eq!(feed(&mut it, &[row(Insert, 1, 12)]), [row(Insert, 1, 12)]);
}

/// What Flink's function does with one row.
fn normalize(kept: &mut BTreeMap<Option<i64>, Row>, (kind, row): &Change, out: &mut Vec<Change>) {
    match kind {
        UpdateBefore => {}
        Delete => out.extend(kept.remove(&row[0]).map(|old| (Delete, old))),
        _ => match kept.insert(row[0], row.clone()) {
            None => out.push((Insert, row.clone())),
            Some(old) if old == *row => {}
            Some(old) => out.extend([(UpdateBefore, old), (UpdateAfter, row.clone())]),
        },
    }
}

fn any_change() -> impl Strategy<Value = Change> {
    let value = prop_oneof![4 => (0..3i64).prop_map(Some), 1 => Just(None)];
    let key = prop_oneof![9 => (0..5i64).prop_map(Some), 1 => Just(None)];
    let kind = prop::sample::select(vec![Insert, UpdateAfter, UpdateAfter, UpdateBefore, Delete]);
    (kind, key, value.clone(), value).prop_map(|(kind, k, v, w)| (kind, vec![k, v, w]))
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn agrees_with_a_map(
        batches in prop::collection::vec(
            (prop::collection::vec(any_change(), 1..12), any::<bool>()), 1..8),
    ) {
        let mut it = harness(None).keeping_feed();
        let (mut kept, mut table) = (BTreeMap::new(), Table::new());
        for (rows, resume) in &batches {
            let mut expected = Vec::new();
            rows.iter().for_each(|change| normalize(&mut kept, change, &mut expected));
            let given = feed(&mut it, rows);
            prop_assert_eq!(&given, &expected);
            apply(&mut table, &given).map_err(TestCaseError::fail)?;
            if *resume {
                it = it.restarted(operator(None)).unwrap();
            }
        }
        for (before, mode) in [(true, ChangelogMode::ALL), (false, ChangelogMode::UPSERT)] {
            let make = |_| -> Box<dyn Operator> {
                Box::new(ChangelogNormalize::new(&[0], before, &columns(), None))
            };
            let inputs = vec![Side::by(columns(), &[0])];
            let gathers = Gathers::Around(mode, Some(vec![0]));
            Ways { make: &make, inputs, output: columns(), gathers }.agree(it.fed())?;
        }
        let rows: Table = kept.into_values().map(|row| (row, 1)).collect();
        prop_assert_eq!(table, rows);
    }
}

#[test]
fn rows_on_disk_are_as_good() {
    crate::testing::on_disk(1, || {
        agrees_with_a_map();
        kinds_follow_from_what_is_kept();
        state_expires_and_unchanged_rows_renew_it();
    });
}
