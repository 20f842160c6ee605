//! What is gathered and how it comes out; that the results are right is for the tests of the operators
//! inside.

use std::sync::Arc;

use flott_functions::SessionSettings;
use flott_plan::MiniBatch;
use flott_plan::logical::JoinKind;
use flott_plan::physical::RegularJoin;
use flott_types::RowKind::{Delete, Insert, UpdateAfter, UpdateBefore};
use flott_types::{ChangelogMode, Schema};

use super::net::NetRows;
use super::{Changelog, MiniBatchOperator};
use crate::element::StreamElement;
use crate::operators::test_rows::{Change, batch, changes, schema};
use crate::operators::{ChangelogNormalize, JoinOperator};
use crate::testing::OperatorHarness;

const LIMITS: MiniBatch = MiniBatch { size: 4, latency: 50 };

fn changelog(schema: &Schema, mode: ChangelogMode, key: Option<Vec<usize>>) -> Changelog {
    Changelog { schema: Arc::new(schema.clone()), mode, key, repeats: false }
}

fn side() -> Schema {
    schema(&["k", "v"])
}

fn joined() -> Schema {
    schema(&["k", "v", "k0", "w"])
}

/// A left join by `k`, a unique key of either side.
fn join() -> OperatorHarness {
    let spec = RegularJoin {
        kind: JoinKind::Left,
        left_keys: vec![0],
        right_keys: vec![0],
        null_safe: vec![false],
        residual: None,
        left_unique: vec![vec![0]],
        right_unique: vec![vec![0]],
        insert_only: [false; 2],
        state_ttl: [0; 2],
        batch: false,
    };
    let output = joined().to_arrow();
    let inner =
        JoinOperator::new(&spec, &side(), &side(), output, &SessionSettings::default()).unwrap();
    let input = changelog(&side(), ChangelogMode::ALL, Some(vec![0]));
    let output = changelog(&joined(), ChangelogMode::ALL, Some(vec![0]));
    let operator = MiniBatchOperator::around(
        Box::new(inner),
        LIMITS,
        &[Some(input.clone()), Some(input)],
        &output,
    );
    OperatorHarness::boxed(operator, 2, None, None).unwrap()
}

fn feed(it: &mut OperatorHarness, input: usize, rows: &[Change]) -> Vec<Change> {
    it.batch(input, batch(&side(), rows)).unwrap();
    changes(&it.take_batches())
}

fn row(kind: flott_types::RowKind, k: i64, v: i64) -> Change {
    (kind, vec![Some(k), Some(v)])
}

fn pair(kind: flott_types::RowKind, k: i64, v: i64, w: Option<i64>) -> Change {
    (kind, vec![Some(k), Some(v), w.map(|_| k), w])
}

#[test]
fn a_join_gives_the_net_change_of_a_bundle() {
    let mut it = join();
    // Keys come in no order that is promised.
    let sorted = |mut changes: Vec<Change>| {
        changes.sort_by_key(|(_, row)| row[0]);
        changes
    };
    assert_eq!(feed(&mut it, 0, &[row(Insert, 1, 10), row(Insert, 2, 20)]), []);
    // The padded rows are gone before anybody saw them, and so is what came and went.
    let given = feed(&mut it, 1, &[row(Insert, 1, 11), row(Insert, 3, 30)]);
    assert_eq!(sorted(given), [pair(Insert, 1, 10, Some(11)), pair(Insert, 2, 20, None)]);
    assert_eq!(feed(&mut it, 1, &[row(UpdateBefore, 1, 11), row(UpdateAfter, 1, 12)]), []);
    let given = feed(&mut it, 0, &[row(Delete, 2, 20), row(Insert, 4, 40)]);
    let update = [pair(UpdateBefore, 1, 10, Some(11)), pair(UpdateAfter, 1, 10, Some(12))];
    let all = [&update[..], &[pair(Delete, 2, 20, None), pair(Insert, 4, 40, None)]].concat();
    assert_eq!(sorted(given), all);
    let back = [row(UpdateBefore, 4, 40), row(UpdateAfter, 4, 41)];
    let forth = [row(UpdateBefore, 4, 41), row(UpdateAfter, 4, 40)];
    assert_eq!(feed(&mut it, 0, &[back, forth].concat()), [], "it is again what it was");
}

#[test]
fn rows_that_came_back_keep_the_state_of_others_alive() {
    let of = changelog(&side(), ChangelogMode::ALL, Some(vec![0]));
    let of = Changelog { repeats: true, ..of };
    let mut net = NetRows::new(&of);
    let rows = [
        row(UpdateBefore, 1, 1),
        row(UpdateAfter, 1, 1),
        row(Insert, 2, 2),
        row(Delete, 2, 2),
        row(UpdateBefore, 3, 3),
        row(UpdateAfter, 3, 4),
    ];
    net.add(&batch(&side(), &rows)).unwrap();
    let given = changes(&[net.take().unwrap()]);
    assert_eq!(given, [&rows[..2], &rows[4..]].concat());
    assert_eq!(net.len(), 0);
}

#[test]
fn bundles_end_by_the_clock_and_before_checkpoints() {
    let mut it = join();
    assert_eq!(feed(&mut it, 0, &[row(Insert, 1, 10)]), []);
    it.watermark(0, 7).unwrap();
    it.watermark(1, 7).unwrap();
    it.advance_clock(49).unwrap();
    assert!(it.take().is_empty());
    it.advance_clock(1).unwrap();
    let given = it.take();
    let expected =
        matches!(given.as_slice(), [StreamElement::Batch(_), StreamElement::Watermark(7)]);
    assert!(expected, "{given:?}");
    feed(&mut it, 0, &[row(Insert, 2, 20)]);
    it.snapshot().unwrap();
    assert_eq!(changes(&it.take_batches()), [pair(Insert, 2, 20, None)]);
    feed(&mut it, 0, &[row(Insert, 3, 30)]);
    it.end(1).unwrap();
    assert_eq!(changes(&it.take_batches()), [pair(Insert, 3, 30, None)]);
}

#[test]
fn upserts_of_one_key_become_one() {
    let inner = ChangelogNormalize::new(&[0], false, &side(), None);
    let mode = ChangelogMode::UPSERT;
    let of = changelog(&side(), mode, Some(vec![0]));
    let operator = MiniBatchOperator::around(Box::new(inner), LIMITS, &[None], &of);
    let mut it = OperatorHarness::boxed(operator, 1, None, None).unwrap();
    let first =
        [row(UpdateAfter, 1, 1), row(UpdateAfter, 1, 2), row(Insert, 2, 1), row(Delete, 2, 1)];
    assert_eq!(feed(&mut it, 0, &first), [row(Insert, 1, 2)]);
    let second =
        [row(Delete, 1, 2), row(Insert, 1, 3), row(UpdateAfter, 3, 1), row(UpdateAfter, 3, 2)];
    assert_eq!(feed(&mut it, 0, &second), [row(UpdateAfter, 1, 3), row(Insert, 3, 2)]);
    let third =
        [row(UpdateAfter, 1, 4), row(Delete, 1, 4), row(UpdateAfter, 3, 5), row(Delete, 9, 9)];
    assert_eq!(feed(&mut it, 0, &third), [row(Delete, 1, 4), row(UpdateAfter, 3, 5)]);
}
