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
    let given = rows(&mut session(folder.path()), COUNT);
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

const COUNT: &str = "SELECT `user`, COUNT(url) AS cnt FROM clicks GROUP BY `user`";

/// A table of counts by user, with options of its own.
fn counts(session: &mut TableEnvironment, options: &str) {
    session
        .execute(&format!(
            "CREATE TABLE counts (`user` STRING, cnt BIGINT, PRIMARY KEY (`user`) NOT ENFORCED)
             WITH ('connector' = 'filesystem', 'path' = 'counts', {options})"
        ))
        .unwrap();
}

#[test]
fn an_upsert_form_has_one_message_a_change() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path());
    counts(&mut session, "'format' = 'upsert-json'");
    write(&mut session, &format!("INSERT INTO counts {COUNT}")).unwrap();
    assert_eq!(
        lines(&folder.path().join("counts")),
        [
            r#"{"key":{"user":"Mary"},"value":{"user":"Mary","cnt":1}}"#,
            r#"{"key":{"user":"Bob"},"value":{"user":"Bob","cnt":1}}"#,
            r#"{"key":{"user":"Mary"},"value":{"user":"Mary","cnt":2}}"#,
            r#"{"key":{"user":"Liz"},"value":{"user":"Liz","cnt":1}}"#,
        ]
    );
}

#[test]
fn a_retract_form_has_two_messages_an_update() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path());
    counts(&mut session, "'format' = 'debezium-json'");
    write(&mut session, &format!("INSERT INTO counts {COUNT}")).unwrap();
    assert_eq!(
        lines(&folder.path().join("counts")),
        [
            r#"{"before":null,"after":{"user":"Mary","cnt":1},"op":"c"}"#,
            r#"{"before":null,"after":{"user":"Bob","cnt":1},"op":"c"}"#,
            r#"{"before":{"user":"Mary","cnt":1},"after":null,"op":"d"}"#,
            r#"{"before":null,"after":{"user":"Mary","cnt":2},"op":"c"}"#,
            r#"{"before":null,"after":{"user":"Liz","cnt":1},"op":"c"}"#,
        ]
    );
}

#[test]
fn plain_records_replace_the_row_of_their_key() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path());
    counts(&mut session, "'format' = 'csv', 'changelog-mode' = 'upsert'");
    write(&mut session, &format!("INSERT INTO counts {COUNT}")).unwrap();
    assert_eq!(lines(&folder.path().join("counts")), ["Mary,1", "Bob,1", "Mary,2", "Liz,1"]);
    assert_eq!(
        rows(&mut session, "SELECT * FROM counts").unwrap(),
        ["+I[Mary, 1]", "+I[Bob, 1]", "-U[Mary, 1]", "+U[Mary, 2]", "+I[Liz, 1]"]
    );
    // A record without a kind cannot say that a row goes.
    let sql = "INSERT INTO counts SELECT `user`, COUNT(*) FROM counts GROUP BY `user` HAVING COUNT(*) < 2";
    let error = write(&mut session, sql).unwrap_err().to_string();
    assert!(error.contains("doesn't support consuming delete changes"), "{error}");
}

/// The clicks as a table of the last url of each user: Mary moves on, and Bob goes.
const LAST_CLICKS: &str = r#"{"key":{"user":"Mary"},"value":{"user":"Mary","url":"./home"}}
{"key":{"user":"Bob"},"value":{"user":"Bob","url":"./cart"}}
{"key":{"user":"Mary"},"value":{"user":"Mary","url":"./prod?id=1"}}
{"key":{"user":"Liz"},"value":{"user":"Liz","url":"./home"}}
{"key":{"user":"Bob"},"value":null}
{"key":{"user":"Ann"},"value":null}
"#;

fn last_clicks(session: &mut TableEnvironment, folder: &Path) {
    std::fs::write(folder.join("last.json"), LAST_CLICKS).unwrap();
    session
        .execute(
            "CREATE TABLE last_clicks (`user` STRING, url STRING, PRIMARY KEY (`user`) NOT ENFORCED)
             WITH ('connector' = 'filesystem', 'path' = 'last.json', 'format' = 'upsert-json')",
        )
        .unwrap();
}

#[test]
fn a_keyed_source_updates_in_place() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path());
    last_clicks(&mut session, folder.path());
    // The retract stream: an insertion, the two halves of an update, a deletion of the whole row.
    assert_eq!(
        rows(&mut session, "SELECT * FROM last_clicks").unwrap(),
        [
            "+I[Mary, ./home]",
            "+I[Bob, ./cart]",
            "-U[Mary, ./home]",
            "+U[Mary, ./prod?id=1]",
            "+I[Liz, ./home]",
            "-D[Bob, ./cart]",
        ]
    );
    // What is made of it updates in place, too.
    assert_eq!(
        rows(&mut session, "SELECT url, COUNT(*) AS users FROM last_clicks GROUP BY url").unwrap(),
        [
            "+I[./home, 1]",
            "+I[./cart, 1]",
            "-D[./home, 1]",
            "+I[./prod?id=1, 1]",
            "+I[./home, 1]",
            "-D[./cart, 1]",
        ]
    );
}

