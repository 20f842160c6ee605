use flott_functions::SessionSettings;
use flott_plan::physical::WindowJoin;

use super::*;
use crate::clock::VirtualClock;
use crate::context::TaskInfo;
use crate::operators::time_join::WindowJoinOperator;

/// The windows' length; the time column of a row is the end of its window.
const SIZE: i64 = 10;

#[derive(Debug, Clone)]
struct Case {
    kind: JoinKind,
    residual: bool,
}

impl Case {
    fn one_sided(&self) -> bool {
        matches!(self.kind, JoinKind::Semi | JoinKind::Anti)
    }

    fn operator(&self) -> WindowJoinOperator {
        let spec = WindowJoin {
            kind: self.kind,
            left_keys: vec![0],
            right_keys: vec![0],
            null_safe: vec![false],
            residual: self.residual.then(residual),
            left_window: (1, 1),
            right_window: (1, 1),
            is_ltz: false,
        };
        let schema = output(self.one_sided()).to_arrow();
        let task = TaskInfo::single("WindowJoin", std::sync::Arc::new(VirtualClock::new(0)));
        let settings = SessionSettings::default();
        WindowJoinOperator::new(&spec, &side(), &side(), schema, &settings, &task).unwrap()
    }

    fn meets(&self, left: &Row, right: &Row) -> bool {
        left.0.is_some()
            && left.0 == right.0
            && left.1 == right.1
            && (!self.residual || left.2 < right.2)
    }

    /// The join of the windows that ended.
    fn naive(&self, inputs: &[Vec<Row>; 2], watermark: i64) -> Bag {
        let ended = |row: &&Row| row.1 - 1 <= watermark;
        let left: Vec<&Row> = inputs[0].iter().filter(ended).collect();
        let right: Vec<&Row> = inputs[1].iter().filter(ended).collect();
        let mut pairs: Vec<Pair> = Vec::new();
        for l in &left {
            let met: Vec<_> = right.iter().filter(|r| self.meets(l, r)).collect();
            match self.kind {
                JoinKind::Semi if !met.is_empty() => pairs.push((Some(**l), None)),
                JoinKind::Anti if met.is_empty() => pairs.push((Some(**l), None)),
                JoinKind::Semi | JoinKind::Anti => {}
                kind => {
                    pairs.extend(met.iter().map(|r| (Some(**l), Some(***r))));
                    if met.is_empty() && kind.keeps_left() {
                        pairs.push((Some(**l), None));
                    }
                }
            }
        }
        if self.kind.keeps_right() {
            let lonely = right.iter().filter(|r| !left.iter().any(|l| self.meets(l, r)));
            pairs.extend(lonely.map(|r| (None, Some(**r))));
        }
        bag(pairs)
    }
}

fn any_case() -> impl Strategy<Value = Case> {
    let kinds = vec![
        JoinKind::Inner,
        JoinKind::Left,
        JoinKind::Right,
        JoinKind::Full,
        JoinKind::Semi,
        JoinKind::Anti,
    ];
    (prop::sample::select(kinds), any::<bool>())
        .prop_map(|(kind, residual)| Case { kind, residual })
}

/// The row with its time moved to the end of its window.
fn windowed((key, time, value): Row) -> Row {
    (key, time.div_euclid(SIZE) * SIZE + SIZE, value)
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn windows_are_joined_when_they_end(case in any_case(), steps in any_steps(-15)) {
        let mut it = started(case.operator());
        let mut inputs = [Vec::new(), Vec::new()];
        let mut watermarks = [0i64; 2];
        let mut given = Vec::new();
        for step in &steps {
            let combined = watermarks[0].min(watermarks[1]);
            let rows: Vec<Row> =
                step.at(watermarks[step.input]).into_iter().map(windowed).collect();
            if !rows.is_empty() {
                let inserts: Vec<_> = rows.iter().map(|row| (RowKind::Insert, *row)).collect();
                let late = it.counts().late_rows as usize;
                feed(&mut it, step.input, &inserts);
                let on_time = rows.iter().filter(|row| row.1 - 1 > combined);
                let before = inputs[step.input].len();
                inputs[step.input].extend(on_time);
                let dropped = rows.len() - (inputs[step.input].len() - before);
                prop_assert_eq!(it.counts().late_rows as usize - late, dropped);
            }
            watermarks[step.input] += step.rise;
            it.watermark(step.input, watermarks[step.input]).unwrap();
            given.extend(taken(&mut it, case.one_sided()).into_iter().map(|(_, pair)| pair));
            let combined = watermarks[0].min(watermarks[1]);
            prop_assert_eq!(bag(given.clone()), case.naive(&inputs, combined));
            if step.resume {
                it = resumed(it, case.operator(), watermarks);
            }
        }
        it.end(0).unwrap();
        it.end(1).unwrap();
        given.extend(taken(&mut it, case.one_sided()).into_iter().map(|(_, pair)| pair));
        prop_assert_eq!(bag(given), case.naive(&inputs, i64::MAX));
        agree(&it, case.one_sided(), &[0, 1], || case.operator())?;
    }
}

#[test]
fn state_stops_growing() {
    let mut it = started(Case { kind: JoinKind::Full, residual: false }.operator());
    let mut sizes = Vec::new();
    for round in 0..40i64 {
        for input in 0..2 {
            let row = |i| (RowKind::Insert, windowed((Some(i % 40), round * SIZE, i)));
            feed(&mut it, input, &(0..200).map(row).collect::<Vec<_>>());
            it.watermark(input, (round + 1) * SIZE).unwrap();
        }
        it.take();
        sizes.push(it.counts().state_bytes);
    }
    assert!(sizes[39] <= sizes[8] * 3 / 2, "{sizes:?}");
}

#[test]
fn more_pairs_than_a_batch_holds() {
    let mut it = started(Case { kind: JoinKind::Full, residual: true }.operator());
    for input in 0..2 {
        let row = |i| (RowKind::Insert, (Some(1), SIZE, i));
        feed(&mut it, input, &(0..300).map(row).collect::<Vec<_>>());
    }
    it.end(0).unwrap();
    it.end(1).unwrap();
    // 299 + 298 + … pairs, the last left and the first right row alone.
    assert_eq!(elements(&mut it).0, 299 * 300 / 2 + 2);
}

pub(super) fn keys_on_disk_are_as_good() {
    windows_are_joined_when_they_end();
    more_pairs_than_a_batch_holds();
}
