//! Sub-queries in ON of outer joins, in UNNEST and as rows under OR.

use crate::support::*;

/// Whether `(a, b)` is among rows, in three values.
fn row_in<'a>(row: &Row, rows: impl Iterator<Item = &'a Row>) -> Option<bool> {
    any(rows.map(|other| match (equal(row.0, other.0), equal(row.1, other.1)) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }))
}

/// `l JOIN r`, with the rows without a partner of the sides that are kept.
fn joined(t: &Tables, keeps: [bool; 2], on: impl Fn(&Row, &Row) -> Option<bool>) -> Answer {
    let mut rows = Vec::new();
    let mut met = vec![false; t.r.len()];
    for l in &t.l {
        let before = rows.len();
        for (at, r) in t.r.iter().enumerate() {
            if is(on(l, r)) {
                met[at] = true;
                rows.push(vec![l.0, l.1, r.0, r.1]);
            }
        }
        if keeps[0] && rows.len() == before {
            rows.push(vec![l.0, l.1, None, None]);
        }
    }
    let alone = t.r.iter().zip(met).filter(|(_, met)| keeps[1] && !met);
    rows.extend(alone.map(|(r, _)| vec![None, None, r.0, r.1]));
    rows
}

fn and(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    not(any([not(a), not(b)]))
}

fn greater(a: Option<i64>, b: Option<i64>) -> Option<bool> {
    Some(a? > b?)
}

const OUTER_JOINS: &[Case] = &[
    Case {
        sql: "SELECT l.id, l.v, r.id, r.v FROM l LEFT JOIN r ON l.id = r.id AND l.v > (SELECT MIN(v) FROM s)",
        model: |t| {
            let least = t.s.iter().filter_map(|s| s.1).min();
            joined(t, [true, false], |l, r| and(equal(l.0, r.0), greater(l.1, least)))
        },
    },
    Case {
        sql: "SELECT l.id, l.v, r.id, r.v FROM l RIGHT JOIN r ON l.id = r.id AND l.v > (SELECT MIN(v) FROM s)",
        model: |t| {
            let least = t.s.iter().filter_map(|s| s.1).min();
            joined(t, [false, true], |l, r| and(equal(l.0, r.0), greater(l.1, least)))
        },
    },
    Case {
        sql: "SELECT l.id, l.v, r.id, r.v FROM l FULL JOIN r ON l.id = r.id \
              AND r.v = (SELECT MAX(s.v) FROM s WHERE s.id = r.id)",
        model: |t| {
            joined(t, [true, true], |l, r| {
                let own = t.s.iter().filter(|s| is(equal(s.0, r.0)));
                and(equal(l.0, r.0), equal(r.1, max(own.map(|s| s.1))))
            })
        },
    },
    Case {
        sql: "SELECT l.id, l.v, r.id, r.v FROM l LEFT JOIN r ON l.id = r.id \
              AND l.v = (SELECT MAX(s.v) FROM s WHERE s.id = l.id)",
        model: |t| {
            joined(t, [true, false], |l, r| {
                let own = t.s.iter().filter(|s| is(equal(s.0, l.0)));
                and(equal(l.0, r.0), equal(l.1, max(own.map(|s| s.1))))
            })
        },
    },
    Case {
        sql: "SELECT l.id, l.v, r.id, r.v FROM l FULL JOIN r ON l.id = r.id AND l.v NOT IN (SELECT v FROM s)",
        model: |t| {
            let found = |v| any(t.s.iter().map(|s| equal(v, s.1)));
            joined(t, [true, true], |l, r| and(equal(l.0, r.0), not(found(l.1))))
        },
    },
    Case {
        sql: "SELECT l.id, l.v, r.id, r.v FROM l LEFT JOIN r ON l.id = r.id OR r.v IN (SELECT v FROM s)",
        model: |t| {
            let found = |v| any(t.s.iter().map(|s| equal(v, s.1)));
            joined(t, [true, false], |l, r| any([equal(l.0, r.0), found(r.1)]))
        },
    },
    Case {
        sql: "SELECT l.id, l.v, r.id, r.v FROM l LEFT JOIN r ON l.id = r.id \
              AND EXISTS (SELECT 1 FROM s WHERE s.id = l.id AND s.v < l.v)",
        model: |t| {
            joined(t, [true, false], |l, r| {
                let own = t.s.iter().filter(|s| is(equal(s.0, l.0)));
                let exists = own.filter(|s| is(greater(l.1, s.1))).count() > 0;
                and(equal(l.0, r.0), Some(exists))
            })
        },
    },
];

const ROWS: &[Case] = &[
    Case {
        sql: "SELECT id, v FROM l WHERE (id, v) IN (SELECT id, v FROM r) OR id = 3",
        model: |t| keep(t, |l| is(any([row_in(l, t.r.iter()), equal(l.0, Some(3))]))),
    },
    Case {
        sql: "SELECT id, v FROM l WHERE (id, v) NOT IN (SELECT id, v FROM r) OR id = 3",
        model: |t| keep(t, |l| is(any([not(row_in(l, t.r.iter())), equal(l.0, Some(3))]))),
    },
    Case {
        sql: "SELECT id, v, CAST((id, v) IN (SELECT id, v FROM r) AS INT) FROM l",
        model: |t| give(t, |l| number(row_in(l, t.r.iter()))),
    },
    Case {
        sql: "SELECT id, v, CAST((id, v) NOT IN (SELECT s.id, s.v FROM s WHERE s.id = l.v) AS INT) FROM l",
        model: |t| {
            give(t, |l| {
                let own = t.s.iter().filter(|s| is(equal(s.0, l.1)));
                number(not(row_in(l, own)))
            })
        },
    },
    Case {
        sql: "SELECT id, v FROM l WHERE ((id, v) IN (SELECT id, v FROM r)) IS UNKNOWN",
        model: |t| keep(t, |l| row_in(l, t.r.iter()).is_none()),
    },
];

