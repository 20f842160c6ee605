//! Sub-queries against what they mean: for each row around, the query inside is looked at anew.
//!
//! Small random tables with NULLs and duplicates, streaming and batch. `FLOTT_MODEL_SEEDS` sets how many.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::Path;

use flott::{Outcome, TableEnvironment, Value};

type Row = (Option<i64>, Option<i64>);
type Answer = Vec<Vec<Option<i64>>>;

/// The tables of a run: `l (id, v)`, `r (id, v)`, `s (id, v)`.
struct Tables {
    l: Vec<Row>,
    r: Vec<Row>,
    s: Vec<Row>,
}

/// A query and the naive evaluation of it.
struct Case {
    sql: &'static str,
    model: fn(&Tables) -> Answer,
}

/// `a = b` and its kin in three values.
fn equal(a: Option<i64>, b: Option<i64>) -> Option<bool> {
    Some(a? == b?)
}

fn is(a: Option<bool>) -> bool {
    a == Some(true)
}

/// The OR of three-valued tests: what IN and ANY are.
fn any(tests: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
    let mut unknown = false;
    for test in tests {
        match test {
            Some(true) => return Some(true),
            Some(false) => {}
            None => unknown = true,
        }
    }
    (!unknown).then_some(false)
}

fn not(a: Option<bool>) -> Option<bool> {
    a.map(|a| !a)
}

fn number(a: Option<bool>) -> Option<i64> {
    a.map(i64::from)
}

fn max(values: impl Iterator<Item = Option<i64>>) -> Option<i64> {
    values.flatten().max()
}

fn keep(t: &Tables, test: impl Fn(&Row) -> bool) -> Answer {
    t.l.iter().filter(|row| test(row)).map(|row| vec![row.0, row.1]).collect()
}

fn give(t: &Tables, value: impl Fn(&Row) -> Option<i64>) -> Answer {
    t.l.iter().map(|row| vec![row.0, row.1, value(row)]).collect()
}

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

#[test]
fn sub_queries_mean_what_a_loop_over_the_outer_rows_gives() {
    check(CASES, "flink");
}

#[test]
fn correlated_sub_queries_that_flink_refuses_mean_the_same() {
    check(GENERAL, "general");
}

fn check(cases: &[Case], correlation: &str) {
    let seeds = std::env::var("FLOTT_MODEL_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(6);
    for seed in 0..seeds {
        let tables = random(seed);
        let folder = tempfile::tempdir().unwrap();
        for (name, rows) in [("l", &tables.l), ("r", &tables.r), ("s", &tables.s)] {
            write(folder.path(), name, rows);
        }
        for mode in ["streaming", "batch"] {
            let mut session = session(folder.path(), mode, correlation);
            for case in cases {
                let mut wanted = (case.model)(&tables);
                wanted.sort();
                let given = answer(&mut session, case.sql);
                assert_eq!(given, wanted, "seed {seed}, {mode}: {}", case.sql);
            }
        }
    }
}

fn session(folder: &Path, mode: &str, correlation: &str) -> TableEnvironment {
    let mut session = TableEnvironment::new().in_directory(folder);
    session.config_mut().set("execution.runtime-mode", mode);
    session.config_mut().set("flott.correlation", correlation);
    for name in ["l", "r", "s"] {
        let ddl = format!(
            "CREATE TABLE {name} (id INT, v INT) WITH ('connector' = 'filesystem', \
             'path' = '{name}.csv', 'format' = 'csv', 'csv.null-literal' = 'n')"
        );
        session.execute(&ddl).unwrap();
    }
    session
}

/// The rows left at the end, sorted.
fn answer(session: &mut TableEnvironment, sql: &str) -> Answer {
    let outcome = session.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let Outcome::Query(result) = outcome else { panic!("{sql} is no query") };
    let mut table: BTreeMap<Vec<Option<i64>>, i64> = BTreeMap::new();
    for row in result.collect().unwrap_or_else(|error| panic!("{sql}: {error}")) {
        let values = row.values.iter().map(|value| match value {
            Value::Int(number) => Some(*number),
            _ => None,
        });
        let count = table.entry(values.collect()).or_default();
        *count += if row.kind.adds() { 1 } else { -1 };
    }
    let rows = table.into_iter().flat_map(|(row, count)| {
        assert!(count >= 0, "{sql}: {row:?} was taken back too often");
        std::iter::repeat_n(row, count as usize)
    });
    rows.collect()
}

fn write(folder: &Path, name: &str, rows: &[Row]) {
    let cell = |value: Option<i64>| value.map_or("n".to_string(), |value| value.to_string());
    let lines: String =
        rows.iter().map(|(id, v)| format!("{},{}\n", cell(*id), cell(*v))).collect();
    std::fs::write(folder.join(format!("{name}.csv")), lines).unwrap();
}

fn random(seed: u64) -> Tables {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5851_F42D_4C95_7F2D;
    let mut next = move |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut table = || -> Vec<Row> {
        let rows = next(7);
        let mut cell = || (next(5) > 0).then(|| next(4) as i64);
        (0..rows).map(|_| (cell(), cell())).collect()
    };
    Tables { l: table(), r: table(), s: table() }
}
