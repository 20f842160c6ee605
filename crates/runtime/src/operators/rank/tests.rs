use std::cmp::Ordering;
use std::collections::BTreeMap;

use flott_plan::logical::{RankEnd, RankFunction, RankRange};
use flott_plan::physical::{OrderColumn, Rank, RankOrigin, RankStrategy, RowOrder};
use flott_types::RowKind::{self, Delete, Insert, UpdateAfter, UpdateBefore};
use flott_types::{ChangelogMode, Schema};
use proptest::prelude::*;

use super::RankOperator;
use crate::check::OutputContract;
use crate::operator::Operator;
use crate::operators::test_rows::{Change, Row, Table, apply, batch, changes, schema};
use crate::operators::testing::{Gathers, Side, Ways, cases};
use crate::testing::{Fed, OperatorHarness};

const FUNCTIONS: [RankFunction; 3] =
    [RankFunction::RowNumber, RankFunction::Rank, RankFunction::DenseRank];

/// A Top-N of (p, u, s, v) by s within p; u is unique where rows are found by it.
#[derive(Debug, Clone)]
struct Case {
    function: RankFunction,
    strategy: RankStrategy,
    start: u64,
    end: u64,
    with_number: bool,
    descending: bool,
    nulls_first: bool,
    newest_first: bool,
    is_global: bool,
    ttl: u64,
    final_only: bool,
}

impl Case {
    /// The first `end` rows by ROW_NUMBER, the smallest first.
    fn top(end: u64, strategy: RankStrategy) -> Self {
        Self {
            function: RankFunction::RowNumber,
            strategy,
            start: 1,
            end,
            with_number: false,
            descending: false,
            nulls_first: true,
            newest_first: false,
            is_global: false,
            ttl: 0,
            final_only: false,
        }
    }

    fn input(&self) -> Schema {
        schema(&["p", "u", "s", "v"])
    }

    fn output(&self) -> Schema {
        let names = ["p", "u", "s", "v", "n"];
        schema(if self.with_number { &names } else { &names[..4] })
    }

    fn spec(&self) -> Rank {
        let (descending, nulls_first) = (self.descending, self.nulls_first);
        let by = OrderColumn { column: 2, descending, nulls_first };
        let end = RankEnd::Constant(self.end as i64);
        Rank {
            origin: RankOrigin::Rank,
            function: self.function,
            partition: if self.is_global { Vec::new() } else { vec![0] },
            order: RowOrder { columns: vec![by], newest_first: self.newest_first },
            range: RankRange { start: self.start, end },
            strategy: self.strategy.clone(),
            with_number: self.with_number,
            emit_update_before: true,
            final_only: self.final_only,
            state_ttl: self.ttl,
        }
    }

    fn operator(&self) -> RankOperator {
        RankOperator::new(&self.spec(), &self.input(), self.output().to_arrow()).unwrap()
    }

    fn harness(&self) -> OperatorHarness {
        let mode = if self.final_only { ChangelogMode::INSERT_ONLY } else { ChangelogMode::ALL };
        let schema = self.output().to_arrow();
        let contract = OutputContract { schema, mode, repeatable: self.ttl == 0 };
        OperatorHarness::new(self.operator(), 1, Some(contract)).unwrap()
    }

    /// Whether all ways of running give the same, with −U rows or without.
    fn agree(&self, fed: &[Fed], emit_update_before: bool) -> Result<(), TestCaseError> {
        let spec = Rank { emit_update_before, ..self.spec() };
        let make = |_| -> Box<dyn Operator> {
            let output = self.output().to_arrow();
            Box::new(RankOperator::new(&spec, &self.input(), output).unwrap())
        };
        // A rank is there once a partition; otherwise rows are found by the unique key, if there is one.
        let numbered = self.with_number && self.function == RankFunction::RowNumber;
        let key = match (&self.strategy, numbered) {
            (_, true) => Some([&spec.partition[..], &[4]].concat()),
            (RankStrategy::UpdateFast { key }, false) => Some(key.clone()),
            _ => None,
        };
        let mode = if emit_update_before { ChangelogMode::ALL } else { ChangelogMode::UPSERT };
        let inputs = vec![Side::by(self.input(), &spec.partition)];
        let gathers = Gathers::Around(mode, key);
        Ways { make: &make, inputs, output: self.output(), gathers }.agree(fed)
    }

