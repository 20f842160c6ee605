//! Sub-queries against what they mean: for each row around, the query inside is looked at anew.
//!
//! Small random tables with NULLs and duplicates, streaming and batch. `FLOTT_MODEL_SEEDS` sets how many.

#![allow(clippy::unwrap_used)]

mod places;
mod support;

use std::collections::BTreeMap;

use flott::{Outcome, Value};
use support::*;

const CASES: &[Case] = &[
    Case {
        sql: "SELECT id, v FROM l WHERE id IN (SELECT id FROM r)",
        model: |t| keep(t, |l| is(any(t.r.iter().map(|r| equal(l.0, r.0))))),
    },
    Case {
        sql: "SELECT id, v FROM l WHERE id NOT IN (SELECT id FROM r)",
        model: |t| keep(t, |l| is(not(any(t.r.iter().map(|r| equal(l.0, r.0)))))),
    },
    Case {
        sql: "SELECT id, v FROM l WHERE id NOT IN (SELECT r.id FROM r WHERE r.v = l.v)",
        model: |t| {
            keep(t, |l| {
                let inner = t.r.iter().filter(|r| is(equal(r.1, l.1)));
                is(not(any(inner.map(|r| equal(l.0, r.0)))))
            })
        },
    },
    Case {
        sql: "SELECT id, v FROM l WHERE (id, v) NOT IN (SELECT id, v FROM r)",
        model: |t| {
            keep(t, |l| {
                let same = |r: &Row| match (equal(l.0, r.0), equal(l.1, r.1)) {
                    (Some(false), _) | (_, Some(false)) => Some(false),
                    (Some(true), Some(true)) => Some(true),
                    _ => None,
                };
                is(not(any(t.r.iter().map(same))))
            })
        },
    },
    Case {
        sql: "SELECT id, v, CAST(id IN (SELECT id FROM r) AS INT) FROM l",
        model: |t| give(t, |l| number(any(t.r.iter().map(|r| equal(l.0, r.0))))),
    },
    Case {
        sql: "SELECT id, v, CAST(id IN (SELECT r.id FROM r WHERE r.v >= l.v) AS INT) FROM l",
        model: |t| {
            give(t, |l| {
                let inner =
                    t.r.iter().filter(|r| matches!((r.1, l.1), (Some(a), Some(b)) if a >= b));
                number(any(inner.map(|r| equal(l.0, r.0))))
            })
        },
    },
    Case {
        sql: "SELECT id, v FROM l WHERE id IN (SELECT id FROM r) OR v IN (SELECT v FROM s)",
        model: |t| {
            keep(t, |l| {
                is(any([
                    any(t.r.iter().map(|r| equal(l.0, r.0))),
                    any(t.s.iter().map(|s| equal(l.1, s.1))),
                ]))
            })
        },
    },
    Case {
        sql: "SELECT id, v FROM l WHERE EXISTS (SELECT 1 FROM r WHERE r.id = l.id AND r.v < l.v)",
        model: |t| {
            keep(t, |l| {
                t.r.iter().any(|r| {
                    is(equal(r.0, l.0)) && matches!((r.1, l.1), (Some(a), Some(b)) if a < b)
                })
            })
        },
    },
    Case {
        sql: "SELECT id, v FROM l WHERE NOT EXISTS (SELECT 1 FROM r WHERE r.id = l.id)",
        model: |t| keep(t, |l| !t.r.iter().any(|r| is(equal(r.0, l.0)))),
    },
    Case {
        sql: "SELECT id, v FROM l WHERE NOT EXISTS (SELECT 1 FROM r WHERE l.v > 1)",
        model: |t| keep(t, |l| t.r.is_empty() || l.1.is_none_or(|v| v <= 1)),
    },
    Case {
        sql: "SELECT id, v, CAST(EXISTS (SELECT 1 FROM r WHERE r.id > l.id) AS INT) FROM l",
        model: |t| {
            give(t, |l| {
                let greater = |r: &Row| matches!((r.0, l.0), (Some(a), Some(b)) if a > b);
                Some(i64::from(t.r.iter().any(greater)))
            })
        },
    },
    Case {
        sql: "SELECT id, v FROM l WHERE EXISTS (SELECT 1 FROM r WHERE r.id = l.id \
              AND NOT EXISTS (SELECT 1 FROM s WHERE s.id = r.id AND s.v = l.v))",
        model: |t| {
            keep(t, |l| {
                t.r.iter().any(|r| {
                    is(equal(r.0, l.0))
                        && !t.s.iter().any(|s| is(equal(s.0, r.0)) && is(equal(s.1, l.1)))
                })
            })
        },
    },
    Case {
        sql: "SELECT id, v, (SELECT MAX(r.v) FROM r WHERE r.id = l.id) FROM l",
        model: |t| give(t, |l| max(t.r.iter().filter(|r| is(equal(r.0, l.0))).map(|r| r.1))),
    },
    Case {
        sql: "SELECT id, v, (SELECT COUNT(*) FROM r WHERE r.id = l.id) FROM l",
        model: |t| give(t, |l| Some(t.r.iter().filter(|r| is(equal(r.0, l.0))).count() as i64)),
    },
    Case {
        sql: "SELECT id, v, (SELECT COUNT(*) + 10 FROM r WHERE r.id < l.id) FROM l",
        model: |t| {
            give(t, |l| {
                let less = |r: &&Row| matches!((r.0, l.0), (Some(a), Some(b)) if a < b);
                Some(10 + t.r.iter().filter(less).count() as i64)
            })
        },
    },
    Case {
        sql: "SELECT id, v, (SELECT SUM(r.v + l.v) FROM r WHERE r.id = l.id) FROM l",
        model: |t| {
            give(t, |l| {
                let own = t.r.iter().filter(|r| is(equal(r.0, l.0)));
                own.filter_map(|r| Some(r.1? + l.1?)).reduce(|a, b| a + b)
            })
        },
    },
    Case {
        sql: "SELECT id, v, (SELECT COUNT(*) FROM r WHERE r.id IS NOT DISTINCT FROM l.id) FROM l",
        model: |t| give(t, |l| Some(t.r.iter().filter(|r| r.0 == l.0).count() as i64)),
    },
    Case {
        sql: "SELECT id, v, (SELECT MAX(r.v) FROM r JOIN s ON r.id = s.id WHERE s.v = l.v) FROM l",
        model: |t| {
            give(t, |l| {
                let pairs = t.r.iter().flat_map(|r| t.s.iter().map(move |s| (r, s)));
                let own = pairs.filter(|(r, s)| is(equal(r.0, s.0)) && is(equal(s.1, l.1)));
                max(own.map(|(r, _)| r.1))
            })
        },
    },
    Case {
        sql: "SELECT id, v, (SELECT MAX(c) FROM (SELECT COUNT(*) AS c FROM r WHERE r.id = l.id \
              GROUP BY r.v)) FROM l",
        model: |t| {
            give(t, |l| {
                let mut groups: BTreeMap<Option<i64>, i64> = BTreeMap::new();
                for r in t.r.iter().filter(|r| is(equal(r.0, l.0))) {
                    *groups.entry(r.1).or_default() += 1;
                }
                groups.into_values().max()
            })
        },
    },
    Case {
        sql: "SELECT id, v FROM l WHERE v > (SELECT MIN(r.v) FROM r WHERE r.id = l.id)",
        model: |t| {
            keep(t, |l| {
                let own = t.r.iter().filter(|r| is(equal(r.0, l.0)));
                matches!((l.1, own.filter_map(|r| r.1).min()), (Some(a), Some(b)) if a > b)
            })
        },
    },
    Case {
        sql: "SELECT id, v FROM l WHERE (SELECT COUNT(*) FROM r WHERE r.id = l.id) = 0",
        model: |t| keep(t, |l| !t.r.iter().any(|r| is(equal(r.0, l.0)))),
    },
    Case {
        sql: "SELECT id, v FROM l WHERE v > ALL (SELECT r.v FROM r WHERE r.id = l.id)",
        model: |t| {
            keep(t, |l| {
                let own = t.r.iter().filter(|r| is(equal(r.0, l.0)));
                is(not(any(own.map(|r| Some(l.1? <= r.1?)))))
            })
        },
    },
    Case {
        sql: "SELECT id, v, CAST(v <= ANY (SELECT r.v FROM r) AS INT) FROM l",
        model: |t| give(t, |l| number(any(t.r.iter().map(|r| Some(l.1? <= r.1?))))),
    },
    Case {
        sql: "SELECT l.id, l.v, q.w FROM l, LATERAL (SELECT r.v + l.v AS w FROM r WHERE r.id = l.id) AS q",
        model: |t| {
            let pairs = t.l.iter().flat_map(|l| t.r.iter().map(move |r| (l, r)));
            let own = pairs.filter(|(l, r)| is(equal(r.0, l.0)));
            own.map(|(l, r)| vec![l.0, l.1, l.1.zip(r.1).map(|(a, b)| a + b)]).collect()
        },
    },
    Case {
        sql: "SELECT l.id, l.v, q.w FROM l LEFT JOIN LATERAL \
              (SELECT r.v AS w FROM r WHERE r.id = l.id) AS q ON q.w > l.v",
        model: |t| {
            let mut rows = Vec::new();
            for l in &t.l {
                let own = t.r.iter().filter(|r| is(equal(r.0, l.0)));
                let own: Vec<_> =
                    own.filter(|r| matches!((r.1, l.1), (Some(a), Some(b)) if a > b)).collect();
                if own.is_empty() {
                    rows.push(vec![l.0, l.1, None]);
                }
                rows.extend(own.into_iter().map(|r| vec![l.0, l.1, r.1]));
            }
            rows
        },
    },
];

