use flott_functions::SessionSettings;
use flott_plan::physical::TemporalJoin;

use super::*;
use crate::operators::time_join::TemporalJoinOperator;

#[derive(Debug, Clone)]
struct Case {
    kind: JoinKind,
    residual: bool,
    ttl: u64,
    is_rowtime: bool,
}

impl Case {
    fn operator(&self) -> TemporalJoinOperator {
        let spec = TemporalJoin {
            kind: self.kind,
            left_keys: vec![0],
            right_keys: vec![0],
            null_safe: vec![false],
            residual: self.residual.then(residual),
            times: self.is_rowtime.then_some((1, 1)),
            ignore_update_before: true,
            state_ttl: self.ttl,
        };
        let schema = output(false).to_arrow();
        TemporalJoinOperator::new(&spec, &side(), &side(), schema, &SessionSettings::default())
            .unwrap()
    }

    /// The join of the left rows up to a watermark with the versions that held at their times.
    fn naive(&self, left: &[Row], versions: &[(RowKind, Row)], watermark: i64) -> Bag {
        let mut pairs: Vec<Pair> = Vec::new();
        for row in left.iter().filter(|row| row.1 <= watermark) {
            // Of versions of one time the last to come counts.
            let version = versions
                .iter()
                .filter(|(_, version)| row.0.is_some() && version.0 == row.0 && version.1 <= row.1)
                .max_by_key(|(_, version)| version.1);
            let met = version
                .filter(|(kind, version)| kind.adds() && (!self.residual || row.2 < version.2));
            match met {
                Some((_, version)) => pairs.push((Some(*row), Some(*version))),
                None if self.kind == JoinKind::Left => pairs.push((Some(*row), None)),
                None => {}
            }
        }
        bag(pairs)
    }
}

fn any_case() -> impl Strategy<Value = Case> {
    (prop::sample::select(vec![JoinKind::Inner, JoinKind::Left]), any::<bool>())
        .prop_map(|(kind, residual)| Case { kind, residual, ttl: 0, is_rowtime: true })
}

/// Values divisible by three stand for deletions, others for new versions.
fn change(row: Row) -> (RowKind, Row) {
    (if row.2 % 3 == 0 { RowKind::Delete } else { RowKind::UpdateAfter }, row)
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn each_row_meets_the_version_of_its_time(case in any_case(), steps in any_steps(1)) {
        let mut it = started(case.operator());
        let (mut left, mut versions) = (Vec::new(), Vec::new());
        let mut watermarks = [0i64; 2];
        let mut given = Vec::new();
        for step in &steps {
            let rows = step.at(watermarks[step.input]);
            if !rows.is_empty() && step.input == 0 {
                let inserts: Vec<_> = rows.iter().map(|row| (RowKind::Insert, *row)).collect();
                feed(&mut it, 0, &inserts);
                left.extend(rows);
            } else if !rows.is_empty() {
                let changes: Vec<_> = rows.into_iter().map(change).collect();
                feed(&mut it, 1, &changes);
                versions.extend(changes);
            }
            watermarks[step.input] += step.rise;
            it.watermark(step.input, watermarks[step.input]).unwrap();
            given.extend(taken(&mut it, false).into_iter().map(|(_, pair)| pair));
            let watermark = watermarks[0].min(watermarks[1]);
            prop_assert_eq!(bag(given.clone()), case.naive(&left, &versions, watermark));
            if step.resume {
                it = resumed(it, case.operator(), watermarks);
            }
        }
        it.end(0).unwrap();
        it.end(1).unwrap();
        given.extend(taken(&mut it, false).into_iter().map(|(_, pair)| pair));
        prop_assert_eq!(bag(given), case.naive(&left, &versions, i64::MAX));
        agree(&it, false, &[0], || case.operator())?;
    }

    #[test]
    fn late_left_rows_come_out_once(case in any_case(), steps in any_steps(-30)) {
        let case = Case { kind: JoinKind::Left, ..case };
        let mut it = started(case.operator());
        let mut left = Vec::new();
        let mut watermarks = [0i64; 2];
        for step in &steps {
            let rows = step.at(watermarks[step.input]);
            if !rows.is_empty() {
                let changes: Vec<_> = match step.input {
                    0 => rows.iter().map(|row| (RowKind::Insert, *row)).collect(),
                    _ => rows.iter().copied().map(change).collect(),
                };
                feed(&mut it, step.input, &changes);
                if step.input == 0 {
                    left.extend(rows);
                }
            }
            watermarks[step.input] += step.rise;
            it.watermark(step.input, watermarks[step.input]).unwrap();
        }
        it.end(0).unwrap();
        it.end(1).unwrap();
        let given = taken(&mut it, false).into_iter().map(|(_, (left, _))| (left, None));
        prop_assert_eq!(bag(given), bag(left.into_iter().map(|row| (Some(row), None))));
        agree(&it, false, &[0], || case.operator())?;
    }
}

