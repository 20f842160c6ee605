use flott_functions::{Expr, SessionSettings};
use flott_plan::logical::JoinKind;
use flott_plan::physical::RegularJoin;
use flott_types::RowKind::{self, Delete, Insert, UpdateAfter, UpdateBefore};
use flott_types::{ChangelogMode, DataType, Schema};
use proptest::prelude::*;

use super::JoinOperator;
use crate::check::OutputContract;
use crate::operator::Operator;
use crate::operators::test_rows::{Change, Row, Table, apply, batch, changes, schema};
use crate::operators::testing::{Gathers, Side, Ways, cases};
use crate::testing::{Fed, OperatorHarness};

const KINDS: [JoinKind; 6] = [
    JoinKind::Inner,
    JoinKind::Left,
    JoinKind::Right,
    JoinKind::Full,
    JoinKind::Semi,
    JoinKind::Anti,
];

/// A join of (k, j, v) with (k, j, w).
#[derive(Debug, Clone)]
struct Case {
    kind: JoinKind,
    /// Key columns of either side, and whether NULL equals NULL in them.
    keys: Vec<(usize, bool)>,
    /// Whether v < w is asked for.
    residual: bool,
    /// Of the left and the right side, in milliseconds.
    ttl: [u64; 2],
    batch: bool,
    /// A column that is a unique key of both inputs.
    unique: Option<usize>,
    insert_only: bool,
}

impl Case {
    fn inputs(&self) -> [Schema; 2] {
        [schema(&["k", "j", "v"]), schema(&["k", "j", "w"])]
    }

    fn one_sided(&self) -> bool {
        matches!(self.kind, JoinKind::Semi | JoinKind::Anti)
    }

    fn output(&self) -> Schema {
        let names = ["k", "j", "v", "k0", "j0", "w"];
        schema(if self.one_sided() { &names[..3] } else { &names })
    }

    fn operator(&self) -> JoinOperator {
        let column = |index| Expr::column(index, DataType::bigint());
        let residual = || Expr::builtin("<", vec![column(2), column(5)]).unwrap();
        let keys: Vec<usize> = self.keys.iter().map(|(column, _)| *column).collect();
        let spec = RegularJoin {
            kind: self.kind,
            left_keys: keys.clone(),
            right_keys: keys,
            null_safe: self.keys.iter().map(|(_, null_safe)| *null_safe).collect(),
            residual: self.residual.then(residual),
            left_unique: self.unique.map(|column| vec![column]).into_iter().collect(),
            right_unique: self.unique.map(|column| vec![column]).into_iter().collect(),
            insert_only: [self.insert_only; 2],
            state_ttl: self.ttl,
            batch: self.batch,
        };
        let [left, right] = self.inputs();
        let schema = self.output().to_arrow();
        JoinOperator::new(&spec, &left, &right, schema, &SessionSettings::default()).unwrap()
    }

    fn harness(&self) -> OperatorHarness {
        let mode = if self.batch { ChangelogMode::INSERT_ONLY } else { ChangelogMode::ALL };
        let schema = self.output().to_arrow();
        let contract = OutputContract { schema, mode, repeatable: self.ttl == [0; 2] };
        OperatorHarness::new(self.operator(), 2, Some(contract)).unwrap()
    }

    /// Whether all ways of running give the same.
    fn agree(&self, fed: &[Fed]) -> Result<(), TestCaseError> {
        let make = |_| -> Box<dyn Operator> { Box::new(self.operator()) };
        let keys: Vec<usize> = self.keys.iter().map(|(column, _)| *column).collect();
        let unique = self.unique.map(|column| vec![column]);
        let mode = if self.insert_only { ChangelogMode::INSERT_ONLY } else { ChangelogMode::ALL };
        let side =
            |schema| Side { folded: Some((mode, unique.clone())), ..Side::by(schema, &keys) };
        let inputs = self.inputs().map(side).into();
        let key = self.unique.filter(|_| self.one_sided()).map(|column| vec![column]);
        let gathers = Gathers::Around(ChangelogMode::ALL, key);
        Ways { make: &make, inputs, output: self.output(), gathers }.agree(fed)
    }

