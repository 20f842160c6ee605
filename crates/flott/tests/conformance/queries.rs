//! The scripts of `queries/<area>/<name>.sql`, each in a session and a folder of its own.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use flott::{Error, Outcome, ScriptStatement, TableEnvironment, json_value, split_script};
use serde_json::Value as Json;

use crate::compare::{Tolerance, fold, same_value};
use crate::corpus;
use crate::known::Report;

/// Scripts that run at the same time.
const THREADS: usize = 2;
/// How long a script may take; a job that hangs must not hang the suite.
const TIMEOUT: Duration = Duration::from_secs(60);

pub fn run(report: &mut Report) {
    let root = corpus().join("queries");
    let mut cases = Vec::new();
    for area in std::fs::read_dir(&root).expect("the corpus is in the repository") {
        let area = area.unwrap().path();
        for script in std::fs::read_dir(&area).unwrap() {
            let script = script.unwrap().path();
            if script.extension().is_some_and(|ext| ext == "sql") {
                let stem = script.file_stem().unwrap().to_str().unwrap();
                let area = area.file_name().unwrap().to_str().unwrap();
                let name = format!("queries/{area}/{stem}");
                if report.wants(&name) {
                    cases.push((name, script));
                }
            }
        }
    }
    cases.sort();
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some((name, script)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Some(outcome) = check_within(script) {
                        outcomes.lock().unwrap().push((name.clone(), outcome));
                    }
                }
            });
        }
    });
    for (name, outcome) in outcomes.into_inner().unwrap() {
        report.outcome(&name, outcome);
    }
}

/// Runs a case on a thread of its own; `None` for scripts that document a defect of Flink's.
fn check_within(script: &Path) -> Option<Result<(), String>> {
    let text = std::fs::read_to_string(script).unwrap();
    let expected = std::fs::read_to_string(script.with_extension("json")).unwrap();
    let expected: Json = serde_json::from_str(&expected).unwrap();
    if expected.get("defect").is_some() {
        return None;
    }
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let outcome = std::panic::catch_unwind(|| check(&text, &expected))
            .unwrap_or_else(|_| Err("Flott panicked".to_string()));
        let _ = sender.send(outcome);
    });
    Some(receiver.recv_timeout(TIMEOUT).unwrap_or_else(|_| Err("timed out".to_string())))
}

/// What a statement gave.
struct Given {
    columns: Vec<(String, String)>,
    changelog: Option<String>,
    rows: Vec<(String, Vec<Json>)>,
}

fn check(text: &str, expected: &Json) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(
        corpus().canonicalize().unwrap().join("data"),
        folder.path().join("data"),
    )
    .unwrap();
    let mut session = TableEnvironment::new().in_directory(folder.path());
    session.config_mut().set("table.local-time-zone", "UTC");
    let exact = expected["compare"] == "exact";
    let mut wanted = expected["statements"].as_array().unwrap().iter().peekable();
    for statement in split_script(text) {
        let number = statement.number;
        let outcome = execute(&mut session, &statement);
        let of_statement = wanted.next_if(|w| w["statement"] == number);
        compare(outcome, of_statement, exact)
            .map_err(|difference| format!("statement {number}: {difference}"))?;
    }
    match wanted.next() {
        None => Ok(()),
        Some(rest) => Err(format!("statement {} was not run", rest["statement"])),
    }
}

fn execute(
    session: &mut TableEnvironment,
    statement: &ScriptStatement,
) -> Result<Option<Given>, Error> {
    match session.execute(statement.text)? {
        Outcome::Done => Ok(None),
        Outcome::Job(job) => {
            job.wait()?;
            Ok(None)
        }
        Outcome::Table(table) => {
            let zone = flott::utc();
            let fields = &table.schema.fields;
            let row = |values: &Vec<flott::Value>| {
                let values = values.iter().zip(fields);
                let values = values.map(|(v, f)| json_value(v, &f.data_type, &zone)).collect();
                ("+I".to_string(), values)
            };
            Ok(Some(Given {
                columns: columns(&table.schema),
                changelog: None,
                rows: table.rows.iter().map(row).collect(),
            }))
        }
        Outcome::Query(result) => {
            let schema = result.schema().clone();
            let zone = result.zone().clone();
            let mode = result.changelog_mode();
            let mut changelog = String::from("I");
            if mode.has_updates() {
                changelog.push_str(",U");
            }
            if mode.contains(flott::RowKind::Delete) {
                changelog.push_str(",D");
            }
            let rows = result.collect()?;
            let rows = rows
                .iter()
                .map(|row| {
                    let values = row.values.iter().zip(&schema.fields);
                    let values = values.map(|(v, f)| json_value(v, &f.data_type, &zone)).collect();
                    (row.kind.to_string(), values)
                })
                .collect();
            Ok(Some(Given { columns: columns(&schema), changelog: Some(changelog), rows }))
        }
    }
}