    fn compare(&self, a: Option<i64>, b: Option<i64>) -> Ordering {
        match (a, b) {
            (Some(a), Some(b)) if self.descending => b.cmp(&a),
            (Some(a), Some(b)) => a.cmp(&b),
            (None, None) => Ordering::Equal,
            (None, Some(_)) if self.nulls_first => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) if self.nulls_first => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
        }
    }

    /// The ranks by definition, of rows in their order.
    fn naive(&self, model: &Model) -> Table {
        let mut table = Table::new();
        for rows in model.values() {
            let mut rank = 0;
            let mut last: Option<&Row> = None;
            for (number, row) in (1..).zip(rows) {
                let is_tie = last.is_some_and(|last| last[2] == row[2]);
                rank = match self.function {
                    RankFunction::RowNumber => number,
                    RankFunction::Rank if is_tie => rank,
                    RankFunction::Rank => number,
                    RankFunction::DenseRank => rank + u64::from(!is_tie),
                };
                last = Some(row);
                if (self.start..=self.end).contains(&rank) {
                    let mut row = row.clone();
                    row.extend(self.with_number.then_some(Some(rank as i64)));
                    *table.entry(row).or_default() += 1;
                }
            }
        }
        table
    }
}

/// The rows of each partition in their order.
type Model = BTreeMap<Option<i64>, Vec<Row>>;

impl Case {
    fn partition(&self, row: &Row) -> Option<i64> {
        if self.is_global { None } else { row[0] }
    }

    fn add(&self, model: &mut Model, row: &Row) {
        let rows = model.entry(self.partition(row)).or_default();
        let before = |other: &Row| match self.compare(other[2], row[2]) {
            Ordering::Equal => !self.newest_first,
            order => order == Ordering::Less,
        };
        let at = rows.iter().take_while(|other| before(other)).count();
        rows.insert(at, row.clone());
    }

    fn remove(&self, model: &mut Model, row: &Row) {
        let rows = model.entry(self.partition(row)).or_default();
        if let Some(at) = rows.iter().position(|other| other == row) {
            rows.remove(at);
        }
    }

    /// Puts a row in the place of the one with the same u; it keeps its place among ties only if s
    /// stays the same.
    fn upsert(&self, model: &mut Model, row: &Row) {
        let rows = model.entry(self.partition(row)).or_default();
        match rows.iter().position(|other| other[1] == row[1]) {
            Some(at) if rows[at][2] == row[2] => rows[at] = row.clone(),
            Some(at) => {
                rows.remove(at);
                self.add(model, row);
            }
            None => self.add(model, row),
        }
    }
}

fn feed(it: &mut OperatorHarness, case: &Case, rows: &[Change]) -> Vec<Change> {
    it.batch(0, batch(&case.input(), rows)).unwrap();
    changes(&it.take_batches())
}

/// What is done to the input.
#[derive(Debug, Clone)]
enum Edit {
    Add(Row),
    Retract(prop::sample::Index),
    /// Takes back a row that need not be there.
    Guess(Row),
}

impl Case {
    /// The change that an edit makes of the input, and of the model.
    fn edit(&self, model: &mut Model, edit: &Edit) -> Option<Change> {
        match (&self.strategy, edit) {
            (RankStrategy::UpdateFast { .. }, Edit::Add(row)) => {
                // The partition is a function of the unique key, and s only ever moves up.
                let (u, step) = (row[1].unwrap_or(0), row[2].unwrap_or(0));
                let p = Some(u % 2);
                let of_partition = model.get(&self.partition(&vec![p])).into_iter().flatten();
                let old = of_partition.into_iter().find(|other| other[1] == Some(u));
                let s = old.map_or(Some(step), |old| old[2].map(|s| s + step));
                let s =
                    if self.descending { s } else { old.map_or(s, |old| old[2].map(|s| s - step)) };
                let row = vec![p, Some(u), s, row[3]];
                let kind = if old.is_some() { UpdateAfter } else { Insert };
                self.upsert(model, &row);
                Some((kind, row))
            }
            (RankStrategy::Retract, Edit::Retract(at)) => {
                let rows: Vec<Row> = model.values().flatten().cloned().collect();
                let row = rows.get(at.index(rows.len().max(1)))?.clone();
                self.remove(model, &row);
                Some((if row[3].is_some() { Delete } else { UpdateBefore }, row))
            }
            (RankStrategy::Retract, Edit::Guess(row)) => {
                self.remove(model, row);
                Some((Delete, row.clone()))
            }
            (_, Edit::Add(row)) => {
                self.add(model, row);
                let retracts = self.strategy == RankStrategy::Retract;
                let kind = if retracts && row[3].is_none() { UpdateAfter } else { Insert };
                Some((kind, row.clone()))
            }
            _ => None,
        }
    }
}