const UNNESTED: &[Case] = &[
    Case {
        sql: "SELECT id, v, x FROM l CROSS JOIN UNNEST(ARRAY[v, (SELECT MAX(v) FROM r)]) AS t (x)",
        model: |t| {
            let most = max(t.r.iter().map(|r| r.1));
            t.l.iter().flat_map(|l| [l.1, most].map(|x| vec![l.0, l.1, x])).collect()
        },
    },
    Case {
        sql: "SELECT id, v, x FROM l LEFT JOIN UNNEST(ARRAY[(SELECT MAX(r.v) FROM r WHERE r.id = l.id)]) \
              AS t (x) ON TRUE",
        model: |t| give(t, |l| max(t.r.iter().filter(|r| is(equal(r.0, l.0))).map(|r| r.1))),
    },
    Case {
        sql: "SELECT id, v, x FROM l CROSS JOIN UNNEST(CASE WHEN id IN (SELECT id FROM r) THEN ARRAY[1, 2] \
              ELSE ARRAY[0] END) AS t (x)",
        model: |t| {
            let found = |l: &Row| is(any(t.r.iter().map(|r| equal(l.0, r.0))));
            let given = |l: &Row| if found(l) { vec![1, 2] } else { vec![0] };
            let rows = t.l.iter().flat_map(|l| given(l).into_iter().map(move |x| (l, x)));
            rows.map(|(l, x)| vec![l.0, l.1, Some(x)]).collect()
        },
    },
];

const KEYS: &[Case] = &[
    Case {
        sql: "SELECT CAST(id IN (SELECT id FROM r) AS INT), COUNT(*), SUM(v) FROM l \
              GROUP BY id IN (SELECT id FROM r)",
        model: |t| grouped(t, |l| number(any(t.r.iter().map(|r| equal(l.0, r.0))))),
    },
    Case {
        sql: "SELECT (SELECT MAX(r.v) FROM r WHERE r.id = l.id), COUNT(*), SUM(v) FROM l \
              GROUP BY (SELECT MAX(r.v) FROM r WHERE r.id = l.id)",
        model: |t| grouped(t, |l| max(t.r.iter().filter(|r| is(equal(r.0, l.0))).map(|r| r.1))),
    },
    // What is no key by itself is looked at above the groups, and inside of aggregates for each row.
    Case {
        sql: "SELECT CAST(v > (SELECT MIN(v) FROM r) AS INT), COUNT(*), SUM(v + (SELECT MIN(v) FROM r)) \
              - COUNT(v) * (SELECT MIN(v) FROM r) FROM l GROUP BY v > (SELECT MIN(v) FROM r)",
        model: |t| {
            let least = t.r.iter().filter_map(|r| r.1).min();
            let mut rows = grouped(t, |l| number(greater(l.1, least)));
            rows.iter_mut().for_each(|row| row[2] = row[2].filter(|_| least.is_some()));
            rows
        },
    },
    Case {
        sql: "SELECT id, COUNT(*), SUM(v) FROM l \
              GROUP BY GROUPING SETS ((id), ((SELECT MAX(v) FROM r), EXISTS (SELECT 1 FROM s)))",
        model: |t| {
            let mut rows = grouped(t, |l| l.0);
            rows.extend(grouped(t, |_| None));
            rows
        },
    },
];

/// The number of rows and the sum of `v` by a key.
fn grouped(t: &Tables, key: impl Fn(&Row) -> Option<i64>) -> Answer {
    let mut groups: std::collections::BTreeMap<Option<i64>, (i64, Option<i64>)> =
        Default::default();
    for row in &t.l {
        let group = groups.entry(key(row)).or_default();
        group.0 += 1;
        if let Some(v) = row.1 {
            group.1 = Some(group.1.unwrap_or_default() + v);
        }
    }
    groups.into_iter().map(|(key, (count, sum))| vec![key, Some(count), sum]).collect()
}

#[test]
fn keys_of_groups_may_look_at_queries() {
    check(KEYS, "flink");
}

#[test]
fn conditions_of_outer_joins_may_look_at_queries() {
    check(OUTER_JOINS, "flink");
}

#[test]
fn rows_may_be_looked_for_anywhere() {
    check(ROWS, "flink");
}

#[test]
fn collections_may_hold_the_values_of_queries() {
    // Flink refuses values there, and takes EXISTS.
    check(UNNESTED, "general");
}

#[test]
fn a_query_that_reads_both_sides_of_an_outer_join_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), "streaming", "flink");
    let sql = "SELECT * FROM l LEFT JOIN r ON l.v = (SELECT MAX(s.v) FROM s WHERE s.id = l.id AND s.v = r.v)";
    let error = session.execute(sql).err().map(|error| error.to_string()).unwrap();
    assert!(error.contains("columns of both tables"), "{error}");
}