/// How often each row of `l` and of `r` is there, as rows given as often as `count` says of both.
fn counted(t: &Tables, count: impl Fn(usize, usize) -> usize) -> Answer {
    let mut counts: BTreeMap<Row, (usize, usize)> = BTreeMap::new();
    t.l.iter().for_each(|row| counts.entry(*row).or_default().0 += 1);
    t.r.iter().for_each(|row| counts.entry(*row).or_default().1 += 1);
    let rows = counts
        .into_iter()
        .flat_map(|((id, v), (left, right))| std::iter::repeat_n(vec![id, v], count(left, right)));
    rows.collect()
}

const SETS: &[Case] = &[
    Case {
        sql: "SELECT id, v FROM l UNION SELECT id, v FROM r",
        model: |t| counted(t, |left, right| (left + right).min(1)),
    },
    Case {
        sql: "SELECT id, v FROM l INTERSECT SELECT id, v FROM r",
        model: |t| counted(t, |left, right| left.min(right).min(1)),
    },
    Case {
        sql: "SELECT id, v FROM l EXCEPT SELECT id, v FROM r",
        model: |t| counted(t, |left, right| usize::from(left > 0 && right == 0)),
    },
    Case {
        sql: "SELECT id, v FROM l INTERSECT ALL SELECT id, v FROM r",
        model: |t| counted(t, |left, right| left.min(right)),
    },
    Case {
        sql: "SELECT id, v FROM l EXCEPT ALL SELECT id, v FROM r",
        model: |t| counted(t, |left, right| left.saturating_sub(right)),
    },
    // INTERSECT binds closer than UNION and EXCEPT.
    Case {
        sql: "SELECT id, v FROM l EXCEPT ALL SELECT id, v FROM r INTERSECT ALL SELECT id, v FROM l",
        model: |t| counted(t, |left, right| left - left.min(right)),
    },
];

