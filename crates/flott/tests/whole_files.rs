//! Tables whose files their format reads and writes as a whole.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use flott::{Error, Outcome, TableEnvironment};

fn session(folder: &Path) -> TableEnvironment {
    let mut session = TableEnvironment::new().in_directory(folder);
    session.config_mut().set("table.local-time-zone", "UTC");
    session
}

/// Runs statements to their ends; the rows of the last one, sorted.
fn run(session: &mut TableEnvironment, statements: &[&str]) -> Result<Vec<String>, Error> {
    let mut rows = Vec::new();
    for statement in statements {
        rows = match session.execute(statement)? {
            Outcome::Query(result) => result.collect()?.iter().map(ToString::to_string).collect(),
            Outcome::Job(job) => {
                job.wait()?;
                Vec::new()
            }
            Outcome::Table(table) => table.rows.iter().map(|row| format!("{row:?}")).collect(),
            _ => Vec::new(),
        };
    }
    rows.sort_unstable();
    Ok(rows)
}

fn failure(session: &mut TableEnvironment, statements: &[&str]) -> String {
    run(session, statements).unwrap_err().to_string()
}

/// The names of the files below a folder.
fn names(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
        if entry.path().is_dir() {
            names.extend(self::names(&entry.path()));
        } else {
            names.push(entry.file_name().to_str().unwrap().to_string());
        }
    }
    names
}

const FORMATS: &[&str] = &["parquet", "avro"];

#[test]
fn what_was_written_is_read() {
    for format in FORMATS {
        let folder = tempfile::tempdir().unwrap();
        let mut session = session(folder.path());
        let create = format!(
            "CREATE TABLE t (id INT, name STRING, moment TIMESTAMP(3), tags MAP<STRING, INT>, kind STRING,
             file STRING METADATA FROM 'file.name' VIRTUAL) PARTITIONED BY (kind) WITH (
             'connector' = 'filesystem', 'path' = 't', 'format' = '{format}')"
        );
        let rows = run(
            &mut session,
            &[
                &create,
                "INSERT INTO t VALUES
                 (1, 'one', TIMESTAMP '2024-01-01 00:00:00.001', MAP['a', 1], 'x'),
                 (2, CAST(NULL AS STRING), TIMESTAMP '1969-12-31 23:59:59.999', MAP['b', CAST(NULL AS INT)], 'y'),
                 (3, 'three', CAST(NULL AS TIMESTAMP(3)), CAST(NULL AS MAP<STRING, INT>), 'x')",
                "INSERT INTO t PARTITION (kind = 'z') SELECT id + 10, name, moment, tags FROM t WHERE kind = 'x'",
                "SELECT id, name, moment, tags, kind, CHAR_LENGTH(file) > 40 FROM t",
            ],
        )
        .unwrap();
        assert_eq!(
            rows,
            [
                "+I[1, one, 2024-01-01 00:00:00.001, {a=1}, x, TRUE]",
                "+I[11, one, 2024-01-01 00:00:00.001, {a=1}, z, TRUE]",
                "+I[13, three, null, null, z, TRUE]",
                "+I[2, null, 1969-12-31 23:59:59.999, {b=NULL}, y, TRUE]",
                "+I[3, three, null, null, x, TRUE]",
            ]
        );
        let mut rows = |sql: &str| run(&mut session, &[sql]).unwrap();
        assert_eq!(rows("SELECT kind, tags FROM t WHERE kind = 'y'"), ["+I[y, {b=NULL}]"]);
        assert_eq!(rows("SELECT id FROM t LIMIT 2").len(), 2);
        assert_eq!(rows("SELECT name FROM t WHERE id = 11"), ["+I[one]"]);
        rows("SET 'execution.runtime-mode' = 'batch'");
        assert_eq!(rows("SELECT COUNT(*), SUM(id) FROM t"), ["+I[5, 30]"]);
        rows(
            "INSERT OVERWRITE t PARTITION (kind = 'x') SELECT 7, 'seven', moment, tags FROM t WHERE kind = 'y'",
        );
        assert_eq!(rows("SELECT id, name FROM t WHERE kind = 'x'"), ["+I[7, seven]"]);
    }
}