    fn matches(&self, left: &Row, right: &Row) -> bool {
        let equal = |(column, null_safe): &(usize, bool)| {
            left[*column] == right[*column] && (*null_safe || left[*column].is_some())
        };
        let less = || left[2].is_some_and(|v| right[2].is_some_and(|w| v < w));
        self.keys.iter().all(equal) && (!self.residual || less())
    }

    /// The join by definition.
    fn naive(&self, [left, right]: &[Table; 2]) -> Table {
        let nulls = || [None; 3].into_iter();
        let mut joined = Table::new();
        let mut give = |row: Row, copies: usize| *joined.entry(row).or_default() += copies;
        for (l, n) in left {
            let meets = right.keys().any(|r| self.matches(l, r));
            match self.kind {
                JoinKind::Semi if meets => give(l.clone(), *n),
                JoinKind::Anti if !meets => give(l.clone(), *n),
                JoinKind::Semi | JoinKind::Anti => {}
                kind if !meets && kind.keeps_left() => {
                    give(l.iter().copied().chain(nulls()).collect(), *n);
                }
                _ => {
                    for (r, m) in right.iter().filter(|(r, _)| self.matches(l, r)) {
                        give(l.iter().chain(r).copied().collect(), n * m);
                    }
                }
            }
        }
        let lonely = |r: &&Row| !left.keys().any(|l| self.matches(l, r));
        if self.kind.keeps_right() {
            for r in right.keys().filter(lonely) {
                give(nulls().chain(r.iter().copied()).collect(), right[r]);
            }
        }
        joined
    }
}

fn feed(it: &mut OperatorHarness, case: &Case, input: usize, rows: &[Change]) -> Vec<Change> {
    it.batch(input, batch(&case.inputs()[input], rows)).unwrap();
    changes(&it.take_batches())
}

/// What a test does: rows to one input, then a restart or not.
#[derive(Debug, Clone)]
struct Step {
    input: usize,
    edits: Vec<Edit>,
    resume: bool,
}

#[derive(Debug, Clone)]
enum Edit {
    Add(RowKind, Row),
    /// Takes back one of the rows that are there.
    Retract(RowKind, prop::sample::Index),
}

impl Edit {
    /// The change to a table, which it makes.
    fn apply(&self, table: &mut Table) -> Option<Change> {
        let change = match self {
            Self::Add(kind, row) => (*kind, row.clone()),
            Self::Retract(..) if table.is_empty() => return None,
            Self::Retract(kind, at) => (*kind, table.keys().nth(at.index(table.len()))?.clone()),
        };
        apply(table, std::slice::from_ref(&change)).ok()?;
        Some(change)
    }
}

fn any_case() -> impl Strategy<Value = Case> {
    let keys = prop_oneof![
        3 => any::<bool>().prop_map(|safe| vec![(0, safe)]),
        2 => any::<(bool, bool)>().prop_map(|(a, b)| vec![(0, a), (1, b)]),
        1 => Just(Vec::new()),
    ];
    (prop::sample::select(KINDS.to_vec()), keys, any::<bool>()).prop_map(
        |(kind, keys, residual)| Case {
            kind,
            keys,
            residual,
            ttl: [0; 2],
            batch: false,
            unique: None,
            insert_only: false,
        },
    )
}

fn any_row() -> impl Strategy<Value = Row> {
    let value = || prop_oneof![1 => Just(None), 4 => (0..3i64).prop_map(Some)];
    (value(), value(), value()).prop_map(|(k, j, v)| vec![k, j, v])
}

