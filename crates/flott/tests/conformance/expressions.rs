//! `SELECT <expr>` for every line of `expressions/*.jsonl` and `expressions-more/*.jsonl`.
//!
//! `CONFORMANCE_CANDIDATES=FOLDER` runs the files of another folder in their place: newly recorded answers, to see
//! where Flott differs before a selection of them is kept.

use std::path::Path;

use flott::{Error, Outcome, TableEnvironment, json_value};
use serde_json::Value as Json;

use crate::compare::{Tolerance, same_value};
use crate::corpus;
use crate::known::Report;

/// Flink's own defects: nobody need copy them.
const NOT_COUNTED: [&str; 1] = ["flink_defects"];

/// The folders of recorded answers.
const FOLDERS: [&str; 2] = ["expressions", "expressions-more"];

pub fn run(report: &mut Report) {
    match std::env::var_os("CONFORMANCE_CANDIDATES") {
        Some(folder) => run_folder("candidates", folder.as_ref(), report),
        None => {
            for folder in FOLDERS {
                run_folder(folder, &corpus().join(folder), report);
            }
        }
    }
}

fn run_folder(label: &str, folder: &Path, report: &mut Report) {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder of answers is there")
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "jsonl"))
        .collect();
    files.sort();
    for file in files {
        let family = file.file_stem().unwrap().to_str().unwrap().to_string();
        if NOT_COUNTED.contains(&family.as_str()) {
            continue;
        }
        for line in std::fs::read_to_string(&file).unwrap().lines() {
            let case: Json = serde_json::from_str(line).unwrap();
            let expr = case["expr"].as_str().unwrap();
            let name = format!("{label}/{family}: {expr}");
            if report.wants(&name) {
                if std::env::var_os("CONFORMANCE_TRACE").is_some() {
                    eprintln!("{name}");
                }
                report.outcome(&name, check(&family, expr, &case));
            }
        }
    }
}

struct Answer {
    ty: String,
    rows: Vec<(String, Json)>,
}

fn check(family: &str, expr: &str, case: &Json) -> Result<(), String> {
    let zone = case.get("zone").and_then(Json::as_str).unwrap_or("UTC");
    let answer = std::panic::catch_unwind(|| answer(family, expr, zone))
        .map_err(|_| "Flott panicked".to_string())?;
    let accepted: Vec<&Json> = match case.get("columns") {
        // Folded and unfolded answers differ in Flink: either will do.
        Some(columns) => vec![columns, case],
        None => vec![case],
    };
    let mut differences = Vec::new();
    for wanted in accepted {
        match compare(expr, &answer, wanted) {
            Ok(()) => return Ok(()),
            Err(difference) => differences.push(difference),
        }
    }
    Err(differences.remove(0))
}

fn answer(family: &str, expr: &str, zone: &str) -> Result<Answer, Error> {
    let mut session = TableEnvironment::new();
    session.config_mut().set("table.local-time-zone", zone);
    // Aggregates give one final row in batch mode; the bitmap builders were recorded streaming.
    if family == "aggregate" && !expr.contains("BITMAP_BUILD_") {
        session.config_mut().set("execution.runtime-mode", "batch");
    }
    let Outcome::Query(result) = session.execute(&format!("SELECT {expr}"))? else {
        unreachable!("a query")
    };
    let field = result.schema().fields[0].clone();
    let zone = result.zone().clone();
    let rows = result.collect()?;
    Ok(Answer {
        ty: field.data_type.summary(),
        rows: rows
            .iter()
            .map(|row| {
                let value = json_value(&row.values[0], &field.data_type, &zone);
                (row.kind.to_string(), value)
            })
            .collect(),
    })
}

fn compare(expr: &str, answer: &Result<Answer, Error>, wanted: &Json) -> Result<(), String> {
    if let Some(error) = wanted.get("error") {
        return match answer {
            Err(_) => Ok(()),
            Ok(answer) => {
                Err(format!("Flink fails: {error}\nFlott gives {:?} {}", answer.rows, answer.ty))
            }
        };
    }
    let answer = match answer {
        Ok(answer) => answer,
        Err(error) => return Err(format!("wanted {wanted}\nFlott fails: {error}")),
    };
    let ty = wanted["type"].as_str().unwrap();
    let tolerance = tolerance(expr);
    let same = match wanted.get("rows") {
        Some(rows) => {
            let mut ours: Vec<Json> = answer
                .rows
                .iter()
                .map(|(kind, value)| Json::Array(vec![kind.as_str().into(), value.clone()]))
                .collect();
            ours.sort_by_key(Json::to_string);
            let mut flinks = rows.as_array().unwrap().clone();
            flinks.sort_by_key(Json::to_string);
            same_value(&Json::Array(ours), &Json::Array(flinks), ty, tolerance)
        }
        None => {
            answer.rows.len() == 1 && same_value(&answer.rows[0].1, &wanted["value"], ty, tolerance)
        }
    };
    // Of a folded and an unfolded answer only the roots of the types need agree.
    let bare = |ty: &str| ty.trim_end_matches(" NOT NULL").to_string();
    let same_type = match wanted.get("expr") {
        Some(_) => answer.ty == ty,
        None => bare(&answer.ty) == bare(ty),
    };
    if same && same_type {
        return Ok(());
    }
    Err(format!("wanted {wanted}\nFlott gives {:?} of type {}", answer.rows, answer.ty))
}

/// Functions whose last digit is the platform's.
fn tolerance(expr: &str) -> Tolerance {
    const INEXACT: [&str; 16] = [
        "SIN", "COS", "TAN", "COT", "EXP", "LN(", "LOG", "POWER", "SINH", "COSH", "TANH", "STDDEV",
        "VAR", "ASIN", "ACOS", "ATAN",
    ];
    let upper = expr.to_uppercase();
    if INEXACT.iter().any(|name| upper.contains(name)) {
        Tolerance::LastDigit
    } else {
        Tolerance::Exact
    }
}