#[test]
fn files_end_at_their_size_and_are_merged() {
    for format in FORMATS {
        let folder = tempfile::tempdir().unwrap();
        let mut session = session(folder.path());
        let block = if *format == "parquet" { ", 'parquet.block.size' = '20 kb'" } else { "" };
        let table = |name: &str, options: &str| {
            format!(
                "CREATE TABLE {name} (id BIGINT, noise STRING) WITH ('connector' = 'filesystem',
                 'path' = '{name}', 'format' = '{format}'{block}, {options})"
            )
        };
        run(
            &mut session,
            &[
                "SET 'parallelism.default' = '2'",
                "CREATE TABLE ids (id BIGINT) WITH ('connector' = 'datagen', 'fields.id.kind' = 'sequence',
                 'fields.id.start' = '1', 'fields.id.end' = '20000', 'rows-per-second' = '10000000')",
                &table("small", "'sink.rolling-policy.file-size' = '30 kb'"),
                &table("merged", "'auto-compaction' = 'true'"),
                "INSERT INTO small SELECT id, MD5(CAST(id AS STRING)) FROM ids",
                "INSERT INTO merged SELECT * FROM small",
            ],
        )
        .unwrap();
        let small = names(&folder.path().join("small"));
        assert!(small.len() > 4, "{format}: {small:?}");
        let merged = names(&folder.path().join("merged"));
        assert_eq!(merged.len(), 1, "{format}: {merged:?}");
        assert!(merged[0].starts_with("compacted-part-"), "{merged:?}");
        let sums = "COUNT(*), SUM(id), MIN(noise), MAX(noise)";
        let sql = format!("SELECT {sums} FROM merged EXCEPT SELECT {sums} FROM small");
        run(&mut session, &["SET 'execution.runtime-mode' = 'batch'"]).unwrap();
        assert_eq!(run(&mut session, &[&sql]).unwrap(), [] as [&str; 0]);
        let counted = run(&mut session, &["SELECT COUNT(*), SUM(id) FROM merged"]).unwrap();
        assert_eq!(counted, ["+I[20000, 200010000]"]);
    }
}

#[test]
fn errors_name_the_file_and_the_column() {
    for format in FORMATS {
        let folder = tempfile::tempdir().unwrap();
        let mut session = session(folder.path());
        let table = |name: &str, column: &str, options: &str| {
            format!(
                "CREATE TABLE {name} ({column}) WITH ('connector' = 'filesystem', 'path' = 't',
                 'format' = '{format}'{options})"
            )
        };
        run(&mut session, &[&table("t", "id INT", ""), "INSERT INTO t VALUES (1000)"]).unwrap();
        let told = failure(&mut session, &[&table("u", "id DATE ARRAY", ""), "SELECT * FROM u"]);
        assert!(told.contains("t/part-"), "{told}");
        assert!(told.contains("'id'") || *format == "avro", "{told}");
        std::fs::write(folder.path().join("t/other"), "id\n1\n").unwrap();
        let told = failure(&mut session, &["SELECT * FROM t"]);
        assert!(told.contains("t/other") && told.contains("is damaged"), "{told}");
        let skip = table("s", "id INT", ", 'on-error' = 'skip'");
        let told = failure(&mut session, &[&skip, "SELECT * FROM s"]);
        assert!(told.contains("on-error"), "{told}");
        let unknown = table("k", "id INT", &format!(", '{format}.no-such' = '1'"));
        let told = failure(&mut session, &[&unknown, "SELECT * FROM k"]);
        assert!(told.contains("no-such"), "{told}");
    }
}

#[test]
fn parquet_is_for_files() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path());
    let kafka = "CREATE TABLE k (id INT) WITH ('connector' = 'kafka', 'topic' = 't',
                 'properties.bootstrap.servers' = 'localhost:1', 'format' = 'parquet')";
    let told = failure(&mut session, &[kafka, "SELECT * FROM k"]);
    assert!(told.contains("whole files") && told.contains("filesystem"), "{told}");
    let formats = run(&mut session, &["SHOW FORMATS"]).unwrap().concat();
    assert!(formats.contains("parquet"), "{formats}");
    let options = run(&mut session, &["DESCRIBE FORMAT 'parquet'"]).unwrap().concat();
    assert!(options.contains("parquet.utc-timezone"), "{options}");
}