fn any_step() -> impl Strategy<Value = Step> {
    let edit = prop_oneof![
        3 => (prop::sample::select(vec![Insert, UpdateAfter]), any_row())
            .prop_map(|(kind, row)| Edit::Add(kind, row)),
        2 => (prop::sample::select(vec![Delete, UpdateBefore]), any::<prop::sample::Index>())
            .prop_map(|(kind, at)| Edit::Retract(kind, at)),
    ];
    (0..2usize, prop::collection::vec(edit, 1..8), prop::bool::weighted(0.2))
        .prop_map(|(input, edits, resume)| Step { input, edits, resume })
}

proptest! {
    #![proptest_config(cases(600))]

    #[test]
    fn the_output_is_the_join_of_the_inputs(
        case in any_case(),
        steps in prop::collection::vec(any_step(), 1..10),
    ) {
        let mut it = case.harness().keeping_feed();
        let (mut inputs, mut output) = ([Table::new(), Table::new()], Table::new());
        for step in &steps {
            let table = &mut inputs[step.input];
            let rows: Vec<Change> = step.edits.iter().filter_map(|e| e.apply(table)).collect();
            if !rows.is_empty() {
                let given = feed(&mut it, &case, step.input, &rows);
                apply(&mut output, &given).map_err(TestCaseError::fail)?;
                prop_assert_eq!(&output, &case.naive(&inputs));
            }
            if step.resume {
                it = it.restarted(case.operator()).unwrap();
            }
        }
        case.agree(it.fed())?;
    }

    #[test]
    fn batches_give_what_row_by_row_gives(
        case in any_case(),
        steps in prop::collection::vec(any_step(), 1..8),
    ) {
        let (mut whole, mut single) = (case.harness(), case.harness());
        let mut inputs = [Table::new(), Table::new()];
        for Step { input, edits, .. } in &steps {
            let rows: Vec<Change> =
                edits.iter().filter_map(|edit| edit.apply(&mut inputs[*input])).collect();
            if rows.is_empty() {
                continue;
            }
            let given = feed(&mut whole, &case, *input, &rows);
            let expected: Vec<Change> = rows
                .chunks(1)
                .flat_map(|row| feed(&mut single, &case, *input, row))
                .collect();
            prop_assert_eq!(given, expected);
        }
    }

    #[test]
    fn rows_that_are_never_taken_back_are_joined_the_same(
        case in any_case(),
        steps in prop::collection::vec(any_step(), 1..8),
    ) {
        let case = Case { insert_only: true, ..case };
        let mut it = case.harness().keeping_feed();
        let (mut inputs, mut output) = ([Table::new(), Table::new()], Table::new());
        for step in &steps {
            let adds = step.edits.iter().filter_map(|edit| match edit {
                Edit::Add(_, row) => Some((Insert, row.clone())),
                Edit::Retract(..) => None,
            });
            let rows: Vec<Change> = adds.collect();
            apply(&mut inputs[step.input], &rows).unwrap();
            if !rows.is_empty() {
                let given = feed(&mut it, &case, step.input, &rows);
                apply(&mut output, &given).map_err(TestCaseError::fail)?;
                prop_assert_eq!(&output, &case.naive(&inputs));
            }
            if step.resume {
                it = it.restarted(case.operator()).unwrap();
            }
        }
        case.agree(it.fed())?;
    }

    #[test]
    fn rows_of_a_unique_key_are_joined_the_same(
        case in any_case(),
        unique in 0..3usize,
        steps in prop::collection::vec(any_step(), 1..10),
    ) {
        let case = Case { unique: Some(unique), ..case };
        let mut it = case.harness().keeping_feed();
        let (mut inputs, mut output) = ([Table::new(), Table::new()], Table::new());
        for step in &steps {
            let table = &mut inputs[step.input];
            let mut rows = Vec::new();
            for edit in &step.edits {
                // A new row takes the one of its key back first.
                if let Edit::Add(_, row) = edit {
                    let old = table.keys().find(|old| old[unique] == row[unique]).cloned();
                    let old: Vec<Change> = old.map(|old| (UpdateBefore, old)).into_iter().collect();
                    apply(table, &old).unwrap();
                    rows.extend(old);
                }
                rows.extend(edit.apply(table));
            }
            if !rows.is_empty() {
                let given = feed(&mut it, &case, step.input, &rows);
                apply(&mut output, &given).map_err(TestCaseError::fail)?;
                prop_assert_eq!(&output, &case.naive(&inputs));
            }
            if step.resume {
                it = it.restarted(case.operator()).unwrap();
            }
        }
        case.agree(it.fed())?;
    }

    #[test]
    fn batch_mode_gives_final_rows(
        case in any_case(),
        sides in prop::collection::vec((0..2usize, prop::collection::vec(any_row(), 1..8)), 0..6),
        left_ends_first in any::<bool>(),
    ) {
        let case = Case { batch: true, ..case };
        let mut it = case.harness();
        let mut inputs = [Table::new(), Table::new()];
        // The right input may end anywhere before the left one does, or after it.
        let ends = [usize::from(!left_ends_first), usize::from(left_ends_first)];
        for (input, rows) in &sides {
            let rows: Vec<Change> = rows.iter().map(|row| (Insert, row.clone())).collect();
            apply(&mut inputs[*input], &rows).unwrap();
            it.batch(*input, batch(&case.inputs()[*input], &rows)).unwrap();
        }
        it.end(ends[0]).unwrap();
        if !left_ends_first {
            let late: Vec<Change> = vec![(Insert, vec![Some(0), Some(1), Some(1)])];
            apply(&mut inputs[0], &late).unwrap();
            it.batch(0, batch(&case.inputs()[0], &late)).unwrap();
        }
        it.end(ends[1]).unwrap();
        let mut output = Table::new();
        apply(&mut output, &changes(&it.take_batches())).map_err(TestCaseError::fail)?;
        prop_assert_eq!(output, case.naive(&inputs));
    }
}