fn any_case() -> impl Strategy<Value = Case> {
    let strategy = prop::sample::select(vec![
        RankStrategy::AppendFast,
        RankStrategy::Retract,
        RankStrategy::UpdateFast { key: vec![0, 1] },
    ]);
    (
        (prop::sample::select(FUNCTIONS.to_vec()), strategy, 1..4u64, 0..4u64),
        (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()),
    )
        .prop_map(
            |(
                (function, strategy, start, more),
                (with_number, descending, nulls_first, newest_first, is_global),
            )| {
                let updates = matches!(strategy, RankStrategy::UpdateFast { .. });
                Case {
                    function: if updates { RankFunction::RowNumber } else { function },
                    start,
                    with_number,
                    descending,
                    nulls_first,
                    newest_first: newest_first && !updates,
                    is_global,
                    ..Case::top(start + more - u64::from(more == 3 && start == 1), strategy)
                }
            },
        )
}

fn any_row() -> impl Strategy<Value = Row> {
    let value = |count: i64| prop_oneof![1 => Just(None), 6 => (0..count).prop_map(Some)];
    (value(3), value(6), value(4), value(2)).prop_map(|(p, u, s, v)| vec![p, u, s, v])
}

fn any_edits() -> impl Strategy<Value = Vec<Edit>> {
    let edit = prop_oneof![
        8 => any_row().prop_map(Edit::Add),
        5 => any::<prop::sample::Index>().prop_map(Edit::Retract),
        1 => any_row().prop_map(Edit::Guess),
    ];
    prop::collection::vec(edit, 1..12)
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn the_output_is_what_ranking_gives(
        case in any_case(),
        steps in prop::collection::vec((any_edits(), prop::bool::weighted(0.2)), 1..8),
    ) {
        let mut it = case.harness().keeping_feed();
        let (mut model, mut output) = (Model::new(), Table::new());
        for (edits, resume) in &steps {
            let rows: Vec<Change> =
                edits.iter().filter_map(|edit| case.edit(&mut model, edit)).collect();
            if !rows.is_empty() {
                let given = feed(&mut it, &case, &rows);
                apply(&mut output, &given).map_err(TestCaseError::fail)?;
                prop_assert_eq!(&output, &case.naive(&model));
            }
            if *resume {
                it = it.restarted(case.operator()).unwrap();
            }
        }
        case.agree(it.fed(), true)?;
        if case.with_number && case.function == RankFunction::RowNumber {
            case.agree(it.fed(), false)?;
        }
    }

    #[test]
    fn batches_give_what_row_by_row_gives(
        case in any_case(),
        steps in prop::collection::vec(any_edits(), 1..8),
    ) {
        let (mut whole, mut single, mut model) = (case.harness(), case.harness(), Model::new());
        for edits in &steps {
            let rows: Vec<Change> =
                edits.iter().filter_map(|edit| case.edit(&mut model, edit)).collect();
            if rows.is_empty() {
                continue;
            }
            let given = feed(&mut whole, &case, &rows);
            let expected: Vec<Change> =
                rows.chunks(1).flat_map(|row| feed(&mut single, &case, row)).collect();
            prop_assert_eq!(given, expected);
        }
    }

    #[test]
    fn batch_mode_gives_final_rows(
        case in any_case(),
        rows in prop::collection::vec(any_row(), 0..30),
    ) {
        let case = Case { final_only: true, strategy: RankStrategy::AppendFast, ..case };
        let mut it = case.harness();
        let mut model = Model::new();
        let rows: Vec<Change> = rows.into_iter().map(|row| (Insert, row)).collect();
        rows.iter().for_each(|(_, row)| case.add(&mut model, row));
        for part in rows.chunks(7) {
            prop_assert_eq!(feed(&mut it, &case, part), []);
        }
        it.end(0).unwrap();
        let mut output = Table::new();
        apply(&mut output, &changes(&it.take_batches())).map_err(TestCaseError::fail)?;
        prop_assert_eq!(output, case.naive(&model));
    }
}

fn row(u: i64, s: i64) -> Row {
    vec![Some(0), Some(u), Some(s), None]
}

fn ranked(kind: RowKind, u: i64, s: i64, n: i64) -> Change {
    (kind, vec![Some(0), Some(u), Some(s), None, Some(n)])
}

#[test]
fn a_row_that_passes_others_takes_its_old_rank_back_first() {
    let strategy = RankStrategy::UpdateFast { key: vec![0, 1] };
    let case = Case { with_number: true, descending: true, ..Case::top(3, strategy) };
    let mut it = case.harness();
    let rows = [(Insert, row(1, 5)), (Insert, row(2, 4)), (Insert, row(3, 3))];
    feed(&mut it, &case, &rows);
    // Flink's UpdatableTopNFunction gives them so.
    let expected = [
        ranked(UpdateBefore, 1, 5, 1),
        ranked(UpdateBefore, 3, 3, 3),
        ranked(UpdateAfter, 3, 6, 1),
        ranked(UpdateBefore, 2, 4, 2),
        ranked(UpdateAfter, 1, 5, 2),
        ranked(UpdateAfter, 2, 4, 3),
    ];
    assert_eq!(feed(&mut it, &case, &[(UpdateAfter, row(3, 6))]), expected);
    // One that moves down, which happens only when state upstream was lost.
    let expected = [
        ranked(UpdateBefore, 3, 6, 1),
        ranked(UpdateBefore, 1, 5, 2),
        ranked(UpdateAfter, 1, 5, 1),
        ranked(UpdateAfter, 3, 5, 2),
    ];
    assert_eq!(feed(&mut it, &case, &[(UpdateAfter, row(3, 5))]), expected);
}

