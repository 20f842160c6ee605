//! The clicks of the dynamic-table papers: a stream becomes a table, and every query over it a stream.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use flott::{Error, Outcome, TableEnvironment};

const CLICKS: &str = "Mary,2025-03-01 12:00:00,./home\n\
                      Bob,2025-03-01 12:00:00,./cart\n\
                      Mary,2025-03-01 12:00:05,./prod?id=1\n\
                      Liz,2025-03-01 12:01:00,./home\n";

fn session(folder: &Path) -> TableEnvironment {
    std::fs::write(folder.join("clicks.csv"), CLICKS).unwrap();
    let mut session = TableEnvironment::new().in_directory(folder);
    session.config_mut().set("table.local-time-zone", "UTC");
    session
        .execute(
            "CREATE TABLE clicks (`user` STRING, cTime TIMESTAMP(3), url STRING,
               WATERMARK FOR cTime AS cTime - INTERVAL '1' SECOND)
             WITH ('connector' = 'filesystem', 'path' = 'clicks.csv', 'format' = 'csv')",
        )
        .unwrap();
    session
}

fn rows(session: &mut TableEnvironment, sql: &str) -> Result<Vec<String>, Error> {
    match session.execute(sql)? {
        Outcome::Query(result) => Ok(result.collect()?.iter().map(ToString::to_string).collect()),
        _ => Ok(Vec::new()),
    }
}

fn write(session: &mut TableEnvironment, sql: &str) -> Result<(), Error> {
    match session.execute(sql)? {
        Outcome::Job(job) => {
            job.wait()?;
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The lines of all files of a sink.
fn lines(folder: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_string();
        if path.is_file() && !name.starts_with(['.', '_']) {
            let text = std::fs::read_to_string(path).unwrap();
            lines.extend(text.lines().map(str::to_string));
        }
    }
    lines
}

#[test]
fn a_count_by_user_updates_as_clicks_come() {
    let folder = tempfile::tempdir().unwrap();
    let given = rows(
        &mut session(folder.path()),
        "SELECT `user`, COUNT(url) AS cnt FROM clicks GROUP BY `user`",
    );
    assert_eq!(
        given.unwrap(),
        ["+I[Mary, 1]", "+I[Bob, 1]", "-U[Mary, 1]", "+U[Mary, 2]", "+I[Liz, 1]"]
    );
}

#[test]
fn the_same_count_gives_the_same_rows_at_any_parallelism() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path());
    session.config_mut().set("parallelism.default", "3");
    let mut given =
        rows(&mut session, "SELECT `user`, COUNT(url) AS cnt FROM clicks GROUP BY `user`").unwrap();
    given.sort_unstable();
    assert_eq!(given, ["+I[Bob, 1]", "+I[Liz, 1]", "+I[Mary, 1]", "+U[Mary, 2]", "-U[Mary, 1]"]);
}

#[test]
fn batch_mode_gives_only_what_remains() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path());
    session.config_mut().set("execution.runtime-mode", "batch");
    let given = rows(&mut session, "SELECT `user`, COUNT(url) AS cnt FROM clicks GROUP BY `user`");
    assert_eq!(given.unwrap(), ["+I[Mary, 2]", "+I[Bob, 1]", "+I[Liz, 1]"]);
}

#[test]
fn an_hourly_count_only_appends() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path());
    let sql = "SELECT `user`, window_end, COUNT(url) AS cnt
               FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(cTime), INTERVAL '1' HOUR))
               GROUP BY `user`, window_start, window_end";
    let Outcome::Query(result) = session.execute(sql).unwrap() else { panic!("a query") };
    assert!(result.changelog_mode().is_insert_only());
    let mut given: Vec<String> =
        result.collect().unwrap().iter().map(ToString::to_string).collect();
    given.sort_unstable();
    assert_eq!(
        given,
        [
            "+I[Bob, 2025-03-01 13:00:00.000, 1]",
            "+I[Liz, 2025-03-01 13:00:00.000, 1]",
            "+I[Mary, 2025-03-01 13:00:00.000, 2]",
        ]
    );
}

#[test]
fn an_upsert_form_has_one_message_a_change() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path());
    session
        .execute(
            "CREATE TABLE counts (`user` STRING, cnt BIGINT, PRIMARY KEY (`user`) NOT ENFORCED)
             WITH ('connector' = 'filesystem', 'path' = 'counts', 'format' = 'debezium-json')",
        )
        .unwrap();
    write(&mut session, "INSERT INTO counts SELECT `user`, COUNT(url) FROM clicks GROUP BY `user`")
        .unwrap();
    let messages = lines(&folder.path().join("counts"));
    let about_mary = messages.iter().filter(|line| line.contains("Mary")).count();
    assert!(about_mary >= 2, "{messages:?}");
    assert!(messages.iter().any(|line| line.contains("\"cnt\":2")), "{messages:?}");
}

#[test]
fn an_append_only_sink_refuses_updates_and_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path());
    session
        .execute(
            "CREATE TABLE appended (`user` STRING, cnt BIGINT)
             WITH ('connector' = 'filesystem', 'path' = 'appended', 'format' = 'csv')",
        )
        .unwrap();
    let sql = "INSERT INTO appended SELECT `user`, COUNT(url) FROM clicks GROUP BY `user`";
    let error = write(&mut session, sql).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("doesn't support consuming update changes"), "{text}");
    assert!(text.contains("GroupAggregate(groupBy=[user]"), "{text}");
    assert!(text.contains("hint:"), "{text}");
    let span = error.span().unwrap();
    assert_eq!(span.text(sql), "GROUP BY `user`");
    assert!(!folder.path().join("appended").exists(), "nothing is written");
}

#[test]
fn a_window_goes_into_the_same_sink() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path());
    session
        .execute(
            "CREATE TABLE appended (`user` STRING, cnt BIGINT)
             WITH ('connector' = 'filesystem', 'path' = 'appended', 'format' = 'csv')",
        )
        .unwrap();
    write(
        &mut session,
        "INSERT INTO appended SELECT `user`, COUNT(url)
         FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(cTime), INTERVAL '1' HOUR))
         GROUP BY `user`, window_start, window_end",
    )
    .unwrap();
    let mut written = lines(&folder.path().join("appended"));
    written.sort_unstable();
    assert_eq!(written, ["Bob,1", "Liz,1", "Mary,2"]);
}