#[test]
fn set_operations_count_rows() {
    check(SETS, "flink");
}

/// Queries that Flink refuses, planned on demand.
const GENERAL: &[Case] = &[
    Case {
        sql: "SELECT id, v, (SELECT MAX(id) FROM (SELECT r.id FROM r WHERE r.v = l.v UNION ALL \
              SELECT s.id FROM s WHERE s.id = l.id)) FROM l",
        model: |t| {
            give(t, |l| {
                let first = t.r.iter().filter(|r| is(equal(r.1, l.1))).map(|r| r.0);
                let second = t.s.iter().filter(|s| is(equal(s.0, l.0))).map(|s| s.0);
                max(first.chain(second))
            })
        },
    },
    Case {
        sql: "SELECT id, v, (SELECT COUNT(*) FROM r LEFT JOIN s ON r.id = s.id AND s.v = l.v) FROM l",
        model: |t| {
            give(t, |l| {
                let matches = |r: &Row| {
                    let own = t.s.iter().filter(|s| is(equal(r.0, s.0)) && is(equal(s.1, l.1)));
                    own.count().max(1) as i64
                };
                Some(t.r.iter().map(matches).sum())
            })
        },
    },
    Case {
        sql: "SELECT id, v, (SELECT COUNT(*) FROM UNNEST(ARRAY[l.id, l.v]) AS t(x) WHERE x > 1) FROM l",
        model: |t| {
            give(t, |l| Some([l.0, l.1].into_iter().flatten().filter(|x| *x > 1).count() as i64))
        },
    },
    Case {
        sql: "SELECT id, v FROM l WHERE id IN (SELECT id FROM r WHERE r.v IN \
              (SELECT s.v FROM s WHERE s.id = l.id))",
        model: |t| {
            keep(t, |l| {
                t.r.iter().any(|r| {
                    let inner = t.s.iter().filter(|s| is(equal(s.0, l.0)));
                    is(equal(l.0, r.0)) && is(any(inner.map(|s| equal(r.1, s.1))))
                })
            })
        },
    },
];