#[test]
fn a_single_first_row_is_updated() {
    let case = Case::top(1, RankStrategy::AppendFast);
    let mut it = case.harness();
    let given =
        feed(&mut it, &case, &[(Insert, row(1, 5)), (Insert, row(2, 5)), (Insert, row(3, 4))]);
    let expected = [(Insert, row(1, 5)), (UpdateBefore, row(1, 5)), (UpdateAfter, row(3, 4))];
    assert_eq!(given, expected);
}

#[test]
fn each_partition_has_the_number_of_rows_that_its_first_row_asks_for() {
    let mut spec = Case::top(0, RankStrategy::AppendFast).spec();
    spec.range.end = RankEnd::Column { column: 3, less: 1 };
    let input = schema(&["p", "u", "s", "v"]);
    let operator = || RankOperator::new(&spec, &input, input.to_arrow()).unwrap();
    let mut it = OperatorHarness::new(operator(), 1, None).unwrap();
    let row = |p, u, v| (Insert, vec![Some(p), Some(u), Some(u), v]);
    let rows = [row(1, 9, Some(3)), row(1, 8, Some(9)), row(2, 9, Some(1)), row(3, 9, None)];
    it.batch(0, batch(&input, &rows)).unwrap();
    assert_eq!(changes(&it.take_batches()), rows[..2]);
    let checkpoint = it.snapshot().unwrap();
    let mut it = OperatorHarness::resumed(operator(), 1, None, Some(&checkpoint)).unwrap();
    it.batch(0, batch(&input, &[row(1, 7, None)])).unwrap();
    let expected = [(Delete, rows[0].1.clone()), row(1, 7, None)];
    assert_eq!(changes(&it.take_batches()), expected);
}

#[test]
fn partitions_expire_as_a_whole() {
    let case = Case { ttl: 100, ..Case::top(2, RankStrategy::AppendFast) };
    let mut it = case.harness();
    feed(&mut it, &case, &[(Insert, row(1, 5)), (Insert, row(2, 6))]);
    it.advance_clock(60).unwrap();
    // Not among the first two: no change, and so no longer life.
    assert_eq!(feed(&mut it, &case, &[(Insert, row(3, 9))]), []);
    it.advance_clock(60).unwrap();
    assert_eq!(feed(&mut it, &case, &[(Insert, row(4, 9))]), [(Insert, row(4, 9))]);
}

#[test]
fn state_is_bounded_by_the_partitions() {
    for function in FUNCTIONS {
        let case = Case { function, ..Case::top(5, RankStrategy::AppendFast) };
        let mut it = case.harness();
        let mut after = Vec::new();
        for round in 0..20i64 {
            // Ever better rows, each of a value of its own.
            let rows: Vec<Change> = (0..1000i64)
                .map(|i| {
                    let (p, s) = (Some(i % 20), Some(-(round * 1000 + i)));
                    (Insert, vec![p, Some(i), s, None])
                })
                .collect();
            feed(&mut it, &case, &rows);
            after.push(it.counts().state_bytes);
        }
        assert!(after[1] > 0 && after[19] == after[1], "{function:?}: {after:?}");
    }
}

#[test]
fn expired_partitions_are_given_back() {
    let case = Case { ttl: 1000, ..Case::top(5, RankStrategy::Retract) };
    let mut it = case.harness();
    let mut after = Vec::new();
    for round in 0..40i64 {
        let rows: Vec<Change> = (0..500i64)
            .map(|i| (Insert, vec![Some(round * 500 + i), Some(i), Some(i), None]))
            .collect();
        feed(&mut it, &case, &rows);
        it.advance_clock(500).unwrap();
        after.push(it.counts().state_bytes);
    }
    assert!(after[39] <= after[8] * 5 / 4, "{after:?}");
}

#[test]
fn partitions_on_disk_are_as_good() {
    crate::testing::on_disk(1, || {
        the_output_is_what_ranking_gives();
        batches_give_what_row_by_row_gives();
        batch_mode_gives_final_rows();
        each_partition_has_the_number_of_rows_that_its_first_row_asks_for();
        partitions_expire_as_a_whole();
        a_single_first_row_is_updated();
    });
}