fn simple(kind: JoinKind, ttl: u64) -> Case {
    Case {
        kind,
        keys: vec![(0, false)],
        residual: false,
        ttl: [ttl; 2],
        batch: false,
        unique: None,
        insert_only: false,
    }
}

fn row(kind: RowKind, k: i64, v: i64) -> Change {
    (kind, vec![Some(k), None, Some(v)])
}

/// Values of the third column of either side, `None` for a padded one.
fn pairs(given: &[Change]) -> Vec<(RowKind, Option<i64>, Option<i64>)> {
    given.iter().map(|(kind, row)| (*kind, row[2], row[5])).collect()
}

#[test]
fn a_match_takes_each_padded_row_back_right_before_its_pair() {
    for kind in [JoinKind::Left, JoinKind::Full] {
        let (case, mut it) = (simple(kind, 0), simple(kind, 0).harness());
        feed(&mut it, &case, 0, &[row(Insert, 1, 10), row(Insert, 1, 11), row(Insert, 1, 10)]);
        let given = feed(&mut it, &case, 1, &[row(UpdateAfter, 1, 20)]);
        let expected = [(10, 20), (10, 20), (11, 20)]
            .into_iter()
            .flat_map(|(l, r)| [(Delete, Some(l), None), (Insert, Some(l), Some(r))]);
        assert_eq!(pairs(&given), expected.collect::<Vec<_>>(), "{kind:?}");
        let given = feed(&mut it, &case, 1, &[row(UpdateBefore, 1, 20)]);
        let taken_back = if kind == JoinKind::Full { Delete } else { UpdateBefore };
        let expected = [(10, 20), (10, 20), (11, 20)]
            .into_iter()
            .flat_map(|(l, r)| [(taken_back, Some(l), Some(r)), (Insert, Some(l), None)]);
        assert_eq!(pairs(&given), expected.collect::<Vec<_>>(), "{kind:?}");
    }
}

