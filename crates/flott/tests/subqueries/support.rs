//! Small random tables, and queries over them held against naive evaluations.

use std::collections::BTreeMap;
use std::path::Path;

use flott::{Outcome, TableEnvironment, Value};

pub type Row = (Option<i64>, Option<i64>);
pub type Answer = Vec<Vec<Option<i64>>>;

/// The tables of a run: `l (id, v)`, `r (id, v)`, `s (id, v)`.
pub struct Tables {
    pub l: Vec<Row>,
    pub r: Vec<Row>,
    pub s: Vec<Row>,
}

impl Tables {
    /// The largest `v` of each `id`.
    pub fn updating(&self) -> Self {
        let largest = |rows: &[Row]| {
            let mut groups: BTreeMap<Option<i64>, Option<i64>> = BTreeMap::new();
            for (id, v) in rows {
                let known = groups.entry(*id).or_default();
                *known = (*known).max(*v);
            }
            groups.into_iter().collect()
        };
        Self { l: largest(&self.l), r: largest(&self.r), s: largest(&self.s) }
    }
}

/// A query and the naive evaluation of it.
pub struct Case {
    pub sql: &'static str,
    pub model: fn(&Tables) -> Answer,
}

/// `a = b` and its kin in three values.
pub fn equal(a: Option<i64>, b: Option<i64>) -> Option<bool> {
    Some(a? == b?)
}

pub fn is(a: Option<bool>) -> bool {
    a == Some(true)
}

/// The OR of three-valued tests: what IN and ANY are.
pub fn any(tests: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
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

pub fn not(a: Option<bool>) -> Option<bool> {
    a.map(|a| !a)
}

pub fn number(a: Option<bool>) -> Option<i64> {
    a.map(i64::from)
}

pub fn max(values: impl Iterator<Item = Option<i64>>) -> Option<i64> {
    values.flatten().max()
}

pub fn keep(t: &Tables, test: impl Fn(&Row) -> bool) -> Answer {
    t.l.iter().filter(|row| test(row)).map(|row| vec![row.0, row.1]).collect()
}

pub fn give(t: &Tables, value: impl Fn(&Row) -> Option<i64>) -> Answer {
    t.l.iter().map(|row| vec![row.0, row.1, value(row)]).collect()
}

pub fn check(cases: &[Case], correlation: &str) {
    let seeds = std::env::var("FLOTT_MODEL_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(6);
    for seed in 0..seeds {
        let tables = random(seed);
        let folder = tempfile::tempdir().unwrap();
        for (name, rows) in [("l", &tables.l), ("r", &tables.r), ("s", &tables.s)] {
            write(folder.path(), name, rows);
        }
        let updating = tables.updating();
        for (mode, views) in [("streaming", false), ("batch", false), ("streaming", true)] {
            let mut session = session(folder.path(), mode, correlation);
            if views {
                make_updating(&mut session);
                session.config_mut().set("parallelism.default", "3");
            }
            for case in cases {
                let mut wanted = (case.model)(if views { &updating } else { &tables });
                wanted.sort();
                let given = answer(&mut session, case.sql);
                let how = if views { "updating" } else { mode };
                assert_eq!(given, wanted, "seed {seed}, {how}: {}", case.sql);
            }
        }
    }
}

/// The tables are replaced by what is updated with every row: the largest `v` of each `id`.
pub fn make_updating(session: &mut TableEnvironment) {
    for name in ["l", "r", "s"] {
        session.execute(&format!("ALTER TABLE {name} RENAME TO raw_{name}")).unwrap();
        let view =
            format!("CREATE VIEW {name} AS SELECT id, MAX(v) AS v FROM raw_{name} GROUP BY id");
        session.execute(&view).unwrap();
    }
}

pub fn session(folder: &Path, mode: &str, correlation: &str) -> TableEnvironment {
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
pub fn answer(session: &mut TableEnvironment, sql: &str) -> Answer {
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

pub fn write(folder: &Path, name: &str, rows: &[Row]) {
    let cell = |value: Option<i64>| value.map_or("n".to_string(), |value| value.to_string());
    let lines: String =
        rows.iter().map(|(id, v)| format!("{},{}\n", cell(*id), cell(*v))).collect();
    std::fs::write(folder.join(format!("{name}.csv")), lines).unwrap();
}

pub fn random(seed: u64) -> Tables {
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