/// LIMIT and windows of rows inside; Flink plans few of these.
const RANKED: &[Case] = &[
    Case {
        sql: "SELECT id, v, (SELECT r.v FROM r WHERE r.id = l.id ORDER BY r.v DESC LIMIT 1) FROM l",
        model: |t| {
            give(t, |l| {
                let own = t.r.iter().filter(|r| is(equal(r.0, l.0))).map(|r| r.1);
                own.max().flatten()
            })
        },
    },
    Case {
        sql: "SELECT id, v, (SELECT SUM(q.v) FROM (SELECT r.v FROM r WHERE r.id < l.id \
              ORDER BY r.v LIMIT 2) AS q) FROM l",
        model: |t| {
            give(t, |l| {
                let own = t.r.iter().filter(|r| matches!((r.0, l.0), (Some(a), Some(b)) if a < b));
                let mut own: Vec<Option<i64>> = own.map(|r| r.1).collect();
                own.sort();
                own.into_iter().take(2).flatten().reduce(|a, b| a + b)
            })
        },
    },
    Case {
        sql: "SELECT l.id, l.v, q.v FROM l, LATERAL (SELECT DISTINCT v FROM (SELECT r.v, ROW_NUMBER() \
              OVER (ORDER BY r.v DESC) AS n FROM r WHERE r.id = l.id) WHERE n <= 2) AS q",
        model: |t| {
            let mut rows = Vec::new();
            for l in &t.l {
                let own = t.r.iter().filter(|r| is(equal(r.0, l.0)));
                let mut own: Vec<Option<i64>> = own.map(|r| r.1).collect();
                own.sort_by(|a, b| b.cmp(a));
                own.truncate(2);
                own.dedup();
                rows.extend(own.into_iter().map(|v| vec![l.0, l.1, v]));
            }
            rows
        },
    },
];

#[test]
fn correlated_limits_count_for_each_outer_row() {
    check(RANKED, "general");
}