#[test]
fn kinds_pass_through_an_inner_join() {
    let (case, mut it) = (simple(JoinKind::Inner, 0), simple(JoinKind::Inner, 0).harness());
    feed(&mut it, &case, 0, &[row(Insert, 1, 10)]);
    let rows = [row(Insert, 1, 20), row(UpdateBefore, 1, 20), row(UpdateAfter, 1, 21)];
    let given = feed(&mut it, &case, 1, &rows);
    let expected =
        [(Insert, 20), (UpdateBefore, 20), (UpdateAfter, 21)].map(|(k, w)| (k, Some(10), Some(w)));
    assert_eq!(pairs(&given), expected);
}

#[test]
fn more_matches_than_a_batch_holds() {
    let (case, mut it) = (simple(JoinKind::Full, 0), simple(JoinKind::Full, 0).harness());
    let many: Vec<Change> = (0..3000).map(|v| row(Insert, v % 2, v)).collect();
    feed(&mut it, &case, 0, &many);
    let given = feed(&mut it, &case, 1, &many[..20]);
    assert_eq!(given.len(), 3000 + 20 * 1500);
}

#[test]
fn a_row_expires_unless_it_or_its_matches_change() {
    let (case, mut it) = (simple(JoinKind::Left, 100), simple(JoinKind::Left, 100).harness());
    feed(&mut it, &case, 0, &[row(Insert, 1, 10), row(Insert, 2, 11)]);
    it.advance_clock(60).unwrap();
    feed(&mut it, &case, 1, &[row(Insert, 1, 20)]);
    it.advance_clock(60).unwrap();
    let given = feed(&mut it, &case, 1, &[row(Insert, 1, 21), row(Insert, 2, 22)]);
    assert_eq!(pairs(&given), [(Insert, Some(10), Some(21))]);
}

#[test]
fn each_side_has_its_own_ttl() {
    let case = Case { ttl: [100, 1000], ..simple(JoinKind::Inner, 0) };
    let mut it = case.harness();
    feed(&mut it, &case, 0, &[row(Insert, 1, 10)]);
    feed(&mut it, &case, 1, &[row(Insert, 1, 20)]);
    it.advance_clock(500).unwrap();
    // The left row is forgotten, the right one is not.
    assert_eq!(feed(&mut it, &case, 1, &[row(Insert, 1, 21)]), []);
    let given = feed(&mut it, &case, 0, &[row(Insert, 1, 11)]);
    let mut met = pairs(&given);
    met.sort_by_key(|(_, _, right)| *right);
    assert_eq!(met, [(Insert, Some(11), Some(20)), (Insert, Some(11), Some(21))]);
    it.advance_clock(1000).unwrap();
    assert_eq!(feed(&mut it, &case, 0, &[row(Insert, 1, 12)]), []);
}

#[test]
fn a_side_without_ttl_keeps_its_rows() {
    for kept in [0, 1] {
        let mut case = simple(JoinKind::Inner, 0);
        case.ttl[1 - kept] = 100;
        let mut it = case.harness();
        feed(&mut it, &case, 0, &[row(Insert, 1, 10)]);
        feed(&mut it, &case, 1, &[row(Insert, 1, 20)]);
        it.advance_clock(100_000).unwrap();
        assert_eq!(feed(&mut it, &case, 1 - kept, &[row(Insert, 1, 30)]).len(), 1, "{kept}");
        it.advance_clock(100_000).unwrap();
        // What came 100 s ago on the other side is gone, so that the row meets nothing.
        assert_eq!(feed(&mut it, &case, kept, &[row(Insert, 1, 40)]), [], "{kept}");
    }
}

#[test]
fn rows_on_disk_are_as_good() {
    crate::testing::on_disk(1, || {
        the_output_is_the_join_of_the_inputs();
        batches_give_what_row_by_row_gives();
        rows_that_are_never_taken_back_are_joined_the_same();
        rows_of_a_unique_key_are_joined_the_same();
        a_row_expires_unless_it_or_its_matches_change();
        a_match_takes_each_padded_row_back_right_before_its_pair();
        kinds_pass_through_an_inner_join();
        batch_mode_gives_final_rows();
    });
}
