//! Random rows against a loop over the table, whatever is remembered of it.

use proptest::prelude::*;

use super::*;
use crate::operator::Operator;
use crate::operators::testing::{Gathers, Side, Ways, cases};

/// What a row meets: all rows of its key for which the conditions hold.
fn naive(kind: JoinKind, least: i64, rows: &[Change]) -> Vec<Change> {
    let mut out = Vec::new();
    for (change, row) in rows {
        let found: Vec<i64> = match row[0] {
            Some(key) if key % 2 == 0 => vec![key * 10, key * 10 + 1],
            _ => Vec::new(),
        };
        let holds = |v: &i64| *v >= least && row[1].is_some_and(|w| w != *v);
        let before = out.len();
        let with = |v| (*change, vec![row[0], row[1], v]);
        out.extend(found.into_iter().filter(holds).map(|v| with(Some(v))));
        if kind == JoinKind::Left && out.len() == before {
            out.push(with(None));
        }
    }
    out
}

/// What is remembered, and for how long.
const CACHES: [&[(&str, &str)]; 4] = [
    &[],
    &[("lookup.cache", "PARTIAL"), ("lookup.partial-cache.max-rows", "3")],
    &[
        ("lookup.cache", "PARTIAL"),
        ("lookup.partial-cache.expire-after-write", "4 ms"),
        ("lookup.partial-cache.cache-missing-key", "false"),
    ],
    &[("lookup.cache", "PARTIAL"), ("lookup.partial-cache.expire-after-access", "2 ms")],
];

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn rows_meet_those_that_a_loop_over_the_table_gives(
        steps in prop::collection::vec(
            (
                prop::collection::vec(
                    (0..4usize, prop::option::weighted(0.8, -3..7i64), prop::option::weighted(0.9, -31..62i64)),
                    0..12,
                ),
                0..4i64,
                prop::bool::weighted(0.2),
            ),
            1..8,
        ),
        outer in any::<bool>(),
        cache in 0..CACHES.len(),
    ) {
        let kind = if outer { JoinKind::Left } else { JoinKind::Inner };
        let least = 1;
        let make = || {
            let condition = Expr::builtin(
                ">=",
                vec![
                    Expr::column(1, DataType::bigint()),
                    Expr::literal(flott_types::Value::Int(least), DataType::bigint().not_null()),
                ],
            );
            operator_with(Arc::new(Numbers::default()), kind, CACHES[cache], condition.ok())
        };
        let input = schema(&["k", "w"]);
        let mut harness = OperatorHarness::new(make(), 1, None).unwrap().keeping_feed();
        for (fed, pause, restart) in &steps {
            let rows: Vec<Change> = fed
                .iter()
                .map(|(kind, key, w)| (RowKind::ALL[*kind], vec![*key, *w]))
                .collect();
            if !rows.is_empty() {
                harness.batch(0, batch(&input, &rows)).unwrap();
            }
            prop_assert_eq!(changes(&harness.take_batches()), naive(kind, least, &rows));
            harness.advance_clock(*pause).unwrap();
            if *restart {
                harness = harness.restarted(make()).unwrap();
            }
        }
        let make = |_| -> Box<dyn Operator> { Box::new(make()) };
        let inputs = vec![Side::by(input, &[0])];
        let output = schema(&["k", "w", "v"]);
        Ways { make: &make, inputs, output, gathers: Gathers::No }.agree(harness.fed())?;
    }
}