#[test]
fn views_keep_sub_queries_laterals_and_collections() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "l", &[(Some(1), Some(5)), (Some(2), None)]);
    write(folder.path(), "r", &[(Some(1), Some(7)), (Some(1), Some(8))]);
    write(folder.path(), "s", &[]);
    let mut session = session(folder.path(), "streaming", "flink");
    for view in [
        "CREATE VIEW a AS SELECT id, v FROM l WHERE id IN (SELECT r.id FROM r WHERE r.v > l.v)",
        "CREATE VIEW b AS SELECT l.id, q.w FROM l, LATERAL (SELECT v AS w FROM r WHERE r.id = l.id) AS q",
        "CREATE VIEW c AS SELECT id, x FROM l CROSS JOIN UNNEST(ARRAY[id, 10]) AS t (x)",
        "CREATE VIEW d AS SELECT id, (SELECT COUNT(*) FROM r WHERE r.id = l.id) AS n FROM l",
    ] {
        session.execute(view).unwrap();
    }
    let mut rows = |view: &str| answer(&mut session, &format!("SELECT * FROM {view}"));
    assert_eq!(rows("a"), [[Some(1), Some(5)]]);
    assert_eq!(rows("b"), [[Some(1), Some(7)], [Some(1), Some(8)]]);
    assert_eq!(
        rows("c"),
        [[Some(1), Some(1)], [Some(1), Some(10)], [Some(2), Some(2)], [Some(2), Some(10)]]
    );
    assert_eq!(rows("d"), [[Some(1), Some(2)], [Some(2), Some(0)]]);
}

#[test]
fn natural_joins_with_what_the_row_computes_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), "streaming", "flink");
    for right in ["LATERAL (SELECT id FROM r)", "UNNEST(ARRAY[id]) AS t (id)"] {
        let error = session.execute(&format!("SELECT * FROM l NATURAL JOIN {right}")).err();
        assert!(error.is_some_and(|error| error.to_string().contains("NATURAL")), "{right}");
    }
}

#[test]
fn explain_shows_the_joins_that_sub_queries_become() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), "streaming", "flink");
    for (sql, parts) in [
        (
            "SELECT id FROM l WHERE id IN (SELECT id FROM r)",
            vec!["joinType=[LeftSemiJoin], where=[id = id]"],
        ),
        (
            "SELECT id FROM l WHERE NOT EXISTS (SELECT 1 FROM r WHERE r.id = l.id AND r.v > l.v)",
            vec!["joinType=[LeftAntiJoin], where=[id = id AND"],
        ),
        (
            "SELECT id, (SELECT COUNT(*) FROM r WHERE r.id = l.id) FROM l",
            vec!["LeftOuterJoin", "GroupAggregate(groupBy=[id]"],
        ),
        // Rows without a match are dropped above, so none are made.
        ("SELECT id FROM l WHERE v > (SELECT AVG(v) FROM r)", vec!["joinType=[InnerJoin]"]),
        ("SELECT id FROM l WHERE id IN (SELECT id FROM r WHERE FALSE)", vec!["Values(rows=[0])"]),
        (
            "SELECT x FROM l CROSS JOIN UNNEST(ARRAY[id, v]) AS t (x)",
            vec!["Correlate(invocation=[UNNEST("],
        ),
        ("SELECT l.id FROM l JOIN r ON l.v < r.v", vec!["compares every row with every row"]),
    ] {
        let Outcome::Table(table) = session.execute(&format!("EXPLAIN {sql}")).unwrap() else {
            panic!("EXPLAIN gives a table")
        };
        let Value::String(text) = &table.rows[0][0] else { panic!("EXPLAIN gives text") };
        for part in parts {
            assert!(text.contains(part), "{sql}: no {part} in\n{text}");
        }
    }
}

#[test]
fn sub_queries_mean_what_a_loop_over_the_outer_rows_gives() {
    check(CASES, "flink");
}

#[test]
fn correlated_sub_queries_that_flink_refuses_mean_the_same() {
    check(GENERAL, "general");
}
