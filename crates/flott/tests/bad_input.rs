//! Bad input gives one clear error that says where and what to do, and nothing is lost.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use flott::{Error, Outcome, TableEnvironment};

fn session(folder: &Path) -> TableEnvironment {
    TableEnvironment::new().in_directory(folder)
}

/// Runs statements in order and gives the last one's rows, or the first error.
fn run(session: &mut TableEnvironment, statements: &[&str]) -> Result<Vec<String>, Error> {
    let mut rows = Vec::new();
    for sql in statements {
        match session.execute(sql)? {
            Outcome::Query(result) => {
                rows = result.collect()?.iter().map(ToString::to_string).collect();
            }
            Outcome::Job(job) => {
                job.wait()?;
            }
            _ => {}
        }
    }
    Ok(rows)
}

/// Runs statements that must fail; the error must hold all of `words` and a hint.
fn fails(folder: &Path, statements: &[&str], words: &[&str]) {
    let error = run(&mut session(folder), statements).unwrap_err().to_string();
    for word in words {
        assert!(error.contains(word), "'{word}' is not in: {error}");
    }
    assert!(error.contains("hint:"), "no cure in: {error}");
    assert!(!error.contains("panicked"), "{error}");
}

const TABLE: &str = "CREATE TABLE t (id INT, name STRING)
    WITH ('connector' = 'filesystem', 'path' = 'in.csv', 'format' = 'csv')";
const JSON: &str = "CREATE TABLE t (id INT, name STRING)
    WITH ('connector' = 'filesystem', 'path' = 'in.json', 'format' = 'json')";

#[test]
fn a_malformed_csv_field_names_file_line_column_and_type() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("in.csv"), "1,ada\ntwo,bo\n").unwrap();
    fails(folder.path(), &[TABLE, "SELECT * FROM t"], &["in.csv", "2", "two", "INT", "id"]);
}

#[test]
fn malformed_json_names_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("in.json"), "{\"id\":1,\"name\":\"a\"}\n{\"id\":2,\n")
        .unwrap();
    fails(folder.path(), &[JSON, "SELECT * FROM t"], &["in.json", "2"]);
}

#[test]
fn a_missing_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fails(folder.path(), &[TABLE, "SELECT * FROM t"], &["in.csv"]);
}

#[test]
#[cfg(unix)]
fn a_directory_without_rights_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let locked = folder.path().join("in.csv");
    std::fs::create_dir(&locked).unwrap();
    std::fs::write(locked.join("a"), "1,a\n").unwrap();
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o000)).unwrap();
    // The superuser reads everything: then there is no error to look at.
    if std::fs::read_dir(&locked).is_err() {
        fails(folder.path(), &[TABLE, "SELECT * FROM t"], &["in.csv"]);
    }
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_wrong_option_key_names_the_nearest_known_one() {
    let folder = tempfile::tempdir().unwrap();
    let table = "CREATE TABLE t (id INT)
        WITH ('connector' = 'filesystem', 'pth' = 'in.csv', 'format' = 'csv')";
    fails(folder.path(), &[table, "SELECT * FROM t"], &["'pth'", "'path'"]);
    let table = "CREATE TABLE t (id INT)
        WITH ('connector' = 'filesystem', 'path' = 'in.csv', 'format' = 'csv', 'csv.delimiter' = ';')";
    fails(folder.path(), &[table, "SELECT * FROM t"], &["delimiter", "field-delimiter"]);
}

#[test]
fn an_unknown_connector_lists_those_there_are() {
    let folder = tempfile::tempdir().unwrap();
    let table = "CREATE TABLE t (id INT) WITH ('connector' = 'kafkka')";
    fails(folder.path(), &[table, "SELECT * FROM t"], &["kafkka", "filesystem", "datagen"]);
}

#[test]
fn a_type_that_does_not_fit_is_refused_before_reading() {
    let folder = tempfile::tempdir().unwrap();
    let sink = "CREATE TABLE s (id INT) WITH ('connector' = 'blackhole')";
    let mut session = session(folder.path());
    let error = run(&mut session, &[TABLE, sink, "INSERT INTO s SELECT name FROM t"]).unwrap_err();
    assert!(!error.is_at_run_time());
    assert!(error.to_string().contains("Incompatible types for sink column 'id'"), "{error}");
}

#[test]
fn misspelt_columns_and_tables_are_pointed_at() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path());
    run(&mut session, &[TABLE]).unwrap();
    let sql = "SELECT Name FROM t";
    let error = run(&mut session, &[sql]).unwrap_err();
    assert_eq!(error.span().unwrap().text(sql), "Name");
    assert!(error.to_string().contains("did you mean 'name'?"), "{error}");
    let error = run(&mut session, &["SELECT 1 FROM nowhere"]).unwrap_err();
    assert!(error.to_string().contains("Object 'nowhere' not found"), "{error}");
}

#[test]
fn skipped_records_leave_the_others() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("in.csv"), "1,ada\ntwo,bo\n3,cy\n").unwrap();
    let table = "CREATE TABLE t (id INT, name STRING) WITH ('connector' = 'filesystem',
        'path' = 'in.csv', 'format' = 'csv', 'on-error' = 'skip')";
    let rows = run(&mut session(folder.path()), &[table, "SELECT * FROM t"]).unwrap();
    assert_eq!(rows, ["+I[1, ada]", "+I[3, cy]"]);
}

#[test]
fn dead_letters_keep_what_could_not_be_read() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("in.csv"), "1,ada\ntwo,bo\n3,cy\n").unwrap();
    let letters = "CREATE TABLE letters (`raw` STRING, place STRING, error STRING)
        WITH ('connector' = 'filesystem', 'path' = 'letters', 'format' = 'json')";
    let table = "CREATE TABLE t (id INT, name STRING) WITH ('connector' = 'filesystem',
        'path' = 'in.csv', 'format' = 'csv', 'on-error' = 'dead-letter', 'on-error.table' = 'letters')";
    let mut session = session(folder.path());
    let rows = run(&mut session, &[letters, table, "SELECT * FROM t"]).unwrap();
    assert_eq!(rows, ["+I[1, ada]", "+I[3, cy]"]);
    let rows = run(&mut session, &["SELECT `raw`, place, error FROM letters"]).unwrap();
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert!(rows[0].contains("two,bo") && rows[0].contains("in.csv"), "{rows:?}");
}