fn simple(kind: JoinKind) -> Case {
    Case { kind, residual: false, ttl: 0, is_rowtime: true }
}

#[test]
fn left_rows_keep_their_kinds_and_order() {
    let mut it = started(simple(JoinKind::Left).operator());
    let left = [
        (RowKind::Insert, (Some(1), 5, 1)),
        (RowKind::UpdateBefore, (Some(1), 4, 2)),
        (RowKind::UpdateAfter, (Some(1), 6, 3)),
    ];
    feed(&mut it, 1, &[(RowKind::Insert, (Some(1), 5, 7))]);
    feed(&mut it, 0, &left);
    it.end(0).unwrap();
    it.end(1).unwrap();
    let version = Some((Some(1), 5, 7));
    let expected = [
        (RowKind::Insert, (Some((Some(1), 5, 1)), version)),
        (RowKind::UpdateBefore, (Some((Some(1), 4, 2)), None)),
        (RowKind::UpdateAfter, (Some((Some(1), 6, 3)), version)),
    ];
    assert_eq!(taken(&mut it, false), expected);
}

#[test]
fn old_versions_and_deleted_keys_are_freed() {
    let mut it = started(simple(JoinKind::Left).operator());
    let mut sizes = Vec::new();
    for round in 0..60i64 {
        let version = |i| (RowKind::UpdateAfter, (Some(i % 20), round * 10 + i / 20, i));
        feed(&mut it, 1, &(0..100).map(version).collect::<Vec<_>>());
        let deleted = |i| (RowKind::Delete, (Some(1000 + round * 20 + i), round * 10, i));
        feed(&mut it, 1, &(0..20).map(deleted).collect::<Vec<_>>());
        feed(&mut it, 0, &[(RowKind::Insert, (Some(round % 30), round * 10, 1))]);
        it.watermark(0, round * 10).unwrap();
        it.watermark(1, round * 10).unwrap();
        it.take();
        sizes.push(it.counts().state_bytes);
    }
    assert!(sizes[59] <= sizes[10] * 3 / 2, "{sizes:?}");
}

#[test]
fn in_processing_time_the_latest_version_counts() {
    let case = Case { is_rowtime: false, ..simple(JoinKind::Left) };
    let mut it = OperatorHarness::new(case.operator(), 2, None).unwrap();
    let left = |value| [(RowKind::Insert, (Some(1), 0, value))];
    feed(&mut it, 0, &left(1));
    feed(&mut it, 1, &[(RowKind::Insert, (Some(1), 50, 7)), (RowKind::Insert, (Some(1), 20, 8))]);
    feed(&mut it, 0, &left(2));
    feed(&mut it, 1, &[(RowKind::Delete, (Some(1), 20, 8))]);
    feed(&mut it, 0, &left(3));
    let met: Vec<_> =
        taken(&mut it, false).into_iter().map(|(_, (_, right))| right.map(|r| r.2)).collect();
    assert_eq!(met, [None, Some(8), None]);
}

#[test]
fn idle_keys_are_forgotten() {
    let case = Case { ttl: 100, ..simple(JoinKind::Left) };
    let mut it = started(case.operator());
    feed(&mut it, 1, &[(RowKind::Insert, (Some(1), 1, 7))]);
    it.advance_clock(101).unwrap();
    feed(&mut it, 0, &[(RowKind::Insert, (Some(1), 5, 1))]);
    it.end(0).unwrap();
    it.end(1).unwrap();
    assert_eq!(taken(&mut it, false), [(RowKind::Insert, (Some((Some(1), 5, 1)), None))]);
}

pub(super) fn keys_on_disk_are_as_good() {
    each_row_meets_the_version_of_its_time();
    late_left_rows_come_out_once();
    left_rows_keep_their_kinds_and_order();
    in_processing_time_the_latest_version_counts();
    idle_keys_are_forgotten();
}