#[test]
fn a_keyed_source_goes_out_as_an_upsert_stream() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path());
    last_clicks(&mut session, folder.path());
    session
        .execute(
            "CREATE TABLE copy (`user` STRING, url STRING, PRIMARY KEY (`user`) NOT ENFORCED)
             WITH ('connector' = 'filesystem', 'path' = 'copy', 'format' = 'upsert-json',
                   'upsert-json.value.fields-include' = 'EXCEPT_KEY')",
        )
        .unwrap();
    write(&mut session, "INSERT INTO copy SELECT * FROM last_clicks").unwrap();
    // One message a change, and the deletion of a row that was never there is none.
    assert_eq!(
        lines(&folder.path().join("copy")),
        [
            r#"{"key":{"user":"Mary"},"value":{"url":"./home"}}"#,
            r#"{"key":{"user":"Bob"},"value":{"url":"./cart"}}"#,
            r#"{"key":{"user":"Mary"},"value":{"url":"./prod?id=1"}}"#,
            r#"{"key":{"user":"Liz"},"value":{"url":"./home"}}"#,
            r#"{"key":{"user":"Bob"},"value":null}"#,
        ]
    );
    session.config_mut().set("execution.runtime-mode", "streaming");
    assert_eq!(
        rows(&mut session, "SELECT * FROM copy").unwrap(),
        rows(&mut session, "SELECT * FROM last_clicks").unwrap()
    );
}

#[test]
fn an_upsert_form_needs_a_key() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path());
    for options in ["'format' = 'upsert-json'", "'format' = 'csv', 'changelog-mode' = 'upsert'"] {
        session
            .execute(&format!(
                "CREATE TABLE keyless (`user` STRING, cnt BIGINT)
                 WITH ('connector' = 'filesystem', 'path' = 'k', {options})"
            ))
            .unwrap();
        let error = write(&mut session, &format!("INSERT INTO keyless {COUNT}")).unwrap_err();
        assert!(error.to_string().contains("PRIMARY KEY"), "{error}");
        session.execute("DROP TABLE keyless").unwrap();
    }
}

#[test]
fn another_key_than_the_query_needs_a_word_on_conflicts() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path());
    session
        .execute(
            "CREATE TABLE by_count (`user` STRING, cnt BIGINT, PRIMARY KEY (cnt) NOT ENFORCED)
             WITH ('connector' = 'filesystem', 'path' = 'by_count', 'format' = 'upsert-json')",
        )
        .unwrap();
    let insert = format!("INSERT INTO by_count {COUNT}");
    let error = write(&mut session, &insert).unwrap_err().to_string();
    assert!(error.contains("Primary key: [cnt], upsert key: [user]"), "{error}");
    assert!(error.contains("ON CONFLICT DO DEDUPLICATE"), "{error}");
    write(&mut session, &format!("{insert} ON CONFLICT DO DEDUPLICATE")).unwrap();
    assert_eq!(
        lines(&folder.path().join("by_count")),
        [
            r#"{"key":{"cnt":1},"value":{"user":"Mary","cnt":1}}"#,
            r#"{"key":{"cnt":1},"value":{"user":"Bob","cnt":1}}"#,
            r#"{"key":{"cnt":2},"value":{"user":"Mary","cnt":2}}"#,
            r#"{"key":{"cnt":1},"value":{"user":"Liz","cnt":1}}"#,
        ]
    );
    let error = write(&mut session, &format!("{insert} ON CONFLICT DO ERROR")).unwrap_err();
    assert!(error.to_string().contains("Conflicting key: [cnt=1]"), "{error}");
}

#[test]
fn repeated_change_events_count_once_where_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path());
    let event = r#"{"before":null,"after":{"id":1,"v":4},"op":"c"}"#;
    let change = r#"{"before":{"id":1,"v":4},"after":{"id":1,"v":6},"op":"u"}"#;
    std::fs::write(folder.path().join("c.json"), [event, event, change, change].join("\n"))
        .unwrap();
    session
        .execute(
            "CREATE TABLE cdc (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED)
             WITH ('connector' = 'filesystem', 'path' = 'c.json', 'format' = 'debezium-json')",
        )
        .unwrap();
    session.config_mut().set("table.exec.source.cdc-events-duplicate", "true");
    assert_eq!(
        rows(&mut session, "SELECT * FROM cdc").unwrap(),
        ["+I[1, 4]", "-U[1, 4]", "+U[1, 6]"]
    );
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