fn columns(schema: &flott::Schema) -> Vec<(String, String)> {
    schema.fields.iter().map(|field| (field.name.to_string(), field.type_summary())).collect()
}

fn compare(
    outcome: Result<Option<Given>, Error>,
    wanted: Option<&Json>,
    exact: bool,
) -> Result<(), String> {
    let Some(wanted) = wanted else {
        return match outcome {
            Ok(None) => Ok(()),
            // SHOW and the like give rows only where Flink does.
            Ok(Some(given)) => Err(format!("gives rows where Flink gives none: {:?}", given.rows)),
            Err(error) => Err(format!("fails where Flink succeeds: {error}")),
        };
    };
    if let Some(error) = wanted.get("error") {
        return match outcome {
            Ok(_) => Err(format!("succeeds where Flink fails: {error}")),
            Err(error) if wanted["error"]["when"] == "plan" && error.is_at_run_time() => {
                Err(format!("fails only after it began to read: {error}"))
            }
            Err(_) => Ok(()),
        };
    }
    let given = match outcome {
        Err(error) => return Err(format!("fails where Flink succeeds: {error}")),
        Ok(None) => return Err(format!("gives no rows, Flink gives {wanted}")),
        Ok(Some(given)) => given,
    };
    let wanted_columns: Vec<(String, String)> = wanted["columns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| (c[0].as_str().unwrap().to_string(), c[1].as_str().unwrap().to_string()))
        .collect();
    if given.columns != wanted_columns {
        return Err(format!(
            "columns differ\n  Flink {wanted_columns:?}\n  Flott {:?}",
            given.columns
        ));
    }
    if let (Some(ours), Some(flinks)) = (&given.changelog, wanted.get("changelog"))
        && flinks != ours.as_str()
    {
        return Err(format!("the changelog may hold {ours}, Flink's {flinks}"));
    }
    let types: Vec<&str> = wanted_columns.iter().map(|(_, ty)| ty.as_str()).collect();
    match wanted.get("final") {
        Some(rows) => {
            let ours = fold(&given.rows)?;
            let mut flinks: Vec<Vec<Json>> =
                rows.as_array().unwrap().iter().map(|r| r.as_array().unwrap().clone()).collect();
            flinks.sort_by_cached_key(|row| serde_json::to_string(row).unwrap());
            same_rows(&ours, &flinks, &types)
        }
        None => {
            let split = |row: &Json| {
                let values = row.as_array().unwrap();
                (values[0].as_str().unwrap().to_string(), values[1..].to_vec())
            };
            let flinks: Vec<(String, Vec<Json>)> =
                wanted["rows"].as_array().unwrap().iter().map(split).collect();
            let kinds = |rows: &[(String, Vec<Json>)]| -> Vec<String> {
                rows.iter().map(|(kind, _)| kind.clone()).collect()
            };
            let values = |rows: &[(String, Vec<Json>)]| -> Vec<Vec<Json>> {
                rows.iter().map(|(_, values)| values.clone()).collect()
            };
            let ordered = exact || given.changelog.is_none();
            if ordered && kinds(&given.rows) != kinds(&flinks) {
                return Err(rows_differ(&given.rows, &flinks));
            }
            same_rows(&values(&given.rows), &values(&flinks), &types)
                .map_err(|_| rows_differ(&given.rows, &flinks))
        }
    }
}

fn rows_differ(ours: &[(String, Vec<Json>)], flinks: &[(String, Vec<Json>)]) -> String {
    let print = |rows: &[(String, Vec<Json>)]| {
        let line = |(kind, values): &(String, Vec<Json>)| {
            format!("    {kind} {}", serde_json::to_string(values).unwrap())
        };
        rows.iter().take(60).map(line).collect::<Vec<_>>().join("\n")
    };
    format!("rows differ\n  Flink\n{}\n  Flott\n{}", print(flinks), print(ours))
}

fn same_rows(ours: &[Vec<Json>], flinks: &[Vec<Json>], types: &[&str]) -> Result<(), String> {
    let same = ours.len() == flinks.len()
        && ours.iter().zip(flinks).all(|(a, b)| {
            a.len() == b.len()
                && a.iter().zip(b).zip(types).all(|((a, b), ty)| {
                    // Sums of squares may be taken in another order.
                    same_value(a, b, ty, Tolerance::Relative)
                })
        });
    if same {
        return Ok(());
    }
    let print = |rows: &[Vec<Json>]| {
        rows.iter()
            .take(60)
            .map(|row| format!("    {}", serde_json::to_string(row).unwrap()))
            .collect::<Vec<_>>()
            .join("\n")
    };
    Err(format!("rows differ\n  Flink\n{}\n  Flott\n{}", print(flinks), print(ours)))
}
