//! The function reference: every entry has a form and an example, every example gives what it says, and
//! `docs/functions.md` is what the entries make.

#![allow(clippy::unwrap_used, clippy::expect_used)] // Tests may end so.

use flott::{Outcome, TableEnvironment, value_text};
use flott_functions::scalar::special;
use flott_functions::{Example, FunctionDoc, aggregate_functions, reference, scalar_functions};

#[test]
fn every_example_gives_what_it_says() {
    let mut failures = Vec::new();
    let mut count = 0;
    for (name, doc) in entries() {
        for example in doc.examples {
            count += 1;
            if let Err(difference) = check(example) {
                failures.push(format!("{name}: {difference}"));
            }
        }
    }
    assert!(count > 300, "{count} examples");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_entry_has_forms_text_and_examples() {
    for (name, doc) in entries() {
        assert!(!doc.syntax.is_empty(), "{name} has no form");
        assert!(doc.text.ends_with(['.', '!']), "{name}: {}", doc.text);
        // A watermark needs a table, and random values are none to show.
        let is_without = ["CURRENT_WATERMARK", "RAND_INTEGER"].contains(&name);
        assert!(is_without || !doc.examples.is_empty(), "{name} has no example");
    }
}

#[test]
fn the_page_is_made_of_the_entries() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/functions.md");
    let page = reference::markdown();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, page).unwrap();
        return;
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        written == page,
        "docs/functions.md is stale: UPDATE_DOCS=1 cargo test --workspace --test functions"
    );
}

#[test]
fn functions_are_listed_and_described() {
    let rows = |sql: &str| {
        let Outcome::Table(table) = TableEnvironment::new().execute(sql).unwrap() else {
            panic!("{sql} gives a table")
        };
        let text = |row: &Vec<flott::Value>| {
            row.iter().map(|value| value.as_str().unwrap()).collect::<Vec<_>>().join(": ")
        };
        table.rows.iter().map(text).collect::<Vec<_>>()
    };
    let all = rows("SHOW FUNCTIONS");
    for name in ["ABS", "COALESCE", "COUNT", "JSON_VALUE", "NOW", "TRY_CAST", "VARIANCE"] {
        assert!(all.contains(&name.to_string()), "{name}");
    }
    assert!(rows("SHOW USER FUNCTIONS").is_empty());
    assert_eq!(rows("SHOW FUNCTIONS LIKE 'SHA_'"), ["SHA1", "SHA2"]);
    assert_eq!(rows("DESCRIBE FUNCTION rand"), ["is system function: true", "is temporary: false"]);
    let extended = rows("DESCRIBE FUNCTION EXTENDED `array_append`");
    assert!(extended.contains(&"kind: SCALAR".to_string()), "{extended:?}");
    assert!(extended.contains(&"is deterministic: true".to_string()), "{extended:?}");
    let error = TableEnvironment::new().execute("DESCRIBE FUNCTION nosuch").err().unwrap();
    assert!(error.to_string().contains("'`nosuch`' doesn't exist"), "{error}");
}

/// The entries that the reference shows.
fn entries() -> Vec<(&'static str, FunctionDoc)> {
    let scalar = scalar_functions().map(|function| (function.name, function.doc));
    let special = special::FORMS.iter().map(|form| (form.name, form.doc));
    let aggregate = aggregate_functions()
        .filter(|function| !function.doc.syntax.is_empty())
        .map(|function| (function.name, function.doc));
    scalar.chain(special).chain(aggregate).collect()
}

fn check((expression, wanted): &Example) -> Result<(), String> {
    let mut session = TableEnvironment::new();
    session.config_mut().set("table.local-time-zone", "UTC");
    // So that aggregates give their last row only.
    session.config_mut().set("execution.runtime-mode", "batch");
    let failed = |error: flott::Error| format!("{expression} fails: {error}");
    let outcome = session.execute(&format!("SELECT {expression}")).map_err(failed)?;
    let Outcome::Query(result) = outcome else { return Err(format!("{expression} is no query")) };
    let ty = result.schema().fields[0].data_type.clone();
    let zone = result.zone().clone();
    let rows = result.collect().map_err(failed)?;
    let values: Vec<String> =
        rows.iter().map(|row| value_text(&row.values[0], &ty, &zone)).collect();
    match values.as_slice() {
        [value] if value == wanted => Ok(()),
        _ => Err(format!("{expression} gives {values:?}, not {wanted}")),
    }
}
